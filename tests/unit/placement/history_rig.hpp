#pragma once
// A model of execution times with a host and two devices in it, for its tests.
#include <cstdint>
#include <utility>
#include <vector>

#include "core/operation/blas.hpp"
#include "core/placement/history.hpp"

namespace tessera::placement {

inline constexpr std::uint32_t cpu = 0, fast = 1, far = 2;

inline std::vector<place_kind> three_kinds() {
  place_kind host{.name = "cpu", .is_host = true, .ns_per_operation = 1, .overhead_ns = 100};
  place_kind device{.name = "sim: fast",
                    .ns_per_operation = 0.1,
                    .overhead_ns = 1000,
                    .link_seconds = 1e-3,
                    .link_bytes_per_second = 1e9};
  place_kind other = device;
  other.name = "sim: far";
  return {host, device, other};
}

/// A model with one profile in it.
struct history_rig {
  explicit history_rig(std::vector<place_kind> kinds = three_kinds()) : model(std::move(kinds)) {
    what = operation::gemm();
    what.number = 7;
    p = model.profile_of(what, element_type::f64);
  }
  void measure(std::uint32_t kind, double amount, double ns, int times = 1) {
    for (int k = 0; k < times; ++k) model.observe(*p, kind, {amount}, ns);
  }
  double ns(std::uint32_t kind, double amount) const { return model.seconds(p, kind, amount) * 1e9; }
  history model;
  operation::definition what;
  history::profile* p;
};

}  // namespace tessera::placement
