#pragma once
// The flow of a gas as regions: three stages per iteration, each from one array of states to another.
#include <algorithm>
#include <cstdint>
#include <string>

#include "apps/rodinia/cfd/problem.hpp"
#include "apps/rodinia/cfd/stage_text.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// So many elements. The five numbers of a state lie side by side, since a neighbour is read as a whole.
/// @tparam T  double or float
template <class T>
class cfd_kernel {
 public:
  cfd_kernel(location_model& model, const region_options& how, std::int64_t elements)
      : sizes(model.make_array<T>("sizes", {elements}, {.at = how.at})),
        neighbours(model.make_array<std::int32_t>("neighbours", {elements, 4}, {.at = how.at})),
        normals(model.make_array<T>("normals", {elements, 12}, {.at = how.at})),
        states(model.make_array<T>("states", {elements, 5}, {.at = how.at})),
        m_first(model.make_array<T>("states of stage 1", {elements, 5}, {.at = how.at})),
        m_second(model.make_array<T>("states of stage 2", {elements, 5}, {.at = how.at})),
        m_factors(model.make_array<T>("step factors", {elements}, {.at = how.at})),
        m_model(model),
        m_how(how),
        m_loop(iterate(0, elements)) {}

  /// The far field everywhere.
  void start() {
    m_model.region("start", m_how, m_loop, write(states), [](auto i, auto to) {
      constexpr cfd_state<T> far = cfd_far_field<T>();
      std::copy(far.begin(), far.end(), &to(i, 0));
    });
  }
  void iteration() {
    static const std::string first = cfd_stage_text("(i, now, size, other, normal, factor, to) {", true, "now", 4),
                             second = cfd_stage_text("(i, old, now, other, normal, factor, to) {", false, "old", 3),
                             third = cfd_stage_text("(i, to, now, other, normal, factor) {", false, "to", 2);
    m_model.region("stage 1", m_how, m_loop, read(states, whole), read(sizes), read(neighbours), read(normals),
                   write(m_factors), write(m_first),
                   with_kernel(
                       [](auto i, auto old, auto size, auto other, auto normal, auto factor, auto to) {
                         factor[i] = cfd_step_factor<T>(&old(i, 0), size[i]);
                         step(i, &old[0], &old(i, 0), factor[i] / 4, &other(i, 0), &normal(i, 0), &to(i, 0));
                       },
                       first));
    m_model.region("stage 2", m_how, m_loop, read(states), read(m_first, whole), read(neighbours), read(normals),
                   read(m_factors), write(m_second),
                   with_kernel(
                       [](auto i, auto old, auto now, auto other, auto normal, auto factor, auto to) {
                         step(i, &now[0], &old(i, 0), factor[i] / 3, &other(i, 0), &normal(i, 0), &to(i, 0));
                       },
                       second));
    m_model.region("stage 3", m_how, m_loop, update(states), read(m_second, whole), read(neighbours), read(normals),
                   read(m_factors),
                   with_kernel(
                       [](auto i, auto of, auto now, auto other, auto normal, auto factor) {
                         step(i, &now[0], &of(i, 0), factor[i] / 2, &other(i, 0), &normal(i, 0), &of(i, 0));
                       },
                       third));
  }

  array<T> sizes;
  array<std::int32_t, 2> neighbours;
  array<T, 2> normals, states;

 private:
  static void step(std::int64_t i, const T* now, const T* old, T factor, const std::int32_t* neighbours,
                   const T* normals, T* to) {
    const cfd_state<T> r = cfd_residual<T>(i, now, neighbours, normals);
    for (std::int64_t k = 0; k < 5; ++k) to[k] = old[k] + factor * r[static_cast<std::size_t>(k)];
  }

  array<T, 2> m_first, m_second;
  array<T> m_factors;
  location_model& m_model;
  region_options m_how;
  iteration_space<1> m_loop;
};

}  // namespace tessera::apps::rodinia
