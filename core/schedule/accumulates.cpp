// The part of the scheduler that knows groups of accumulates: private copies and their reduction.
#include "core/block/accumulation.hpp"
#include "core/schedule/device/driver.hpp"
#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

task::record& scheduler::make_reduction(block::record& block, block::accumulation& group) {
  lane* mine = nullptr;
  task::record& t = begin(*m_reduce, std::source_location::current(), mine);
  t.flags |= task::flag_reduction;
  t.access_count = 1;
  t.accesses[0] = {.block = &block, .version = 0, .how = intent::update, .flags = 0, .space = 0};
  t.need_more().sums.assign(1, &group);
  t.sequence = take_ages(*mine, 1);
  mine->submitted.store(mine->submitted.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return t;
}

void scheduler::reduction_linked(task::record& reduction, bool ready) {
  if (ready) dispatch(current_lane(), reduction, when_ready::queue);
}

block::record* scheduler::make_private(const block::record& base) {
  if (base.foreign) m_setup.coherence->adopted().note_open_sum(base);
  return m_setup.settings->deterministic ? &m_setup.blocks->create(base.type, *base.extents) : nullptr;
}

bool scheduler::prepare_stage(task::record& t) {
  block::accumulation& group = *t.more->sums[0];
  const std::size_t blocks = group.copies.size() + 1;
  const auto room_of = [&](const placement::place& e) {
    const memory::space& space = m_setup.coherence->space_at(e.space);
    return m_placer.offers(e, t) ? space.limit() / std::max<std::uint64_t>(space.footprint(group.base->bytes), 1) : 0;
  };
  std::uint64_t most = 0, most_on_host = 0;
  placement::place* host = nullptr;
  for (const auto& e : m_places) {
    const std::uint64_t room = room_of(*e);
    most = std::max(most, room);
    if (!e->is_host || room <= most_on_host) continue;
    most_on_host = room;
    host = e.get();
  }
  if (blocks <= most || most_on_host < 2 || group.copies.size() < 2) return false;
  // The first copy takes in as many others as there is room for. They are freed before the next stage.
  block::record& sum = *group.copies.front().block;
  auto& accesses = t.more->accesses;
  accesses.assign(1,
                  {.block = &sum, .version = sum.flow.make_version(), .how = intent::update, .flags = 0, .space = 0});
  for (std::size_t k = 1; k < std::min<std::size_t>(group.copies.size(), most_on_host); ++k)
    accesses.push_back({.block = group.copies[k].block, .version = 0, .how = intent::read, .flags = 0, .space = 0});
  t.flags |= task::flag_many_accesses;
  t.place = static_cast<std::uint16_t>(host->number);
  return true;
}

bool scheduler::next_stage(lane& mine, task::record& t) {
  if ((t.flags & task::flag_many_accesses) == 0) return false;
  block::accumulation& group = *t.more->sums[0];
  const auto& accesses = t.more->accesses;
  if (accesses.empty() || accesses.front().block == group.base) return false;
  for (std::size_t k = 1; k < accesses.size(); ++k) destroy_later(*accesses[k].block);
  group.copies.erase(group.copies.begin() + 1, group.copies.begin() + static_cast<std::ptrdiff_t>(accesses.size()));
  t.flags &= static_cast<std::uint8_t>(~(task::flag_prepared | task::flag_acquired));
  t.place = task::no_place;
  dispatch(mine, t, when_ready::queue);
  return true;
}

void scheduler::give_copies(task::record& t, placement::place& where) {
  t.flags |= task::flag_prepared;
  if ((t.flags & task::flag_reduction) != 0) {
    if (prepare_stage(t)) return;
    block::accumulation& group = *t.more->sums[0];
    auto& accesses = t.more->accesses;
    accesses.assign(1, t.accesses[0]);
    {
      const std::lock_guard guard(group.base->lock);
      if (group.base->valid_spaces.empty() && group.base->poison == nullptr)
        accesses[0].how = intent::write;  // a sum from zero
    }
    const std::lock_guard guard(group.lock);
    for (const auto& copy : group.copies)
      accesses.push_back({.block = copy.block, .version = 0, .how = intent::read, .flags = 0, .space = 0});
    t.flags |= task::flag_many_accesses;
    return;
  }
  const auto accesses = t.all_accesses();
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    block::accumulation* const group = t.more->sums[k];
    if (group == nullptr) continue;
    block::accumulation::private_copy mine;
    {
      const std::lock_guard guard(group->lock);
      for (auto& copy : group->copies)
        if (!copy.busy && copy.space == where.space) {
          copy.busy = true;
          mine = copy;
          break;
        }
    }
    block::access& a = accesses[k];
    if (mine.block == nullptr) {
      mine = {&m_setup.blocks->create(group->base->type, *group->base->extents), where.space, true};
      a.flags |= task::access_fresh;
      const std::lock_guard guard(group->lock);
      group->copies.push_back(mine);
    }
    a.block = mine.block;
    a.how = (a.flags & task::access_fresh) != 0 ? intent::write : intent::update;
    a.version = mine.block->flow.make_version();  // one user at a time: the copy is busy
  }
}

void scheduler::give_copies_back(task::record& t) {
  if ((t.flags & task::flag_accumulates) == 0 || (t.flags & task::flag_prepared) == 0) return;
  const auto accesses = t.all_accesses();
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    block::accumulation* const group = t.more->sums[k];
    if (group == nullptr) continue;
    const std::lock_guard guard(group->lock);
    for (auto& copy : group->copies)
      if (copy.block == accesses[k].block) copy.busy = false;
  }
}

// The reduction makes the block's next version, whoever writes the one before: so the failure waits for it in the
// group.
void scheduler::note_missing_addend(task::record& t, const std::shared_ptr<const block::failure>& why) {
  for (block::accumulation* const group : t.more->sums) {
    if (group == nullptr) continue;
    const std::lock_guard guard(group->lock);
    if (!group->missing) group->missing = why;
  }
}

bool scheduler::lacks_addend(lane& mine, task::record& reduction) {
  block::accumulation& group = *reduction.more->sums[0];
  std::shared_ptr<const block::failure> why;
  {
    const std::lock_guard guard(group.lock);
    why = group.missing;
  }
  if (!why) return false;
  reduction.flags |= task::flag_prepared;
  reduction.place = 0;
  reduction.extension = nullptr;
  fail_unstarted(mine, reduction, why);
  return true;
}

void scheduler::end_group(task::record& t) {
  block::accumulation* const group = t.more->sums[0];
  for (const auto& copy : group->copies) destroy_later(*copy.block);
  delete group;
}

}  // namespace tessera::schedule
