#pragma once
// The blocks of a task, for people.
#include <string>

#include "core/task/record.hpp"

namespace tessera::task {

/// "x(0) (4 MiB), the private copy of y(1) (2 MiB) and 3 more blocks". By whoever runs the task, or gives it up.
std::string names_of_blocks(record& t);

}  // namespace tessera::task
