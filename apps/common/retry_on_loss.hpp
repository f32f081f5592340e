#pragma once
// Jobs that begin anew when a device is lost under them.
#include <fmt/format.h>

#include <cstdio>

#include "tessera/tessera.hpp"

namespace tessera::apps {

/// Calls `attempt` (which makes all of its blocks anew, and ends with a fence) until no device was lost in it. What was
/// lost is said on the standard error stream. Other errors pass, and so does the loss with runtime.survive_loss =
/// false.
template <class Attempt>
void retry_on_loss(runtime& rt, Attempt&& attempt) {
  for (;;) {
    const std::uint64_t before = rt.statistics().losses.devices;
    try {
      attempt();
      return;
    } catch (const error& e) {
      if (rt.statistics().losses.devices == before || rt.cancelled()) throw;
      fmt::print(stderr, "tessera: {}; beginning again without it\n", e.message());
    }
  }
}

}  // namespace tessera::apps
