#pragma once
// From the allocation of a structure to its end, with everything that is measured on the way.
#include <chrono>
#include <cmath>
#include <memory>

#include "apps/deepcopy/schemes.hpp"

namespace tessera::apps::deepcopy {

/// Copies between memories.
struct traffic {
  std::uint64_t transfers = 0, bytes = 0;
  static traffic so_far(const runtime& rt) {
    traffic sum;
    for (const link_statistics& l : rt.statistics().links) sum.transfers += l.transfers, sum.bytes += l.bytes;
    return sum;
  }
  friend traffic operator-(const traffic& a, const traffic& b) {
    return {a.transfers - b.transfers, a.bytes - b.bytes};
  }
};

/// What one cycle took, in seconds, and what moved.
struct cycle_result {
  double whole = 0;  ///< allocate, initialise, move in, scale, move back, free; not the check
  double in = 0, kernel = 0, back = 0;
  traffic moved_in{}, moved_back{};
  std::uint64_t pointers = 0;  ///< that were made for the location
  std::int64_t wrong = 0;      ///< elements, where they were checked
};

/// Runs a cycle with a structure of a size.
template <class Structure>
cycle_result run_cycle(const cycle_setup& setup, const std::string& scheme_name,
                       const typename Structure::size_type& size, bool check) {
  using clock = std::chrono::steady_clock;
  cycle_result r;
  const auto timed = [&r](auto&& step) {
    const auto began = clock::now();
    step();
    const double seconds = std::chrono::duration<double>(clock::now() - began).count();
    r.whole += seconds;
    return seconds;
  };
  std::unique_ptr<Structure> structure;
  timed([&] { structure = std::make_unique<Structure>(size); });
  timed([&] { structure->initialise(); });
  auto scheme = make_scheme<Structure>(scheme_name, setup, *structure);
  const traffic first = traffic::so_far(setup.rt);
  r.in = timed([&] { scheme->move_in(); });
  const traffic second = traffic::so_far(setup.rt);
  r.kernel = timed([&] { scheme->scale(); });
  r.back = timed([&] { scheme->move_back(); });
  r.moved_in = second - first;
  r.moved_back = traffic::so_far(setup.rt) - second;
  r.pointers = scheme->pointers();
  if (check) r.wrong = structure->wrong();
  timed([&] {
    scheme.reset();
    structure.reset();
  });
  return r;
}

/// Means over cycles, until the mean time of a cycle is known to 1 % or so many were run.
class cycle_means {
 public:
  void add(const cycle_result& one) {
    ++m_count;
    m_sum.whole += one.whole, m_sum.in += one.in, m_sum.kernel += one.kernel, m_sum.back += one.back;
    m_squares += one.whole * one.whole;
  }
  std::int64_t count() const noexcept { return m_count; }
  double mean(double cycle_result::*time) const { return m_sum.*time / static_cast<double>(m_count); }
  /// Standard error of the mean, relative to it.
  double error() const {
    if (m_count < 2) return 1;
    const double n = static_cast<double>(m_count), mean = m_sum.whole / n;
    return std::sqrt(std::max(0.0, m_squares / n - mean * mean) / (n - 1)) / mean;
  }

 private:
  cycle_result m_sum{};
  double m_squares = 0;
  std::int64_t m_count = 0;
};

}  // namespace tessera::apps::deepcopy
