#pragma once
// What a call of location_model::region asks for: its checks, and what its tasks need.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/plan.hpp"
#include "hierarchy/region/storage.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// How many a loop has, whose step is not 0.
std::uint64_t iterations_of(const loop_bounds& over) noexcept;

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

  std::string name_and_place() const;  ///< the region's name and place in the program, for messages
  /// The same for messages about its policy: where the options say where that comes from, this is the place.
  std::string policy_place() const;
  /// Throws usage, about this region.
  [[noreturn]] void refuse(std::string text, std::string hint = {}) const;

  // ---- what may be refused

  /// No array or result was moved from. Before all others.
  void check_named() const;
  /// Arrays and results belong to this runtime.
  void check_owner(const runtime& of) const;
  /// No result is named twice, and no array but for one that is written by chunk and read in rows that no iteration
  /// writes.
  void check_once() const;
  /// Each iteration has the rows that it uses, and is among those that are split.
  void check_rows() const;
  /// Arrays that are made again for each region are written, and are not part of a recording.
  void check_remade(bool recorded) const;
  /// No two of so many tasks write the same rows.
  void check_writes(std::size_t pieces) const;
  /// The tiles of an array may be changed, for everybody, for what a task writes.
  void check_cut(const array_storage& array) const;

  // ---- what the tasks need

  /// Iterations at which blocks begin, of arrays that have blocks of their own and are used by part: of those that are
  /// written, or where there are none, of those that are read. Ascending, neither 0 nor split_count. Nothing where no
  /// such array is used.
  std::optional<std::vector<std::uint64_t>> block_borders() const;
  /// Iterations that are split: those of the loop, or of the rows that the options name.
  std::uint64_t split_count() const noexcept;
  /// The tasks of a plan for split_count iterations that the loop has any of, with those; `parts` stay beside them.
  std::shared_ptr<const plan> of_the_loop(std::shared_ptr<const plan> planned, std::vector<row_interval>& parts) const;
  /// What all iterations use of an array together, with what their tasks have as their own.
  row_interval all_rows(const detail::region_demand& d) const;
  /// Of an array that is read and written, in rows apart from each other: the use that reads it, given the one that
  /// writes; else null.
  const detail::region_demand* reader_beside(const detail::region_demand& writer) const;
  /// Whether it is such a use that reads.
  bool reads_beside(const detail::region_demand& d) const;
  /// Whether each task uses rows of its own of it.
  static bool by_part(const detail::region_demand& d) noexcept;
  /// The rows of each task's iterations, of a plan for split_count iterations. Where no array is used by chunk or halo,
  /// the indices need not be rows, and there are none.
  std::vector<row_interval> parts_of(const plan& planned) const;
  /// Rows of the array that each task has to itself: its iterations, shifted by the halo's offset and cut at the ends
  /// of the array. For arrays that are used by chunk or halo; tasks without rows are left out. In `room`, or `parts`.
  static std::span<const row_interval> own_rows(const detail::region_demand& d, std::span<const row_interval> parts,
                                                std::vector<row_interval>& room);
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
  /// Whether an iteration may write any row of an array, so that one task must have all of them.
  bool writes_whole() const noexcept;
  /// What the body declares, weakened where its loop does not go over every element.
  intent how(const detail::region_demand& d) const;

 private:
  std::uint64_t count_iterations() const;
  bool splits_other_rows() const noexcept { return options.split_over != std::array<std::int64_t, 2>{0, 0}; }
  row_interval loop_rows() const;
  void check_apart(const detail::region_demand& one, const detail::region_demand& other) const;
  void check_rows_of(const detail::region_demand& d) const;
  void check_reach(const detail::region_demand& d) const;
  void check_surely_read(const detail::region_demand& d) const;
  void check_writes_of(const detail::region_demand& d, std::size_t pieces) const;
};

}  // namespace tessera::hierarchy
