#include "core/memory/space.hpp"

#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/bytes/move_pages.hpp"

namespace tessera::memory {
namespace {

std::uint64_t granule_of(const space_setup& setup) {
  return std::max<std::uint64_t>(block_granule, setup.device->spaces()[setup.device_space].description.alignment);
}
bool host_computes_in(const space_setup& setup) {
  const tsr_space_desc& description = setup.device->spaces()[setup.device_space].description;
  return description.kind == TSR_SPACE_HOST && (description.capabilities & TSR_SPACE_HOST_VISIBLE) != 0 &&
         setup.device->table().mem_base != nullptr;
}
/// A front end's smallest blocks are a few numbers. A plugin wants its own alignment for copies of whole pages; those
/// are not.
std::uint64_t least_of(const space_setup& setup) {
  const std::uint64_t granule = granule_of(setup);
  return host_computes_in(setup) && std::has_single_bit(granule) ? block_granule : granule;
}

}  // namespace

space::space(space_setup setup)
    : m_setup(std::move(setup)),
      m_name(m_setup.device->spaces()[m_setup.device_space].name),
      m_granule(granule_of(m_setup)),
      m_least(least_of(m_setup)),
      m_host_visible(host_computes_in(m_setup)),
      m_slabs_are_cheap(m_host_visible && m_setup.register_with.empty()),
      m_foreign(m_slabs, m_setup.registrations, m_name),
      m_cached(m_granule, m_least) {
  const tsr_space_desc& description = m_setup.device->spaces()[m_setup.device_space].description;
  if (const std::uint64_t most = m_setup.device->description().max_allocation; most != 0)
    m_max_at_once = most / m_granule * m_granule;
  m_limit = m_setup.limit != 0 ? m_setup.limit : description.bytes;
  if (description.bytes != 0) m_limit = std::min(m_limit, description.bytes);
  if (m_limit == 0) m_limit = ~std::uint64_t{0};
  if (m_setup.slab_bytes == 0) m_setup.slab_bytes = std::uint64_t{64} << 20;
  m_setup.slab_bytes = std::max(m_setup.slab_bytes, m_granule);
}

space::~space() {
  if (m_abandoned) return;
  for (const std::uint32_t k : m_own) free_slab(m_slabs.at(k));
}

void space::free_memory(tsr_memory* memory) noexcept {
  plugin::succeeded("mem_free", [&] { return m_setup.device->table().mem_free(m_setup.device->handle(), memory); });
}

void space::free_slab(slab& s) noexcept {
  if (!s.ranges) return;
  for (const plugin::device* other : s.registered)
    plugin::succeeded("host_unregister", [&] { return other->table().host_unregister(other->handle(), s.base); });
  free_memory(s.memory);
  s = slab{};
}

/// What to ask of the plugin next, if nothing larger is needed: as much as there is already, so that what a program
/// waits for memory goes with what it uses. A memory of a few slabs has no room for many sizes: there it is a whole
/// slab.
std::uint64_t space::next_slab() const {
  constexpr std::uint64_t first = 16;  // part of a slab
  if (m_limit / first < m_setup.slab_bytes) return m_setup.slab_bytes;
  return std::clamp(m_slab_total, m_setup.slab_bytes / first, m_setup.slab_bytes) / m_granule * m_granule;
}

bool space::grow(std::uint64_t at_least) {
  const std::uint64_t left = m_limit == ~std::uint64_t{0} ? m_limit : m_limit - std::min(m_limit, m_slab_total);
  const std::uint64_t needed = (at_least + m_granule - 1) / m_granule * m_granule;
  if (left < needed) return false;
  if (needed > m_max_at_once) {
    m_alloc_trouble = "a block of " + std::to_string(at_least) + " bytes is more than the device allocates at once, " +
                      std::to_string(m_max_at_once) + " bytes (max_allocation)";
    return false;
  }
  // A plugin that has no such piece may have a smaller one.
  for (std::uint64_t bytes = std::max(needed, std::min({next_slab(), left / m_granule * m_granule, m_max_at_once}));;
       bytes = std::max(needed, bytes / 2 / m_granule * m_granule)) {
    if (make_slab(bytes)) return true;
    if (bytes == needed) return false;
  }
}

bool space::make_slab(std::uint64_t bytes) {
  const plugin::device& device = *m_setup.device;
  const std::uint64_t began = m_tracer != nullptr ? m_tracer->local().now() : 0;
  slab fresh;
  const auto refused = [&](tsr_status status, const char* what) {
    const std::string details = plugin::take_error_details();
    if (status == TSR_DEVICE_LOST) device.note_lost(details);
    m_alloc_trouble = std::string(what) + " of " + std::to_string(bytes) +
                      " bytes: " + std::string(plugin::name_of(status)) + (details.empty() ? "" : ": " + details);
    return false;
  };
  if (const tsr_status status = plugin::contained(
          "mem_alloc",
          [&] { return device.table().mem_alloc(device.handle(), m_setup.device_space, bytes, &fresh.memory); });
      status != TSR_OK)
    return refused(status, "allocation of a slab");
  if (fresh.memory == nullptr)
    return refused(TSR_INTERNAL, "mem_alloc answered OK and gave no memory; allocation of a slab");
  std::uint32_t entry = 0;
  void* base = nullptr;
  if (m_host_visible) {
    const tsr_status status =
        plugin::contained("mem_base", [&] { return device.table().mem_base(device.handle(), fresh.memory, &base); });
    if (status != TSR_OK || base == nullptr) {
      free_memory(fresh.memory);
      return status != TSR_OK ? refused(status, "address of a slab")
                              : refused(TSR_INTERNAL, "mem_base answered OK and gave no address; address of a slab");
    }
  }
  try {
    fresh.ranges = std::make_unique<range_allocator>(bytes, m_granule);
    entry = m_slabs.take(m_name);
  } catch (const error& e) {
    free_memory(fresh.memory);
    m_alloc_trouble = e.message();
    return false;
  }
  m_alloc_trouble.clear();
  m_alloc_tries = 0;
  if (m_host_visible) {
    fresh.base = static_cast<std::byte*>(base);
    for (const plugin::device* other : m_setup.register_with)
      if (other->table().host_register != nullptr && other->table().host_unregister != nullptr &&
          plugin::succeeded("host_register",
                            [&] { return other->table().host_register(other->handle(), base, bytes); }))
        fresh.registered.push_back(other);  // where it fails, copies are slower and still right
  }
  m_slab_total += bytes;
  m_slabs.at(entry) = std::move(fresh);
  m_own.push_back(entry);
  if (m_tracer != nullptr) note_slab(began, bytes);
  return true;
}

std::string space::alloc_trouble() const {
  const std::lock_guard guard(m_mutex);
  return m_alloc_trouble;
}

bool space::may_try_again() {
  constexpr std::uint32_t most = 8;
  const std::lock_guard guard(m_mutex);
  return !m_alloc_trouble.empty() && m_alloc_tries++ < most;
}

std::optional<block::chunk> space::take(std::uint64_t bytes, page_grid grid) {
  const std::uint64_t size = allocated_size(bytes);
  if (used() + size > m_limit) return std::nullopt;
  const bool own = is_own_slab(size);
  const auto find_any = [&] { return own ? find_own_slab(size) : find(size, grid); };
  std::optional<block::chunk> memory = m_cached.take(size);
  if (!memory && own) memory = m_whole.take(size);
  if (memory) {
    ++m_reuses;
  } else {
    memory = find_any();
    if (!memory && uncache()) memory = find_any();
    if (!memory && trim()) memory = find_any();
    if (!memory) return std::nullopt;
  }
  m_used.store(used() + size, std::memory_order_relaxed);
  m_peak = std::max(m_peak, used());
  ++m_allocations;
  return memory;
}

std::optional<block::chunk> space::find(std::uint64_t size, page_grid grid) {
  if (size < m_granule) {  // half of a larger piece; the other half waits for the next one of this size
    std::optional<block::chunk> whole = m_cached.take(2 * size);
    if (!whole) whole = find(2 * size, grid);
    if (whole) m_cached.put_rest(block::chunk::at(whole->slab(), whole->offset() + size), size);
    return whole;
  }
  const auto search = [&]() -> std::optional<block::chunk> {
    for (auto k = m_own.rbegin(); k != m_own.rend(); ++k)  // the youngest slab is the emptiest
      if (const auto offset = m_slabs.at(*k).ranges->allocate(size, grid)) return block::chunk::at(*k, *offset);
    return std::nullopt;
  };
  if (const auto found = search()) return found;
  // Before there is another slab: what was freed in other sizes, once it is a sixteenth of all.
  if (m_cached.bytes() >= std::max(size, m_slab_total / 16) && uncache())
    if (const auto found = search()) return found;
  if (is_short_of(std::max(size, next_slab()))) let_go(std::max(size, next_slab()));
  return grow(size) ? search() : std::nullopt;
}

/// Where slabs that were freed go for it, their pages come along: fresh ones would be zeroed.
std::optional<block::chunk> space::find_own_slab(std::uint64_t size) {
  const bool full = is_short_of(size);
  const std::vector<freed_slabs::slab_piece> old =
      full ? m_whole.take_oldest(size) : std::vector<freed_slabs::slab_piece>();
  std::uint64_t freed = 0;
  for (const freed_slabs::slab_piece& s : old) freed += s.bytes;
  m_slab_total -= freed;  // the plugin has them still
  const bool grown = grow(size);
  m_slab_total += freed;
  std::optional<block::chunk> made;
  if (grown) {
    slab& fresh = m_slabs.at(m_own.back());
    made = block::chunk::at(m_own.back(), *fresh.ranges->allocate(size));
    std::uint64_t at = 0;
    for (const freed_slabs::slab_piece& s : old) {
      const std::uint64_t bytes = std::min(s.bytes, size - at);
      if (bytes > 0) move_pages(m_slabs.at(s.memory.slab()).base, fresh.base + at, bytes);
      at += bytes;
    }
  }
  for (const freed_slabs::slab_piece& s : old) m_slabs.at(s.memory.slab()).ranges->release(0, s.bytes);
  if (!old.empty()) trim();
  return made;
}

/// Whether slabs that were freed go for so many bytes: they are a sixteenth of all, or no more is left.
bool space::is_short_of(std::uint64_t bytes) const {
  const std::uint64_t left = m_limit - std::min(m_limit, m_slab_total);
  return m_whole.bytes() >= std::max(bytes, m_slab_total / 16) || left < bytes;
}

bool space::is_whole(block::chunk memory, std::uint64_t size) const {
  return is_own_slab(size) && m_slabs.at(memory.slab()).ranges->capacity() == size;
}

std::uint64_t space::let_go(std::uint64_t at_least) {
  std::uint64_t bytes = 0;
  for (const freed_slabs::slab_piece& s : m_whole.take_oldest(at_least)) {
    m_slabs.at(s.memory.slab()).ranges->release(0, s.bytes);
    bytes += s.bytes;
  }
  if (bytes != 0) trim();
  return bytes;
}

bool space::uncache() {
  return m_cached.empty(
      [this](block::chunk c, std::uint64_t size) { m_slabs.at(c.slab()).ranges->release(c.offset(), size); });
}

bool space::trim() {
  return std::erase_if(m_own, [this](std::uint32_t k) {
           slab& s = m_slabs.at(k);
           if (s.ranges->used() != 0) return false;
           m_slab_total -= s.ranges->capacity();
           m_epoch.fetch_add(1, std::memory_order_release);  // before the plugin can use the handle again
           free_slab(s);
           m_slabs.give_back(k);
           return true;
         }) != 0;
}

std::uint64_t space::give_slabs_back() {
  const std::lock_guard guard(m_mutex);
  const std::uint64_t before = m_slab_total;
  let_go(m_whole.bytes());
  uncache();
  trim();
  return before - m_slab_total;
}

void space::put_back(block::chunk memory, std::uint64_t bytes) {
  const std::uint64_t size = allocated_size(bytes);
  m_used.store(used() - size, std::memory_order_relaxed);
  if (is_whole(memory, size)) {
    m_whole.put(memory, size);
    return;
  }
  // What lies across pages is not used again as it is.
  if (m_grid.allows(memory.offset(), size)) {
    m_cached.put(memory, size);
  } else {
    m_slabs.at(memory.slab()).ranges->release(memory.offset(), size);
    m_cached.note_freed();
  }
}

/// For all in this order, or for none.
bool space::take_all(std::span<const std::uint64_t> sizes, std::span<block::chunk> out_chunks,
                     std::span<const std::size_t> order, page_grid grid) {
  std::size_t taken = 0;
  const auto undo = [&] {
    for (const std::size_t k : order.first(taken)) put_back(out_chunks[k], sizes[k]);
  };
  try {
    for (; taken < order.size(); ++taken) {
      const std::size_t k = order[taken];
      const auto memory = take(sizes[k], grid);
      if (!memory) {
        undo();
        return false;
      }
      out_chunks[k] = *memory;
    }
  } catch (...) {  // a plugin's failure
    undo();
    throw;
  }
  return true;
}

bool space::reserve(std::span<const std::uint64_t> sizes, std::span<block::chunk> out_chunks) {
  const std::lock_guard guard(m_mutex);
  boost::container::small_vector<std::size_t, 16> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto try_all = [&](page_grid grid) { return take_all(sizes, out_chunks, {order.data(), order.size()}, grid); };
  if (m_allocations >= m_next_choice) choose_grid();
  bool taken = try_all(m_grid);
  if (!taken && may_fit(sizes)) {  // it may be for the pieces that the first ones were put into
    uncache();
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t k) { return sizes[k]; });
    taken = sizes.size() > 1 && try_all(m_grid);
    if (!taken && m_grid.page != 0) {
      uncache();  // what the last try has given back lies in the pages that were too few
      taken = try_all({});
    }
  }
  if (!taken) {
    m_exhausted.store(m_exhausted.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return false;
  }
  if (m_tracer != nullptr && !sizes.empty()) note_use();
  return true;
}

