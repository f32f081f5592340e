#pragma once
// How long the run would have taken on another machine: the recorded tasks replayed by a small model.
#include <string>
#include <vector>

#include "core/trace/timeline.hpp"

namespace tessera::trace {

/// What the model's machine has without bounds, or otherwise than the real one.
struct assumption {
  bool infinite_link = false;      ///< no task waits for data
  bool infinite_memory = false;    ///< no task waits for memory
  bool unlimited_workers = false;  ///< every place takes any number of tasks at once
  std::uint32_t cores = 0;         ///< that run tasks at each host memory; 0: as many as there were
};

struct prediction {
  std::string name;        ///< "as recorded", "infinite link", …
  nanoseconds length = 0;  ///< of the modelled run
};

/// The model, in words.
extern const char* const model_text;

/// List scheduling: every task keeps its place (the workers of a memory, or a device), its time, and its predecessors.
/// It may start when it has been submitted, its predecessors have ended, and the waits for data and memory that were
/// recorded for it have passed once more; then the place's first free unit takes it, tasks in the order in which they
/// became ready, and holds it as long as it ran, and as its start was late without a reason on record. A program
/// submits as fast as it did between its fences and views, and waits at these as it did.
nanoseconds replay(const timeline& of, const assumption& what);

/// "As recorded" first: its distance from the real length says how good the model is. Then each assumption alone, then
/// all of them.
std::vector<prediction> predict(const timeline& of);

}  // namespace tessera::trace
