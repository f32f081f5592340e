#include "libraries/chemistry/scf/kept_integrals.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::chemistry {
namespace {

std::vector<shell> all_shells(const integrals& of) {
  std::vector<shell> all;
  for (std::size_t s = 0; s < of.shells(); ++s) all.push_back(of.shell_at(s));
  return all;
}

/// A quartet in the order in which it is kept, (pq|rs) with p >= q, r >= s and the larger pair in front.
class quartet_as_kept {
 public:
  explicit quartet_as_kept(const std::array<std::size_t, 4>& shells) : m_shells(shells) {
    if (shells[0] < shells[1]) std::swap(m_from[0], m_from[1]);
    if (shells[2] < shells[3]) std::swap(m_from[2], m_from[3]);
    if (std::pair(shell_of(0), shell_of(1)) < std::pair(shell_of(2), shell_of(3)))
      m_from = {m_from[2], m_from[3], m_from[0], m_from[1]};
  }
  std::size_t shell_of(std::size_t place) const { return m_shells[m_from[place]]; }

  /// Rows over the functions of s, each `length` behind the one before, times a factor; in the order of the shells that
  /// are given, whose last one's functions are fastest.
  void take(const integrals& over, const double* row, std::size_t length, double factor,
            std::vector<double>& into) const {
    std::array<std::size_t, 4> strides{}, step{}, size{};
    std::size_t count = 1;
    for (std::size_t k = 4; k-- > 0; count *= over.size(m_shells[k])) strides[k] = count;
    for (std::size_t k = 0; k < 4; ++k) {
      step[k] = strides[m_from[k]];
      size[k] = over.size(shell_of(k));
    }
    into.resize(count);
    for (std::size_t p = 0; p < size[0]; ++p)
      for (std::size_t q = 0; q < size[1]; ++q)
        for (std::size_t r = 0; r < size[2]; ++r, row += length)
          for (std::size_t s = 0; s < size[3]; ++s)
            into[p * step[0] + q * step[1] + r * step[2] + s * step[3]] = factor * row[s];
  }

 private:
  const std::array<std::size_t, 4> m_shells;
  std::array<std::size_t, 4> m_from{0, 1, 2, 3};  // where p, q, r, s stand in what is given
};

class reading_engine final : public repulsion_engine {
 public:
  reading_engine(const fock_builder& builder, const integrals& over, double bound)
      : m_rows(builder), m_over(over), m_bound(bound) {}

  std::span<const double> quartet(std::size_t a, std::size_t b, std::size_t c, std::size_t d) override {
    if (const auto kept = m_rows.quartet(a, b, c, d)) return *kept;
    if (!m_otherwise) m_otherwise = m_over.engine(m_bound);
    return m_otherwise->quartet(a, b, c, d);
  }

 private:
  fock_builder::reader m_rows;
  const integrals& m_over;
  const double m_bound;
  std::unique_ptr<repulsion_engine> m_otherwise;  // made when it is needed: it is large
};

}  // namespace

void fock_builder::reader::look_at(const pair_of_shells& first, std::size_t c) {
  if (m_first == &first && m_c == c) return;
  m_of.choose(first, c, nullptr, m_with);
  m_first = &first;
  m_c = c;
}

std::optional<std::span<const double>> fock_builder::reader::quartet(std::size_t a, std::size_t b, std::size_t c,
                                                                     std::size_t d) {
  const integrals& over = m_of.m_over;
  const quartet_as_kept of({a, b, c, d});
  const std::size_t pair = m_of.m_pair_at[of.shell_of(0) * over.shells() + of.shell_of(1)];
  if (pair == m_of.m_pairs.size()) return std::span<const double>();
  const pair_of_shells& first = m_of.m_pairs[pair];
  if (first.kept.empty()) return std::nullopt;
  look_at(first, of.shell_of(2));
  const auto found = std::ranges::lower_bound(m_with.shells, of.shell_of(3));
  if (found == m_with.shells.end() || *found != of.shell_of(3)) return std::span<const double>();
  std::size_t begin = first.begins[of.shell_of(2)];
  for (auto before = m_with.shells.begin(); before != found; ++before) begin += over.size(*before);
  of.take(over, first.kept.data() + begin, m_with.functions, 1 / weight_of(first, of.shell_of(2), *found), m_values);
  return m_values;
}

kept_integrals::kept_integrals(const integrals& over, fock_builder& builder)
    : integrals(all_shells(over), over.nuclei()), m_over(over), m_builder(builder) {}

/// A bound of 0 asks for exact integrals: small ones are not kept.
std::unique_ptr<repulsion_engine> kept_integrals::engine(double bound) const {
  if (bound == 0) return m_over.engine(bound);
  return std::make_unique<reading_engine>(m_builder, m_over, bound);
}

}  // namespace tessera::chemistry
