#include "libraries/sparse/program/lagging_loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

/// While it is there, small matrices have the values that they had behind an iteration.
class asking {
 public:
  asking(program_state& of, kept_values& kept, int iteration) : m_program(of) {
    kept.look_at(iteration);
    m_program.seen = &kept;
  }
  ~asking() { m_program.seen = nullptr; }
  asking(const asking&) = delete;
  asking& operator=(const asking&) = delete;

 private:
  program_state& m_program;
};

}  // namespace

void require_lag(const program_state& p, const loop_options& options) {
  if (options.lag < 0)
    throw error(error_kind::usage, fmt::format("the lag is {}", options.lag), "while_not", "0 or more iterations");
  for (const small_matrix& m : options.watched)
    if (m.data().owner != &p)
      throw error(error_kind::usage, fmt::format("{}, which is watched, belongs to another program", m.name()),
                  "while_not", "list small matrices of the program whose loop it is");
}

lagging_loop::lagging_loop(program_state& p, recording& iteration, const loop_options& options)
    : m_program(p),
      m_iteration(iteration),
      m_options(options),
      m_lag(std::min(options.lag, std::max(options.max_iterations, 0))),
      m_kept(p, options.watched, static_cast<std::size_t>(m_lag) + 1) {}

lagging_loop::~lagging_loop() { m_program.rt.fence({.reports = false}); }

void lagging_loop::run(const std::function<bool()>& converged, loop_outcome& done) {
  done.converged = converged();  // nothing is under way
  for (int asked = 1; !done.converged && asked <= m_options.max_iterations; ++asked) {
    while (done.iterations < m_options.max_iterations && done.iterations < asked + m_lag) begin(++done.iterations);
    const asking now(m_program, m_kept, asked);
    if (m_options.after_each) m_options.after_each(asked);
    done.converged = converged();
  }
}

void lagging_loop::begin(int iteration) {
  if (!m_program.recorded.empty()) {
    // Whatever was recorded so far is done but for the last iterations: waiting takes a moment, and once for several.
    if (m_between.size() == program_state::max_under_way) {
      m_program.rt.fence({.reports = false});
      m_between.clear();
    }
    m_between.push_back(std::make_unique<operation_sequence>(m_program, m_program.taken()));
    m_between.back()->submit();
    m_program.done += m_between.back()->work();
  }
  m_program.rt.replay(m_iteration);
  m_kept.keep(iteration);
}

}  // namespace tessera::sparse
