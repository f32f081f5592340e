// Loops, conditions and procedures.
#include <algorithm>
#include <bit>
#include <utility>

#include "languages/sial/estimate/walk.hpp"

namespace tessera::sial {
namespace {

constexpr std::size_t max_parts = 100'000;  // of walks that are remembered: some 15 MB
constexpr std::size_t max_calls = 200;      // procedures in each other
constexpr const char* depends_on_data = "whether this holds is not known before the run: counted as if it did";

}  // namespace

void walker::enter(std::vector<frame>& frames, int branches) {
  frames.push_back({branches, 0, m_blocks.forks()});
  m_blocks.open_later();
}

void walker::leave(std::vector<frame>& frames) {
  m_unsure -= frames.back().unsure;
  frames.pop_back();
  m_blocks.close_fork();
}

/// What is walked through happens or not.
void walker::begin_branch() {
  ++m_unsure;
  ++m_branches;
  m_blocks.open_fork();
}

void walker::end_branch() {
  m_blocks.close_fork();
  --m_branches;
  --m_unsure;
}

std::vector<std::int64_t> walker::key_of(int level, const void* loop, const uses& depends) const {
  std::vector<std::int64_t> key{level, m_loop_numbers.at(loop), m_in_pardo ? 1 : 0};
  for (const symbol s : depends.by_value) key.push_back(m_values.indices[s]);
  std::vector<symbol> seen;
  for (const symbol s : depends.by_length) {
    if (depends.by_value.contains(s)) continue;
    const std::int64_t value = m_values.indices[s];
    const std::vector<std::int64_t>* const lengths = m_sizes.lengths_of(m_program.indices[s].kind);
    const bool known = value != any_value && value != unbound;
    key.push_back(!known ? value
                  : lengths == nullptr || value < 1 || value > static_cast<std::int64_t>(lengths->size())
                      ? 1
                      : (*lengths)[static_cast<std::size_t>(value - 1)]);
    // Two indices with the same value choose the same blocks: which ones is part of the key.
    std::int64_t same = -1;
    for (std::size_t k = 0; k < seen.size() && same < 0; ++k)
      if (m_program.indices[seen[k]].kind == m_program.indices[s].kind && m_values.indices[seen[k]] == value)
        same = static_cast<std::int64_t>(k);
    key.push_back(same);
    seen.push_back(s);
  }
  for (const symbol s : depends.ints) {
    key.push_back(m_values.ints[s] ? 1 : 0);
    key.push_back(m_values.ints[s].value_or(0));
  }
  for (const symbol s : depends.scalars) {
    key.push_back(m_values.scalars[s] ? 1 : 0);
    key.push_back(std::bit_cast<std::int64_t>(m_values.scalars[s].value_or(0)));
  }
  for (const symbol s : depends.locals) key.push_back(static_cast<std::int64_t>(m_blocks.releases(s)));
  return key;
}

template <class Function>
walker::flow walker::once(int level, const void* loop, const uses& depends, Function&& walk_it) {
  m_loop_numbers.try_emplace(loop, static_cast<std::int64_t>(m_loop_numbers.size()));
  if (!depends.repeatable) return walk_it();
  std::vector<std::int64_t> key = key_of(level, loop, depends);
  if (const auto found = m_walked.find(key); found != m_walked.end()) {
    const walked& w = found->second;
    m_tally.add(w.counts, m_weight, m_unsure > 0);
    m_blocks.grow(w.growth);
    for (const auto& [s, v] : w.ints) m_values.ints[s] = v;
    for (const auto& [s, v] : w.scalars) m_values.scalars[s] = v;
    return w.ending;
  }
  tally outer = std::exchange(m_tally, {});
  const double weight = std::exchange(m_weight, 1.0);
  const int unsure = std::exchange(m_unsure, 0);
  m_outer_unsure += unsure;
  const std::uint64_t returns = m_unsure_returns, locals = m_blocks.locals_made();
  const int exits = m_loops.empty() ? 0 : m_loops.back().unsure;
  m_blocks.watch();
  walked w;
  const flow ending = w.ending = walk_it();
  w.growth = m_blocks.watched();
  w.counts = std::exchange(m_tally, std::move(outer));
  m_weight = weight;
  m_outer_unsure -= unsure;
  m_tally.add(w.counts, m_weight, unsure > 0);
  m_unsure += unsure;
  const bool same_exits = exits == (m_loops.empty() ? 0 : m_loops.back().unsure);
  if (returns == m_unsure_returns && locals == m_blocks.locals_made() && same_exits) {
    for (const symbol s : depends.assigned_ints) w.ints.emplace_back(s, m_values.ints[s]);
    for (const symbol s : depends.assigned_scalars) w.scalars.emplace_back(s, m_values.scalars[s]);
    remember(std::move(key), std::move(w));
  }
  return ending;
}

/// All are forgotten where they are too many: loops are walked through from the inside, so what is needed again is
/// mostly young.
void walker::remember(std::vector<std::int64_t> key, walked what) {
  const std::size_t parts = 4 + what.counts.counted.size() + what.counts.pardos.size() + what.growth.kinds.size();
  if (m_parts + parts > max_parts) {
    m_walked.clear();
    m_parts = 0;
  }
  m_parts += parts;
  m_walked.emplace(std::move(key), std::move(what));
}

template <class Loop>
walker::flow walker::iteration(const Loop& l, bool tell) {
  bool unsure = false;
  ++m_steps;
  for (const relation& r : l.where) {
    const std::optional<bool> holds = m_values.holds(r);
    if (holds && !*holds) return flow::normal;
    if (holds) continue;
    unsure = true;
    if (tell) note(r.where, depends_on_data);
  }
  if constexpr (std::is_same_v<Loop, pardo_loop>) {
    tally one;
    one.iterations = 1;
    one.pardos[&l].iterations = 1;
    m_tally.add(one, m_weight, unsure || m_unsure > 0);
  }
  values before;
  if (unsure) {
    begin_branch();
    before = m_values;
  }
  const flow how = once(1, &l, m_uses.of_iteration(&l), [&] {
    const std::size_t mark = m_blocks.temps();
    const flow inside = walk(l.inside);
    m_blocks.drop_temps(mark);
    return inside;
  });
  if (unsure) {
    m_values.merge(before);
    end_branch();
  }
  return how;
}

/// The iterations that are left, as one with any values.
template <class Loop>
walker::flow walker::rest(const Loop& l, const std::vector<symbol>& open, double count) {
  note(m_at->where,
       "this loop has too many iterations to be walked through one by one: counted as if its conditions held and its "
       "blocks were the "
       "largest");
  const uses& depends = m_uses.of_iteration(&l);
  m_values.forget(depends.assigned_ints, depends.assigned_scalars);
  for (const symbol s : open) m_values.indices[s] = any_value;
  const double weight = std::exchange(m_weight, m_weight * count);
  const std::uint64_t began = m_blocks.clock();
  begin_branch();
  iteration(l, false);
  end_branch();
  // What one iteration leaves, all leave: blocks of any values of the loop's indices.
  m_whole_locals.merge(m_blocks.release_unnamed(began));
  m_weight = weight;
  m_values.forget(depends.assigned_ints, depends.assigned_scalars);
  return flow::normal;
}

walker::flow walker::look(const do_loop& s) {
  const statement* const at = m_at;
  if (m_values.indices[s.index] != unbound) {
    note(at->where, "index '" + m_program.indices[s.index].name + "' has a value already: this will fail");
    return flow::normal;
  }
  const flow how = once(0, &s, m_uses.of_loop(&s), [&] {
    segment_range range;
    bool any = false;
    if (s.within == no_symbol) {
      range = range_of(s.index, m_code, m_sizes);
    } else {
      const std::int64_t whole = m_values.indices[s.within];
      any = whole == any_value;
      range = any || whole == unbound
                  ? segment_range{1, whole == unbound ? 0 : pieces_of_a_segment}
                  : segment_range{(whole - 1) * pieces_of_a_segment + 1, whole * pieces_of_a_segment};
    }
    enter(m_loops, m_branches);
    flow inside = flow::normal;
    for (std::int64_t v = range.low; v <= range.high && inside == flow::normal; ++v) {
      m_at = at;
      if (any || m_steps > m_settings.steps) {
        inside = rest(s, {s.index}, segment_range{v, range.high}.count());
        break;
      }
      m_values.indices[s.index] = v;
      inside = iteration(s, true);
    }
    m_values.indices[s.index] = unbound;
    leave(m_loops);
    return inside == flow::exit ? flow::normal : inside;
  });
  return how;
}

walker::flow walker::pardo_dimension(const pardo_loop& l, std::size_t left) {
  if (left == 0) {
    const uses& depends = m_uses.of_iteration(&l);
    m_values.forget(depends.assigned_ints, depends.assigned_scalars);  // what an iteration before has left is not known
    return iteration(l, true);
  }
  const symbol index = l.indices[left - 1];
  const segment_range range = range_of(index, m_code, m_sizes);
  const statement* const at = m_at;
  for (std::int64_t v = range.low; v <= range.high; ++v) {
    m_at = at;
    if (m_steps > m_settings.steps) {
      double count = segment_range{v, range.high}.count();
      for (std::size_t d = 0; d + 1 < left; ++d) count *= range_of(l.indices[d], m_code, m_sizes).count();
      return rest(l, {l.indices.begin(), l.indices.begin() + static_cast<std::ptrdiff_t>(left)}, count);
    }
    m_values.indices[index] = v;
    if (const flow how = pardo_dimension(l, left - 1); how != flow::normal) return how;
  }
  return flow::normal;
}

walker::flow walker::look(const pardo_loop& s) {
  for (const symbol index : s.indices)
    if (m_values.indices[index] != unbound) {
      note(m_at->where, "index '" + m_program.indices[index].name + "' has a value already: this will fail");
      return flow::normal;
    }
  return once(0, &s, m_uses.of_loop(&s), [&] {
    enter(m_loops, -1);  // leaving it ends the share of one worker: never sure
    m_in_pardo = true;
    m_pardo = &s;
    tally entry;
    entry.pardos[&s].times = 1;
    m_tally.add(entry, m_weight, m_unsure > 0);
    const flow inside = pardo_dimension(s, s.indices.size());
    m_in_pardo = false;
    m_pardo = nullptr;
    for (const symbol index : s.indices) m_values.indices[index] = unbound;
    const uses& depends = m_uses.of_iteration(&s);
    m_values.forget(depends.assigned_ints, depends.assigned_scalars);
    leave(m_loops);
    return inside;
  });
}

walker::flow walker::look(const if_statement& s) {
  const std::optional<bool> holds = m_values.holds(s.condition);
  if (holds) return walk(*holds ? s.then : s.otherwise);
  note(m_at->where, depends_on_data);
  const values before = m_values;
  begin_branch();
  walk(s.then);
  values after = m_values;
  m_values = before;
  walk(s.otherwise);
  m_values.merge(after);
  end_branch();
  return flow::normal;
}

walker::flow walker::look(const call_statement& s) {
  if (m_calls.size() >= max_calls) {
    note(m_at->where, "procedures call each other without an end that is known: what is deeper is not counted");
    return flow::normal;
  }
  enter(m_calls, m_branches);
  const flow how = walk(m_program.procedures[s.procedure].inside);
  leave(m_calls);
  return how == flow::return_ ? flow::normal : how;
}

walker::flow walker::look(const exit_statement&) {
  frame& loop = m_loops.back();
  if (m_branches == loop.branches) return flow::exit;
  ++loop.unsure;
  ++m_unsure;
  m_blocks.begins_now(loop.fork);
  return flow::normal;
}

walker::flow walker::look(const return_statement&) {
  frame& call = m_calls.back();
  if (m_branches == call.branches) return flow::return_;
  ++call.unsure;
  ++m_unsure;
  ++m_unsure_returns;
  m_blocks.begins_now(call.fork);
  return flow::normal;
}

walker::flow walker::look(const stop_statement&) {
  if (m_branches == 0) return flow::stop;
  ++m_unsure;
  ++m_unsure_returns;
  return flow::normal;
}

}  // namespace tessera::sial
