// The part of the scheduler that lends blocks to threads of the program, and keeps the memory that it has adopted
// current.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "core/base/call_site.hpp"
#include "core/schedule/scheduler.hpp"
#include "core/schedule/trace_points.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {

void scheduler::require_host_access(std::source_location site) {
  const thread_context& here = current_thread();
  if (here.recorder != nullptr)
    throw error(error_kind::usage, "a host view inside a recording", file_and_line(site),
                "recorded tasks do not run before they are replayed");
  if (!here.in_program())
    throw error(error_kind::usage, "a host view inside a task", file_and_line(site),
                "name the block when the task is submitted: read(b), update(b) or write(b)");
}

std::unique_ptr<host_access> scheduler::request_host_access(block::record& block, intent how,
                                                            std::source_location site) {
  require_host_access(site);
  if (m_setup.validator != nullptr) m_setup.validator->require(block, how, site);
  auto held = std::make_unique<host_access>();
  thread_context* mine = nullptr;
  task::record& t = begin(m_own.view, site, mine);
  t.access_count = 1;
  t.accesses[0] = {.block = &block, .version = 0, .intent = how, .flags = 0, .space = 0};
  t.extension = held.get();
  held->held_by = &t;
  held->owner = mine;
  commit(*mine, t, false);
  return held;
}

namespace {

/// The views that a thread holds, by the blocks and the lines that asked for them.
std::string held_by(const thread_context& mine) {
  constexpr int most_named = 3;
  std::string text;
  int count = 0;
  for (const host_access* h = mine.host_accesses; h != nullptr; h = h->next, ++count) {
    const task::record& t = *h->held_by;
    if (count < most_named)
      text += fmt::format("{}{} ({}:{})", count == 0 ? "" : ", ", block::name_of(*t.accesses[0].block),
                          t.site.file_name(), t.site.line());
  }
  if (count > most_named) text += fmt::format(" and {} more", count - most_named);
  return text;
}

}  // namespace

void scheduler::refuse_own_wait(std::string_view call, std::source_location site) {
  throw error(
      error_kind::usage,
      fmt::format("{} waits for an earlier replay of the same recording, which waits for what this thread holds: "
                  "views of {}",
                  call, held_by(current_thread())),
      file_and_line(site),
      "let views end before: record_options::replays_under_way says how many replays may "
      "be under way");
}

bool scheduler::wait_unless_in_vain(thread_context& mine, const predicate& enough, std::uint32_t look_every) {
  mine.in_vain.store(false, std::memory_order_relaxed);
  const bool asks = mine.held_views.load(std::memory_order_relaxed) != 0 || !mine.in_program();
  mine.asks.store(asks, std::memory_order_release);
  if (asks) m_pool.begin_asking();
  run_tasks_until(
      mine, [&] { return enough() || mine.in_vain.load(std::memory_order_acquire); }, look_every);
  if (asks) m_pool.end_asking();
  mine.asks.store(false, std::memory_order_release);
  return !mine.in_vain.load(std::memory_order_acquire) || enough();
}

