#pragma once
// For implementations of batch_form::enqueue.
#include <string_view>

#include "core/plugin/device.hpp"

namespace tessera::operation {

/// Whether a plugin has taken a call. False when it has refused the addresses, which it looks at before it enqueues
/// anything (docs/plugin_authors.md). Throws tessera::error (device, memory) when it has failed in another way:
/// something of the batch may have been enqueued.
inline bool taken(const plugin::device& device, tsr_status status, std::string_view what) {
  if (status == TSR_INVALID_ARGUMENT || status == TSR_OUT_OF_RANGE) {
    plugin::take_error_details();  // the call for the task by itself will say it
    return false;
  }
  device.check(status, what);
  return true;
}

}  // namespace tessera::operation
