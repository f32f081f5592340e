#include "core/memory/space.hpp"

#include "core/base/fence.hpp"

#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace tessera::memory {
namespace {

bool younger(const memory_waiter* a, const memory_waiter* b) { return a->age > b->age; }

}  // namespace

space::space(space_setup setup)
    : m_setup(std::move(setup)), m_pages(std::make_unique<std::atomic<slab*>[]>(max_pages)) {
  const tsr_space_desc& description = m_setup.device->spaces()[m_setup.device_space].description;
  m_name = m_setup.device->spaces()[m_setup.device_space].name;
  m_granule = std::max<std::uint64_t>(block_granule, description.alignment);
  if (const std::uint64_t most = m_setup.device->description().max_allocation; most != 0)
    m_most_at_once = most / m_granule * m_granule;
  m_least = m_granule;
  m_host_visible = description.kind == TSR_SPACE_HOST && (description.capabilities & TSR_SPACE_HOST_VISIBLE) != 0 &&
                   m_setup.device->table().mem_base != nullptr;
  // A front end's smallest blocks are a few numbers. A plugin wants its own alignment for copies of whole pages; those
  // are not.
  if (m_host_visible && std::has_single_bit(m_granule)) m_least = block_granule;
  m_limit = m_setup.limit != 0 ? m_setup.limit : description.bytes;
  if (description.bytes != 0) m_limit = std::min(m_limit, description.bytes);
  if (m_limit == 0) m_limit = ~std::uint64_t{0};
  if (m_setup.slab_bytes == 0) m_setup.slab_bytes = std::uint64_t{64} << 20;
}

