#include "core/schedule/view_requests.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "core/base/call_site.hpp"
#include "core/schedule/trace_points.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {

void view_requests::require(std::source_location site) {
  const thread_context& thread = here();
  if (thread.recorder != nullptr)
    throw error(error_kind::usage, "a host view inside a recording", file_and_line(site),
                "recorded tasks do not run before they are replayed");
  if (!thread.in_program())
    throw error(error_kind::usage, "a host view inside a task", file_and_line(site),
                "name the block when the task is submitted: read(b), update(b) or write(b)");
}

std::unique_ptr<host_access> view_requests::request(block::record& block, intent use, std::source_location site,
                                                    std::uint8_t flags) {
  require(site);
  if (m_setup.validator != nullptr) m_setup.validator->require(block, use, site);
  auto held = std::make_unique<host_access>();
  thread_context& thread = here();
  task::record& t = take_record(thread, m_setup.operations->view, site);
  t.access_count = 1;
  t.accesses[0] = {.block = &block, .version = 0, .intent = use, .flags = flags, .space = 0};
  t.extension = held.get();
  held->held_by = &t;
  held->owner = &thread;
  m_setup.owner->commit_unbounded(thread, t);
  return held;
}

std::string held_by(const thread_context& thread) {
  constexpr int max_named = 3;
  std::string text;
  int count = 0;
  for (const host_access* h = thread.host_accesses; h != nullptr; h = h->next, ++count) {
    const task::record& t = *h->held_by;
    if (count < max_named)
      text += fmt::format("{}{} ({}:{})", count == 0 ? "" : ", ", block::name_of(*t.accesses[0].block),
                          t.site.file_name(), t.site.line());
  }
  if (count > max_named) text += fmt::format(" and {} more", count - max_named);
  return text;
}

void view_requests::hand_over(thread_context& thread, task::record& view) {
  if (!host_access::of(view).become_due()) return end_abandoned(thread, view);
  m_setup.pool->wake_waiters();
}

void view_requests::end_abandoned(thread_context& thread, task::record& view) {
  const std::unique_ptr<host_access> gone(&host_access::of(view));
  m_setup.owner->begun(view);
  m_setup.coherence->give_up(view.all_accesses(), view.sequence);
  m_setup.owner->release_successors(thread, view);
  m_setup.owner->retire(thread, view, 0);
  m_setup.pool->wake_waiters();
}

void view_requests::wait_for(std::unique_ptr<host_access>& asked) {
  host_access* const held = asked.get();
  thread_context* const thread = held->owner;
  task::record& t = *held->held_by;
  // This thread does itself what its view needs, whenever it is its turn: nothing that waits in queues comes before it.
  using access_step = host_access::access_step;
  for (access_step now; (now = held->step.load(std::memory_order_acquire)) != access_step::available;) {
    if (now == access_step::due) {
      held->step.store(access_step::waits, std::memory_order_relaxed);
      m_setup.owner->run(*thread, t);
      continue;
    }
    const bool came = m_setup.deadlock->wait(
        *thread, [&] { return held->step.load(std::memory_order_acquire) != access_step::waits; }, 1);
    if (came || !held->abandon()) continue;
    (void)asked.release();  // end_abandoned deletes it when its turn comes
    throw error(error_kind::usage,
                fmt::format("this thread waits for itself, or for another one that waits for it: all threads that hold "
                            "views wait, and it asks for a view of {} while it holds {}",
                            block::name_of(*t.accesses[0].block), held_by(*thread)),
                file_and_line(t.site), "let views end before asking for what tasks make of their blocks");
  }
  if ((++thread->views & 63) == 0 && !m_setup.queues->nothing_for(*thread) && !m_setup.simulated)
    m_setup.owner->run_one_task(*thread);  // a loop of views is not to stop all else
  if (held->why) {
    const block::failure why = *held->why;
    m_setup.failures->note_told(held->why, thread->user_serial);  // not again by the next fence of this thread
    throw error(why.kind, why.text, why.where, why.hint);
  }
  if (m_setup.validator != nullptr)
    m_setup.validator->view_granted(*static_cast<validate::shadow_copies*>(held->shadow_copies.get()));
  host_views::add(*thread, *held);
  m_setup.waiting->view_granted();
}

void view_requests::end(host_access& held) {
  if (held.ended || m_setup.owner->left_behind()) return;
  thread_context& thread = here();
  thread.releases.store(true, std::memory_order_relaxed);
  task::record& t = *held.held_by;
  if (m_setup.validator != nullptr)
    m_setup.validator->end_view(*static_cast<validate::shadow_copies*>(held.shadow_copies.get()));
  m_setup.host->publish(thread, t);
  host_views::remove(held);
  if (thread.events != nullptr) trace_run(*thread.events, t, held.since, trace::run_view);
  m_setup.owner->release_successors(thread, t);
  m_setup.views->give_back();
  m_setup.owner->retire(thread, t, 0);
  m_setup.pool->wake_waiters();
  m_setup.pool->look_for_memory();                          // where there is one memory, nothing else tells
  thread.releases.store(false, std::memory_order_release);  // the last step: the scheduler may end
}

void view_requests::end_of_thread(thread_context& thread) {
  if (thread.host_accesses == nullptr || getpid() == gettid()) return;  // those of main end with the runtime
  m_setup.failures->note({.text = "a thread ended while it held views of " + held_by(thread) + "; they were given back",
                          .where = {},
                          .kind = error_kind::usage});
  end_own();
}

void view_requests::end_own() {
  thread_context& thread = here();
  while (host_access* const held = thread.host_accesses) {
    end(*held);
    held->ended = true;
  }
}

}  // namespace tessera::schedule
