#pragma once
/// @file
/// Everything a program needs: the runtime and its start, arrays, tasks, recordings, the built-in operations, counters.
/// @code
/// tessera::runtime rt({.file = "laptop.toml"});
/// auto x = rt.make_array<double>("x", {1000}, {100});
/// for (std::size_t k = 0; k < x.size(); ++k) tessera::fill(rt, x.block(k), 1.0);
/// rt.fence();
/// @endcode
/// Further doors: machine.hpp (settings, plugins, locations), operation.hpp (operations of one's own, kernels),
/// validation.hpp, trace.hpp, and front_end.hpp for languages built on top.
#include "tessera/array.hpp"
#include "tessera/linear_algebra.hpp"
#include "tessera/recording.hpp"
#include "tessera/runtime.hpp"
#include "tessera/statistics.hpp"
#include "tessera/task.hpp"
