// What needs no integral library: the layout of functions, blocks, bounds.
#include <algorithm>
#include <cmath>

#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::chemistry {

integrals::integrals(std::vector<shell> shells, molecule of)
    : m_nuclei(std::move(of)), m_shells(std::move(shells)), m_offsets{0} {
  for (const shell& s : m_shells) m_offsets.push_back(m_offsets.back() + chemistry::functions(s));
}

void fill_block(const integrals& of, repulsion_engine& engine, const std::array<shell_range, 4>& ranges,
                std::span<double> out) {
  std::array<std::size_t, 4> begin{}, extent{};
  for (std::size_t k = 0; k < 4; ++k) {
    begin[k] = of.offset(ranges[k].first);
    extent[k] = of.offset(ranges[k].last) - begin[k];
  }
  std::ranges::fill(out, 0.0);
  for (std::size_t d = ranges[3].first; d < ranges[3].last; ++d)
    for (std::size_t c = ranges[2].first; c < ranges[2].last; ++c)
      for (std::size_t b = ranges[1].first; b < ranges[1].last; ++b)
        for (std::size_t a = ranges[0].first; a < ranges[0].last; ++a) {
          // (ab|cd) = (dc|ba), whose functions of a are fastest.
          const std::span<const double> values = engine.quartet(d, c, b, a);
          if (values.empty()) continue;
          const std::size_t run = of.size(a);
          const double* from = values.data();
          for (std::size_t fd = 0; fd < of.size(d); ++fd)
            for (std::size_t fc = 0; fc < of.size(c); ++fc)
              for (std::size_t fb = 0; fb < of.size(b); ++fb, from += run)
                std::copy_n(from, run,
                            &out[of.offset(a) - begin[0] +
                                 extent[0] * (of.offset(b) - begin[1] + fb +
                                              extent[1] * (of.offset(c) - begin[2] + fc +
                                                           extent[2] * (of.offset(d) - begin[3] + fd)))]);
        }
}

std::vector<double> schwarz_bounds(const integrals& of) {
  const std::size_t n = of.shells();
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