space::~space() {
  for (std::uint32_t k = 0; k < m_slab_count && !m_abandoned; ++k) free_slab(slab_of(k));
  for (std::size_t page = 0; page < max_pages; ++page) delete[] m_pages[page].load(std::memory_order_relaxed);
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

std::uint32_t space::new_slab_entry() {
  if (!m_free_entries.empty()) {
    const std::uint32_t entry = m_free_entries.back();
    m_free_entries.pop_back();
    return entry;
  }
  if (m_slab_count == slabs_per_page * max_pages)
    throw error(error_kind::memory, "space " + m_name + " has no room for more than 65536 slabs and adopted arrays", {},
                "raise memory.slab_bytes, or adopt the program's memory as fewer and larger arrays");
  if (m_slab_count % slabs_per_page == 0)
    m_pages[m_slab_count / slabs_per_page].store(new slab[slabs_per_page], std::memory_order_release);
  return m_slab_count++;
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
  if (needed > m_most_at_once) {
    m_alloc_trouble = "a block of " + std::to_string(at_least) + " bytes is more than the device allocates at once, " +
                      std::to_string(m_most_at_once) + " bytes (max_allocation)";
    return false;
  }
  // A plugin that has no such piece may have a smaller one.
  for (std::uint64_t bytes = std::max(needed, std::min({next_slab(), left / m_granule * m_granule, m_most_at_once}));;
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
    entry = new_slab_entry();
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
  slab_of(entry) = std::move(fresh);
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
  std::optional<block::chunk> memory;
  if (auto& cached = m_cached[size]; !cached.empty()) {
    memory = cached.back();
    cached.pop_back();
    ++m_reuses;
  } else {
    memory = find(size, grid);
    if (!memory && uncache()) memory = find(size, grid);
    if (!memory && trim()) memory = find(size, grid);
    if (!memory) return std::nullopt;
  }
  m_used.store(used() + size, std::memory_order_relaxed);
  m_peak = std::max(m_peak, used());
  ++m_allocations;
  return memory;
}

std::optional<block::chunk> space::find(std::uint64_t size, page_grid grid) {
  if (size < m_granule) {  // half of a larger piece; the other half waits for the next one of this size
    auto& larger = m_cached[2 * size];
    std::optional<block::chunk> whole;
    if (larger.empty()) {
      whole = find(2 * size, grid);
    } else {
      whole = larger.back();
      larger.pop_back();
    }
    if (whole) m_cached[size].push_back(block::chunk::at(whole->slab(), whole->offset() + size));
    return whole;
  }
  const auto search = [&]() -> std::optional<block::chunk> {
    for (std::uint32_t k = m_slab_count; k-- > 0;) {  // the youngest slab is the emptiest
      slab& s = slab_of(k);
      if (!s.ranges) continue;
      if (const auto offset = s.ranges->allocate(size, grid)) return block::chunk::at(k, *offset);
    }
    return std::nullopt;
  };
  if (const auto found = search()) return found;
  return grow(size) ? search() : std::nullopt;
}

bool space::uncache() {
  if (!std::exchange(m_may_join, false)) return false;
  join_pieces();
  for (auto& [size, chunks] : m_cached) {
    if (size < m_granule) continue;  // their other halves are in use
    for (const block::chunk c : chunks) slab_of(c.slab()).ranges->release(c.offset(), size);
    chunks.clear();
  }
  return true;
}

void space::join_pieces() {
  for (std::uint64_t size = m_least; size < m_granule; size *= 2) {
    auto& pieces = m_cached[size];
    auto& larger = m_cached[2 * size];
    std::ranges::sort(pieces, {}, &block::chunk::word);
    std::size_t left = 0;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      const bool first_half = pieces[k].offset() % (2 * size) == 0;
      if (first_half && k + 1 < pieces.size() && pieces[k + 1].word == pieces[k].word + size)
        larger.push_back(pieces[k++]);
      else
        pieces[left++] = pieces[k];
    }
    pieces.resize(left);
  }
}

bool space::trim() {
  bool any = false;
  for (std::uint32_t k = 0; k < m_slab_count; ++k) {
    slab& s = slab_of(k);
    if (!s.ranges || s.ranges->used() != 0) continue;
    m_slab_total -= s.ranges->capacity();
    m_epoch.fetch_add(1, std::memory_order_release);  // before its handle can be given out anew
    free_slab(s);
    m_free_entries.push_back(k);
    any = true;
  }
  return any;
}

std::uint64_t space::give_slabs_back() {
  const std::lock_guard guard(m_mutex);
  const std::uint64_t before = m_slab_total;
  uncache();
  trim();
  return before - m_slab_total;
}

void space::put_back(block::chunk memory, std::uint64_t bytes) {
  const std::uint64_t size = allocated_size(bytes);
  m_used.store(used() - size, std::memory_order_relaxed);
  // What lies across pages is not used again as it is.
  if (!m_grid.allows(memory.offset(), size))
    slab_of(memory.slab()).ranges->release(memory.offset(), size);
  else
    m_cached[size].push_back(memory);
  m_may_join = true;
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
  for (const resident& r : m_residents) ++blocks_of_size[allocated_size(r.block->bytes)];
  m_grid = grid_for(blocks_of_size);
  m_may_join = true;
  uncache();  // there may be some across the new pages
}

std::vector<piece> space::free_pieces() const {
  const std::lock_guard guard(m_mutex);
  std::vector<piece> found;
  for (std::uint32_t k = 0; k < m_slab_count; ++k)
    if (const slab& s = slab_of(k); s.ranges)
      for (const auto& [offset, bytes] : s.ranges->free_ranges()) found.push_back({block::chunk::at(k, offset), bytes});
  for (const auto& [size, chunks] : m_cached)
    if (size >= m_granule)
      for (const block::chunk c : chunks) found.push_back({c, size});
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
  notify();
}

void space::notify() {
  m_events.fetch_add(1, std::memory_order_release);
  full_fence();  // the count of events before the look at the waiters; wait_for_memory is the other half
  if (!has_waiters()) return;
  std::vector<memory_waiter*> woken;
  std::vector<space*> others;
  {
    const std::lock_guard guard(m_mutex);
    std::ranges::sort_heap(m_waiters, younger);  // youngest first
    woken.swap(m_waiters);
    others.swap(m_wake_too);
    m_waiter_count.store(0, std::memory_order_release);
  }
  // The oldest first: what it leaves may serve the next.
  for (auto waiter = woken.rbegin(); waiter != woken.rend(); ++waiter) (*waiter)->wake(*waiter);
  for (space* other : others) other->notify();
}

void space::wake_too(space& other) {
  const std::lock_guard guard(m_mutex);
  if (std::ranges::find(m_wake_too, &other) != m_wake_too.end()) return;
  m_wake_too.push_back(&other);
  m_waiter_count.fetch_add(1, std::memory_order_relaxed);
  full_fence();
}

block::chunk space::adopt_foreign(void* pointer, std::uint64_t bytes, std::size_t parts,
                                  std::shared_ptr<const void> owner) {
  std::uint32_t entry = 0;
  {
    const std::lock_guard guard(m_mutex);
    entry = new_slab_entry();
    slab& s = slab_of(entry);
    s.base = static_cast<std::byte*>(pointer);
    s.foreign = true;
    s.foreign_parts = parts;
    s.owner = std::move(owner);
    ++m_foreign_pieces;
  }
  const block::chunk all = block::chunk::at(entry, 0);
  if (m_setup.registrations != nullptr) try {
      m_setup.registrations->acquire(pointer, bytes);
    } catch (...) {
      (void)forget_entry(all);
      throw;
    }
  return all;
}

void space::share_foreign(block::chunk memory, std::size_t parts) {
  const std::lock_guard guard(m_mutex);
  slab_of(memory.slab()).foreign_parts += parts;
}

void space::forget_foreign(block::chunk memory, std::size_t parts) {
  {
    const std::lock_guard guard(m_mutex);
    slab& s = slab_of(memory.slab());
    s.foreign_parts -= parts;
    if (s.foreign_parts != 0) return;
  }
  if (m_setup.registrations != nullptr)
    m_setup.registrations->release(host_pointer(block::chunk::at(memory.slab(), 0)));
  (void)forget_entry(memory);
}

/// Returns the owner, so that its memory is freed without the lock.
std::shared_ptr<const void> space::forget_entry(block::chunk memory) {
  const std::lock_guard guard(m_mutex);
  std::shared_ptr<const void> owner = std::move(slab_of(memory.slab()).owner);
  slab_of(memory.slab()) = slab{};
  m_free_entries.push_back(memory.slab());
  --m_foreign_pieces;
  return owner;
}

void space::add_resident(block::record& block) {
  const std::lock_guard guard(m_mutex);
  if (block.slot >= m_resident_places.size())
    m_resident_places.resize(std::max<std::size_t>(block.slot + 1, 2 * m_resident_places.size()));
  std::uint32_t& place = m_resident_places[block.slot];
  if (place != 0) return;
  m_residents.push_back({&block, ++m_arrivals});
  place = static_cast<std::uint32_t>(m_residents.size());
}

void space::remove_resident(block::record& block) {
  const std::lock_guard guard(m_mutex);
  if (block.slot >= m_resident_places.size() || m_resident_places[block.slot] == 0) return;
  const std::uint32_t place = std::exchange(m_resident_places[block.slot], 0);
  if (place != m_residents.size()) {
    m_residents[place - 1] = m_residents.back();
    m_resident_places[m_residents[place - 1].block->slot] = place;
  }
  m_residents.pop_back();
}

std::vector<space::resident> space::residents() const {
  const std::lock_guard guard(m_mutex);
  return m_residents;
}

bool space::wait_for_memory(memory_waiter& waiter, std::uint64_t seen) {
  const std::lock_guard guard(m_mutex);
  m_waiter_count.fetch_add(1, std::memory_order_relaxed);
  full_fence();  // before the test: notify counts first, then looks here
  if (m_events.load(std::memory_order_acquire) != seen) {
    m_waiter_count.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  m_waiters.push_back(&waiter);
  std::ranges::push_heap(m_waiters, younger);
  return true;
}

memory_waiter* space::take_oldest_waiter() {
  const std::lock_guard guard(m_mutex);
  if (m_waiters.empty()) return nullptr;
  std::ranges::pop_heap(m_waiters, younger);
  memory_waiter* oldest = m_waiters.back();
  m_waiters.pop_back();
  m_waiter_count.fetch_sub(1, std::memory_order_relaxed);
  return oldest;
}

space_statistics space::statistics() const {
  const std::lock_guard guard(m_mutex);
  std::uint64_t slabs = 0;  // not those given back, nor memory of the program
  for (std::uint32_t k = 0; k < m_slab_count; ++k) slabs += slab_of(k).ranges ? 1 : 0;
  return {.used_bytes = used(),
          .peak_bytes = m_peak,
          .reserved_bytes = m_slab_total,
          .limit_bytes = m_limit,
          .slabs = slabs,
          .allocations = m_allocations,
          .reuses = m_reuses,
          .exhausted = m_exhausted.load(std::memory_order_relaxed),
          .evictions = m_evictions.load(std::memory_order_relaxed),
          .adopted = m_foreign_pieces};
}

}  // namespace tessera::memory
