#include "languages/sial/chemistry/amplitude_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {
namespace {

/// The columns of `c` from `first` on.
void append_columns(std::vector<double>& to, const std::vector<double>& c, std::size_t functions, std::size_t first,
                    std::size_t count) {
  to.insert(to.end(), c.begin() + static_cast<std::ptrdiff_t>(functions * first),
            c.begin() + static_cast<std::ptrdiff_t>(functions * (first + count)));
}

/// The orbitals of each spin, of the list that programs get.
chemistry::amplitudes zeros_of(const init_data& data) {
  const bool closed = data.ints.at("spin_orbitals") == 0;
  const auto occupied = static_cast<std::size_t>(data.ints.at("occupied")),
             empty = static_cast<std::size_t>(data.ints.at("virtual"));
  const init_array<double>& ca = data.float_arrays.at("ca");
  const auto functions = static_cast<std::size_t>(ca.dims[0]);
  const std::vector<double>& spin_of = data.float_arrays.at("spin_of").values;
  const std::vector<double>& spins = data.float_arrays.at("spin").values;
  const std::vector<std::int64_t>& lengths = data.segments.at(index_kind::mo);
  const auto alpha =
      closed ? occupied : static_cast<std::size_t>(std::ranges::count_if(spin_of, [](double s) { return s > 0; }));
  std::size_t empty_alpha = 0;
  for (auto k = static_cast<std::size_t>(data.ints.at("virt_first")) - 1; k < lengths.size(); ++k)
    if (closed || spins[k] > 0) empty_alpha += static_cast<std::size_t>(lengths[k]);
  std::array<chemistry::active_orbitals, 2> of;
  of[0] = {alpha, empty_alpha, {}};
  append_columns(of[0].c, ca.values, functions, 0, alpha);
  append_columns(of[0].c, ca.values, functions, occupied, empty_alpha);
  if (!closed) {
    of[1] = {occupied - alpha, empty - empty_alpha, {}};
    append_columns(of[1].c, ca.values, functions, alpha, of[1].occupied);
    append_columns(of[1].c, ca.values, functions, occupied + empty_alpha, of[1].empty);
  }
  return chemistry::zero_amplitudes(closed, std::move(of));
}

}  // namespace

void amplitude_port::tell_none(init_data& data) {
  data.ints["amplitudes_are_kept"] = data.ints["restored_amplitudes"] = data.ints["restored_iteration"] = 0;
  data.ints["history_is_kept"] = data.ints["restored_steps"] = 0;
  data.scalars["restored_residual"] = 0;
}

amplitude_port::amplitude_port(init_data& data, amplitude_keeping keeping)
    : m_keeping(std::move(keeping)), m_now(zeros_of(data)) {
  for (const bool occupied : {true, false})
    for (std::size_t s = 0; s < (m_now.closed ? 1u : 2u); ++s)
      for (std::size_t k = 0; k < (occupied ? m_now.spins[s].occupied : m_now.spins[s].empty); ++k)
        m_places.push_back({s, k});
  tell_none(data);
  if (m_keeping.keep) data.ints["amplitudes_are_kept"] = 1;
  if (m_keeping.keep_history) data.ints["history_is_kept"] = 1;
  std::optional<amplitude_start> start;
  if (m_keeping.begin) start = m_keeping.begin(m_now);
  if (!start) return;
  m_start = std::move(*start);
  data.ints["restored_amplitudes"] = m_start.state.converged ? 2 : 1;
  data.ints["restored_iteration"] = m_start.state.iteration;
  data.scalars["restored_residual"] = m_start.state.residual;
  if (!m_start.state.converged) data.ints["restored_steps"] = m_start.state.history;
}

/// Where t_i^a or t_ij^ab is kept, and its sign there; null where it vanishes by spin. The numbers are those of a, i,
/// b, j.
double* amplitude_port::element(chemistry::amplitudes& of, const std::int64_t* number, bool singles,
                                double& sign) const {
  const auto at = [this](std::int64_t k) { return m_places.at(static_cast<std::size_t>(k)); };
  place a = at(number[0]), i = at(number[1]);
  sign = 1;
  if (singles) {
    if (a.spin != i.spin) return nullptr;
    return &of.singles[a.spin][a.number + of.spins[a.spin].empty * i.number];
  }
  place b = at(number[2]), j = at(number[3]);
  if (a.spin + b.spin != i.spin + j.spin) return nullptr;
  if (of.closed || a.spin == b.spin) {
    const std::size_t v = of.spins[a.spin].empty, o = of.spins[a.spin].occupied;
    return &(of.closed ? of.mixed : of.alike[a.spin])[a.number + v * (i.number + o * (b.number + v * j.number))];
  }
  // t_ij^ab = t_ji^ba = - t_ji^ab: a and i become alpha.
  if (a.spin == 1) {
    std::swap(a, b);
    sign = -sign;
  }
  if (i.spin == 1) {
    std::swap(i, j);
    sign = -sign;
  }
  const chemistry::active_orbitals &of_alpha = of.spins[0], &of_beta = of.spins[1];
  return &of.mixed[a.number + of_alpha.empty * (i.number + of_alpha.occupied * (b.number + of_beta.empty * j.number))];
}

void amplitude_port::collect(const instruction_call& c) {
  const sial_argument& x = c.arguments[0];
  const bool singles = x.rank == 2;
  if (singles && c.job.worker() != 0) return;  // each worker has all of them
  double sign = 1;
  // Of opposite spins an element comes four times, from as many workers: the one with a, i alpha counts.
  for_each_element(x, [&](std::int64_t k, const std::int64_t* number) {
    if (!singles && !m_now.closed &&
        m_places.at(static_cast<std::size_t>(number[0])).spin > m_places.at(static_cast<std::size_t>(number[2])).spin)
      return;
    if (!singles && !m_now.closed &&
        m_places.at(static_cast<std::size_t>(number[1])).spin > m_places.at(static_cast<std::size_t>(number[3])).spin)
      return;
    if (double* const to = element(m_now, number, singles, sign)) *to = sign * x.data[k];
  });
}

