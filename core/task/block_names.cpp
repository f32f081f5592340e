#include "core/task/block_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "core/base/units.hpp"
#include "core/block/accumulation.hpp"

namespace tessera::task {
namespace {

/// What a hidden block is a private copy of, or the one that an adder is to get; null: nothing.
const block::record* base_of(const record& t, std::size_t k, const block::access& a) {
  if ((a.block->from != nullptr && a.intent != intent::accumulate) || t.more == nullptr || t.more->sums.empty())
    return nullptr;
  // An accumulate has a group for each access, a reduction one for all.
  const block::accumulation* const group = t.more->sums[std::min(k, t.more->sums.size() - 1)];
  return group != nullptr ? group->base : nullptr;
}

}  // namespace

std::string names_of_blocks(record& t) {
  constexpr std::size_t max_named = 4;
  const auto accesses = t.all_accesses();
  std::string names;
  for (std::size_t k = 0; k < std::min(accesses.size(), max_named); ++k) {
    const block::record& b = *accesses[k].block;
    const block::record* const base = base_of(t, k, accesses[k]);
    names += fmt::format("{}{} ({})", k == 0 ? "" : ", ",
                         base != nullptr ? "the private copy of " + block::name_of(*base) : block::name_of(b),
                         format_bytes(static_cast<double>(b.bytes)));
  }
  if (accesses.size() > max_named) names += fmt::format(" and {} more blocks", accesses.size() - max_named);
  return names;
}

}  // namespace tessera::task
