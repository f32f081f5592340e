#include "core/transfer/device_losses.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::transfer {

device_losses::device_losses(memories& all, replicas& rules, lost_blocks& lost)
    : m_memories(all), m_replicas(rules), m_lost_blocks(lost) {
  m_watches.reserve(all.all().size());
  for (const memory::space* s : all.all()) {
    if (s->host_visible()) continue;
    m_watches.push_back({&all, s->number()});
    s->device().watch_loss(
        [](void* context) {
          const watch& mine = *static_cast<watch*>(context);
          mine.memories->note_lost(mine.space);
        },
        &m_watches.back());
  }
}

device_losses::~device_losses() {
  for (const watch& w : m_watches) m_memories.at(w.space).device().unwatch_loss(&w);
}

void device_losses::ask_health(memory::space_number space) const {
  const plugin::device& device = m_memories.at(space).device();
  if (device.lost() || device.table().health == nullptr) return;
  const tsr_status answer = plugin::contained("health", [&] { return device.table().health(device.handle()); });
  if (answer == TSR_OK) return;
  const std::string details = plugin::take_error_details();
  if (answer == TSR_DEVICE_LOST) device.note_lost(details);
}

void device_losses::note(block::record& block, const std::shared_ptr<const block::failure>& why) {
  const std::lock_guard guard(block.lock);
  block.set_poison(why);
  m_lost_blocks.note(block, why);
}

std::size_t device_losses::drop_lost_replicas(memory::space_number number) {
  memory::space& space = m_memories.at(number);
  std::size_t left = 0;
  for (const auto& [b, arrival] : space.residents().all()) {
    const std::lock_guard guard(b->lock);
    block::replica* const r = b->find(number);
    if (r == nullptr) continue;
    if (r->pins != 0 || r->issuing != 0) {  // the task that uses it is about to learn that it is lost
      ++left;
      continue;
    }
    m_replicas.drop(*b, *r);
  }
  space.waiters().notify();
  if (left == 0) m_emptied.add(number);
  return left;
}

loss_report device_losses::report() {
  loss_report out;
  if (!m_memories.any_lost()) return out;
  for (const lost_blocks::entry& e : m_lost_blocks.take()) {
    const std::lock_guard guard(e.block->lock);
    // A block that was written since then is not missed.
    if (e.block->poison != nullptr && *e.block->poison == e.why) out.blocks.push_back(block::name_of(*e.block));
  }
  std::ranges::sort(out.blocks);
  const auto repeated = std::ranges::unique(out.blocks);
  out.blocks.erase(repeated.begin(), repeated.end());
  for (const memory::space* s : m_memories.all()) {
    if (!m_memories.lost(s->number())) continue;
    const std::string details = s->device().loss_details();
    out.devices.push_back(details.empty() ? s->device().name() : fmt::format("{} ({})", s->device().name(), details));
  }
  return out;
}

loss_statistics device_losses::statistics() const {
  loss_statistics out{.devices = 0, .blocks = m_lost_blocks.count()};
  for (const memory::space* s : m_memories.all()) out.devices += m_memories.lost(s->number());
  return out;
}

}  // namespace tessera::transfer
