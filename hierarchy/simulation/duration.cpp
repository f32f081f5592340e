#include "hierarchy/simulation/duration.hpp"

#include <algorithm>
#include <cmath>

#include "core/operation/blas.hpp"

namespace tessera::hierarchy {
namespace {

std::uint64_t whole_ns(double seconds) noexcept {
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(std::min(seconds * 1e9, 9e18))), 1);
}

}  // namespace

double flops_of(timed_operation what, const operation_extents& e) noexcept {
  switch (what) {
    case timed_operation::gemm:
      return 2 * e.m * e.n * e.k;
    case timed_operation::syrk:
      return e.n * e.n * e.k;
    case timed_operation::trsm:
      return e.m * e.n * e.n;
    case timed_operation::potrf:
      return e.n * e.n * e.n / 3;
  }
  return 0;
}

duration_model::duration_model(const described_speed& speed, std::vector<placement::history_cell> learnt)
    : m_speed(speed) {
  if (learnt.empty()) return;
  m_definitions = {&m_operations.add(operation::gemm()), &m_operations.add(operation::syrk()),
                   &m_operations.add(operation::trsm()), &m_operations.add(operation::potrf())};
  placement::place_kind kind;
  kind.name = learnt.front().place;
  kind.is_host = true;
  kind.ns_per_operation = 1e9 / speed.peak_f64;
  kind.overhead_ns = static_cast<double>(speed.overhead_ns);
  std::erase_if(learnt, [&](const auto& c) { return c.place != kind.name; });
  for (const auto& c : learnt)
    for (std::size_t k = 0; k < timed_operation_names.size(); ++k)
      if (c.operation == timed_operation_names[k]) m_known[k][static_cast<std::size_t>(c.type)] = true;
  m_learnt = std::make_unique<placement::history>(std::vector{kind});
  m_learnt->restore(std::move(learnt));
}

std::uint64_t duration_model::compute_ns(timed_operation what, element_type type, const operation_extents& e) const {
  const double flops = flops_of(what, e);
  const auto number = static_cast<std::size_t>(what);
  if (is_learnt(what, type))
    return whole_ns(m_learnt->seconds(m_learnt->profile_of(*m_definitions[number], type), 0, std::max(flops, 1.0)));
  double size = 0;
  switch (what) {
    case timed_operation::gemm:
      size = std::cbrt(e.m * e.n * e.k);
      break;
    case timed_operation::syrk:
      size = std::cbrt(e.n * e.n * e.k);
      break;
    case timed_operation::trsm:
      size = std::cbrt(e.m * e.n * e.n);
      break;
    case timed_operation::potrf:
      size = e.n;
      break;
  }
  const double peak = type == element_type::f32 ? m_speed.peak_f32 : m_speed.peak_f64;
  return whole_ns(flops / (peak * m_speed.efficiency[number].at(size)));
}

std::uint64_t duration_model::move_ns(double bytes) const noexcept {
  return whole_ns(bytes / m_speed.memory_bandwidth);
}

}  // namespace tessera::hierarchy
