#include "core/trace/tracer.hpp"

#include <algorithm>

namespace tessera::trace {
namespace {

std::atomic<std::uint64_t> next_serial{1};  // numbers, not state: two tracers never share one

// A huge page, where the system has them: the first touch of small pages would cost more than the events.
chunk_memory allocate_chunk() noexcept {
  return chunk_memory(static_cast<std::uint64_t*>(map_huge_pages(buffer::chunk_bytes)));
}

struct local_cache {
  std::uint64_t serial = 0;
  buffer* mine = nullptr;
};
thread_local local_cache cached;

}  // namespace

buffer::buffer(tracer& owner, std::string name, thread_role role, std::uint32_t place)
    : m_owner(owner), m_name(std::move(name)), m_role(role), m_place(place), m_clock(owner.m_clock) {}

bool buffer::grow() noexcept {
  chunk_memory words = m_owner.take_chunk();
  if (!words) return false;
  try {
    auto fresh = std::make_unique<chunk>();
    fresh->words = std::move(words);
    const std::lock_guard guard(m_chunks_mutex);
    m_current = m_chunks.emplace_back(std::move(fresh)).get();
  } catch (...) {
    m_owner.m_bytes.fetch_sub(chunk_bytes, std::memory_order_relaxed);
    return false;
  }
  m_used = 0;
  return true;
}

void buffer::append_to(std::vector<event>& out) const {
  const std::lock_guard guard(m_chunks_mutex);
  for (const auto& c : m_chunks) {
    const std::uint64_t* from = c->words.get();
    const std::uint64_t* const end = from + c->used.load(std::memory_order_acquire);
    while (from != end) {
      event e{static_cast<event_kind>(from[0] & 0xff)};
      e.count = static_cast<std::uint8_t>(from[0] >> 8);
      e.small = static_cast<std::uint16_t>(from[0] >> 16);
      e.number = static_cast<std::uint32_t>(from[0] >> 32);
      e.time = from[1];
      e.task = from[2];
      const std::size_t own = words_of(e.kind, e.count);
      std::copy_n(from + head_words, own, e.words.begin());
      from += head_words + own;
      out.push_back(e);
    }
  }
}

tracer::tracer(std::uint64_t limit_bytes, const std::uint64_t* virtual_now)
    : m_serial(next_serial.fetch_add(1)),
      m_limit(limit_bytes),
      m_clock(virtual_now),
      m_first_tick(m_clock.now()),
      m_first_ns(steady_ns()) {
  const std::uint64_t count = std::min<std::uint64_t>(prepared_chunks, m_limit / buffer::chunk_bytes);
  for (std::uint64_t k = 0; k < count; ++k) {
    chunk_memory memory = allocate_chunk();
    if (!memory) break;
    for (std::size_t at = 0; at < buffer::chunk_words; at += 4096 / sizeof(std::uint64_t)) memory[at] = 0;
    m_prepared.push_back(std::move(memory));
  }
}

chunk_memory tracer::take_chunk() noexcept {
  if (m_bytes.fetch_add(buffer::chunk_bytes, std::memory_order_relaxed) + buffer::chunk_bytes <= m_limit) {
    {
      const std::lock_guard guard(m_prepared_mutex);
      if (!m_prepared.empty()) {
        chunk_memory memory = std::move(m_prepared.back());
        m_prepared.pop_back();
        return memory;
      }
    }
    if (chunk_memory memory = allocate_chunk()) return memory;
  }
  m_bytes.fetch_sub(buffer::chunk_bytes, std::memory_order_relaxed);
  return nullptr;
}

buffer& tracer::make_buffer(std::string name, thread_role role, std::uint32_t place) {
  auto fresh = std::make_unique<buffer>(*this, std::move(name), role, place);
  fresh->grow();  // its first chunk now rather than in the midst of the first task
  const std::lock_guard guard(m_mutex);
  return *m_buffers.emplace_back(std::move(fresh));
}

buffer& tracer::local() {
  if (cached.serial != m_serial) {
    buffer* mine = nullptr;
    {
      const std::lock_guard guard(m_mutex);
      buffer*& known = m_locals[std::this_thread::get_id()];
      if (known == nullptr)
        known = m_buffers.emplace_back(std::make_unique<buffer>(*this, "", thread_role::other, 0)).get();
      mine = known;
    }
    cached = {m_serial, mine};
  }
  return *cached.mine;
}

std::uint64_t tracer::name(std::string_view text) {
  const std::lock_guard guard(m_mutex);
  const auto [entry, is_new] = m_numbers.try_emplace(std::string(text), m_names.size());
  if (is_new) m_names.emplace_back(text);
  return entry->second;
}

recording tracer::take() const {
  recording made;
  const std::lock_guard guard(m_mutex);
  const std::uint64_t tick = m_clock.now();
  const std::int64_t ns = steady_ns();
  const double rate = !m_clock.is_virtual() && tick > m_first_tick
                          ? static_cast<double>(ns - m_first_ns) / static_cast<double>(tick - m_first_tick)
                          : 1;
  const auto to_ns = [&](std::uint64_t t) {
    return t <= m_first_tick ? 0 : static_cast<std::uint64_t>(static_cast<double>(t - m_first_tick) * rate);
  };
  made.block_names = m_names;
  for (const auto& b : m_buffers) {
    recording::thread t{b->m_name, b->m_role, b->m_place, {}};
    made.dropped += b->m_dropped.load(std::memory_order_relaxed);
    b->append_to(t.events);
    for (event& e : t.events) {
      e.time = to_ns(e.time);
      const bool spans = e.kind == event_kind::ran || e.kind == event_kind::enqueued ||
                         e.kind == event_kind::transfer || e.kind == event_kind::fence || e.kind == event_kind::slab ||
                         e.kind == event_kind::step;
      if (spans) e.words[0] = to_ns(e.words[0]);
      if (e.kind == event_kind::enqueued) e.words[2] = to_ns(e.words[2]);
    }
    made.threads.push_back(std::move(t));
  }
  return made;
}

}  // namespace tessera::trace
