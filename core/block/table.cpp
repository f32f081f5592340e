#include "core/block/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "core/base/huge_pages.hpp"

namespace tessera::block {
namespace {

std::atomic<std::uint32_t> next_number{1};  // numbers, not state: blocks of another table are recognised by them

/// Addresses of records of tables that have ended, the oldest first. A handle may be kept for longer than its runtime.
class ended_regions {
 public:
  /// Takes memory that holds no object any more.
  void add(void* memory, std::size_t bytes) noexcept {
    if (!keep_addresses_of_huge_pages(memory, bytes)) {
      unmap_huge_pages(memory, bytes);
      return;
    }
    const std::lock_guard guard(m_mutex);
    region& oldest = m_regions[m_next];
    m_next = (m_next + 1) % m_regions.size();
    unmap_huge_pages(oldest.memory, oldest.bytes);
    oldest = {memory, bytes};
  }

 private:
  struct region {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
#ifdef __SANITIZE_ADDRESS__  // where addresses that are kept cost memory
  static constexpr std::size_t most = 32;
#else
  static constexpr std::size_t most = 1024;
#endif
  std::mutex m_mutex;
  std::array<region, most> m_regions{};
  std::size_t m_next = 0;
};

/// Of the process. Never destroyed: runtimes with static storage end late.
ended_regions& ended() noexcept {
  static ended_regions& all = *new ended_regions;
  return all;
}

}  // namespace

table::table() : m_number(next_number.fetch_add(1)) {}

bool table::shape_less::operator()(const shape& a, const shape& b) const noexcept {
  return std::ranges::lexicographical_compare(a.extents(), b.extents());
}

table::~table() {
  for (record_chunk* const chunk : m_chunks)
    for (record& block : *chunk) delete block.poison;
}

void table::region_end::operator()(record_chunk* first) const noexcept {
  std::destroy_n(first, chunks);
  ended().add(first, region_bytes);
}

table::record_chunk& table::add_chunk() {
  if (m_chunks.size() % region_chunks == 0) {
    static_assert(region_bytes % huge_page_bytes == 0);
    void* const memory = map_huge_pages(region_bytes, !m_regions.empty());
    if (memory == nullptr) throw std::bad_alloc();
    m_regions.emplace_back(static_cast<record_chunk*>(memory));
  }
  auto& region = m_regions.back();
  record_chunk* const fresh = new (region.get() + region.get_deleter().chunks) record_chunk();
  ++region.get_deleter().chunks;
  m_chunks.push_back(fresh);
  return *fresh;
}

record& table::create(element_type type, const shape& extents, const origin* from, std::uint32_t position) {
  const auto count = static_cast<std::uint64_t>(extents.count());
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 48;  // what the offset of a chunk can say
  if (count > max_bytes / size_of(type))
    throw error(error_kind::usage,
                fmt::format("a block of {} elements of type {} has more than 2^48 bytes", count, name_of(type)), {},
                "cut the array into smaller blocks");
  record* taken = nullptr;
  const shape* shared = nullptr;
  {
    const std::lock_guard guard(m_mutex);
    if (m_free.empty()) {
      const auto first = static_cast<std::uint32_t>(m_used.size());
      record_chunk& fresh = add_chunk();
      m_used.resize(first + chunk_records);
      for (std::uint32_t k = 0; k < chunk_records; ++k) {
        fresh[k].slot = first + k;
        m_free.push_back(first + chunk_records - 1 - k);  // low slots first
      }
    }
    if (from != nullptr) ++from->blocks;
    const std::uint32_t slot = m_free.back();
    m_free.pop_back();
    m_used[slot] = true;
    auto& shared_shape = m_shapes[extents];
    if (!shared_shape) shared_shape = std::make_unique<shape>(extents);
    shared = shared_shape.get();
    taken = &(*m_chunks[slot / chunk_records])[slot % chunk_records];
  }
  record& block = *taken;
  // The last writer stays: its generation has passed, so that a later task sees it as finished.
  block.flow.reader_count = 0;
  block.flow.commuting = commuting::none;
  if (block.flow.more) {
    block.flow.more->readers.clear();
    block.flow.more->commuters.clear();
    block.flow.more->before.clear();
  }
  block.flow.next_version = 1;
  block.flow.is_private = false;
  {
    // Eviction may still hold the record as a candidate from its last life: it looks again under this lock.
    const std::lock_guard execution(block.lock);
    block.type = type;
    block.extents = shared;
    block.bytes = count * size_of(type);
    block.from = from;
    block.position = position;
    block.owner = m_number;
    block.committed = 0;
    block.valid_spaces = {};
    block.foreign = false;
    block.home = home_state::there;
  }
  if (m_tracer != nullptr) trace_creation(block);
  return block;
}

void table::trace_creation(const record& block) const {
  trace::buffer& events = m_tracer->local();
  trace::event e{trace::event_kind::block};
  e.count = block.type == element_type::f32 || block.type == element_type::c64;
  e.number = block.slot;
  e.time = events.now();
  e.task = block.from != nullptr ? m_tracer->name(name_of(block)) : trace::nameless;
  e.words[0] = block.bytes;
  events.add(e);
}

void table::destroy(record& block) {
  const origin* from = nullptr;
  {
    const std::lock_guard execution(
        block.lock);  // an evictor may be writing down its name, a fence looking for what was lost
    block.clear_poison();
    from = std::exchange(block.from, nullptr);
  }
  const std::lock_guard guard(m_mutex);
  if (from != nullptr && --from->blocks == 0) m_origins.erase(from);
  m_used[block.slot] = false;
  if (m_keep == 0) {
    m_free.push_back(block.slot);
    return;
  }
  m_kept.push_back(block.slot);
  if (m_kept.size() <= m_keep) return;
  m_free.push_back(m_kept.front());
  m_kept.pop_front();
}

void table::keep_destroyed(std::size_t count) {
  const std::lock_guard guard(m_mutex);
  m_keep = count;
}

const origin* table::make_origin(std::string array_name, std::vector<std::int64_t> counts, bool last_is_fastest,
                                 std::int64_t per_element) {
  const std::lock_guard guard(m_mutex);
  auto fresh = std::make_unique<origin>(origin{std::move(array_name), std::move(counts), last_is_fastest, per_element});
  const origin* const at = fresh.get();
  m_origins.emplace(at, std::move(fresh));
  return at;
}

void table::forget_origin(const origin* from) {
  const std::lock_guard guard(m_mutex);
  m_origins.erase(from);
}

std::size_t table::size() const {
  const std::lock_guard guard(m_mutex);
  return m_used.size() - m_free.size() - m_kept.size();
}

std::size_t table::origins() const {
  const std::lock_guard guard(m_mutex);
  return m_origins.size();
}

std::string name_of(const record& block) {
  if (block.from == nullptr) return fmt::format("block {}", block.slot);
  const std::vector<std::int64_t>& counts = block.from->counts;
  std::array<std::int64_t, max_rank> indices{};
  std::int64_t rest = block.position;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::size_t d = block.from->last_is_fastest ? counts.size() - 1 - k : k;
    if (counts[d] <= 0) continue;
    indices[d] = rest % counts[d];
    rest /= counts[d];
  }
  std::string name = block.from->array_name;  // put together without texts between: a recording names every block
  char before = '(';
  for (std::size_t d = 0; d < counts.size(); ++d) {
    const fmt::format_int index(indices[d]);
    name += std::exchange(before, ',');
    name.append(index.data(), index.size());
  }
  if (before == ',') name += ')';
  return name;
}

}  // namespace tessera::block
