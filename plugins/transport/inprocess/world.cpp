#include "plugins/transport/inprocess/world.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace tessera::inprocess {
namespace {
constexpr std::align_val_t line{64};
}

bytes_at_64::bytes_at_64(std::uint64_t bytes) {
  if (bytes > PTRDIFF_MAX - 64) throw std::bad_alloc();
  m_bytes.reset(static_cast<std::byte*>(::operator new(std::max<std::uint64_t>(bytes, 1), line)));
  std::memset(m_bytes.get(), 0, bytes);
}

void bytes_at_64::release::operator()(std::byte* bytes) const noexcept { ::operator delete(bytes, line); }

world::world(const settings& setting) : m_setting(setting), m_lost(static_cast<std::size_t>(setting.ranks)) {
  const auto ranks = static_cast<std::size_t>(setting.ranks);
  for (std::size_t k = 0; k < ranks; ++k) {
    auto& box = *m_mailboxes.emplace_back(std::make_unique<mailbox>());
    box.from.resize(ranks);
    box.last_due.resize(ranks);
    box.sender_waits.resize(ranks);
  }
}

std::int32_t world::node_of(std::int32_t rank) const noexcept {
  return m_setting.ranks_per_node == 0 ? 0 : rank / m_setting.ranks_per_node;
}

std::int32_t world::nodes() const noexcept { return node_of(m_setting.ranks - 1) + 1; }

std::chrono::nanoseconds world::delay(std::int32_t one, std::int32_t other) const noexcept {
  const bool slow = m_setting.slow_rank >= 0 && (one == m_setting.slow_rank || other == m_setting.slow_rank);
  return std::chrono::nanoseconds(m_setting.delay_ns + (slow ? m_setting.slow_delay_ns : 0));
}

void world::raise(std::int32_t rank) {
  mailbox& of = box(rank);
  {
    const std::lock_guard lock(of.guard);
    of.raised = true;
  }
  of.changed.notify_one();
}

void world::raise_all() {
  for (std::int32_t rank = 0; rank < m_setting.ranks; ++rank) raise(rank);
}

std::shared_ptr<const collective> world::join(std::uint64_t index, std::int32_t rank, collective::kind what,
                                              const void* contribution, std::uint64_t bytes) {
  std::shared_ptr<collective> one;
  bool last = false;
  {
    const std::lock_guard lock(m_guard);
    auto& slot = m_collectives[index];
    const bool agrees = what == collective::kind::agree;
    if (slot == nullptr) {
      slot = std::make_shared<collective>();
      slot->what = what;
      slot->bytes = agrees ? bytes : 0;
      slot->arrived.resize(size());
      slot->missing = size();
      slot->sizes.resize(size());
      slot->all.resize(agrees ? size() * bytes : 0);
    }
    one = slot;
    const auto place = static_cast<std::size_t>(rank);
    one->arrived[place] = true;
    if (one->what != what || (agrees && one->bytes != bytes)) one->differs = true;
    if (what == collective::kind::create) one->sizes[place] = bytes;
    if (agrees && !one->differs && bytes != 0) std::memcpy(one->all.data() + place * bytes, contribution, bytes);
    last = --one->missing == 0;
    if (last) {
      complete(*one);
      m_collectives.erase(index);
    }
  }
  if (last) raise_all();
  return one;
}

/// All ranks are there.
void world::complete(collective& one) {
  one.due = clock::now() + delay(m_setting.slow_rank, m_setting.slow_rank);
  if (one.what != collective::kind::create || one.differs) return;
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : one.sizes)
    if (__builtin_add_overflow(sum, bytes, &sum)) one.exhausted = true;
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (sum / page > pages) one.exhausted = true;  // not asked for: a sanitizer would end the process
  if (one.exhausted) return;
  const std::uint64_t before = m_used->fetch_add(sum);
  one.used = m_used;
  one.taken = sum;
  if (m_setting.memory != 0 && (sum > m_setting.memory || before > m_setting.memory - sum)) one.exhausted = true;
  try {
    for (std::size_t k = 0; k < one.sizes.size() && !one.exhausted; ++k) {
      auto part = std::make_unique<window_part>();
      part->memory = bytes_at_64(one.sizes[k]);
      part->bytes = one.sizes[k];
      one.parts.push_back(std::move(part));
    }
  } catch (const std::bad_alloc&) {
    one.exhausted = true;
  }
  if (one.exhausted) one.parts.clear();
}

world::state world::state_of(const collective& one, clock::time_point now, clock::time_point* out_due) const {
  const std::lock_guard lock(m_guard);
  if (one.missing == 0) {
    if (one.due <= now) return state::done;
    if (out_due != nullptr) *out_due = std::min(*out_due, one.due);
    return state::waits;
  }
  for (std::size_t k = 0; k < one.arrived.size(); ++k)
    if (!one.arrived[k] && m_lost[k].load()) return state::lost;
  return state::waits;
}

void world::lose(std::int32_t rank) {
  if (m_lost[static_cast<std::size_t>(rank)].exchange(true)) return;
  m_losses.fetch_add(1);
  raise_all();
}

void world::abort(std::int32_t by, std::int32_t code, const std::string& text) {
  {
    const std::lock_guard lock(m_guard);
    if (m_aborted.load()) return;
    m_abort_text = "rank " + std::to_string(by) + " has ended the job with code " + std::to_string(code) +
                   (text.empty() ? "" : ": " + text);
    m_aborted.store(true);
  }
  raise_all();
}

std::string world::abort_text() const {
  const std::lock_guard lock(m_guard);
  return m_abort_text;
}

}  // namespace tessera::inprocess
