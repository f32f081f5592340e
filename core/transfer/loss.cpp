// The part of `coherence` that lives on without a device: by rule R10 of the plugin ABI nothing of it touches memory any more.
#include <fmt/format.h>

#include <algorithm>

#include "core/transfer/coherence.hpp"

namespace tessera::transfer {

void losses::note(block::record& block, std::shared_ptr<const block::failure> why) {
  const std::lock_guard guard(m_mutex);
  m_entries.push_back({&block, std::move(why)});
  m_count.fetch_add(1, std::memory_order_relaxed);
  m_any.store(true, std::memory_order_relaxed);
}

void losses::forget(const block::record& block) {
  if (!m_any.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(m_mutex);
  std::erase_if(m_entries, [&](const entry& e) { return e.block == &block; });
}

std::vector<losses::entry> losses::take() {
  if (!m_any.exchange(false, std::memory_order_relaxed)) return {};
  const std::lock_guard guard(m_mutex);
  return std::exchange(m_entries, {});
}

void coherence::watch_losses() {
  m_loss_watches.reserve(m_spaces.size());
  for (memory::space* s : m_spaces) {
    if (s->host_visible()) continue;  // without the host's memory there is nothing to go on with
    m_loss_watches.push_back({this, s->number()});
    s->device().watch_loss(
        [](void* context) {
          const loss_watch& watch = *static_cast<loss_watch*>(context);
          watch.owner->m_lost.add(watch.space);
          watch.owner->m_links.close(watch.space);
        },
        &m_loss_watches.back());
  }
}

void coherence::unwatch_losses() {
  for (const loss_watch& watch : m_loss_watches) m_spaces[watch.space]->device().unwatch_loss(&watch);
}

void coherence::ask_health(memory::space_number space) const {
  const plugin::device& device = m_spaces[space]->device();
  if (device.lost() || device.table().health == nullptr) return;
  const tsr_status answer = plugin::contained("health", [&] { return device.table().health(device.handle()); });
  if (answer == TSR_OK) return;
  const std::string details = plugin::take_error_details();
  if (answer == TSR_DEVICE_LOST) device.note_lost(details);
}

/// With the block's lock held. Its contents are on lost devices only.
std::shared_ptr<const block::failure> coherence::give_up_contents(block::record& block) {
  std::string where = "a device";
  block.for_each_replica([&](const block::replica& r) {
    if (block.valid_in(r.space) && lost(r.space)) where = m_spaces[r.space]->device().name();
  });
  auto why = std::make_shared<const block::failure>(block::failure{
      fmt::format("{} is lost: its only copy was on {}, which is lost", block::name_of(block), where), {}, error_kind::device, true});
  block.spoil(why);
  if (block.from != nullptr) m_losses.note(block, why);
  return why;
}

void coherence::note_lost(block::record& block, const std::shared_ptr<const block::failure>& why) {
  const std::lock_guard guard(block.lock);
  block.spoil(why);
  m_losses.note(block, why);
}

std::size_t coherence::forsake(memory::space_number number) {
  memory::space& space = *m_spaces[number];
  std::size_t left = 0;
  for (const auto& [b, arrival] : space.residents()) {
    const std::lock_guard guard(b->lock);
    block::replica* const r = b->find(number);
    if (r == nullptr) continue;
    if (r->pins != 0 || r->issuing != 0) {  // whoever uses it is about to learn that it is lost
      ++left;
      continue;
    }
    drop_replica(*b, *r);
  }
  space.notify();
  if (left == 0) m_forsaken.add(number);
  return left;
}

/// With the block's lock held: a replica on a lost device goes.
void coherence::note_dropped(block::record& block, const block::replica& r) {
  if (!block.valid_in(r.space) || block.committed == 0 || block.poison != nullptr) return;
  bool elsewhere = false;  // maybe only on its way: then copy_failed looks again
  block.for_each_replica([&](const block::replica& other) { elsewhere = elsewhere || usable(other, block); });
  if (!elsewhere) give_up_contents(block);
}

loss_report coherence::take_losses() {
  loss_report out;
  if (m_lost.empty()) return out;
  for (const losses::entry& e : m_losses.take()) {
    const std::lock_guard guard(e.block->lock);
    // Written anew since then, nobody misses what was in it.
    if (e.block->poison != nullptr && *e.block->poison == e.why) out.blocks.push_back(block::name_of(*e.block));
  }
  std::ranges::sort(out.blocks);
  const auto repeated = std::ranges::unique(out.blocks);
  out.blocks.erase(repeated.begin(), repeated.end());
  for (const memory::space* s : m_spaces) {
    if (!lost(s->number())) continue;
    const std::string details = s->device().loss_details();
    out.devices.push_back(details.empty() ? s->device().name() : fmt::format("{} ({})", s->device().name(), details));
  }
  return out;
}

loss_statistics coherence::lost_so_far() const {
  loss_statistics out{.devices = 0, .blocks = m_losses.count()};
  for (const memory::space* s : m_spaces) out.devices += lost(s->number());
  return out;
}

}  // namespace tessera::transfer
