// What needs no integral library: the layout of functions, blocks, bounds.
#include <algorithm>
#include <cmath>

#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::chemistry {

integrals::integrals(std::vector<shell> shells, molecule of)
    : m_nuclei(std::move(of)), m_shells(std::move(shells)), m_offsets{0} {
  for (const shell& s : m_shells) m_offsets.push_back(m_offsets.back() + chemistry::functions(s));
}

namespace {

/// A block over four ranges of functions, the first index fastest.
class block_of_functions {
 public:
  block_of_functions(const integrals& of, const std::array<shell_range, 4>& ranges, std::span<double> out)
      : m_of(of), m_out(out) {
    std::size_t stride = 1;
    for (std::size_t k = 0; k < 4; ++k) {
      m_begin[k] = of.offset(ranges[k].first);
      m_stride[k] = stride;
      stride *= of.offset(ranges[k].last) - m_begin[k];
    }
  }
  /// (dc|ba) of four shells, whose functions of a are fastest, as (ab|cd) to the dimensions that `to` says.
  void put(const std::array<std::size_t, 4>& shells, const std::array<std::size_t, 4>& to, const double* from) {
    const auto [a, b, c, d] = shells;
    const std::size_t sa = m_stride[to[0]], sb = m_stride[to[1]], sc = m_stride[to[2]], sd = m_stride[to[3]];
    const std::size_t base = (m_of.offset(a) - m_begin[to[0]]) * sa + (m_of.offset(b) - m_begin[to[1]]) * sb +
                             (m_of.offset(c) - m_begin[to[2]]) * sc + (m_of.offset(d) - m_begin[to[3]]) * sd;
    for (std::size_t fd = 0; fd < m_of.size(d); ++fd)
      for (std::size_t fc = 0; fc < m_of.size(c); ++fc)
        for (std::size_t fb = 0; fb < m_of.size(b); ++fb)
          for (std::size_t fa = 0; fa < m_of.size(a); ++fa)
            m_out[base + fa * sa + fb * sb + fc * sc + fd * sd] = *from++;
  }

 private:
  const integrals& m_of;
  std::span<double> m_out;
  std::array<std::size_t, 4> m_begin{}, m_stride{};
};

}  // namespace

void fill_block(const integrals& of, std::span<const double> bounds, double least, repulsion_engine& engine,
                const std::array<shell_range, 4>& ranges, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  block_of_functions block(of, ranges, out);
  const bool same_ab = ranges[0] == ranges[1], same_cd = ranges[2] == ranges[3];
  for (std::size_t d = ranges[3].first; d < ranges[3].last; ++d)
    for (std::size_t c = ranges[2].first; c < (same_cd ? d + 1 : ranges[2].last); ++c) {
      const double of_cd = bounds[c * of.shells() + d];
      for (std::size_t b = ranges[1].first; b < ranges[1].last; ++b)
        for (std::size_t a = ranges[0].first; a < (same_ab ? b + 1 : ranges[0].last); ++a) {
          if (bounds[a * of.shells() + b] * of_cd < least) continue;
          const std::span<const double> values = engine.quartet(d, c, b, a);  // (ab|cd) = (dc|ba)
          if (values.empty()) continue;
          const std::array<std::size_t, 4> shells{a, b, c, d};
          block.put(shells, {0, 1, 2, 3}, values.data());
          if (same_ab && a != b) block.put(shells, {1, 0, 2, 3}, values.data());
          if (same_cd && c != d) block.put(shells, {0, 1, 3, 2}, values.data());
          if (same_ab && a != b && same_cd && c != d) block.put(shells, {1, 0, 3, 2}, values.data());
        }
    }
}

std::vector<double> schwarz_bounds(const integrals& of) {
  const std::size_t n = of.shells();
  constexpr double unbounded = 1e150;  // its square is a number
  if (!of.obeys_schwarz()) return std::vector<double>(n * n, unbounded);
  std::vector<double> bounds(n * n, 0.0);
  const std::unique_ptr<repulsion_engine> engine = of.engine(0.0);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      double largest = 0;
      const std::span<const double> values = engine->quartet(a, b, a, b);
      const std::size_t pair = of.size(a) * of.size(b);
      for (std::size_t k = 0; k < (values.empty() ? 0 : pair); ++k)
        largest = std::max(largest, std::abs(values[k * pair + k]));
      bounds[a * n + b] = bounds[b * n + a] = std::sqrt(largest);
    }
  return bounds;
}

}  // namespace tessera::chemistry
