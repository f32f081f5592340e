#pragma once
// What a call of location_model::region asks for: its checks, and what its tasks need.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/plan.hpp"
#include "hierarchy/region/storage.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// A call of location_model::region, on the stack of the caller. The checks throw tessera::error (usage), and change
/// nothing; what a task needs is a pure function of the call and of the plan.
class region_request {
 public:
  /// All arguments outlive it. Throws usage for a step of 0.
  region_request(const task_name& name, const region_options& options, const loop_bounds& over,
                 std::span<const detail::region_demand> demands, const detail::region_code& code);

  const task_name& name;
  const region_options& options;
  const loop_bounds& over;
  const std::span<const detail::region_demand> demands;
  const detail::region_code& code;
  const std::uint64_t count;  ///< iterations of the split loop

  std::string who() const;  ///< the region's name and place in the program, for messages
  /// Throws usage, about this region.
  [[noreturn]] void refuse(std::string text, std::string hint = {}) const;

  // ---- what may be refused

  /// Arrays and results belong to this runtime.
  void check_owner(const runtime& of) const;
  /// No array and no result is named twice.
  void check_once() const;
  /// Each iteration has the rows that it uses.
  void check_rows() const;
  /// No two of so many tasks write the same rows.
  void check_writes(std::size_t pieces) const;
  /// The tiles of an array may be changed for what a task writes. @param recorded  whether the call is
  void check_cut(const array_storage& array, bool recorded) const;

  // ---- what the tasks need

  /// Whether each task uses rows of its own of it.
  static bool by_part(const detail::region_demand& d) noexcept;
  /// What each task uses of arrays that are used by chunk or halo, without the halo. Where there is none, the indices
  /// need not be rows, and there are none.
  std::vector<row_interval> parts_of(const plan& planned) const;
  /// What the k-th task uses of an array.
  static row_interval used_rows(const detail::region_demand& d, std::span<const row_interval> parts, std::size_t k);
  /// Of each task. Of a halo also the parts beside its own count, which are tiles where they are in the same memory.
  memory_need memory_need_of() const;
  /// Of an array that is read with a halo: the rows where tiles should end so that no more than the halo moves from one
  /// memory to another.
  static std::vector<std::int64_t> edges(const detail::region_demand& d, const plan& split,
                                         std::span<const row_interval> parts);
  /// Of an array that is read beyond the tasks' own parts: what all of them read together, where one of them would name
  /// more tiles than it should; else nothing.
  static row_interval crowded_rows(const detail::region_demand& d, std::span<const row_interval> parts);
  /// What the body declares, weakened where its loop does not go over every element.
  intent how(const detail::region_demand& d) const;

 private:
  std::uint64_t count_iterations() const;
  void check_rows_of(const detail::region_demand& d) const;
  void check_writes_of(const detail::region_demand& d, std::size_t pieces) const;
};

}  // namespace tessera::hierarchy
