#include "core/schedule/reductions.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

namespace tessera::schedule {

std::optional<reduction_stage> plan_stage(std::size_t copies, std::span<const reduction_place> places) {
  std::uint64_t most = 0, max_on_host = 0;
  std::uint32_t host = 0;
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    most = std::max(most, places[k].room);
    if (!places[k].is_host || places[k].room <= max_on_host) continue;
    max_on_host = places[k].room;
    host = k;
  }
  const std::size_t blocks = copies + 1;  // and the sum itself
  if (blocks <= most || max_on_host < 2 || copies < 2) return std::nullopt;
  return reduction_stage{host, static_cast<std::size_t>(std::min<std::uint64_t>(copies, max_on_host))};
}

void reductions::make(task::record& t, block::record& sum, block::accumulation& group) {
  t.flags |= task::flag_reduction;
  t.access_count = 1;
  t.accesses[0] = {.block = &sum, .version = 0, .intent = intent::update, .flags = 0, .space = 0};
  t.need_more().sums.assign(1, &group);
  if (group.how == block::addition) return;
  const block::combination& combining = block::combination_at(group.how);
  static_assert(sizeof combining <= task::record::inline_arguments && std::is_trivially_copyable_v<block::combination>);
  t.argument_size = sizeof combining;
  new (t.arguments.data()) block::combination(combining);
}

block::record* reductions::make_private(const block::record& base) {
  if (base.foreign) m_setup.coherence->adopted().note_open_sum(base);
  return m_setup.deterministic ? &m_setup.blocks->create(base.type, *base.extents) : nullptr;
}

void reductions::give_copies(task::record& t, memory::space_number space) {
  t.flags |= task::flag_prepared;
  if ((t.flags & task::flag_reduction) == 0) return give_adder_copies(t, space);
  keep_copies(*t.more->sums[0]);
  if (!prepare_stage(t)) prepare_sum(t);
}

/// From now on they stay as they are, so that they may be read.
void reductions::keep_copies(block::accumulation& group) {
  const std::lock_guard guard(group.lock);
  group.summed = true;
}

bool reductions::prepare_stage(task::record& reduction) {
  block::accumulation& group = *reduction.more->sums[0];
  boost::container::small_vector<reduction_place, 16> places;
  for (const auto& e : *m_setup.places) {
    const memory::space& space = m_setup.coherence->space_at(e->space);
    places.push_back({.is_host = e->is_host,
                      .room = m_setup.placer->offers(*e, reduction)
                                  ? space.limit() / std::max<std::uint64_t>(space.allocated_size(group.base->bytes), 1)
                                  : 0});
  }
  const std::optional<reduction_stage> stage = plan_stage(group.copies.size(), {places.data(), places.size()});
  if (!stage) return false;
  // The first copy takes in the others. They are freed before the next stage.
  block::record& sum = *group.copies.front().block;
  auto& accesses = reduction.more->accesses;
  accesses.assign(
      1, {.block = &sum, .version = sum.flow.make_version(), .intent = intent::update, .flags = 0, .space = 0});
  for (std::size_t k = 1; k < stage->copies; ++k)
    accesses.push_back({.block = group.copies[k].block, .version = 0, .intent = intent::read, .flags = 0, .space = 0});
  reduction.flags |= task::flag_many_accesses;
  reduction.place = static_cast<std::uint16_t>(stage->place);
  return true;
}

void reductions::prepare_sum(task::record& reduction) {
  block::accumulation& group = *reduction.more->sums[0];
  auto& accesses = reduction.more->accesses;
  accesses.assign(1, reduction.accesses[0]);
  {
    const std::lock_guard guard(group.base->lock);
    if (group.base->valid_spaces.empty() && group.base->poison == nullptr)
      accesses[0].intent = intent::write;  // a sum from zero
  }
  for (const auto& copy : group.copies)
    accesses.push_back({.block = copy.block, .version = 0, .intent = intent::read, .flags = 0, .space = 0});
  reduction.flags |= task::flag_many_accesses;
}

/// While a sum waits for memory its copies may become fewer. A stage keeps them: it needs no memory but theirs.
void reductions::let_copies_go(task::record& reduction) {
  block::accumulation& group = *reduction.more->sums[0];
  if (group.in_turn || reduction.more->accesses.front().block != group.base) return;
  reduction.more->accesses.clear();
  reduction.flags &= static_cast<std::uint8_t>(~(task::flag_prepared | task::flag_many_accesses));
  const std::lock_guard guard(group.lock);
  group.summed = false;
}

