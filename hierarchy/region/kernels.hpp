#pragma once
// The operations that regions are on devices.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/placement/place.hpp"
#include "hierarchy/policy/leaves.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// Makes an operation for each kernel that a region needs, when a region of any model of the runtime needs it first.
/// Thread-safe.
class region_kernels {
 public:
  explicit region_kernels(runtime& of);

  /// Who runs a region with this form for devices, or without one (null): not devices that compile no kernels or are
  /// detached, nor those without numbers of 64 bits where the region has such. The same list is the same memory, valid
  /// as long as this. One thread at a time.
  /// @param with_detached  also devices that are detached; the host runs their tasks
  executors runners_of(const detail::region_kernel* kernel, std::span<const detail::region_demand> demands,
                       bool with_detached = false);
  /// The name of a device at or below a location that would take part if the body had a form for it, or no numbers of
  /// 64 bits; "": there is none.
  std::string idle_device(const detail::region_kernel* kernel, std::span<const detail::region_demand> demands,
                          const location::tree& tree, location::node_id at) const;
  /// Whether a device is detached, or lost.
  bool any_detached() const noexcept;

  /// The operation of tasks that name so many tiles of each array, or fewer; `tiles` has an entry per demand. Throws
  /// tessera::error (usage) for a text that is wrong.
  const operation::definition& operation_for(const task_name& region, const detail::region_kernel& kernel,
                                             std::span<const detail::region_demand> demands,
                                             std::span<const std::size_t> tiles);

  /// Whether what the host runs of a body with a text (null: it has none) is to run in both forms, as such an
  /// operation: while validating.
  bool compares(const detail::region_kernel* kernel) const noexcept;
  /// Whether the host's tasks are looked at, as operations of `looked_at`: while validating.
  bool looks() const noexcept;
  /// The operation of tasks that the host runs alone while somebody looks at what they use.
  const operation::definition& looked_at(const task_name& region, const detail::region_form& form,
                                         std::span<const detail::region_demand> demands);
  /// Whether a kernel's parameters are few enough for so many tiles; `tiles` has an entry per demand.
  static bool fits(const detail::region_kernel& kernel, std::span<const detail::region_demand> demands,
                   std::span<const std::size_t> tiles) noexcept;

  /// Bytes that blocks may take in the memory of a device that compiles kernels.
  std::uint64_t memory_limit(location::node_id device) const;

  /// Elements of a result's part that so many iterations on a device make, each of them so many work items: one per
  /// group of the kernel's threads.
  static std::int64_t groups_for(std::uint64_t iterations, std::uint64_t inside) noexcept;

 private:
  struct abilities {
    const placement::place* place;
    bool compiles, has_doubles;
  };
  /// Those that the models of a runtime have made.
  struct operation_set {
    std::mutex mutex;
    std::map<std::string, const operation::definition*, std::less<>> all;  // by all that they depend on
  };
  static std::shared_ptr<operation_set> operations_of(runtime& rt);
  static bool takes_part(const abilities& d, bool doubles, bool with_detached) noexcept;
  const std::vector<location::node_id>& without(bool doubles, bool with_detached);

  runtime& m_runtime;
  std::map<location::node_id, std::uint64_t> m_limits;  // bytes of each device's memory
  std::map<location::node_id, abilities> m_devices;
  std::set<std::vector<location::node_id>> m_lists;  // that runners_of has given
  const std::shared_ptr<operation_set> m_operations;
};

}  // namespace tessera::hierarchy
