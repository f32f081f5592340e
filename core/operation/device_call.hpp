#pragma once
// For implementations of definition::enqueue.
#include <fmt/format.h>

#include <string_view>

#include "core/base/error.hpp"
#include "core/operation/context.hpp"
#include "core/operation/types_in_words.hpp"
#include "core/plugin/device.hpp"

namespace tessera::operation {

/// As plugin::device::check. `call` is not named where it has the task's name and the caller says that one.
inline void check(const context& c, tsr_status status, std::string_view call) {
  if (status != TSR_OK) c.device->fail(status, c.caller_names_task && call == c.task_name ? std::string_view() : call);
}

/// The same for a call that a device offers for some element types: where this is none of them, the error says which
/// they are. @param has  (device, type): whether it is one
template <class Has>
void check(const context& c, tsr_status status, std::string_view call, element_type type, Has&& has) {
  if (status == TSR_UNIMPLEMENTED && !has(*c.device, type))
    throw error(
        error_kind::usage,
        fmt::format("there is no {} for elements of type {} on {}; it has {}", call, name_of(type), c.device->name(),
                    types_in_words([&](element_type other) { return has(*c.device, other); })));
  check(c, status, call);
}

}  // namespace tessera::operation
