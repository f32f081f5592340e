#include "core/trace/recorder.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace tessera::trace {
namespace {

std::atomic<std::uint64_t> next_serial{1};  // numbers, not state: two recorders never share one

constexpr std::size_t chunk_bytes = buffer::chunk_events * sizeof(event);

struct local_cache {
  std::uint64_t serial = 0;
  buffer* mine = nullptr;
};
thread_local local_cache cached;

}  // namespace

buffer::buffer(recorder& owner, std::string name, thread_role role, std::uint32_t place)
    : m_owner(owner), m_name(std::move(name)), m_role(role), m_place(place), m_clock(owner.m_clock) {}

buffer::~buffer() {
  for (const auto& c : m_chunks) std::free(c->events);
}

bool buffer::grow() noexcept {
  if (m_owner.m_bytes.fetch_add(chunk_bytes, std::memory_order_relaxed) + chunk_bytes > m_owner.m_limit) {
    m_owner.m_bytes.fetch_sub(chunk_bytes, std::memory_order_relaxed);
    return false;
  }
  // Aligned to a huge page, and one where the system has them: the first touch of small pages would cost more than the
  // events (50 ns each).
  void* const memory = std::aligned_alloc(chunk_bytes, chunk_bytes);
  if (memory == nullptr) return false;
  madvise(memory, chunk_bytes, MADV_HUGEPAGE);  // where it fails, it is slower
  try {
    auto fresh = std::make_unique<chunk>();
    fresh->events = static_cast<event*>(memory);
    const std::lock_guard guard(m_chunks_mutex);
    m_current = m_chunks.emplace_back(std::move(fresh)).get();
  } catch (...) {
    std::free(memory);
    return false;
  }
  m_used = 0;
  return true;
}

recorder::recorder(std::uint64_t limit_bytes, const std::uint64_t* virtual_now)
    : m_serial(next_serial.fetch_add(1)), m_limit(limit_bytes), m_clock(virtual_now), m_first_tick(m_clock.now()), m_first_ns(steady_ns()) {}

buffer& recorder::make_buffer(std::string name, thread_role role, std::uint32_t place) {
  auto fresh = std::make_unique<buffer>(*this, std::move(name), role, place);
  // Its first chunk now rather than in the midst of the first task.
  if (fresh->grow()) fresh->m_current->events[0] = event{event_kind::fence};
  const std::lock_guard guard(m_mutex);
  return *m_buffers.emplace_back(std::move(fresh));
}

buffer& recorder::local() {
  if (cached.serial != m_serial) {
    buffer* mine = nullptr;
    {
      const std::lock_guard guard(m_mutex);
      buffer*& known = m_locals[std::this_thread::get_id()];
      if (known == nullptr) known = m_buffers.emplace_back(std::make_unique<buffer>(*this, "", thread_role::other, 0)).get();
      mine = known;
    }
    cached = {m_serial, mine};
  }
  return *cached.mine;
}

std::uint64_t recorder::name(std::string_view text) {
  const std::lock_guard guard(m_mutex);
  const auto [entry, is_new] = m_numbers.try_emplace(std::string(text), m_names.size());
  if (is_new) m_names.emplace_back(text);
  return entry->second;
}

recording recorder::take() const {
  recording made;
  const std::lock_guard guard(m_mutex);
  const std::uint64_t tick = m_clock.now();
  const std::int64_t ns = steady_ns();
  const double rate = !m_clock.is_virtual() && tick > m_first_tick ? static_cast<double>(ns - m_first_ns) / static_cast<double>(tick - m_first_tick) : 1;
  const auto to_ns = [&](std::uint64_t t) {
    return t <= m_first_tick ? 0 : static_cast<std::uint64_t>(static_cast<double>(t - m_first_tick) * rate);
  };
  made.block_names = m_names;
  for (const auto& b : m_buffers) {
    recording::thread t{b->m_name, b->m_role, b->m_place, {}};
    made.dropped += b->m_dropped.load(std::memory_order_relaxed);
    const std::lock_guard chunks(b->m_chunks_mutex);
    for (const auto& c : b->m_chunks) {
      const std::size_t count = c->count.load(std::memory_order_acquire);
      t.events.insert(t.events.end(), c->events, c->events + count);
    }
    for (event& e : t.events) {
      e.time = to_ns(e.time);
      const bool spans = e.kind == event_kind::ran || e.kind == event_kind::enqueued || e.kind == event_kind::transfer ||
                         e.kind == event_kind::fence;
      if (spans) e.words[0] = to_ns(e.words[0]);
      if (e.kind == event_kind::enqueued) e.words[2] = to_ns(e.words[2]);
    }
    made.threads.push_back(std::move(t));
  }
  return made;
}

}  // namespace tessera::trace
