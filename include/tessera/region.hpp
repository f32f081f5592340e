#pragma once
/// @file
/// Regions: parallel loops over arrays at locations, split over what executes there by a policy.
/// @code
/// tessera::runtime rt;
/// tessera::location_model model(rt);
/// auto x = model.make_array<double>("x", {1'000'000}), y = model.make_array<double>("y", {1'000'000});
/// model.region("fill", tessera::iterate(0, 1'000'000), write(y), [](auto i, auto y) { y[i] = double(i); });
/// model.region("twice", tessera::iterate(0, 1'000'000), read(y), write(x),
///              [](auto i, auto y, auto x) { x[i] = 2 * y[i]; });
/// model.fence();
/// @endcode
/// It has the runtime, arrays and tasks too; the built-in operations and statistics are of tessera.hpp.
#include "tessera/detail/array_rows.hpp"      // IWYU pragma: export
#include "tessera/detail/body.hpp"            // IWYU pragma: export
#include "tessera/detail/location_model.hpp"  // IWYU pragma: export
#include "tessera/detail/region_call.hpp"     // IWYU pragma: export
#include "tessera/detail/region_loop.hpp"     // IWYU pragma: export
#include "tessera/detail/region_result.hpp"   // IWYU pragma: export
#include "tessera/detail/region_use.hpp"      // IWYU pragma: export
#include "tessera/detail/with_kernel.hpp"     // IWYU pragma: export
