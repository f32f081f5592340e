#include "core/validate/device_watch.hpp"

#include <algorithm>
#include <atomic>

#include "core/transfer/copy.hpp"

namespace tessera::validate {
namespace {

tsr_address address_of(std::byte* host) noexcept { return {nullptr, reinterpret_cast<std::uintptr_t>(host)}; }
constexpr tsr_space_ref plain_host{nullptr, 0};

}  // namespace

void enqueue_before(shadow_copies& of, std::span<const operation::operand> operands,
                    std::span<const block::access> accesses, transfer::stream& on, const memory::space& in) {
  for (shadow_block& b : of.blocks) {
    const auto k =
        static_cast<std::size_t>(std::ranges::find(accesses, b.block, &block::access::block) - accesses.begin());
    b.on_device = operands[k].address;
    if (b.block->bytes == 0) continue;
    if (needs_contents(b.intent))
      transfer::enqueue_copies(on, plain_host, address_of(b.original), in.reference(), b.on_device, b.block->bytes);
    else
      transfer::enqueue_copies(on, in.reference(), b.on_device, plain_host, address_of(b.copy->elements().data()),
                               b.block->bytes);
  }
}

void enqueue_after(shadow_copies& of, transfer::stream& on, const memory::space& in) {
  for (shadow_block& b : of.blocks)
    if (b.intent != intent::scratch && b.block->bytes != 0)
      transfer::enqueue_copies(on, plain_host, address_of(b.copy->elements().data()), in.reference(), b.on_device,
                               b.block->bytes);
}

bool wait_for(transfer::stream& on, block::ticket done) {
  struct waiter : transfer::completion {
    std::atomic<bool> reached{false};
    tsr_status status = TSR_OK;
  } mine;
  mine.ticket = done;
  mine.fire = [](transfer::completion* self, tsr_status status) {
    auto* w = static_cast<waiter*>(self);
    w->status = status;
    w->reached.store(true, std::memory_order_release);
  };
  on.on_completion(mine);
  while (!mine.reached.load(std::memory_order_acquire)) on.wait_until_idle(1'000'000);
  return mine.status == TSR_OK;
}

}  // namespace tessera::validate
