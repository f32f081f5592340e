#pragma once
// (policy, iterations, subtree) -> the tasks of a region. Pure.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hierarchy/policy/split.hpp"

namespace tessera::hierarchy {

/// Iterations [begin, end), counted from 0, of one task.
struct piece {
  location::node_id leaf = location::no_node;  ///< whose share it belongs to
  location::node_id at = location::no_node;    ///< where it runs: the leaf, or a core of it
  std::uint64_t begin = 0, end = 0;
  bool on_device = false;                        ///< whether `at` has a memory of its own
  location::node_id memory = location::no_node;  ///< the location whose memory `at` works in
  friend bool operator==(const piece&, const piece&) = default;
};

/// How a region is split.
struct plan {
  std::vector<location::node_id> leaves;  ///< that take part, depth first, also those that get nothing
  std::vector<piece> pieces;              ///< in the order of iterations
};

/// The leaves that can run a region at or below a location: those that split counts.
std::vector<location::node_id> leaves_of_region(const location::tree& tree, location::node_id at,
                                                const executors& runners = host_executors);

/// Splits 0 .. n-1 over the leaves below `at` that take part (hierarchy/policy/split.hpp), and the share of a declared
/// group of cores evenly over its cores. `states` as there. Throws as split. @param leaves  leaves_of_region, where
/// they are known
plan plan_region(const policy& by, std::uint64_t n, const location::tree& tree, location::node_id at,
                 const std::string& region, std::span<const leaf_state> states = {},
                 const executors& runners = host_executors, std::span<const location::node_id> leaves = {});

/// A plan whose pieces belong to one leaf, as one task: where the first of them runs.
std::shared_ptr<const plan> as_one_task(std::shared_ptr<const plan> from);

/// A plan for arrays that have blocks of their own: pieces begin and end at the borders nearest to where they did, and
/// are split at those inside; leaves to which none is left over get nothing. Without borders, one piece.
/// @param borders  iterations at which blocks begin, ascending, neither 0 nor the last one's end
std::shared_ptr<const plan> at_borders(std::shared_ptr<const plan> from, std::span<const std::uint64_t> borders);

/// What a region's tasks need of the memory that they work in, in bytes.
struct memory_need {
  std::uint64_t of_all = 0;         ///< once, for all tasks: what each of them reads
  std::uint64_t per_task = 0;       ///< beside that for each task, however short
  std::uint64_t per_iteration = 0;  ///< beside those
};

/// Tasks that a piece becomes at most so that they fit. What needs more has hardly any room for its own rows beside
/// what each task reads, and would spend its time on tasks.
inline constexpr std::uint64_t max_tasks_of_a_piece = 4096;

/// Splits the pieces on devices that do not fit into the memory, which has `limit(at)` bytes, twice beside what all
/// tasks read, which is there once: evenly, so that several parts fit together into it. A piece that does not fit so,
/// with max_tasks_of_a_piece, or where that takes half of the memory, stays whole, and runs elsewhere. Where all fit,
/// the same plan.
std::shared_ptr<const plan> fitted(std::shared_ptr<const plan> from, const memory_need& need,
                                   const std::function<std::uint64_t(location::node_id)>& limit);

}  // namespace tessera::hierarchy
