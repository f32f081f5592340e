#include "hierarchy/region/adopted_ranges.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.hpp"
#include "hierarchy/region/by_runtime.hpp"

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
  std::weak_ptr<const array_storage> holder;  // under m_mutex
};

std::shared_ptr<adopted_ranges> adopted_ranges::of(runtime& rt) {
  static auto& all = *new by_runtime<adopted_ranges>;  // NOLINT: as the trees of live_tree::of
  return all.of(rt, [] { return std::make_shared<adopted_ranges>(); });
}

const adopted_ranges::claim* adopted_ranges::find(const void* memory, std::uint64_t bytes) const {
  const auto* const begin = static_cast<const std::byte*>(memory);
  const auto at = m_claims.upper_bound(begin);  // the first that ends behind `begin`
  return at != m_claims.end() && at->second->first < begin + bytes ? at->second : nullptr;
}

std::shared_ptr<adopted_ranges::claim> adopted_ranges::take(const void* memory, std::uint64_t bytes,
                                                            const std::string& array, const std::string& where) {
  const auto* const begin = static_cast<const std::byte*>(memory);
  std::shared_ptr<claim> made;  // ends without the lock, whatever is thrown
  const std::lock_guard guard(m_mutex);
  if (const claim* const other = find(memory, bytes)) {
    if (!other->holder.expired())
      throw error(error_kind::usage,
                  fmt::format("array '{}' would have memory that array '{}' has", array, other->array), where,
                  "regions of the two would have no order: use one array, and name rows of it");
    throw error(error_kind::usage,
                fmt::format("array '{}' would have memory of array '{}', which has ended while its tasks have not",
                            array, other->array),
                where,
                "adopt it again where that can wait for them: in a thread of the program that holds no views, and when "
                "recordings that use it have ended");
  }
  made = std::make_shared<claim>(shared_from_this(), begin, begin + bytes, array);
  m_claims.emplace(begin + bytes, made.get());
  return made;
}

void adopted_ranges::hold(claim& held, const std::shared_ptr<const array_storage>& by) {
  const std::lock_guard guard(m_mutex);
  held.holder = by;
}

bool adopted_ranges::has(const void* memory) const {
  const std::lock_guard guard(m_mutex);
  return find(memory, 1) != nullptr;
}

bool adopted_ranges::any() const {
  const std::lock_guard guard(m_mutex);
  return !m_claims.empty();
}

bool adopted_ranges::used_by_ended(const void* memory, std::uint64_t bytes) const {
  const std::lock_guard guard(m_mutex);
  const claim* const found = find(memory, bytes);
  return found != nullptr && found->holder.expired();
}

}  // namespace tessera::hierarchy