/// Whether they are no more than what is free in all.
bool space::may_fit(std::span<const std::uint64_t> sizes) const {
  std::uint64_t all = used();
  for (const std::uint64_t bytes : sizes) all += allocated_size(bytes);
  return all <= m_limit;
}

page_grid space::grid() const {
  const std::lock_guard guard(m_mutex);
  return m_grid;
}

/// Each time when twice as much was allocated. Only for memories that fill up with blocks of devices: where hosts
/// compute, there are blocks of any size, and memory enough.
void space::choose_grid() {
  m_next_choice = 2 * m_allocations;
  if (m_least < m_granule || m_limit == ~std::uint64_t{0} || m_host_visible) return;
  std::map<std::uint64_t, std::uint64_t> blocks_of_size;
  m_residents.for_each([&](const block::record& b) { ++blocks_of_size[allocated_size(b.bytes)]; });
  m_grid = grid_for(blocks_of_size);
  m_cached.note_freed();
  uncache();  // there may be some across the new pages
}

std::vector<piece> space::free_pieces() const {
  const std::lock_guard guard(m_mutex);
  std::vector<piece> found;
  for (const std::uint32_t k : m_own)
    for (const auto& [offset, bytes] : m_slabs.at(k).ranges->free_ranges())
      found.push_back({block::chunk::at(k, offset), bytes});
  m_cached.for_each([&](block::chunk c, std::uint64_t size) { found.push_back({c, size}); });
  for (const freed_slabs::slab_piece& s : m_whole.all()) found.push_back({s.memory, s.bytes});
  if (m_alloc_trouble.empty() && m_slab_total < m_limit) found.push_back({{}, m_limit - m_slab_total});
  return found;
}

