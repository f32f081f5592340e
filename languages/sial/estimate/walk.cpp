#include "languages/sial/estimate/walk.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>

namespace tessera::sial {
namespace {

constexpr std::size_t max_notes = 40;
constexpr std::size_t max_largest = 5;

}  // namespace

walker::walker(const program& of, const code& lowered, const geometry& sizes, const estimate_settings& how,
               kept_estimates& kept)
    : m_program(of),
      m_code(lowered),
      m_sizes(sizes),
      m_settings(how),
      m_kept(kept),
      m_uses(of),
      m_values(start_values(of, sizes, m_uses, how.data)),
      m_shared(sizes) {}

namespace {

bool reads_blocks(const expression& e) { return !e.blocks.empty() || std::ranges::any_of(e.operands, reads_blocks); }

/// Whether a worker records it as a step: it is on blocks, not on numbers alone.
template <class Form>
bool is_on_data(const Form& form) {
  if constexpr (std::is_same_v<Form, assign_scalar>)
    return reads_blocks(form.value);
  else
    return !std::is_same_v<Form, do_loop> && !std::is_same_v<Form, pardo_loop> && !std::is_same_v<Form, if_statement> &&
           !std::is_same_v<Form, section_statement> && !std::is_same_v<Form, gpu_section> &&
           !std::is_same_v<Form, call_statement> && !std::is_same_v<Form, return_statement> &&
           !std::is_same_v<Form, exit_statement> && !std::is_same_v<Form, assign_int>;
}

}  // namespace

walker::flow walker::walk(const body& all) {
  for (const statement& s : all) {
    m_at = &s;
    ++m_steps;
    m_hand = 0;
    m_in_hand.clear();
    if (std::visit([](const auto& what) { return is_on_data(what); }, s.form))
      m_tally.data_statements += m_weight * (m_in_pardo ? 1 : m_settings.workers);
    const flow how = std::visit([this](const auto& what) { return look(what); }, s.form);
    m_hand_most = std::max(m_hand_most, m_hand);
    if (how != flow::normal) return how;
  }
  return flow::normal;
}

void walker::note(const place& where, const std::string& text) {
  if (m_notes.size() >= max_notes) return;
  const std::pair<place, std::string> entry{where, text};
  if (std::ranges::find(m_notes, entry) == m_notes.end()) m_notes.push_back(entry);
}

void walker::tally::add(const tally& more, double weight, bool is_most) {
  for (const auto& [what, f] : more.counted) {
    figures& to =
        counted.try_emplace(what, figures{f.where, f.contraction, false, 0, 0, f.pardo, f.name}).first->second;
    to.times += weight * f.times;
    to.flops += weight * f.flops;
    to.most = to.most || f.most || is_most;
  }
  data_statements += weight * more.data_statements;
  fetches += weight * more.fetches;
  fetched_bytes += weight * more.fetched_bytes;
  for (const auto& [loop, e] : more.pardos) {
    entered& to = pardos[loop];
    to.times += weight * e.times;
    to.iterations += weight * e.iterations;
  }
  if (more.iterations == 0) return;
  iterations += weight * more.iterations;
  most = most || more.most || is_most;
}

void walker::count(const void* what, bool contraction, double flops, const std::string& name) {
  tally one;
  const double all = m_in_pardo ? 1 : m_settings.workers;  // outside of pardos every worker executes it
  one.counted[what] = {m_at->where, contraction, false, all, all * flops, m_pardo, name};
  m_tally.add(one, m_weight, m_unsure > 0);
}

program_estimate walker::run() {
  amount before;
  for (const auto& [label, kept] : m_kept) before += kept.size;
  for (const unit& u : m_program.units)
    if (walk(u.inside) == flow::stop) break;
  program_estimate made = result();
  made.kept_before = before;
  for (const auto& [label, array] : m_to_keep) {
    kept_estimate& to = m_kept[label];
    to = {};
    const array_geometry& a = m_sizes.array(array);
    if (a.kind == array_kind::fixed) {
      to.size = {a.elements() * sizeof(double), 0};
      continue;
    }
    to = {m_shared.of(array), m_shared.is_most(array)};
    if (const auto base = m_base.find(array); base != m_base.end())
      to.size += base->second.size, to.most = to.most || base->second.most;
  }
  return made;
}

program_estimate walker::result() const {
  program_estimate e;
  e.program = m_program.name();
  e.workers = m_settings.workers;
  const auto workers = static_cast<double>(m_settings.workers);
  const auto of = [&](array_kind k) -> kind_estimate& { return e.kinds[static_cast<std::size_t>(k)]; };
  for (std::uint32_t k = 0; k < m_sizes.arrays(); ++k) {
    const array_geometry& a = m_sizes.array(k);
    if (a.kind == array_kind::fixed) of(a.kind).per_worker += {a.elements() * sizeof(double), 0};
    if (m_whole_locals.contains(k)) {
      of(a.kind).per_worker += amount_of(a);
      of(a.kind).most = true;
    }
  }
  of(array_kind::temp).per_worker = m_blocks.most(array_kind::temp);
  of(array_kind::local).per_worker += m_blocks.most(array_kind::local);
  of(array_kind::contiguous_local).per_worker = {m_region_most, 0};
  of(array_kind::temp).most = m_temps_most;
  of(array_kind::local).most = of(array_kind::local).most || m_locals_most;
  of(array_kind::contiguous_local).most = m_regions_most;
  for (kind_estimate& k : e.kinds)
    k.in_all = {k.per_worker.bytes * workers, k.per_worker.room * workers, k.per_worker.blocks * workers};
  for (const array_kind kind : {array_kind::distributed, array_kind::served}) {
    of(kind).in_all = m_shared.most(kind);
    of(kind).most = m_shared.is_most(kind);
  }
  e.shared_at_once = m_shared.most();
  e.private_at_once = m_blocks.max_at_once();
  for (const std::uint32_t k : m_whole_locals) e.private_at_once += amount_of(m_sizes.array(k)).room;
  e.hand_room = m_hand_most;
  for (const auto& [what, f] : m_tally.counted) {
    statement_estimate one{f.where, f.times, f.contraction ? f.flops : 0, f.most};
    if (const auto loop = m_tally.pardos.find(f.pardo); loop != m_tally.pardos.end())
      one.parallel = std::max(1.0, loop->second.iterations / std::max(1.0, loop->second.times));
    one.elements = f.contraction ? 0 : f.flops;
    one.name = f.name;
    (f.contraction ? e.contractions : e.executions).push_back(std::move(one));
  }
  for (auto* const all : {&e.contractions, &e.executions})
    std::ranges::sort(*all, [](const auto& a, const auto& b) {
      return std::tuple(a.where.file, a.where.line, a.where.column) <
             std::tuple(b.where.file, b.where.line, b.where.column);
    });
  e.data_statements = m_tally.data_statements;
  e.fetches = m_tally.fetches;
  e.fetched_bytes = m_tally.fetched_bytes;
  e.iterations = m_tally.iterations;
  e.iterations_most = m_tally.most;
  largest_blocks(e);
  e.notes = m_notes;
  return e;
}

void walker::largest_blocks(program_estimate& to) const {
  for (std::uint32_t k = 0; k < m_sizes.arrays(); ++k) {
    const array_geometry& a = m_sizes.array(k);
    if (a.kind == array_kind::fixed || a.kind == array_kind::contiguous_local || !m_program.arrays[k].used) continue;
    block_estimate b{k, {}, {}, sizeof(double)};
    std::int64_t ordinal = 0;
    for (std::size_t d = 0; d < a.rank; ++d) {
      std::int64_t longest = a.dims[d].low;
      for (std::int64_t s = a.dims[d].low; a.dims[d].lengths != nullptr && s <= a.dims[d].high; ++s)
        if (a.dims[d].length(s) > a.dims[d].length(longest)) longest = s;
      b.extents.push_back(a.dims[d].length(longest));
      b.bytes *= static_cast<double>(b.extents.back());
      ordinal += (longest - a.dims[d].low) * a.stride[d];
    }
    b.name = a.name_of(ordinal);
    to.largest.push_back(std::move(b));
  }
  std::ranges::stable_sort(to.largest, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  for (const block_estimate& b : to.largest) {
    std::int64_t rank = 0;
    for (const std::int64_t e : b.extents) rank += e > 1 ? 1 : 0;
    to.largest_private_rank = std::max<std::int64_t>(1, rank);
    to.longest_segment = *std::ranges::max_element(b.extents);
    break;
  }
  if (to.largest.size() > max_largest) to.largest.resize(max_largest);
}

double program_estimate::flops() const noexcept {
  double all = 0;
  for (const statement_estimate& s : contractions) all += s.flops;
  return all;
}

bool program_estimate::flops_are_most() const noexcept {
  return std::ranges::any_of(contractions, [](const statement_estimate& s) { return s.most; });
}

double program_estimate::private_room() const noexcept {
  return kinds[static_cast<std::size_t>(array_kind::temp)].per_worker.room +
         kinds[static_cast<std::size_t>(array_kind::local)].per_worker.room;
}

program_estimate estimate_of(const program& what, const code& lowered, const geometry& sizes,
                             const estimate_settings& how, kept_estimates& kept) {
  return walker(what, lowered, sizes, how, kept).run();
}

}  // namespace tessera::sial
