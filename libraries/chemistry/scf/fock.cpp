#include "libraries/chemistry/scf/fock.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tessera::chemistry {
namespace {

constexpr double negligible = 1e-13;  // quartets with a smaller bound are left out

/// Integrals of all quartets that are not negligible: each pair of shells with those of a larger bound, and itself.
double count_of_values(const integrals& over, std::span<const double> bounds) {
  struct pair {
    double bound;
    std::size_t functions;
  };
  const std::size_t n = over.shells();
  std::vector<pair> pairs;
  pairs.reserve(n * (n + 1) / 2);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b <= a; ++b) pairs.push_back({bounds[a * n + b], over.size(a) * over.size(b)});
  std::ranges::sort(pairs, std::greater<>{}, &pair::bound);
  std::vector<std::size_t> before{0};  // functions of the pairs before each
  for (const pair& p : pairs) before.push_back(before.back() + p.functions);
  double count = 0;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto large = [&](const pair& second) { return pairs[k].bound * second.bound >= negligible; };
    const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(k) + 1;
    const auto quartets = static_cast<std::size_t>(std::partition_point(pairs.begin(), end, large) - pairs.begin());
    count += static_cast<double>(before[quartets]) * static_cast<double>(pairs[k].functions);
  }
  return count;
}

std::size_t largest_shell(const integrals& over) {
  std::size_t most = 0;
  for (std::size_t s = 0; s < over.shells(); ++s) most = std::max(most, over.size(s));
  return most;
}

}  // namespace

/// The largest elements of densities, by pairs of shells.
struct fock_builder::density_in_parts {
  density_in_parts(const integrals& over, std::span<const std::vector<double>> densities)
      : shells(over.shells()), largest(shells * shells, 0.0) {
    const std::size_t n = over.functions();
    for (std::size_t a = 0; a < shells; ++a)
      for (std::size_t b = 0; b < shells; ++b)
        for (const std::vector<double>& density : densities)
          for (std::size_t p = over.offset(a); p < over.offset(a + 1); ++p)
            for (std::size_t q = over.offset(b); q < over.offset(b + 1); ++q)
              largest[a * shells + b] = std::max(largest[a * shells + b], std::abs(density[p * n + q]));
  }
  double at(std::size_t a, std::size_t b) const { return largest[a * shells + b]; }
  /// Of those that integrals (ab|cd) and their images are multiplied by.
  double beside(std::size_t a, std::size_t b, std::size_t c, std::size_t d) const {
    return std::max({at(a, b), at(c, d), at(a, c), at(b, c), at(a, d), at(b, d)});
  }
  std::size_t shells;
  std::vector<double> largest;
};

double bytes_of_repulsion(const integrals& over) {
  return count_of_values(over, schwarz_bounds(over)) * sizeof(double);
}

double bytes_of_rows(const integrals& over) {
  return std::pow(static_cast<double>(largest_shell(over)), 3) * static_cast<double>(over.functions()) * sizeof(double);
}

fock_builder::fock_builder(const integrals& over, std::size_t kept_bytes, unsigned threads)
    : m_over(over), m_bounds(schwarz_bounds(over)), m_partners(over.shells()) {
  const std::size_t n = over.shells();
  const double largest = m_bounds.empty() ? 0 : std::ranges::max(m_bounds);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      const double bound = m_bounds[a * n + b];
      if (bound * largest < negligible) continue;
      const std::size_t primitives = over.shell_at(a).exponents.size() * over.shell_at(b).exponents.size();
      m_partners[a].push_back(b);
      m_pairs.push_back(
          {a, b, bound, static_cast<double>(primitives) / static_cast<double>(over.size(a) * over.size(b))});
    }
  std::ranges::stable_sort(m_pairs, std::greater<>{}, &pair_of_shells::work);
  m_pair_at.assign(n * n, m_pairs.size());
  for (std::size_t k = 0; k < m_pairs.size(); ++k) m_pair_at[m_pairs[k].a * n + m_pairs[k].b] = k;
  keep_within(kept_bytes / sizeof(double));
  m_threads.resize(std::max(1u, threads));
}

/// Pairs are kept as far as there is room for so many integrals.
void fock_builder::keep_within(std::size_t values) {
  m_keeps_all = count_of_values(m_over, m_bounds) <= static_cast<double>(values);
  partners with;
  for (pair_of_shells& first : m_pairs) {
    if (!m_keeps_all) {
      const std::size_t needed = values_of(first, with);
      if (needed > values) return;
      values -= needed;
    }
    first.is_kept = true;
  }
}

function_run fock_builder::functions_of(std::size_t shell) const { return {m_over.offset(shell), m_over.size(shell)}; }

std::size_t fock_builder::rows_of(const pair_of_shells& first, std::size_t c) const {
  return m_over.size(first.a) * m_over.size(first.b) * m_over.size(c);
}

