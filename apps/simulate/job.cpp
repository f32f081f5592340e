#include "apps/simulate/job.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "apps/cholesky/factorization.hpp"
#include "apps/gemm/multiplication.hpp"

namespace tessera::apps {
namespace {

using hierarchy::timed_operation;

/// Fills tiles on the host, where real data would come from.
template <class T>
void fill_on_host(runtime& rt, array<T>& a, bool lower_triangle) {
  const location::node_id host = rt.at("core0");
  std::vector<location::node_id> cores;  // the first core of each memory, in turn
  for (const location::node_id node : rt.tree().subtree(rt.tree().root())) {
    const auto& properties = rt.tree().at(node).properties;
    if (properties.kind != location::kind::worker || properties.cpus.empty()) continue;
    const location::node_id memory = rt.tree().memory_of(node);
    if (cores.empty() || rt.tree().memory_of(cores.back()) != memory) cores.push_back(node);
  }
  if (cores.empty()) cores.push_back(host);
  std::size_t next = 0;
  for (std::int64_t j = 0; j < a.counts()[1]; ++j)
    for (std::int64_t i = lower_triangle ? j : 0; i < a.counts()[0]; ++i)
      fill(rt, a(i, j), T(1), {.at = cores[next++ % cores.size()]});
}

template <class T>
void run_typed(const job& what, runtime& rt, const std::function<void()>& begin, const std::function<void()>& end) {
  const std::int64_t n = what.n, t = what.tile;
  auto a = rt.make_array<T>("A", {n, n}, {t, t});
  if (what.name == "cholesky") {
    auto info = rt.make_array<std::int32_t>("info", {what.tiles()}, {1});
    fill_on_host(rt, a, true);
    rt.fence();
    begin();
    factorize(rt, a, info, memory_budget_of(rt));
    rt.fence();
    end();
    return;
  }
  auto b = rt.make_array<T>("B", {n, n}, {t, t});
  auto c = rt.make_array<T>("C", {n, n}, {t, t});
  fill_on_host(rt, a, false);
  fill_on_host(rt, b, false);
  rt.fence();
  begin();
  multiply(rt, a, b, c, memory_budget_of(rt));
  rt.fence();
  end();
}

}  // namespace

double job::flops() const noexcept {
  const auto size = static_cast<double>(n);
  return name == "cholesky" ? size * size * size / 3 : 2 * size * size * size;
}

std::uint64_t job::tasks() const noexcept {
  const auto count = static_cast<std::uint64_t>(tiles());
  return name == "cholesky" ? factorization_tasks(tiles()) : count * count * count;
}

double job::bytes() const noexcept {
  const double element = type == "f32" ? 4 : 8, size = static_cast<double>(n);
  return name == "cholesky" ? size * (size + static_cast<double>(tile)) / 2 * element : 3 * size * size * element;
}

lower_bounds bounds_of(const job& what, const hierarchy::device_model& on, std::uint32_t workers) {
  const auto type = what.type == "f32" ? element_type::f32 : element_type::f64;
  const auto t = static_cast<double>(what.tile);
  const auto extents = [&](timed_operation o) {
    return o == timed_operation::gemm   ? hierarchy::operation_extents{t, t, t}
           : o == timed_operation::syrk ? hierarchy::operation_extents{1, t, t}
           : o == timed_operation::trsm ? hierarchy::operation_extents{t, t, 1}
                                        : hierarchy::operation_extents{1, t, 1};
  };
  constexpr std::array operations{timed_operation::gemm, timed_operation::syrk, timed_operation::trsm,
                                  timed_operation::potrf};
  std::array<double, 4> fastest;
  fastest.fill(std::numeric_limits<double>::infinity());
  double rate = 0;  // of all places, each with what it is best at
  const auto place = [&](const hierarchy::duration_model& speed, double count) {
    double best = 0;
    for (const timed_operation o : operations) {
      if (what.name == "gemm" && o != timed_operation::gemm) continue;
      const double seconds = static_cast<double>(speed.compute_ns(o, type, extents(o))) * 1e-9;
      fastest[static_cast<std::size_t>(o)] = std::min(fastest[static_cast<std::size_t>(o)], seconds);
      best = std::max(best, hierarchy::flops_of(o, extents(o)) / seconds);
    }
    rate += count * best;
  };
  place(on.host_speed(), workers);
  const auto& devices = on.description().devices;
  for (std::size_t k = 0; k < devices.size(); ++k) place(on.speed_of(k), devices[k].count * devices[k].kernels);
  lower_bounds found;
  // Of whole tiles only: tiles at the edge may be smaller, and then both bounds would be too high.
  const auto whole = static_cast<double>(what.n / what.tile);
  const double gemm = fastest[0], syrk = fastest[1], trsm = fastest[2], potrf = fastest[3];
  found.work_seconds = what.flops() / rate;
  if (what.name == "gemm")
    found.path_seconds = whole * gemm;
  else if (whole < 2)
    found.path_seconds = whole * potrf;
  else
    found.path_seconds = std::max(whole * potrf + (whole - 1) * (trsm + syrk),                  // along the diagonal
                                  2 * potrf + (whole - 1) * trsm + (whole - 2) * gemm + syrk);  // one tile below it
  return found;
}

void run_job(const job& what, runtime& rt, const std::function<void()>& begin, const std::function<void()>& end) {
  if (what.type == "f32")
    run_typed<float>(what, rt, begin, end);
  else
    run_typed<double>(what, rt, begin, end);
}

}  // namespace tessera::apps
