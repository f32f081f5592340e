#pragma once
// What is simulated: the tasks of a command, without data.
#include <cstdint>
#include <functional>
#include <string>

#include "hierarchy/simulation/device_model.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps {

/// Which program on which matrices.
struct job {
  std::string name;  ///< "cholesky" or "gemm"
  std::string type;  ///< "f64" or "f32"
  std::int64_t n = 0, tile = 0;
  std::int64_t tiles() const noexcept { return (n + tile - 1) / tile; }
  double flops() const noexcept;
  std::uint64_t tasks() const noexcept;
  double bytes() const noexcept;  ///< of all tiles
};

/// No run can be faster than each of these, whatever is scheduled where.
struct lower_bounds {
  double work_seconds = 0;  ///< all operations at the best rate of every place at once
  double path_seconds = 0;  ///< a chain of tasks of which each waits for the one before, each at its fastest place
};
lower_bounds bounds_of(const job& what, const hierarchy::device_model& on, std::uint32_t workers);

/// Makes the matrices as the real command does (filled, on the host), then calls begin(), runs the job to its end,
/// calls end().
void run_job(const job& what, runtime& rt, const std::function<void()>& begin, const std::function<void()>& end);

}  // namespace tessera::apps