/// The pairs cd up to ab, of which each quartet has one order.
void fock_builder::choose(const pair_of_shells& first, std::size_t c, const density_in_parts* density,
                          partners& into) const {
  into.shells.clear();
  into.runs.clear();
  into.functions = 0;
  const std::size_t last = c == first.a ? first.b : c;
  for (const std::size_t d : m_partners[c]) {
    if (d > last) break;
    const double bound = first.bound * m_bounds[c * m_over.shells() + d];
    if (bound < negligible) continue;
    if (density != nullptr && bound * density->beside(first.a, first.b, c, d) < negligible) continue;
    const function_run of = functions_of(d);
    if (!into.runs.empty() && into.runs.back().first + into.runs.back().count == of.first)
      into.runs.back().count += of.count;
    else
      into.runs.push_back(of);
    into.shells.push_back(d);
    into.functions += of.count;
  }
}

/// Each pair of integrals that are equal is added once, so half as many as there are.
double fock_builder::weight_of(const pair_of_shells& first, std::size_t c, std::size_t d) {
  const bool is_itself = c == first.a && d == first.b;
  return 0.5 * (first.a == first.b ? 1.0 : 2.0) * (c == d ? 1.0 : 2.0) * (is_itself ? 1.0 : 2.0);
}

std::size_t fock_builder::values_of(const pair_of_shells& first, partners& with) const {
  std::size_t count = 0;
  for (std::size_t c = 0; c <= first.a; ++c) {
    choose(first, c, nullptr, with);
    count += rows_of(first, c) * with.functions;
  }
  return count;
}

/// Rows of integrals times their weights, which are powers of two.
void fock_builder::compute(const pair_of_shells& first, std::size_t c, const partners& with, repulsion_engine& engine,
                           double* rows) const {
  const std::size_t count = rows_of(first, c);
  for (const std::size_t d : with.shells) {
    const double weight = weight_of(first, c, d);
    const std::span<const double> values = engine.quartet(first.a, first.b, c, d);
    const std::size_t functions = m_over.size(d);
    for (std::size_t row = 0; row < count; ++row)
      for (std::size_t k = 0; k < functions; ++k)
        rows[row * with.functions + k] = values.empty() ? 0.0 : weight * values[row * functions + k];
    rows += functions;
  }
}

void fock_builder::run(pair_of_shells& first, const row_contraction& contraction, const density_in_parts& density,
                       thread_state& mine) {
  const bool from_kept = !first.kept.empty(), is_filled = first.is_kept && !from_kept;
  const std::span<double> fresh = is_filled ? mine.kept.take(values_of(first, mine.with)) : std::span<double>();
  std::vector<std::size_t> begins;
  std::size_t at = 0;
  for (std::size_t c = 0; c <= first.a; ++c) {
    choose(first, c, first.is_kept ? nullptr : &density, mine.with);
    const std::size_t count = rows_of(first, c) * mine.with.functions;
    if (!first.is_kept) mine.rows.resize(count);
    double* const made = is_filled ? fresh.data() + at : mine.rows.data();
    if (!from_kept) {
      if (!mine.engine) mine.engine = m_over.engine(1e-16);
      compute(first, c, mine.with, *mine.engine, made);
    }
    contraction.add({functions_of(first.a), functions_of(first.b), functions_of(c), mine.with.runs,
                     from_kept ? first.kept.data() + at : made},
                    mine.sums);
    if (is_filled) begins.push_back(at);
    at += count;
  }
  if (!is_filled) return;
  first.begins = std::move(begins);
  first.kept = fresh;
}

void fock_builder::add(std::span<const std::vector<double>> densities, std::vector<double>& coulomb,
                       std::span<std::vector<double>> exchange) {
  const std::size_t n = m_over.functions();
  const row_contraction contraction(n, densities);
  const density_in_parts density(m_over, densities);
  std::atomic<std::size_t> next{0};
  std::mutex lock;
  std::exception_ptr failed;
  const auto work = [&](thread_state& mine) {
    try {
      mine.sums.coulomb.assign(n * n, 0.0);
      mine.sums.exchange.assign(densities.size(), std::vector<double>(n * n, 0.0));
      for (std::size_t k = 0; (k = next.fetch_add(1)) < m_pairs.size();) run(m_pairs[k], contraction, density, mine);
    } catch (...) {
      const std::lock_guard guard(lock);
      failed = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t k = 1; k < m_threads.size(); ++k) others.emplace_back(work, std::ref(m_threads[k]));
    work(m_threads[0]);
  }
  if (failed) std::rethrow_exception(failed);
  const auto add_symmetric = [n](const std::vector<double>& from, double factor, std::vector<double>& to) {
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) to[a * n + b] += factor * (from[a * n + b] + from[b * n + a]);
  };
  for (thread_state& one : m_threads) {
    add_symmetric(one.sums.coulomb, 0.5, coulomb);
    for (std::size_t s = 0; s < densities.size(); ++s) add_symmetric(one.sums.exchange[s], 0.25, exchange[s]);
    one.sums = {};
    one.engine.reset();
  }
}

void fock_builder::forget() noexcept {
  for (pair_of_shells& first : m_pairs) {
    first.is_kept = false;
    first.kept = {};
    first.begins = {};
  }
  for (thread_state& one : m_threads) one.kept.clear();
  m_keeps_all = false;
}

}  // namespace tessera::chemistry
