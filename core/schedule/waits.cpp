#include "core/schedule/waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/call_site.hpp"
#include "core/schedule/trace_points.hpp"
#include "core/validate/validator.hpp"

namespace tessera::schedule {

namespace {

void refuse_in_task(const thread_context& thread, std::source_location site) {
  if (!thread.in_program())
    throw error(error_kind::usage, "fence inside a task", file_and_line(site),
                "a task that waits for all tasks waits for itself; wait in the program's own threads");
}

}  // namespace

bool waits::all_retired() const noexcept {
  // Retired first: both sums only grow and retired never passes submitted, so equal sums mean that nothing was open at
  // the moment in between.
  const std::uint64_t out = m_setup.threads->retired() + m_setup.views->held(std::memory_order_acquire);
  return out >= m_setup.threads->submitted();
}

thread_context& waits::require_free(std::source_location site) {
  thread_context& thread = m_setup.owner->context_of_this_thread();
  if (thread.recorder != nullptr)
    throw error(error_kind::usage, "fence inside a recording", file_and_line(site),
                "recorded tasks do not run before they are replayed");
  if (const std::uint32_t views = thread.held_views.load(std::memory_order_relaxed); views != 0)
    throw error(error_kind::usage, while_holding_views("fence", views), file_and_line(site),
                "release host views before waiting for tasks that may need their blocks");
  refuse_in_task(thread, site);
  return thread;
}

void waits::fence(std::source_location site) { report(require_free(site), wait_request::reporting_home({}), site); }

void waits::fence(task::group& of, std::source_location site) {
  thread_context& thread = require_free(site);
  const std::uint64_t began = thread.events != nullptr ? thread.events->now() : 0;
  m_setup.owner->run_tasks_until(
      thread, [&] { return of.is_idle(); }, 0);
  if (thread.events != nullptr) trace_fence(*thread.events, began);
  if (m_setup.validator != nullptr) m_setup.validator->waited_for(of);
  const failures::reason why = of.take();
  if (!why) return;
  m_setup.failures->note_told(why, thread.user_serial);
  if (const std::optional<error> e =
          fence_error({.first = why, .given_up = 0}, {}, m_setup.failures->cancelled(), hint_for_room()))
    throw error(*e);
}

void waits::wait(const wait_request& what, std::source_location site) {
  if (!what.reports && what.until <= wait_request::end::tasks_and_views && m_setup.owner->left_behind()) return;
  thread_context& thread = m_setup.owner->context_of_this_thread();
  if (what.as_submission && (!thread.in_program() || thread.unbounded != 0 || thread.recorder != nullptr)) return;
  if (what.reports) return report(thread, what, site);
  program_owner& owner = *m_setup.owner;
  switch (what.until) {
    case wait_request::end::tasks:
      owner.run_tasks_until(
          thread, [this] { return all_retired(); }, 0);
      break;
    case wait_request::end::tasks_and_views:
      owner.run_tasks_until(
          thread,
          [&] {  // its own views end when it goes on
            const std::uint64_t own = thread.held_views.load(std::memory_order_relaxed);
            return all_retired() && m_setup.views->held(std::memory_order_acquire) <= own;
          },
          0);
      break;
    case wait_request::end::window:
      keep_to_window(thread);
      break;
    case wait_request::end::condition:
      if (!what.as_submission) return owner.run_tasks_until(thread, what.holds, 0);
      m_submitters.fetch_add(1);  // before it looks at views: who gets one looks at this
      owner.run_tasks_until(
          thread, [&] { return what.holds() || m_setup.views->held() != 0; }, 1);
      m_submitters.fetch_sub(1);
      break;
  }
}

void waits::keep_to_window(thread_context& thread) {
  if (thread.host_accesses != nullptr) return;  // what it waits for may be behind its own views
  const submission_window& window = m_setup.submitted->window();
  const host_views& views = *m_setup.views;
  if (window.tasks_full())
    m_setup.owner->run_tasks_until(
        thread, [&] { return window.tasks_half_empty(views.held()); }, m_setup.pool->look_every());
  if (window.bytes_full() && views.held() == 0)
    m_setup.owner->run_tasks_until(
        thread, [&] { return window.bytes_half_empty() || window.open_tasks() <= views.held(); }, 1);
}

std::atomic<bool>& waits::begin_elsewhere() {
  thread_context& thread = m_setup.owner->context_of_this_thread();
  thread.waits.store(true);
  m_setup.pool->notice_no_more_room();
  return thread.waits;
}

/// Submits a read at home of each block whose last version is elsewhere. False: there is none, and none is on its way.
bool waits::bring_home(const transfer::memory_choice& where, std::source_location site) {
  if (m_setup.simulated) return false;  // nobody looks at the memory
  return m_setup.write_back->begin(where, [&](block::record& b) {
    thread_context& thread = m_setup.owner->context_of_this_thread();
    task::record& t = take_record(thread, m_setup.operations->bring_home, site);
    t.access_count = 1;
    t.accesses[0] = {.block = &b, .version = 0, .intent = intent::read, .flags = 0, .space = 0};
    m_setup.owner->commit_unbounded(thread, t);
  });
}

const char* waits::hint_for_room() const {
  const auto is_disk = [](const auto& s) { return s->device().description().device_class == TSR_DEVICE_STORAGE; };
  return std::ranges::any_of(m_setup.coherence->streams().all(), is_disk)
             ? "use smaller blocks, free arrays that are not needed any more, or raise memory.host_limit"
             : "use smaller blocks, free arrays that are not needed any more, raise memory.host_limit, or let a disk "
               "take blocks that wait: add \"disk\" to runtime.plugins";
}

void waits::report(thread_context& thread, const wait_request& what, std::source_location site) {
  refuse_in_task(thread, site);
  program_owner& owner = *m_setup.owner;
  const std::uint64_t began = thread.events != nullptr ? thread.events->now() : 0;
  owner.run_tasks_until(
      thread, [this] { return all_retired(); }, 0);
  if (what.home && bring_home(what.where, site))
    owner.run_tasks_until(
        thread, [this] { return all_retired(); }, 0);
  if (thread.events != nullptr) trace_fence(*thread.events, began);
  m_setup.leftovers->let_go();
  const failures::report failed = m_setup.failures->take_for(thread.user_serial);
  if (m_setup.validator != nullptr)
    m_setup.validator->at_fence(site, failed.first ? failed.first->text : std::string());
  transfer::device_losses& losses = m_setup.coherence->losses();
  owner.run_tasks_until(
      thread, [&] { return losses.all_known(); }, 0);
  if (const std::optional<error> e =
          fence_error(failed, losses.report(), m_setup.failures->cancelled(), hint_for_room()))
    throw error(*e);
}

}  // namespace tessera::schedule
