#include "core/memory/room_plan.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace tessera::memory {
namespace {

/// The sum over a window that slides: never subtracts, so that small costs are not lost beside large ones.
class sliding_sum {
 public:
  void clear() {
    m_older.clear(), m_newer.clear();
    m_sum_of_newer = 0;
  }
  void push_newest(double value) {
    m_newer.push_back(value);
    m_sum_of_newer += value;
  }
  void pop_oldest() {
    if (m_older.empty()) {
      for (double sum = 0; !m_newer.empty(); m_newer.pop_back()) m_older.push_back(sum += m_newer.back());
      m_sum_of_newer = 0;
    }
    m_older.pop_back();
  }
  double value() const { return (m_older.empty() ? 0 : m_older.back()) + m_sum_of_newer; }

 private:
  std::vector<double> m_older;  // the oldest at the end: each the sum of itself and of those before it here
  std::vector<double> m_newer;
  double m_sum_of_newer = 0;
};

}  // namespace

/// Those of a plan by address, while room is made.
class room_plan::parts {
 public:
  parts(std::vector<part> all, page_grid grid) : m_all(std::move(all)), m_grid(grid) {
    std::ranges::sort(m_all, {}, [](const part& p) { return p.where.word; });
  }

  /// Takes the run where so many bytes cost least; false: there is none.
  bool place(std::uint64_t bytes, std::vector<std::size_t>& out_leaving) {
    const std::optional<run> best = cheapest(bytes);
    if (!best) return false;
    const part first = m_all[best->first];
    const std::uint64_t before = space_before(best->first, bytes), behind = before + bytes;
    const auto begin = m_all.begin() + static_cast<std::ptrdiff_t>(best->first);
    const auto end = begin + static_cast<std::ptrdiff_t>(best->count);
    for (auto p = begin; p != end; ++p)
      if (p->holder != nobody) out_leaving.push_back(p->holder);
    auto at = m_all.erase(begin, end);
    if (best->bytes > behind) at = m_all.insert(at, {{first.where.word + behind}, best->bytes - behind, 0, nobody});
    if (before > 0) m_all.insert(at, {first.where, before, 0, nobody});
    return true;
  }

 private:
  struct run {
    std::size_t first = 0, count = 0;
    std::uint64_t bytes = 0;
    double cost = 0;
  };
  /// What stays free in front of so many bytes, in a run that begins with this part.
  std::uint64_t space_before(std::size_t first, std::uint64_t bytes) const {
    const std::uint64_t offset = m_all[first].where.offset();
    return m_grid.first_place(offset, bytes) - offset;
  }
  std::optional<run> cheapest(std::uint64_t bytes) const {
    std::optional<run> best;
    run now;
    sliding_sum cost;
    for (std::size_t k = 0; k < m_all.size(); ++k) {
      if (now.count > 0 && !m_all[k - 1].is_next_to(m_all[k])) {
        now = {};
        cost.clear();
      }
      if (now.count == 0) now.first = k;
      ++now.count;
      now.bytes += m_all[k].bytes;
      cost.push_newest(m_all[k].cost);
      // The shortest run that ends here.
      for (; now.count > 1; ++now.first, --now.count) {
        const std::uint64_t left = now.bytes - m_all[now.first].bytes;
        if (left < space_before(now.first + 1, bytes) + bytes) break;
        now.bytes = left;
        cost.pop_oldest();
      }
      if (now.bytes < space_before(now.first, bytes) + bytes) continue;
      now.cost = cost.value();
      if (!best || now.cost < best->cost || (now.cost == best->cost && now.bytes < best->bytes)) best = now;
    }
    return best;
  }

  std::vector<part> m_all;
  page_grid m_grid;
};

void room_plan::add(const piece& p, double cost, std::size_t holder) {
  if (p.bytes == 0) return;
  // Memory that is still to be had lies beside nothing.
  m_parts.push_back({p.where ? p.where : block::chunk::at(0xffff, 0), p.bytes, cost, holder});
}

std::optional<std::vector<std::size_t>> room_plan::make_room(std::span<const std::uint64_t> sizes,
                                                             page_grid grid) const {
  std::vector<std::uint64_t> wanted(sizes.begin(), sizes.end());
  std::ranges::sort(wanted, std::greater());
  parts all(m_parts, grid);
  std::vector<std::size_t> leaving;
  for (const std::uint64_t bytes : wanted)
    if (!all.place(bytes, leaving)) return std::nullopt;
  return leaving;
}

}  // namespace tessera::memory
