#include "hierarchy/region/adopted_ranges.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "hierarchy/region/by_runtime.hpp"
#include "hierarchy/region/storage.hpp"

namespace tessera::hierarchy {

struct adopted_ranges::claim {
  claim(std::shared_ptr<adopted_ranges> in, const std::byte* begin, const std::byte* end, std::string name)
      : all(std::move(in)), first(begin), last(end), array(std::move(name)) {}
  ~claim() {
    const std::lock_guard guard(all->m_mutex);
    all->m_claims.erase(last);
  }
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;

  const std::shared_ptr<adopted_ranges> all;
  const std::byte* const first;
  const std::byte* const last;  // behind it
  const std::string array;
  std::uint64_t number = 0;                   // under m_mutex, as what follows
  std::weak_ptr<const array_storage> holder;  // whose last handle is gone where it has expired
  std::weak_ptr<const void> presence;         // of the same, which has ended where this has expired
};

namespace {

by_runtime<adopted_ranges>& of_all_runtimes() {
  static auto& all = *new by_runtime<adopted_ranges>;  // NOLINT: as the trees of live_tree::of
  return all;
}

}  // namespace

std::shared_ptr<adopted_ranges> adopted_ranges::of(runtime& rt) {
  return of_all_runtimes().of(rt, [] { return std::make_shared<adopted_ranges>(); });
}

adopted_ranges::still_used::still_used(std::string message, const std::string& where, std::uint64_t number)
    : error(error_kind::usage, std::move(message), where,
            "adopt it again where that can wait for them: in a thread of the program that holds no views, and when "
            "recordings that use it have ended"),
      claim(number) {}

const adopted_ranges::claim* adopted_ranges::find(const void* memory, std::uint64_t bytes) const {
  const auto* const begin = static_cast<const std::byte*>(memory);
  const auto at = m_claims.upper_bound(begin);  // the first that ends behind `begin`
  return at != m_claims.end() && at->second->first < begin + bytes ? at->second : nullptr;
}

std::shared_ptr<adopted_ranges::claim> adopted_ranges::take(const void* memory, std::uint64_t bytes,
                                                            const std::string& array, const std::string& where) {
  const auto* const begin = static_cast<const std::byte*>(memory);
  std::shared_ptr<claim> added;     // ends without the lock, whatever is thrown
  static std::mutex one_at_a_time;  // of all runtimes: two that take the same range at once
  const std::lock_guard turn(one_at_a_time);
  for (const std::shared_ptr<adopted_ranges>& other : of_all_runtimes().others(*this))
    if (const auto taken = other->array_of(memory, bytes))
      throw error(error_kind::usage,
                  fmt::format("array '{}' would have memory that array '{}' of another runtime has", array, *taken),
                  where,
                  "tasks of the two would have no order: end the other array, and wait for its tasks by a fence of its "
                  "runtime");
  const std::lock_guard guard(m_mutex);
  if (const claim* const other = find(memory, bytes)) {
    if (!other->holder.expired())
      throw error(error_kind::usage,
                  fmt::format("array '{}' would have memory that array '{}' has", array, other->array), where,
                  "regions of the two would have no order: use one array, and name rows of it");
    throw still_used(fmt::format("array '{}' would have memory of array '{}', which has ended while its tasks have not",
                                 array, other->array),
                     where, other->number);
  }
  added = std::make_shared<claim>(shared_from_this(), begin, begin + bytes, array);
  added->number = ++m_last_number;
  m_claims.emplace(begin + bytes, added.get());
  return added;
}

void adopted_ranges::hold(claim& held, const std::shared_ptr<const array_storage>& by) {
  const std::lock_guard guard(m_mutex);
  held.holder = by, held.presence = by->presence();
}

bool adopted_ranges::has(const void* memory) const {
  const std::lock_guard guard(m_mutex);
  return find(memory, 1) != nullptr;
}

std::optional<std::string> adopted_ranges::array_of(const void* memory, std::uint64_t bytes) const {
  const std::lock_guard guard(m_mutex);
  const claim* const found = find(memory, bytes);
  return found == nullptr ? std::nullopt : std::optional(found->array);
}

bool adopted_ranges::any() const {
  const std::lock_guard guard(m_mutex);
  return !m_claims.empty();
}

bool adopted_ranges::used_by_ended(const void* memory, std::uint64_t bytes) const {
  for (;; std::this_thread::yield()) {
    const std::lock_guard guard(m_mutex);
    const claim* const found = find(memory, bytes);
    if (found == nullptr || !found->holder.expired()) return false;
    if (found->presence.expired()) return true;
  }
}

}  // namespace tessera::hierarchy
