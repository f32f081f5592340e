#pragma once
// The operations that regions are on devices.
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hierarchy/policy/leaves.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// Makes an operation for each kernel that a region needs, when it needs it first. Thread-safe.
class region_kernels {
 public:
  explicit region_kernels(runtime& of);

  /// Who runs a region with this form for devices, or without one (null): devices that compile no kernels do not, nor
  /// those without numbers of 64 bits where the region has such. Valid as long as this.
  executors who_runs(const detail::region_kernel* kernel, std::span<const detail::region_demand> demands) const;

  /// The operation of tasks that name so many tiles of each array, or fewer; `tiles` has an entry per demand. Throws
  /// tessera::error (usage) for a text that is wrong.
  const operation::definition& operation_for(std::string_view region, const detail::region_kernel& kernel,
                                             std::span<const detail::region_demand> demands,
                                             std::span<const std::size_t> tiles);

  /// Bytes that blocks may take in the memory of a device that compiles kernels.
  std::uint64_t memory_limit(location::node_id device) const;

  /// Elements of a result's part that so many iterations on a device make: one per group of the kernel's threads.
  static std::int64_t groups_for(std::uint64_t iterations) noexcept;

 private:
  runtime& m_runtime;
  std::map<location::node_id, std::uint64_t> m_limits;  // bytes of each device's memory
  std::vector<location::node_id> m_without;             // devices that compile no kernels
  std::vector<location::node_id> m_without_doubles;     // those, and those without f64
  std::mutex m_mutex;
  std::map<std::string, const operation::definition*, std::less<>> m_operations;  // by all that they depend on
};

}  // namespace tessera::hierarchy
