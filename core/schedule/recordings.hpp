#pragma once
// Tasks that are taken down instead of submitted.
#include <source_location>

#include "core/schedule/program_owner.hpp"
#include "core/task/recording.hpp"

namespace tessera::schedule {

/// The recording that the calling thread makes.
class recordings {
 public:
  explicit recordings(program_owner& owner) noexcept : m_owner(owner) {}

  /// Tasks that the calling thread submits from now on are taken down. Throws usage inside a task or a recording.
  void begin(task::graph_recorder& taker, std::source_location site);
  /// Tasks are submitted again.
  void end() noexcept {
    if (!m_owner.left_behind()) m_owner.context_of_this_thread().recorder = nullptr;
  }
  /// Null: there is none.
  task::graph_recorder* current() { return m_owner.context_of_this_thread().recorder; }

 private:
  program_owner& m_owner;
};

}  // namespace tessera::schedule