void space::give_back(block::chunk memory, std::uint64_t bytes) {
  const std::lock_guard guard(m_mutex);
  put_back(memory, bytes);
  if (m_tracer != nullptr) note_use();
}

void space::note_slab(std::uint64_t began, std::uint64_t bytes) {
  trace::buffer& events = m_tracer->local();
  trace::event e{trace::event_kind::slab};
  e.number = number();
  e.time = began;
  e.words[0] = events.now();
  e.words[1] = bytes;
  events.add(e);
}

void space::note_use() {
  trace::buffer& events = m_tracer->local();
  trace::event e{trace::event_kind::memory};
  e.number = number();
  e.time = events.now();
  e.words[0] = used();
  events.add(e);
}

void space::release(block::chunk memory, std::uint64_t bytes) {
  give_back(memory, bytes);
  m_waiters.notify();
}

space_statistics space::statistics() const {
  const std::lock_guard guard(m_mutex);
  return {.used_bytes = used(),
          .peak_bytes = m_peak,
          .reserved_bytes = m_slab_total,
          .limit_bytes = m_limit,
          .slabs = m_own.size(),
          .allocations = m_allocations,
          .reuses = m_reuses,
          .exhausted = m_exhausted.load(std::memory_order_relaxed),
          .evictions = m_evictions.load(std::memory_order_relaxed),
          .adopted = m_foreign.pieces()};
}

}  // namespace tessera::memory
