#pragma once
// As hip_runtime_api.h; nvcc knows what device code needs besides.
#include <hip/hip_runtime_api.h>
