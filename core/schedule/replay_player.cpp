#include "core/schedule/replay_player.hpp"

#include <fmt/format.h>

#include <mutex>
#include <unordered_set>

#include "core/base/call_site.hpp"
#include "core/schedule/view_requests.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {
namespace {

/// One for each block that a task of the recording uses.
std::vector<first_use> first_uses_of(const task::recording& what) {
  std::vector<first_use> found;
  std::unordered_set<std::uint32_t> seen;
  for (std::size_t k = 0; k < what.size(); ++k)
    for (const task::recorded_access& a : what.accesses_of(what.tasks[k]))
      if (seen.insert(a.block).second)
        found.push_back({a.block, static_cast<std::uint32_t>(k), static_cast<intent>(a.intent) != intent::read});
  return found;
}

/// All uses of this replay, and the first ones of a further one, which will most likely follow.
void announce_uses(running_replay& r) {
  const task::recording& recorded = r.recording;
  for (std::size_t k = 0; k < recorded.size(); ++k)
    for (const task::recorded_access& a : recorded.accesses_of(recorded.tasks[k]))
      r.uses->note(*r.blocks[a.block].block, r.first_sequence + k, static_cast<intent>(a.intent) != intent::read);
  if (r.first_uses.empty()) r.first_uses = first_uses_of(recorded);
  for (const first_use& first : r.first_uses)
    r.uses->expect(*r.blocks[first.block].block, r.first_sequence + recorded.size() + first.task, first.writes);
}

}  // namespace

bool replay_player::wait_for(running_replay& what) {
  if (what.finished()) return true;
  return m_setup.deadlock->wait(
      m_setup.owner->context_of_this_thread(), [&] { return what.finished(); }, m_setup.pool->look_every());
}

void replay_player::refuse_own_wait(std::string_view call, std::source_location site) {
  throw error(
      error_kind::usage,
      fmt::format("{} waits for an earlier replay of the same recording, which waits for what this thread holds: "
                  "views of {}",
                  call, held_by(m_setup.owner->context_of_this_thread())),
      file_and_line(site),
      "let views end before: record_options::replays_under_way says how many replays may "
      "be under way");
}

void replay_player::require_playable(std::source_location site) {
  const thread_context& thread = m_setup.owner->context_of_this_thread();
  if (thread.recorder != nullptr)
    throw error(error_kind::usage, "a replay inside a recording", file_and_line(site), "submit its tasks instead");
  if (!thread.in_program())
    throw error(error_kind::usage, "a replay inside a task", file_and_line(site),
                "recordings are replayed by the program's own threads");
}

void replay_player::play(running_replay& r, std::source_location site) {
  require_playable(site);
  thread_context& thread = m_setup.owner->context_of_this_thread();
  const task::recording& recorded = r.recording;
  if (recorded.size() == 0) return;
  const std::string gone = m_setup.blocks->ended_array_of(recorded);
  if (!gone.empty() && m_setup.validator == nullptr)  // a validator has a finding of its own
    throw error(error_kind::usage, gone + " has ended before the replay of a recording that uses it",
                file_and_line(site), "keep the arrays of a recording as long as it is replayed");
  if (m_setup.validator != nullptr && !m_setup.validator->replayed(r, site)) return;  // arrays that it uses are gone
  m_setup.engine->rewind(thread, r);
  r.first_sequence = m_setup.submitted->add(thread, recorded.size());
  if (m_setup.submitted->window().counts_bytes()) {
    std::uint64_t bytes = 0;
    for (const task::recorded_task& t : recorded.tasks)
      for (const task::recorded_access& a : recorded.accesses_of(t))
        if (t.operation->special == nullptr) bytes += r.blocks[a.block].block->bytes;
    submission_window::note_submitted_bytes(thread, bytes);
  }
  r.uses = m_announces_uses ? &thread.announced_uses() : nullptr;
  if (m_announces_uses) announce_uses(r);
  std::unique_lock order(m_order, std::defer_lock);
  if (!recorded.replay_counts.empty()) order.lock();
  for (const auto& count : recorded.replay_counts) count->fetch_add(1, std::memory_order_relaxed);
  m_setup.engine->link(thread, r, *m_setup.reductions, [&](task::record& t) { m_setup.start(thread, t); });
}

void replay_player::forget(task::recording& what) {
  m_setup.blocks->forget(what);
  for (block::record* copy : what.private_blocks()) m_setup.owner->destroy_later(*copy);
  for (task::record* kept : what.kept_records()) {
    if (kept->operation->destroy_arguments != nullptr) kept->operation->destroy_arguments(kept->argument_bytes());
    take_back((*m_setup.threads)[kept->owner], *kept);
  }
}

}  // namespace tessera::schedule
