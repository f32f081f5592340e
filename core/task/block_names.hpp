#pragma once
// The blocks of a task, for people.
#include <string>

#include "core/task/record.hpp"

namespace tessera::task {

/// "x(0) (4 MiB), the private copy of y(1) (2 MiB) and 3 more blocks". Called by the thread that runs the task, or that
/// reports it as stuck.
std::string names_of_blocks(record& t);

}  // namespace tessera::task
