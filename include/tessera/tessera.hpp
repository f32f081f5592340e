#pragma once
/// @file
/// Everything a program needs: the runtime and its start, arrays, tasks, recordings, the built-in operations, counters.
/// @code
/// tessera::runtime rt({.file = "laptop.toml"});
/// auto x = rt.make_array<double>("x", {1000}, {100});
/// for (std::size_t k = 0; k < x.size(); ++k) tessera::fill(rt, x.block(k), 1.0);
/// rt.fence();
/// @endcode
/// The other doors: region.hpp (loops over arrays, the tree of locations), deep_copy.hpp (nested structures),
/// operation.hpp (operations of one's own, kernels), machine.hpp (settings, plugins, locations), validation.hpp,
/// trace.hpp, sparse.hpp (solvers), directives.hpp (what the translator writes) and front_end.hpp (for languages built
/// on top).
#include "tessera/detail/array.hpp"           // IWYU pragma: export
#include "tessera/detail/linear_algebra.hpp"  // IWYU pragma: export
#include "tessera/detail/recording.hpp"       // IWYU pragma: export
#include "tessera/detail/rows_task.hpp"       // IWYU pragma: export
#include "tessera/detail/runtime.hpp"         // IWYU pragma: export
#include "tessera/detail/statistics.hpp"      // IWYU pragma: export
#include "tessera/detail/task.hpp"            // IWYU pragma: export
