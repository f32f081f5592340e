#pragma once
// How long an operation takes where.
#include <array>
#include <memory>
#include <vector>

#include "core/block/element_type.hpp"
#include "core/placement/history.hpp"
#include "hierarchy/simulation/describe.hpp"

namespace tessera::hierarchy {

/// The extents of an operation, as the BLAS interface names them; 1 where it has fewer than three.
struct operation_extents {
  double m = 1, n = 1, k = 1;
};

/// Floating-point operations, as the runtime counts them.
double flops_of(timed_operation what, const operation_extents& e) noexcept;

/// Durations at one kind of place: as described, or as measured where measurements are given and know the operation.
class duration_model {
 public:
  /// @param learnt  cells of one place (core/placement/history.hpp); may be empty
  duration_model(const described_speed& speed, std::vector<placement::history_cell> learnt = {});

  /// Nanoseconds of a kernel, without the overhead of its start. 0 is rounded up to 1.
  std::uint64_t compute_ns(timed_operation what, element_type type, const operation_extents& e) const;
  /// Of an operation that reads or writes `bytes` of memory.
  std::uint64_t move_ns(double bytes) const noexcept;
  std::uint64_t overhead_ns() const noexcept { return m_speed.overhead_ns; }
  /// Whether compute_ns comes from measurements, which have the overhead in them.
  bool is_learnt(timed_operation what, element_type type) const noexcept {
    return m_known[static_cast<std::size_t>(what)][static_cast<std::size_t>(type)];
  }

 private:
  described_speed m_speed;
  operation::catalog m_operations;
  std::array<const operation::definition*, timed_operation_names.size()> m_definitions{};
  std::array<std::array<bool, 16>, timed_operation_names.size()> m_known{};
  std::unique_ptr<placement::history> m_learnt;  ///< null: nothing is
};

}  // namespace tessera::hierarchy
