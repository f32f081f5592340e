#pragma once
// The door of a runtime for the programming models above the core.
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string_view>
#include <vector>

#include "core/block/record.hpp"

namespace tessera {

class lifetime;
class runtime;
struct machine;
namespace memory {
class space;
}
namespace placement {
struct place;
}
namespace schedule {
class failures;
class recordings;
class replay_player;
class view_requests;
class waits;
}  // namespace schedule
namespace validate {
class validator;
}

/// What models need of a runtime beside its public interface. Each part has its contract in its own header
/// (core/schedule/waits.hpp ...), which its users include.
struct program_side {
  schedule::waits& waits;                                        ///< how threads wait
  schedule::view_requests& views;                                ///< blocks in the hands of the program
  schedule::recordings& recordings;                              ///< tasks that are taken down
  schedule::replay_player& replays;                              ///< and are played
  schedule::failures& failures;                                  ///< what the next fence reports
  const std::vector<std::unique_ptr<placement::place>>& places;  ///< host memories with workers first, then devices
  const std::vector<std::unique_ptr<memory::space>>& memories;   ///< by their numbers
  const std::shared_ptr<lifetime>& alive;                        ///< ends with the runtime
  const tessera::machine& machine;                               ///< that it was made for
  validate::validator* validator;                                ///< null: nothing is validated
};

/// It lives as long as the runtime.
const program_side& program_side_of(runtime& of);
/// How many host views the calling thread holds, for which what waits for all tasks would wait.
std::uint32_t views_held_here(runtime& of);
/// A mistake of the program that no task has made: the next fence throws it.
void fail_next_fence(runtime& of, block::failure what);
/// Throws usage for blocks that a task may not name, and memory when they can never be in one space together.
void check_blocks(runtime& of, std::string_view task, std::span<const block::access> accesses,
                  std::source_location site);

}  // namespace tessera
