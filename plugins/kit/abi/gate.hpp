#pragma once
// The checks that stand before every call on a device or a stream.
#include <tessera/plugin.h>

#include <utility>

#include "plugins/kit/abi/report.hpp"
#include "plugins/kit/abi/stream.hpp"

namespace tessera::kit {

/// Lets calls with live handles through; misuse answers INVALID_ARGUMENT, exceptions become statuses. `Rules` is the
/// plugin's own struct with
///   device                        the type tsr_device_s: magic, report, streams (a handle_pool<tsr_stream_s>)
///   device_magic, stream_magic    the magic words
///   alive(const device*)          TSR_OK, or DEVICE_LOST with a record
template <class Rules>
struct gate {
  using device = typename Rules::device;

  /// For calls that clean up: also on a device that is lost.
  template <class Function>
  static tsr_status on_any_device(device* on, Function&& function) noexcept {
    if (on == nullptr || !on->magic.is(Rules::device_magic)) return TSR_INVALID_ARGUMENT;
    return guarded(on->report, std::forward<Function>(function));
  }

  template <class Function>
  static tsr_status on_device(device* on, Function&& function) noexcept {
    return on_any_device(on, [&]() -> tsr_status {
      if (const auto status = Rules::alive(on)) return status;
      return function();
    });
  }

  template <class Function>
  static tsr_status on_any_stream(device* on, tsr_stream* stream, Function&& function) noexcept {
    return on_any_device(on, [&]() -> tsr_status {
      if (const auto status = check_stream(on, stream)) return status;
      return function();
    });
  }

  template <class Function>
  static tsr_status on_stream(device* on, tsr_stream* stream, Function&& function) noexcept {
    return on_device(on, [&]() -> tsr_status {
      if (const auto status = check_stream(on, stream)) return status;
      return function();
    });
  }

 private:
  static tsr_status check_stream(const device* on, const tsr_stream* stream) {
    if (stream != nullptr && stream->magic.is(Rules::stream_magic) && stream->device == on) return TSR_OK;
    return on->report.fail(TSR_INVALID_ARGUMENT, "the stream is not a live stream of this device");
  }
};

}  // namespace tessera::kit
