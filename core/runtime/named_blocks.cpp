#include "core/runtime/named_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/base/call_site.hpp"

namespace tessera {
namespace {

/// One block that stands twice in a task, where one of its uses writes. Null: there is none.
struct twice_named {
  const block::access *first = nullptr, *second = nullptr;
};

twice_named find_twice(std::span<const block::access> accesses) {
  boost::container::small_vector<const block::access*, 32> sorted;
  bool ascending = true;
  for (const block::access& a : accesses) {
    if (a.intent == intent::accumulate) continue;
    ascending = ascending && (sorted.empty() || sorted.back()->block->slot < a.block->slot);
    sorted.push_back(&a);
  }
  if (ascending) return {};  // as lists of whole arrays are
  std::ranges::sort(sorted, [](const block::access* a, const block::access* b) {
    return a->block->slot != b->block->slot ? a->block->slot < b->block->slot : a < b;
  });
  for (auto from = sorted.begin(); from != sorted.end();) {
    const auto to =
        std::find_if(from, sorted.end(), [&](const block::access* a) { return a->block != (*from)->block; });
    const bool written = std::any_of(from, to, [](const block::access* a) { return a->intent != intent::read; });
    if (written && to - from > 1) return {*from, *(from + 1)};
    from = to;
  }
  return {};
}

/// A block that a task accumulates into with two combinations; null: there is none.
const block::record* find_two_combinations(std::span<const block::access> accesses) {
  boost::container::small_vector<const block::access*, 32> sorted;
  for (const block::access& a : accesses)
    if (a.intent == intent::accumulate) sorted.push_back(&a);
  std::ranges::sort(sorted, {}, [](const block::access* a) { return a->block->slot; });
  const auto found = std::ranges::adjacent_find(sorted, [](const block::access* a, const block::access* b) {
    return a->block == b->block && a->space != b->space;
  });
  return found != sorted.end() ? (*found)->block : nullptr;
}

}  // namespace

void refuse_ended_block(std::string_view call, std::source_location site) {
  throw error(error_kind::usage, fmt::format("{} names a block of an array that has ended", call), file_and_line(site),
              "a block is valid while its array lives. `runtime.validate = true` tells which array it was and where it "
              "ended");
}

void refuse_foreign_block(const block::record& block, std::uint32_t runtime, std::string_view call,
                          std::source_location site) {
  if (block.owner == 0) refuse_ended_block(fmt::format("{} of runtime {}", call, runtime), site);
  throw error(error_kind::usage,
              fmt::format("{} of runtime {} names {}, which is a block of runtime {}", call, runtime,
                          block::name_of(block), block.owner),
              file_and_line(site),
              "each runtime has blocks of its own: copy what is in one to the other by views. Runtimes are numbered in "
              "the order in which they were made");
}

void check_named_blocks(std::string_view task, std::span<const block::access> accesses, std::uint32_t runtime,
                        std::source_location site) {
  for (const block::access& a : accesses)
    if (a.block == nullptr)
      throw error(error_kind::usage,
                  fmt::format("task '{}' was given no block as number {} of {}", task, &a - accesses.data() + 1,
                              accesses.size()),
                  file_and_line(site),
                  "read(), update() and their like make a block_access; an empty one names nothing");
  for (const block::access& a : accesses)
    if (a.block->owner != runtime) refuse_foreign_block(*a.block, runtime, fmt::format("task '{}'", task), site);
  if (const block::record* const two_ways = find_two_combinations(accesses))
    throw error(error_kind::usage,
                fmt::format("task '{}' accumulates into {} with two operations", task, block::name_of(*two_ways)),
                file_and_line(site), "one task combines a block's values in one way: submit two tasks");
  const twice_named found = find_twice(accesses);
  if (found.first == nullptr) return;
  throw error(error_kind::usage,
              fmt::format("task '{}' names {} twice: {} and {}", task, block::name_of(*found.first->block),
                          name_of(found.first->intent), name_of(found.second->intent)),
              file_and_line(site),
              "a block that a task writes stands in it once: update(b) sees what was there and may change it, and an "
              "operation wants its result apart from what it reads");
}

}  // namespace tessera
