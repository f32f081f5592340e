#include "core/memory/registration_cache.hpp"

#include <iterator>

namespace tessera::memory {
namespace {

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

registration_cache::registration_cache(std::vector<const plugin::device*> devices, std::uint64_t byte_limit,
                                       std::size_t region_limit)
    : m_devices(std::move(devices)), m_byte_limit(byte_limit), m_region_limit(region_limit) {}

registration_cache::~registration_cache() {
  while (!m_regions.empty()) drop(m_regions.begin());
}

registration_cache::region* registration_cache::find(std::uintptr_t begin, std::uintptr_t end) {
  auto it = m_regions.upper_bound(begin);
  if (it == m_regions.begin()) return nullptr;
  --it;
  return it->second.begin <= begin && end <= it->second.end ? &it->second : nullptr;
}

void registration_cache::drop(std::map<std::uintptr_t, region>::iterator it) {
  region& r = it->second;
  for (const plugin::device* d : r.with) {
    d->attach_this_thread();
    plugin::succeeded("host_unregister",
                      [&] { return d->table().host_unregister(d->handle(), reinterpret_cast<void*>(r.begin)); });
  }
  if (!r.with.empty()) {
    m_statistics.bytes -= r.end - r.begin;
    m_registered.erase(r.begin);
  }
  if (r.may_go()) m_may_go.erase(r.last_use);
  m_regions.erase(it);
}

void registration_cache::shrink(std::uint64_t coming) {
  while (!m_may_go.empty() && (m_statistics.bytes + coming > m_byte_limit || m_registered.size() >= m_region_limit)) {
    drop(m_regions.find(m_may_go.begin()->second));
    ++m_statistics.evictions;
  }
}

/// With a region that is registered.
bool registration_cache::overlaps(std::uintptr_t begin, std::uintptr_t end) const {
  const auto behind = m_registered.lower_bound(end);  // the first that begins at the end or later
  return behind != m_registered.begin() && std::prev(behind)->second > begin;
}

registration_cache::region& registration_cache::add(std::uintptr_t begin, std::uintptr_t end) {
  if (!m_devices.empty()) shrink(end - begin);
  region fresh;
  fresh.begin = begin;
  fresh.end = end;
  // Past the limits, or across another region's edge, the memory stays as it is.
  const bool fits = m_statistics.bytes + (end - begin) <= m_byte_limit && m_registered.size() < m_region_limit;
  if (fits && !overlaps(begin, end) && !m_regions.contains(begin))
    for (const plugin::device* d : m_devices) {
      d->attach_this_thread();
      if (plugin::succeeded("host_register", [&] {
            return d->table().host_register(d->handle(), reinterpret_cast<void*>(begin), end - begin);
          }))
        fresh.with.push_back(d);
      else
        ++m_statistics.refused;
    }
  if (!fresh.with.empty()) {
    m_statistics.bytes += end - begin;
    m_registered.emplace(begin, end);
  }
  // A region with the same begin can exist only when it is shorter than what is asked for now; then uses are counted
  // there.
  return m_regions.try_emplace(begin, std::move(fresh)).first->second;
}

void registration_cache::begin_use(region& r) {
  if (r.may_go()) m_may_go.erase(r.last_use);
  r.last_use = ++m_clock;
}

void registration_cache::acquire(void* pointer, std::uint64_t bytes) {
  const std::lock_guard guard(m_mutex);
  region* r = find(number(pointer), number(pointer) + bytes);
  if (r != nullptr) {
    ++m_statistics.hits;
  } else {
    ++m_statistics.misses;
    r = &add(number(pointer), number(pointer) + bytes);
  }
  begin_use(*r);
  ++r->uses;
  m_served_by.emplace(number(pointer), r->begin);
}

void registration_cache::release(void* pointer) {
  const std::lock_guard guard(m_mutex);
  const auto served = m_served_by.find(number(pointer));
  if (served == m_served_by.end()) return;
  const auto it = m_regions.find(served->second);  // in use, and therefore still there
  m_served_by.erase(served);
  region& r = it->second;
  if (--r.uses == 0 && !r.kept)
    drop(it);
  else if (r.may_go())
    m_may_go.emplace(r.last_use, r.begin);
}

void registration_cache::keep(void* pointer, std::uint64_t bytes) {
  const std::lock_guard guard(m_mutex);
  region* r = find(number(pointer), number(pointer) + bytes);
  if (r == nullptr) r = &add(number(pointer), number(pointer) + bytes);
  begin_use(*r);
  r->kept = true;
  if (r->may_go()) m_may_go.emplace(r->last_use, r->begin);
}

void registration_cache::forget(void* pointer) {
  const std::lock_guard guard(m_mutex);
  const auto it = m_regions.find(number(pointer));
  if (it == m_regions.end()) return;
  if (it->second.uses > 0)
    throw error(error_kind::usage, "memory is unregistered while an array uses it", {},
                "destroy the arrays that adopted it, and fence, before");
  drop(it);
}

registration_statistics registration_cache::statistics() const {
  const std::lock_guard guard(m_mutex);
  return m_statistics;
}

}  // namespace tessera::memory
