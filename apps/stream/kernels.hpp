#pragma once
// The loops of STREAM (J. McCalpin) as regions, with the dot product and the start values of BabelStream, and the loop
// nstream of the Parallel Research Kernels.
#include <cstdint>
#include <string>

#include "apps/common/workload.hpp"
#include "tessera/region.hpp"

namespace tessera::apps {

/// What so many launches of a loop over n elements do.
/// @param arrays  that it reads or writes  @param flops  of an element  @param element  its bytes
inline region_work stream_work(const std::string& loop, int arrays, int flops, int launches, std::int64_t n,
                               std::size_t element) {
  const double all = static_cast<double>(launches) * static_cast<double>(n);
  return {loop, arrays * static_cast<double>(element) * all, flops * all, 0};
}

/// Three arrays of n elements, and the loops over them.
/// @tparam T  double or float
template <class T>
class stream_kernels {
 public:
  static constexpr T start_a = T(0.1), start_b = T(0.2), start_c = T(0), scalar = T(0.4);

  stream_kernels(location_model& model, std::int64_t n, const region_options& how)
      : a(model.make_array<T>("a", {n}, {.at = how.at})),
        b(model.make_array<T>("b", {n}, {.at = how.at})),
        c(model.make_array<T>("c", {n}, {.at = how.at})),
        m_model(model),
        m_loop(iterate(0, n)),
        m_how(how),
        m_dot(model.owner(), "dot") {}

  /// Start values, written where the other loops run: pages are near those who touch them first.
  void start() {
    const T of_a = start_a, of_b = start_b, of_c = start_c;
    m_model.region("start", m_how, m_loop, write(a), write(b), write(c),
                   TESSERA_BODY((of_a, of_b, of_c), (auto i, auto to_a, auto to_b, auto to_c),
                                { to_a[i] = of_a, to_b[i] = of_b, to_c[i] = of_c; }));
  }
  void copy() {
    m_model.region("copy", m_how, m_loop, read(a), write(c),
                   TESSERA_BODY((), (auto i, auto from, auto to), { to[i] = from[i]; }));
  }
  void multiply() {
    const T s = scalar;
    m_model.region("mul", m_how, m_loop, read(c), write(b),
                   TESSERA_BODY((s), (auto i, auto from, auto to), { to[i] = s * from[i]; }));
  }
  void add() {
    m_model.region("add", m_how, m_loop, read(a), read(b), write(c),
                   TESSERA_BODY((), (auto i, auto first, auto second, auto to), { to[i] = first[i] + second[i]; }));
  }
  void triad() {
    const T s = scalar;
    m_model.region(
        "triad", m_how, m_loop, read(b), read(c), write(a),
        TESSERA_BODY((s), (auto i, auto first, auto second, auto to), { to[i] = first[i] + s * second[i]; }));
  }
  /// The triad, added to what a has.
  void nstream() {
    const T s = scalar;
    m_model.region(
        "nstream", m_how, m_loop, read(b), read(c), update(a),
        TESSERA_BODY((s), (auto i, auto first, auto second, auto to), { to[i] += first[i] + s * second[i]; }));
  }
  void dot() {
    m_model.region("dot", m_how, m_loop, read(a), read(b), sum(m_dot),
                   TESSERA_BODY((), (auto i, auto first, auto second, auto& s),
                                { s += static_cast<double>(first[i]) * static_cast<double>(second[i]); }));
  }
  /// Of the last dot().
  double dot_result() const { return m_dot.get(); }

  array<T> a, b, c;

 private:
  location_model& m_model;
  iteration_space<1> m_loop;
  region_options m_how;
  region_result<double> m_dot;
};

}  // namespace tessera::apps
