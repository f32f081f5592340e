#pragma once
// For implementations of definition::enqueue.
#include <string_view>

#include "core/operation/context.hpp"
#include "core/plugin/device.hpp"

namespace tessera::operation {

/// As plugin::device::check. `call` is not named where it has the task's name and the caller says that one.
inline void check(const context& c, tsr_status status, std::string_view call) {
  if (status != TSR_OK) c.device->fail(status, c.caller_names_task && call == c.task_name ? std::string_view() : call);
}

}  // namespace tessera::operation
