#pragma once
// For languages and libraries built on top of the runtime: operations with the arguments of the built-in ones, blocks
// that come and go one by one, and what placement answers to somebody who runs short operations in place
// (runtime::run_in_place, choose_device, learn_in_place, settle).
#include "core/operation/blas.hpp"
#include "core/operation/tensor.hpp"
#include "core/placement/device_choice.hpp"
#include "core/task/source.hpp"
#include "tessera/block_group.hpp"
#include "tessera/operation.hpp"
#include "tessera/runtime.hpp"