std::vector<block::record*> reductions::take_unused_copies(task::record& adder) {
  std::vector<block::record*> unused;
  const auto accesses = adder.all_accesses();
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    block::accumulation* const group = adder.more->sums[k];
    if (group == nullptr) continue;
    block::access& a = accesses[k];
    const std::lock_guard guard(group->lock);
    const auto its = std::ranges::find(group->copies, a.block, &block::accumulation::private_copy::block);
    if ((a.flags & task::access_fresh) != 0) {
      unused.push_back(a.block);
      group->copies.erase(its);
    } else {
      its->busy = false;
      m_set_free.store(true);
    }
    a = {.block = group->base,
         .version = 0,
         .intent = intent::accumulate,
         .flags = static_cast<std::uint8_t>(a.flags & ~task::access_fresh),
         .space = group->how};
  }
  adder.flags &= static_cast<std::uint8_t>(~task::flag_prepared);
  return unused;
}

bool reductions::has_idle_copies(const task::record& adder, memory::space_number space) {
  return std::ranges::all_of(adder.more->sums, [&](block::accumulation* group) {
    if (group == nullptr) return true;
    const std::lock_guard guard(group->lock);
    return std::ranges::any_of(group->copies, [&](const auto& copy) { return !copy.busy && copy.space == space; });
  });
}

bool reductions::find_two(block::accumulation& group, memory::space_number space, std::array<block::access, 2>& two) {
  if (group.summed || group.missing != nullptr) return false;
  std::size_t found = 0;
  for (const auto& copy : group.copies) {
    if (copy.busy || copy.space != space || copy.block->committed == 0 || copy.block->poison != nullptr) continue;
    two[found++] = {.block = copy.block, .version = 0, .intent = intent::read, .flags = 0, .space = 0};
    if (found < two.size()) continue;
    two[0].intent = intent::update;
    two[0].version = two[0].block->flow.make_version();
    return true;
  }
  return false;
}

void reductions::forget(const block::accumulation& group) noexcept {
  if (!group.several) return;
  const std::lock_guard guard(m_mutex);
  std::erase(m_several, &group);
}

void reductions::give_adder_copies(task::record& adder, memory::space_number space) {
  const auto accesses = adder.all_accesses();
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    block::accumulation* const group = adder.more->sums[k];
    if (group == nullptr) continue;
    block::accumulation::private_copy copy_for_task;
    bool second = false;
    {
      const std::lock_guard guard(group->lock);
      for (auto& copy : group->copies)
        if (!copy.busy && copy.space == space) {
          copy.busy = true;
          copy_for_task = copy;
          break;
        }
    }
    block::access& a = accesses[k];
    if (copy_for_task.block == nullptr) {
      copy_for_task = {&m_setup.blocks->create(group->base->type, *group->base->extents), space, true};
      copy_for_task.block->position = group->how;
      a.flags |= task::access_fresh;
      const std::lock_guard guard(group->lock);
      group->copies.push_back(copy_for_task);
      if (group->copies.size() > 1 && !std::exchange(group->several, true)) second = true;
    }
    if (second) {
      const std::lock_guard guard(m_mutex);
      m_several.push_back(group);
    }
    a.block = copy_for_task.block;
    a.intent = (a.flags & task::access_fresh) != 0 ? intent::write : intent::update;
    a.version = copy_for_task.block->flow.make_version();  // one user at a time: the copy is busy
  }
}

void reductions::give_back(task::record& adder) {
  if ((adder.flags & task::flag_accumulates) == 0 || (adder.flags & task::flag_prepared) == 0) return;
  const auto accesses = adder.all_accesses();
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    block::accumulation* const group = adder.more->sums[k];
    if (group == nullptr) continue;
    const std::lock_guard guard(group->lock);
    for (auto& copy : group->copies)
      if (copy.block == accesses[k].block) {
        copy.busy = false;
        break;
      }
  }
  if (!m_short.load(std::memory_order_relaxed)) return;  // the locks above order it
  m_fruitless.store(0);
  for (std::size_t k = 0; k < accesses.size(); ++k)
    if (adder.more->sums[k] != nullptr) m_setup.coherence->space_at(accesses[k].space).waiters().notify();
}

// The reduction makes the block's next version, whoever writes the one before: so the failure waits for it in the
// group.
void reductions::note_missing(task::record& adder, const std::shared_ptr<const block::failure>& why) {
  for (block::accumulation* const group : adder.more->sums) {
    if (group == nullptr) continue;
    const std::lock_guard guard(group->lock);
    if (!group->missing) group->missing = why;
  }
}

std::shared_ptr<const block::failure> reductions::why_missing(task::record& reduction) {
  block::accumulation& group = *reduction.more->sums[0];
  const std::lock_guard guard(group.lock);
  return group.missing;
}

}  // namespace tessera::schedule
