#include "libraries/chemistry/scf/fock.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tessera::chemistry {
namespace {

constexpr double negligible = 1e-13;  // quartets with a smaller bound are left out

}  // namespace

/// Pairs by descending bound, with what each has beside itself.
std::vector<fock_builder::pair_of_shells> fock_builder::pairs_of(const integrals& over) {
  const std::vector<double> bounds = schwarz_bounds(over);
  const std::size_t n = over.shells();
  std::vector<pair_of_shells> pairs;
  pairs.reserve(n * (n + 1) / 2);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b <= a; ++b) pairs.push_back({a, b, bounds[a * n + b]});
  std::ranges::stable_sort(pairs, std::greater<>{}, &pair_of_shells::bound);
  std::vector<std::size_t> before{0};  // functions of the pairs before each
  for (const pair_of_shells& p : pairs) before.push_back(before.back() + over.size(p.a) * over.size(p.b));
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    pair_of_shells& first = pairs[k];
    const auto large = [&](const pair_of_shells& second) { return first.bound * second.bound >= negligible; };
    const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(k) + 1;
    first.quartets = static_cast<std::size_t>(std::partition_point(pairs.begin(), end, large) - pairs.begin());
    first.values = before[first.quartets] * over.size(first.a) * over.size(first.b);
  }
  return pairs;
}

double bytes_of_repulsion(const integrals& over) {
  double bytes = 0;
  for (const auto& pair : fock_builder::pairs_of(over)) bytes += static_cast<double>(pair.values * sizeof(double));
  return bytes;
}

fock_builder::fock_builder(const integrals& over, std::size_t kept_bytes, unsigned threads)
    : m_over(over), m_pairs(pairs_of(over)) {
  std::size_t room = kept_bytes / sizeof(double);
  for (pair_of_shells& first : m_pairs) {
    first.is_kept = first.values <= room;
    if (first.is_kept) room -= first.values;
  }
  for (unsigned k = 0; k < std::max(1u, threads); ++k) m_engines.push_back(over.engine(1e-16));
}

bool fock_builder::keeps_all() const noexcept { return std::ranges::all_of(m_pairs, &pair_of_shells::is_kept); }

/// Matrices are made symmetric at the end, so each pair of images is added once.
void fock_builder::add_quartet(const pair_of_shells& first, const pair_of_shells& second, const double* values,
                               double images, std::span<const std::vector<double>> densities, sums& into) const {
  const std::size_t n = m_over.functions();
  for (std::size_t a = m_over.offset(first.a); a < m_over.offset(first.a + 1); ++a)
    for (std::size_t b = m_over.offset(first.b); b < m_over.offset(first.b + 1); ++b)
      for (std::size_t c = m_over.offset(second.a); c < m_over.offset(second.a + 1); ++c)
        for (std::size_t d = m_over.offset(second.b); d < m_over.offset(second.b + 1); ++d) {
          const double v = 0.5 * images * *values++, half = 0.5 * v;
          double ab = 0, cd = 0;
          for (std::size_t s = 0; s < densities.size(); ++s) {
            const double* const D = densities[s].data();
            double* const K = into.exchange[s].data();
            ab += D[a * n + b];
            cd += D[c * n + d];
            K[a * n + c] += half * D[b * n + d];
            K[b * n + d] += half * D[a * n + c];
            K[a * n + d] += half * D[b * n + c];
            K[b * n + c] += half * D[a * n + d];
          }
          into.coulomb[a * n + b] += v * cd;
          into.coulomb[c * n + d] += v * ab;
        }
}

void fock_builder::run(pair_of_shells& first, repulsion_engine& engine, std::span<const std::vector<double>> densities,
                       sums& into) {
  const bool from_kept = !first.kept.empty();
  std::vector<double> fresh;
  if (first.is_kept && !from_kept) fresh.reserve(first.values);
  const double* kept = first.kept.data();
  for (std::size_t k = 0; k < first.quartets; ++k) {
    const pair_of_shells& second = m_pairs[k];
    const std::size_t count =
        m_over.size(first.a) * m_over.size(first.b) * m_over.size(second.a) * m_over.size(second.b);
    std::span<const double> values;
    if (from_kept) {
      values = {kept, count};
      kept += count;
    } else {
      values = engine.quartet(first.a, first.b, second.a, second.b);
      if (values.empty()) {
        if (first.is_kept) fresh.insert(fresh.end(), count, 0.0);
        continue;
      }
      if (first.is_kept) fresh.insert(fresh.end(), values.begin(), values.end());
    }
    const double images =
        (first.a == first.b ? 1.0 : 2.0) * (second.a == second.b ? 1.0 : 2.0) * (&first == &second ? 1.0 : 2.0);
    add_quartet(first, second, values.data(), images, densities, into);
  }
  if (first.is_kept && !from_kept) first.kept = std::move(fresh);
}

void fock_builder::add(std::span<const std::vector<double>> densities, std::vector<double>& coulomb,
                       std::span<std::vector<double>> exchange) {
  const std::size_t n = m_over.functions();
  std::vector<sums> of_threads(m_engines.size());
  std::atomic<std::size_t> next{0};
  std::mutex lock;
  std::exception_ptr failed;
  const auto work = [&](std::size_t me) {
    try {
      sums& mine = of_threads[me];
      mine.coulomb.assign(n * n, 0.0);
      mine.exchange.assign(densities.size(), std::vector<double>(n * n, 0.0));
      for (std::size_t k = 0; (k = next.fetch_add(1)) < m_pairs.size();)  // the last ones have the most partners
        run(m_pairs[m_pairs.size() - 1 - k], *m_engines[me], densities, mine);
    } catch (...) {
      const std::lock_guard guard(lock);
      failed = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t k = 1; k < m_engines.size(); ++k) others.emplace_back(work, k);
    work(0);
  }
  if (failed) std::rethrow_exception(failed);
  const auto add_symmetric = [n](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) to[a * n + b] += 0.5 * (from[a * n + b] + from[b * n + a]);
  };
  for (const sums& one : of_threads) {
    add_symmetric(one.coulomb, coulomb);
    for (std::size_t s = 0; s < densities.size(); ++s) add_symmetric(one.exchange[s], exchange[s]);
  }
}

}  // namespace tessera::chemistry
