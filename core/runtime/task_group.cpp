#include "tessera/detail/task_group.hpp"

#include "core/base/call_site.hpp"
#include "core/runtime/inside.hpp"
#include "core/task/group.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera {

task_group::task_group(runtime& of)
    : m_scheduler(of.inside().scheduler.get()), m_alive(m_scheduler->alive()), m_tasks(new task::group) {}

task_group::~task_group() {
  if (!m_alive->ended() && !m_alive->left_behind() && !m_tasks->is_idle()) {
    schedule::waits& waits = m_scheduler->waits();
    if (waits.may_wait())
      waits.wait(schedule::wait_request::for_condition([tasks = m_tasks] { return tasks->is_idle(); }));
  }
  m_tasks->leave();
}

void task_group::fence(std::source_location site) {
  const lifetime::visit here = enter(m_alive);
  if (!here)
    throw error(error_kind::usage, "fence of a group whose runtime has ended", file_and_line(site),
                "a runtime waits for all of its tasks when it ends");
  m_scheduler->waits().fence(*m_tasks, site);
}

}  // namespace tessera
