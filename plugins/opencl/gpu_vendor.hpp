#pragma once
// The vendor of this build is OpenCL.
#include "plugins/opencl/runtime.hpp"
