#include "core/schedule/recordings.hpp"

#include "core/base/call_site.hpp"

namespace tessera::schedule {

void recordings::begin(task::graph_recorder& taker, std::source_location site) {
  thread_context& thread = m_owner.context_of_this_thread();
  if (thread.recorder != nullptr)
    throw error(error_kind::usage, "a recording inside a recording", file_and_line(site),
                "end the one before you begin the other");
  if (!thread.in_program())
    throw error(error_kind::usage, "a recording inside a task", file_and_line(site),
                "recordings are made and replayed by the program's own threads");
  thread.recorder = &taker;
}

}  // namespace tessera::schedule
