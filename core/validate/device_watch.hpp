#pragma once
// The same checks for tasks on devices: blocks are copied to the host before and after, on the stream of the task.
#include <memory>
#include <span>

#include "core/memory/space.hpp"
#include "core/transfer/stream.hpp"
#include "core/validate/intent_checker.hpp"

namespace tessera::validate {

/// Enqueues, with the stream's lock held, copies of what the task needs and patterns into what it will write. The
/// stream may be a compute stream. Throws tessera::error (device).
void enqueue_before(shadow_copies& of, std::span<const operation::operand> operands,
                    std::span<const block::access> accesses, transfer::stream& on, const memory::space& in);
/// Enqueues copies of all that it may have changed, behind its work.
void enqueue_after(shadow_copies& of, transfer::stream& on, const memory::space& in);
/// Without locks: waits until a ticket of the stream is reached. Returns whether the work before it succeeded.
bool wait_for(transfer::stream& on, block::ticket done);

}  // namespace tessera::validate