bool scheduler::give_up_views() {
  if (m_mode.simulated) return false;
  const auto asking = [&] {
    std::vector<thread_context*> threads;
    for (std::uint32_t k = 0, count = m_threads.size(); k < count; ++k)
      if (thread_context& one = m_threads[k]; one.asks.load(std::memory_order_acquire)) threads.push_back(&one);
    return threads;
  };
  // Work that ends just now is seen by none of these counts for a moment. No event tells that nothing will happen any
  // more, so the looks are spread over some time; this thread is the last one awake and delays nobody's work.
  using rest = memory_deadlock::rest;
  const auto rests = [&] {
    const rest now = m_queues.any() ? rest::no : m_deadlock.at_rest();
    // A thread that holds no views and does not wait, which may sit in a join, could only do something new.
    return now == rest::all || (now == rest::program && m_view_patience.over([this] { return m_threads.submitted(); }));
  };
  constexpr int looks = 20;
  for (int k = 0; k < looks; ++k) {
    if (asking().empty() || !rests()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::vector<thread_context*> all = asking();  // one of them: its views may be what the others wait for
  if (all.empty() || !rests()) return false;
  all.front()->in_vain.store(true, std::memory_order_release);
  m_pool.wake_waiters();
  return true;
}

void scheduler::end_abandoned(thread_context& mine, task::record& view) {
  const std::unique_ptr<host_access> gone(&host_access::of(view));
  begun(view);
  m_setup.coherence->give_up(view.all_accesses(), view.sequence);
  release_successors(mine, view, when_ready::queue);
  retire(mine, view, 0);
  m_pool.wake_waiters();
}

void scheduler::wait_for(std::unique_ptr<host_access>& asked) {
  host_access* const held = asked.get();
  thread_context* const mine = held->owner;
  task::record& t = *held->held_by;
  // This thread does itself what its view needs, whenever it is its turn: nothing that waits in queues comes before it.
  using access_step = host_access::access_step;
  for (access_step now; (now = held->step.load(std::memory_order_acquire)) != access_step::available;) {
    if (now == access_step::due) {
      held->step.store(access_step::waits, std::memory_order_relaxed);
      run(*mine, t);
      continue;
    }
    const bool came = wait_unless_in_vain(
        *mine, [&] { return held->step.load(std::memory_order_acquire) != access_step::waits; }, 1);
    if (came || !held->abandon()) continue;
    (void)asked.release();  // end_abandoned deletes it when its turn comes
    throw error(error_kind::usage,
                fmt::format("this thread waits for itself, or for another one that waits for it: all threads that hold "
                            "views wait, and it asks for a view of {} while it holds {}",
                            block::name_of(*t.accesses[0].block), held_by(*mine)),
                file_and_line(t.site), "let views end before asking for what tasks make of their blocks");
  }
  if ((++mine->views & 63) == 0 && !m_queues.nothing_for(*mine) && !m_mode.simulated)
    m_pool.run_one_task(host_tasks{*this}, *mine);  // a loop of views is not to stop all else
  if (held->why) {
    const block::failure why = *held->why;
    m_failures.note_told(held->why, mine->user_serial);  // not again by the next fence of this thread
    throw error(why.kind, why.text, why.where);
  }
  if (m_setup.validator != nullptr)
    m_setup.validator->view_granted(*static_cast<validate::shadow_copies*>(held->shadow_copies.get()));
  host_views::add(*mine, *held);
  if (m_submitters_waiting.load() != 0) look_again();
}

void scheduler::end_host_access(host_access& held) {
  if (held.ended || left_behind()) return;
  thread_context& mine = current_thread();
  mine.releases.store(true, std::memory_order_relaxed);
  task::record& t = *held.held_by;
  if (m_setup.validator != nullptr)
    m_setup.validator->end_view(*static_cast<validate::shadow_copies*>(held.shadow_copies.get()));
  m_host.publish(mine, t);
  host_views::remove(held);
  if (mine.events != nullptr) trace_run(*mine.events, t, held.since, trace::run_view);
  release_successors(mine, t, when_ready::queue);
  m_views.give_back();
  retire(mine, t, 0);
  m_pool.wake_waiters();
  m_pool.look_for_memory();                               // where there is one memory, nothing else tells
  mine.releases.store(false, std::memory_order_release);  // the last step: the scheduler may end
}

/// Nobody else could give them back.
void scheduler::end_views_of_ending(thread_context& mine) {
  if (mine.host_accesses == nullptr || getpid() == gettid()) return;  // those of main end with the runtime
  m_failures.note({.text = "a thread ended while it held views of " + held_by(mine) + "; they were given back",
                   .where = {},
                   .kind = error_kind::usage});
  end_own_views();
}

void scheduler::end_own_views() {
  thread_context& mine = current_thread();
  while (host_access* const held = mine.host_accesses) {
    end_host_access(*held);
    held->ended = true;
  }
}

/// Submits a read at home of each block whose last version is elsewhere. False: there is none, and none is on its way.
bool scheduler::bring_home(const transfer::memory_choice& where, std::source_location site) {
  if (m_mode.simulated) return false;  // nobody looks at the memory
  return m_write_back.begin(where, [&](block::record& b) {
    thread_context* mine = nullptr;
    task::record& t = begin(m_own.bring_home, site, mine);
    t.access_count = 1;
    t.accesses[0] = {.block = &b, .version = 0, .intent = intent::read, .flags = 0, .space = 0};
    commit(*mine, t, false);
  });
}

task::record& scheduler::begin_retile(const retiling& part, std::source_location site) {
  thread_context* mine = nullptr;
  task::record& t = begin(m_own.retile, site, mine);
  const auto access = [](block::record* b, intent how) {
    return block::access{.block = b, .version = 0, .intent = how, .flags = 0, .space = 0};
  };
  try {
    const std::size_t count = part.from.size() + part.to.size();
    std::span<block::access> all = t.accesses;
    if (count > t.accesses.size()) {
      t.need_more().accesses.resize(count);
      t.flags |= task::flag_many_accesses;
      all = t.need_more().accesses;
    }
    t.access_count = static_cast<std::uint8_t>(std::min<std::size_t>(count, 255));
    std::size_t k = 0;
    // Not as a reader: the new blocks' writers must also wait for those who still read the old ones.
    for (block::record* const b : part.from) all[k++] = access(b, intent::update);
    for (block::record* const b : part.to) all[k++] = access(b, intent::write);
  } catch (...) {
    take_back(*mine, t);
    throw;
  }
  return t;
}

std::vector<task::record*> scheduler::begin_retiles(std::span<const retiling> parts, std::source_location site) {
  std::vector<task::record*> made;
  made.reserve(parts.size());
  try {
    for (const retiling& part : parts) made.push_back(&begin_retile(part, site));
  } catch (...) {
    for (task::record* const t : made) take_back(current_thread(), *t);
    throw;
  }
  return made;
}

void scheduler::retile(std::span<const retiling> parts, std::source_location site) {
  for (task::record* const t : begin_retiles(parts, site)) commit(current_thread(), *t, false);
}

void scheduler::record_retile(std::span<const retiling> parts, std::source_location site) {
  thread_context& mine = current_thread();
  for (task::record* const t : begin_retiles(parts, site)) {
    (void)mine.recorder->add(*t);  // it has no arguments, and is not kept
    take_back(mine, *t);
  }
}

}  // namespace tessera::schedule
