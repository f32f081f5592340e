#include "libraries/sparse/solver/chebyshev_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::sparse {
namespace {

/// Where the interval begins: at the innermost Ritz value of an end, or so far inside of the outermost one that the
/// polynomial is larger there than anywhere in the interval. Where an eigenvalue has more copies than the block has
/// vectors, all Ritz values are one, and an interval that begins there would damp nothing.
double begin_of_interval(double innermost, double outermost, double far, int degree) {
  constexpr double min_growth = 2;
  const double outside = std::cosh(std::acosh(min_growth) / degree);  // of an interval from -1 to 1
  const double begin = outermost + (far - outermost) * (outside - 1) / (outside + 1);
  return far > outermost ? std::max(innermost, begin) : std::min(innermost, begin);
}

}  // namespace

filter_interval unwanted(std::span<const double> ritz_values, spectrum_end end, const spectrum_interval& all,
                         int degree) {
  const bool to_upper = end == spectrum_end::largest;
  const double far = to_upper ? all.lower : all.upper;
  const double begin = begin_of_interval(ritz_values.back(), ritz_values.front(), far, degree);
  const double centre = 0.5 * (begin + far), distance = to_upper ? all.upper - centre : centre - all.lower;
  filter_interval made{centre, 0.5 * std::abs(far - begin), 0, degree};
  // T grows by so much at most: of a vector at the far end, rounding has left a little in all others. A wider interval
  // would damp what is wanted beside it.
  constexpr double max_growth = 1e12;
  if (distance > made.half_width && made.half_width > 0) {
    const double of_one = std::acosh(distance / made.half_width);
    made.degree = static_cast<int>(std::clamp<double>(std::acosh(max_growth) / of_one, 1, degree));
  }
  made.half_width = std::max(made.half_width, distance / std::cosh(std::acosh(max_growth) / made.degree));
  if (!(made.half_width > 0)) made.half_width = std::max(std::abs(centre), 1.0);
  made.outermost = centre + (to_upper ? 1 : -1) * std::max(distance, made.half_width);
  return made;
}

double growth(const filter_interval& of, double place) {
  return std::cosh(of.degree * std::acosh(std::max(1.0, std::abs(place - of.centre) / of.half_width)));
}

chebyshev_filter::chebyshev_filter(program& p, const linear_operator& a, std::int64_t columns, int degree)
    : m_program(p), m_operator(a), m_columns(columns) {
  raise_degree(degree);
  for (int i = 0; i < 3; ++i) m_blocks.push_back(p.vector(fmt::format("filtered {}", i), columns));
}

void chebyshev_filter::raise_degree(int to) {
  const auto small = [&](const char* name, int i) {
    return m_program.small(fmt::format("{} {}", name, i), 1, m_columns);
  };
  for (int i = static_cast<int>(m_steps.size()) + 1; i <= to; ++i)
    m_steps.push_back({small("product", i), small("same", i), small("before", i)});
}

void chebyshev_filter::prepare(std::span<const small_matrix> from,
                               std::function<filter_interval(std::span<const small_view>)> interval) const {
  std::vector<small_matrix> to;
  for (const step& s : m_steps) to.insert(to.end(), {s.product, s.same, s.before});
  small_operation("filter", from, to,
                  [interval = std::move(interval)](std::span<const small_view> in, std::span<const small_view> out) {
                    const filter_interval at = interval(in);
                    const double first = at.half_width / (at.outermost - at.centre);
                    double sigma = first;
                    for (std::size_t i = 0; i < out.size(); i += 3) {
                      const double next = i == 0 ? first : 1 / (2 / first - sigma);
                      const double product = (i == 0 ? 1 : 2) * next / at.half_width;
                      // Steps behind the degree leave what there is.
                      const bool behind = i >= 3 * static_cast<std::size_t>(at.degree);
                      const double of_step[] = {behind ? 0 : product, behind ? 1 : -at.centre * product,
                                                behind || i == 0 ? 0 : -sigma * next};
                      for (std::size_t part = 0; part < 3; ++part)
                        std::fill_n(out[i + part].data, out[i + part].columns, of_step[part]);
                      sigma = next;
                    }
                  });
}

void chebyshev_filter::run(const block_vector& x, const block_vector& ax, const deflation* away) const {
  copy(ax, m_blocks[0]);
  scale(m_steps[0].product, m_blocks[0]);
  axpy(m_steps[0].same, x, m_blocks[0]);
  if (away != nullptr) away->project(m_blocks[0]);
  for (std::size_t i = 1; i < m_steps.size(); ++i) {
    const block_vector &before = i == 1 ? x : m_blocks[(i - 2) % 3], &last_one = m_blocks[(i - 1) % 3],
                       &next = m_blocks[i % 3];
    apply(m_operator, last_one, next);
    scale(m_steps[i].product, next);
    axpy(m_steps[i].same, last_one, next);
    axpy(m_steps[i].before, before, next);
    if (away != nullptr) away->project(next);
  }
}

}  // namespace tessera::sparse