void amplitude_port::restore(const instruction_call& c) {
  std::call_once(m_is_ready, [this] {
    if (m_start.same)
      m_now = std::move(*m_start.same);
    else
      m_now = m_start.from_first_order(std::move(m_now));
    m_start.same.reset();
    m_start.from_first_order = {};
  });
  const sial_argument& x = c.arguments[0];
  double sign = 1;
  for_each_element(x, [&](std::int64_t k, const std::int64_t* number) {
    const double* const from = element(m_now, number, x.rank == 2, sign);
    x.data[k] = from == nullptr ? 0.0 : sign * *from;
  });
}

void amplitude_port::keep(const instruction_call& c) {
  if (c.job.worker() != 0 || !m_keeping.keep) return;
  const auto of = [&](std::size_t k) { return scalar(c.arguments[k]); };
  const bool converged = of(4) != 0;
  m_keeping.keep(m_now, {static_cast<int>(of(0)), of(1), of(2), of(3), converged,
                         converged || m_history_is_lost ? 0 : m_kept_steps});
  if (converged) m_history = {};  // nothing follows
}

/// 1: the amplitudes that an iteration has made, 2: their change in it.
chemistry::amplitudes& amplitude_port::history(const instruction_call& c) {
  std::call_once(m_history_is_ready,
                 [this] { m_history.t = m_history.change = chemistry::zero_amplitudes(m_now.closed, m_now.spins); });
  return scalar(c.arguments[1]) == 1.0 ? m_history.t : m_history.change;
}

/// Of open shells programs have one of the orders of a, b and of i, j: the others follow.
void amplitude_port::collect_history(const instruction_call& c) {
  const sial_argument& x = c.arguments[0];
  const bool singles = x.rank == 2;
  if (singles && c.job.worker() != 0) return;  // each worker has all of them
  chemistry::amplitudes& to = history(c);
  for_each_element(x, [&](std::int64_t k, const std::int64_t* number) {
    double sign = 1;
    double* const first = element(to, number, singles, sign);
    if (first == nullptr) return;
    *first = sign * x.data[k];
    if (singles || to.closed) return;
    const std::int64_t images[][4] = {{number[2], number[1], number[0], number[3]},
                                      {number[0], number[3], number[2], number[1]},
                                      {number[2], number[3], number[0], number[1]}};
    for (std::size_t image = 0; image < 3; ++image)
      if (double* const other = element(to, images[image], false, sign))
        *other = (image == 2 ? sign : -sign) * x.data[k];
  });
}

void amplitude_port::restore_history(const instruction_call& c) {
  const sial_argument& x = c.arguments[0];
  chemistry::amplitudes& of = history(c);
  for_each_element(x, [&](std::int64_t k, const std::int64_t* number) {
    double sign = 1;
    const double* const from = element(of, number, x.rank == 2, sign);
    x.data[k] = from == nullptr ? 0.0 : sign * *from;
  });
}

void amplitude_port::keep_history(const instruction_call& c) {
  if (c.job.worker() != 0 || !m_keeping.keep_history || m_history_is_lost) return;
  const int step = static_cast<int>(scalar(c.arguments[0]));
  m_history_is_lost = !m_keeping.keep_history(step, m_history);
  m_kept_steps = std::max(m_kept_steps, step);
}

void amplitude_port::load_history(const instruction_call& c) {
  if (c.job.worker() != 0 || !m_keeping.load_history) return;
  const int step = static_cast<int>(scalar(c.arguments[0]));
  m_history = {};
  m_history = m_keeping.load_history(step, m_now);
  std::call_once(m_history_is_ready, [] {});  // there is one
}

void amplitude_port::ask_whether_due(const instruction_call& c) {
  const bool due = c.job.worker() == 0 && m_keeping.keep &&
                   (!m_keeping.is_due || m_keeping.is_due(static_cast<int>(scalar(c.arguments[1]))));
  scalar(c.arguments[0]) = due ? 1 : 0;
}

std::vector<instruction> amplitude_instructions(std::shared_ptr<amplitude_port> port) {
  const auto with = [&port](void (amplitude_port::*what)(const instruction_call&)) {
    return [port, what](const instruction_call& c) {
      if (port == nullptr) refuse("this job has no checkpoints of amplitudes");
      (port.get()->*what)(c);
    };
  };
  const auto of_two_or_four = [](auto run) {
    return [run](const instruction_call& c) {
      expect_rank(c.arguments[0], 2, 4);
      run(c);
    };
  };
  return {{"collect_amplitudes", {"r"}, {}, of_two_or_four(with(&amplitude_port::collect))},
          {"restore_amplitudes", {"w"}, {}, of_two_or_four(with(&amplitude_port::restore))},
          {"keep_amplitudes", {"rrrrr"}, {}, with(&amplitude_port::keep)},
          {"checkpoint_is_due", {"wr"}, {}, with(&amplitude_port::ask_whether_due)},
          {"collect_history", {"rr"}, {}, of_two_or_four(with(&amplitude_port::collect_history))},
          {"restore_history", {"wr"}, {}, of_two_or_four(with(&amplitude_port::restore_history))},
          {"keep_history", {"r"}, {}, with(&amplitude_port::keep_history)},
          {"load_history", {"r"}, {}, with(&amplitude_port::load_history)}};
}

}  // namespace tessera::sial
