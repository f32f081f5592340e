#pragma once
// The graph of a run's tasks in the language of Graphviz.
#include <iosfwd>
#include <string>

#include "core/trace/timeline.hpp"

namespace tessera::trace {

/// Tasks as nodes with their operation, line, place and time, predecessors as edges, those of the critical path bold.
/// A graph of more than some thousand tasks is more than `dot` can lay out: see `most`.
/// @param most  tasks, the first that were submitted; what is left out is said in the graph's label
void write_dot(std::ostream& to, const timeline& of, std::size_t most);
/// The same graph as JSON; times in seconds. Keys: docs/commands/traces.md.
std::string graph_json(const timeline& of, std::size_t most);

}  // namespace tessera::trace
