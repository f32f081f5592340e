#pragma once
// The stream entries of a device table, for plugins whose streams are a timeline and a work queue.
#include <tessera/plugin.h>

#include <memory>
#include <string>
#include <utility>

#include "plugins/kit/abi/gate.hpp"

namespace tessera::kit {

/// All but the creation of a stream, which each plugin does in its own way and ends with `add`. `Rules` as for gate,
/// with
///   same_plugin(const device* a, const device* b)   whether tickets of a's streams may be waited for on b's
///   skips_reached(const device*)                    whether a wait for a ticket that is reached needs no place in the
///   queue
template <class Rules>
struct stream_calls {
  using device = typename Rules::device;
  using checked = gate<Rules>;

  /// Makes a handle of what was created.
  static tsr_stream* add(device* owner, std::shared_ptr<timeline> line, std::unique_ptr<work_queue> queue,
                         std::shared_ptr<void> own = nullptr) {
    auto& stream = owner->streams.take();
    stream.device = owner;
    stream.line = std::move(line);
    stream.queue = std::move(queue);
    stream.own = std::move(own);
    stream.magic.set(Rules::stream_magic);
    return &stream;
  }

  static void put_into(tsr_device_table& table) {
    table.stream_destroy = destroy;
    table.stream_signal = signal_point;
    table.stream_progress = progress;
    table.stream_wait = wait;
    table.stream_host_wait = host_wait;
    table.stream_callback = callback;
  }

  static tsr_status destroy(device* on, tsr_stream* stream) {
    return checked::on_any_stream(on, stream, [&]() -> tsr_status {
      if (!stream->magic.take(Rules::stream_magic))
        return on->report.fail(TSR_INVALID_ARGUMENT, "stream_destroy: destroyed at the same time by another thread");
      stream->queue.reset();  // works off what is queued and joins
      stream->line.reset();
      stream->own.reset();
      on->streams.give(*stream);
      return Rules::alive(on);
    });
  }

  static tsr_status signal_point(device* on, tsr_stream* stream, tsr_ticket* out_ticket) {
    return checked::on_stream(on, stream, [&]() -> tsr_status {
      if (out_ticket == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "stream_signal: out_ticket is NULL");
      *out_ticket = {stream, signal(stream)};
      return TSR_OK;
    });
  }

  static tsr_status progress(device* on, tsr_stream* stream, std::uint64_t* out_value, std::uint64_t* out_failed) {
    return checked::on_any_stream(on, stream, [&]() -> tsr_status {
      if (out_value == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "stream_progress: out_value is NULL");
      if (const auto status = Rules::alive(on)) {
        stream->line->progress_lost(out_value, out_failed);
        return status;
      }
      std::string message;
      const auto status = stream->line->progress(out_value, out_failed, message);
      return status == TSR_OK ? TSR_OK : on->report.fail(status, "%s", message.c_str());
    });
  }

  static tsr_status wait(device* on, tsr_stream* stream, tsr_ticket ticket) {
    return checked::on_stream(on, stream, [&]() -> tsr_status {
      if (ticket.stream == nullptr) return TSR_OK;
      auto line = line_of(on, ticket);
      if (line == nullptr) return TSR_INVALID_ARGUMENT;
      if (ticket.stream == stream || (Rules::skips_reached(on) && line->reached() >= ticket.value)) return TSR_OK;
      if (stream->queue != nullptr)
        stream->queue->wait(std::move(line), ticket.value);
      else
        line->wait(ticket.value);  // an inline stream's work runs in this call, so its waits do too
      return TSR_OK;
    });
  }

  static tsr_status host_wait(device* on, tsr_ticket ticket, std::uint64_t timeout_ns) {
    return checked::on_device(on, [&]() -> tsr_status {
      if (ticket.stream == nullptr) return TSR_OK;
      const auto line = line_of(on, ticket);
      if (line == nullptr) return TSR_INVALID_ARGUMENT;
      if (line->wait(ticket.value, timeout_ns)) return Rules::alive(on);
      return on->report.fail(TSR_DEADLINE_EXCEEDED, "not reached within %llu ns",
                             static_cast<unsigned long long>(timeout_ns));
    });
  }

  static tsr_status callback(device* on, tsr_stream* stream, void (*function)(void*), void* argument) {
    return checked::on_stream(on, stream, [&]() -> tsr_status {
      if (function == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "stream_callback: function is NULL");
      if (stream->queue != nullptr)
        stream->queue->callback(function, argument);
      else
        function(argument);
      return TSR_OK;
    });
  }

 private:
  /// The timeline of a ticket, or null with a record: a foreign or dead stream, a value that was never signalled.
  static std::shared_ptr<timeline> line_of(const device* on, const tsr_ticket& ticket) {
    if (!ticket.stream->magic.is(Rules::stream_magic) || !Rules::same_plugin(ticket.stream->device, on)) {
      on->report.fail(TSR_INVALID_ARGUMENT, "the ticket is not one of a live stream of this plugin");
      return nullptr;
    }
    auto line = ticket.stream->line;
    if (ticket.value > line->signalled()) {
      on->report.fail(TSR_INVALID_ARGUMENT, "the ticket's value %llu was never signalled",
                      static_cast<unsigned long long>(ticket.value));
      return nullptr;
    }
    return line;
  }
};

}  // namespace tessera::kit
