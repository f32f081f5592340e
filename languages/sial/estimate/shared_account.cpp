#include "languages/sial/estimate/shared_account.hpp"

#include <algorithm>

namespace tessera::sial {
namespace {

constexpr std::int64_t max_blocks_watched = std::int64_t{1} << 27;  // a bit each

}  // namespace

shared_account::shared_account(const geometry& sizes)
    : m_sizes(sizes), m_arrays(sizes.arrays()), m_there(sizes.arrays()) {}

void shared_account::note() { m_seen.insert(m_there); }

void shared_account::write(std::uint32_t array, std::optional<std::int64_t> ordinal, double elements, bool sure) {
  entry& e = m_arrays[array];
  const array_geometry& a = m_sizes.array(array);
  if (!e.there) {
    e.there = true;
    m_there[array] = true;
    e.most = e.most || e.removed;
    note();
  }
  if (e.whole) return;
  if (!ordinal || a.blocks > max_blocks_watched) {
    e.whole = e.most = true;
    e.size = amount_of(a);
    return;
  }
  if (e.written.empty()) e.written.resize(static_cast<std::size_t>(a.blocks));
  const auto at = static_cast<std::size_t>(*ordinal);
  if (e.written[at]) return;
  e.written[at] = true;
  e.most = e.most || !sure;
  e.size += amount_of(elements);
}

void shared_account::remove(std::uint32_t array) {
  m_arrays[array].removed = m_arrays[array].removed || m_arrays[array].there;
  m_arrays[array].there = false;
  m_there[array] = false;
}

template <class Counts>
amount shared_account::most_of(Counts&& counts) const {
  amount most;
  for (const std::vector<bool>& together : m_seen) {
    amount now;
    for (std::uint32_t k = 0; k < together.size(); ++k)
      if (together[k] && counts(k)) now += m_arrays[k].size;
    if (now.bytes > most.bytes) most = now;
  }
  return most;
}

amount shared_account::most(array_kind kind) const {
  return most_of([&](std::uint32_t k) { return m_sizes.array(k).kind == kind; });
}

amount shared_account::most() const {
  return most_of([](std::uint32_t) { return true; });
}

bool shared_account::is_most(array_kind kind) const {
  for (std::uint32_t k = 0; k < m_arrays.size(); ++k)
    if (m_sizes.array(k).kind == kind && m_arrays[k].most) return true;
  return false;
}

}  // namespace tessera::sial
