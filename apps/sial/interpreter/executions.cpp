// Super instructions.
#include <fmt/format.h>

#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {
namespace {

/// Arguments of one call.
struct prepared {
  std::array<sial_argument, SIAL_MAX_RANK> arguments{};
  std::array<double, SIAL_MAX_RANK> literals{};
};

}  // namespace

void worker::print(std::string_view text) { say(std::string(text)); }

void worker::print_on_all_workers(bool on) { m_run.all_print = on; }

std::string worker::list_blocks() {
  std::string text;
  std::vector<std::int64_t> ordinals;
  for (std::uint32_t k = 0; k < m_run.sizes.arrays(); ++k) {
    ordinals.clear();
    m_private.for_each(k, [&](std::int64_t ordinal) { ordinals.push_back(ordinal); });
    m_shared[k].here.for_each([&](std::int64_t ordinal, const fetched&) { ordinals.push_back(ordinal); });
    std::ranges::sort(ordinals);
    for (const std::int64_t ordinal : ordinals) text += m_run.sizes.array(k).name_of(ordinal) + "\n";
  }
  return text;
}

void worker::describe(sial_argument& to, std::uint32_t array, const std::int64_t* segments_at, const shape& extents,
                      int whole) {
  const array_geometry& a = m_run.sizes.array(array);
  to.name = a.name.c_str();
  to.rank = static_cast<std::int32_t>(a.rank);
  to.whole = whole;
  to.elements = extents.count();
  for (std::size_t d = 0; d < a.rank; ++d) {
    to.kinds[d] = static_cast<std::int32_t>(a.dims[d].kind);
    to.segments[d] = segments_at[d];
    to.extents[d] = extents[d];
    if (a.dims[d].kind == index_kind::simple)
      to.offsets[d] = segments_at[d] - 1;
    else if (a.dims[d].kind == index_kind::sub)
      to.offsets[d] = a.dims[d].offset(segments_at[d]);
    else
      to.offsets[d] = m_run.data.offset_of(a.dims[d].kind, segments_at[d]);
  }
}

void worker::execute(std::size_t number) {
  const execution& e = m_code.executions[number];
  if (m_placement != nullptr && m_run.instruction_forms[number] != nullptr) {
    ++(on_device(e, number, *m_run.instruction_forms[number]) ? m_counters.on_devices : m_counters.in_place);
    return;
  }
  execute_in_place(e);
}

void worker::execute_in_place(const execution& e) {
  const special_declaration& declared = m_code.specials[e.special];
  const instruction*& what = m_instructions[e.special];
  if (what == nullptr) what = &m_run.instructions.find(declared.name, declared.signature);

  if (m_placement != nullptr)  // before any is looked at: the same block may be there twice
    for (std::size_t k = 0; k < e.arguments.size(); ++k)
      if (e.arguments[k].what == execution::argument::kind::block && declared.signature[k] != 'r')
        bring_target(e.arguments[k].of);

  constexpr std::size_t first_slot = 4;  // the slots before are those of arithmetic
  prepared p;
  std::vector<std::pair<target, std::size_t>> targets;
  std::vector<std::pair<contiguous_arrays::part, const double*>> regions;
  using kind = execution::argument::kind;
  for (std::size_t k = 0; k < e.arguments.size(); ++k) {
    const execution::argument& given = e.arguments[k];
    sial_argument& to = p.arguments[k];
    const char intent = declared.signature[k];
    to.struct_size = sizeof to;
    to.intent = intent;
    to.name = "";
    to.elements = 1;
    for (std::int64_t& extent : to.extents) extent = 1;
    switch (given.what) {
      case kind::scalar:
        to.name = m_code.scalars[given.of].name.c_str();
        to.data = &m_s[given.of];
        break;
      case kind::literal:
        if (intent != 'r')
          throw run_error(fmt::format("argument {} of {} is written, and is a number", k + 1, declared.name));
        p.literals[k] = given.value;
        to.data = &p.literals[k];
        break;
      case kind::block: {
        const reference& r = m_code.references[given.of];
        segments at{};
        ordinal_of(r, at);
        if (intent == 'r') {
          const tile t = read(given.of, first_slot + k);
          to.data = t.data;
          describe(to, r.array, at.data(), *t.extents, 0);
        } else {
          const target t = write(given.of, intent == 'u', first_slot + k);
          if (intent == 'w') fill(t.data, t.count, 0);
          to.data = t.data;
          describe(to, r.array, at.data(), *t.extents, 0);
          targets.emplace_back(t, k);
        }
        break;
      }
      case kind::region: {
        const region& r = m_code.regions[given.of];
        const contiguous_arrays::part part = m_contiguous.find(r, m_state.values);
        double* const data = scratch(first_slot + k, part.count);
        gather(data, part.whole->data.data(), part.where);
        segments at{};
        for (std::size_t d = 0; d < r.rank; ++d) at[d] = m_i[r.low[d]];
        to.data = data;
        describe(to, r.array, at.data(), part.extents, 2);
        if (intent != 'r') regions.emplace_back(part, data);
        break;
      }
      case kind::whole: {
        const array_geometry& a = m_run.sizes.array(given.of);
        segments at{};
        std::array<std::int64_t, max_array_rank> extents{};
        if (a.kind == array_kind::fixed) {
          for (std::size_t d = 0; d < a.rank; ++d) {
            at[d] = a.dims[d].low;
            extents[d] = a.dims[d].elements();
          }
          to.data = m_statics.values(given.of).data();
        } else {
          contiguous_arrays::memory& only = m_contiguous.only(given.of);
          for (std::size_t d = 0; d < a.rank; ++d) {
            at[d] = only.low[d];
            extents[d] = only.extents[d];
          }
          to.data = only.data.data();
        }
        describe(to, given.of, at.data(), shape(std::span<const std::int64_t>(extents.data(), a.rank)), 1);
        break;
      }
    }
  }
  sial::execute(*what, m_job, std::span<const sial_argument>(p.arguments.data(), e.arguments.size()));
  for (const auto& [t, k] : targets) put_back(t);
  for (const auto& [part, data] : regions) scatter(part.whole->data.data(), data, part.where);
}

}  // namespace tessera::sial
