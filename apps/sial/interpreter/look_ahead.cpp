// Blocks that iterations to come will fetch, asked for before they begin. What an iteration fetches follows from its
// indices: they are walked through without any arithmetic on blocks, up to a decision that depends on the contents of
// one.
#include <algorithm>
#include <cmath>

#include "apps/sial/interpreter/arithmetic_step.hpp"
#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {
namespace {

constexpr unsigned most_steps = 20'000;  // of one iteration

}  // namespace

void worker::ask_for(shared_block& b, array_generation& of) {
  if (of.group().spaces_of(b.elements).meets(m_run.host_spaces | m_run.device_spaces)) return;
  const std::uint64_t bytes = b.elements.bytes();
  if (m_run.bytes_under_way.load(std::memory_order_relaxed) + bytes > m_run.settings.held_bytes) return;
  m_run.bytes_under_way += bytes;
  ++m_counters.asked_early;
  m_run.rt.submit(
      "ask for", [&run = m_run, bytes](view<const double>) { run.bytes_under_way -= bytes; },
      ::tessera::read(b.elements));
}

void worker::look_ahead(const pardo& p) {
  if (!m_run.has_other_memories || m_run.settings.ahead == 0) return;
  const std::int64_t last = std::min(m_pardo.end - 1, m_pardo.at + m_run.settings.ahead);
  for (std::int64_t next = std::max(m_pardo.seen, m_pardo.at) + 1; next <= last; ++next) look_at(p, next);
  m_pardo.seen = std::max(m_pardo.seen, last);
}

void worker::look_at(const pardo& p, std::int64_t candidate) {
  m_ahead = m_state.values;
  m_ahead.set_candidate(p, candidate);
  std::int64_t* const i = m_ahead.ints();
  double* const s = m_ahead.scalars();
  std::vector<std::uint32_t> returns;
  bool data_is_known = true;  // scalars have the values that they will have
  std::uint32_t at = p.top;
  for (unsigned steps = 0; steps < most_steps; ++steps) {
    const step& now = m_code.steps[at++];
    if (decides_on_scalars(now.what) && !data_is_known) return;
    if (arithmetic_step(now, i, s, at)) continue;
    switch (now.what) {
      case opcode::divide_int:
        if (i[now.c] == 0 || i[now.c] == -1) return;
        i[now.a] = i[now.b] / i[now.c];
        break;
      case opcode::check_bound:
        break;
      case opcode::divide_scalar:
        s[now.a] = s[now.b] / s[now.c];
        break;
      case opcode::call:
        returns.push_back(at);
        at = now.a;
        break;
      case opcode::return_:
        if (returns.empty()) return;
        at = returns.back();
        returns.pop_back();
        break;
      case opcode::loop_begin: {
        const loop& l = m_code.loops[now.b];
        if (l.within != no_symbol || i[l.index] != unbound) return;
        if (i[l.low] > i[l.high])
          at = now.a;
        else
          i[l.index] = i[l.low];
        break;
      }
      case opcode::loop_next: {
        const loop& l = m_code.loops[now.b];
        if (i[l.index] < i[l.high]) {
          ++i[l.index];
          at = now.a;
        } else {
          i[l.index] = unbound;
        }
        break;
      }
      case opcode::loop_leave:
        i[m_code.loops[now.b].index] = unbound;
        break;
      case opcode::iteration:
        break;
      case opcode::fetch: {
        const reference& r = m_code.references[now.b];
        segment_numbers where{};
        std::int64_t ordinal = 0;
        try {
          ordinal = m_ahead.ordinal_of(r, where);
        } catch (const run_error&) {
          return;  // the iteration itself will say it
        }
        if (shared_block* const b = m_generations[r.array]->find(ordinal)) ask_for(*b, *m_generations[r.array]);
        break;
      }
      case opcode::load_element:
      case opcode::inner_product:
      case opcode::power:
      case opcode::square_root:
      case opcode::execute:
        data_is_known = false;
        break;
      case opcode::round:
        if (!data_is_known || !(s[now.b] > -0x1p62 && s[now.b] < 0x1p62)) return;
        i[now.a] = static_cast<std::int64_t>(std::nearbyint(s[now.b]));
        break;
      case opcode::pardo_begin:
      case opcode::pardo_next:
      case opcode::pardo_leave:
      case opcode::stop:
      case opcode::end:
      case opcode::barrier:
        return;
      default:
        break;  // blocks only
    }
  }
}

}  // namespace tessera::sial
