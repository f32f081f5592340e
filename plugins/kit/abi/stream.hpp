#pragma once
// What a stream handle is in plugins whose streams run in host threads.
#include <tessera/plugin.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "plugins/kit/abi/handle_pool.hpp"
#include "plugins/kit/abi/timeline.hpp"
#include "plugins/kit/abi/work_queue.hpp"

/// One stream. Without a queue it is an inline stream: work runs inside the enqueueing call.
struct tsr_stream_s {
  tessera::kit::magic_word magic;
  tsr_device* device = nullptr;
  std::shared_ptr<tessera::kit::timeline> line;
  std::unique_ptr<tessera::kit::work_queue> queue;
  std::shared_ptr<void> own;  ///< what the plugin keeps with the stream; used by its work
};

namespace tessera::kit {

/// Runs `function(execution&)` now (inline stream) or enqueues it. A failure of the work goes to the timeline.
template <class Function>
tsr_status enqueue(tsr_stream* stream, Function&& function) {
  if (stream->queue != nullptr) {
    stream->queue->run(std::forward<Function>(function));
    return TSR_OK;
  }
  execution state;
  if (const tsr_status status = function(state); status != TSR_OK) stream->line->fail(status, std::move(state.message));
  return TSR_OK;
}

/// Appends a point to the stream's timeline and returns its value.
inline std::uint64_t signal(tsr_stream* stream) {
  if (stream->queue != nullptr) return stream->queue->signal();
  const auto value = stream->line->next();  // everything enqueued before has run
  stream->line->append(value);
  stream->line->reach_unseen(value);
  return value;
}

/// Ends all streams of a device that is being closed. Queues first, all of them: they may wait for each other's
/// tickets, and drain on their own.
inline void close_streams(handle_pool<tsr_stream_s>& streams) {
  streams.for_each([](tsr_stream_s& stream) {
    stream.magic.set(0);
    stream.queue.reset();
  });
  streams.for_each([](tsr_stream_s& stream) {
    stream.line.reset();
    stream.own.reset();
  });
}

}  // namespace tessera::kit
