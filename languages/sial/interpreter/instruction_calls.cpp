#include "languages/sial/interpreter/instruction_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {

instruction_calls::instruction_calls(worker_state& state, block_operands& operands, static_arrays& statics,
                                     contiguous_arrays& regions, const private_store& blocks, shared_cache& cache,
                                     printer& output)
    : m_state(state),
      m_code(state.run.program),
      m_operands(operands),
      m_statics(statics),
      m_regions(regions),
      m_private(blocks),
      m_cache(cache),
      m_printer(output),
      m_job(state.run.data, static_cast<std::int32_t>(state.number),
            static_cast<std::int32_t>(state.run.settings.workers), *this),
      m_instructions(m_code.specials.size()) {}

void instruction_calls::print(std::string_view text) { m_printer.say(std::string(text)); }

void instruction_calls::print_on_all_workers(bool on) { m_state.run.all_print = on; }

std::string instruction_calls::list_blocks() {
  std::string text;
  std::vector<std::int64_t> ordinals;
  for (std::uint32_t k = 0; k < m_state.run.sizes.arrays(); ++k) {
    ordinals.clear();
    m_private.for_each(k, [&](std::int64_t ordinal) { ordinals.push_back(ordinal); });
    m_cache.for_each(k, [&](std::int64_t ordinal) { ordinals.push_back(ordinal); });
    std::ranges::sort(ordinals);
    for (const std::int64_t ordinal : ordinals) text += m_state.array(k).name_of(ordinal) + "\n";
  }
  return text;
}

void instruction_calls::describe(sial_argument& to, std::uint32_t array, const segment_numbers& at,
                                 const shape& extents, int whole) {
  const array_geometry& a = m_state.array(array);
  to.name = a.name.c_str();
  to.rank = static_cast<std::int32_t>(a.rank);
  to.whole = whole;
  to.elements = extents.count();
  for (std::size_t d = 0; d < a.rank; ++d) {
    to.kinds[d] = static_cast<std::int32_t>(a.dims[d].kind);
    to.segments[d] = at[d];
    to.extents[d] = extents[d];
    if (a.dims[d].kind == index_kind::simple)
      to.offsets[d] = at[d] - 1;
    else if (a.dims[d].kind == index_kind::sub)
      to.offsets[d] = a.dims[d].offset(at[d]);
    else
      to.offsets[d] = m_state.run.data.offset_of(a.dims[d].kind, at[d]);
  }
}

void instruction_calls::add_block(arguments& to, std::size_t number, std::uint32_t reference_number, char how) {
  const reference& r = m_code.references[reference_number];
  segment_numbers at{};
  const std::int64_t ordinal = m_state.values.ordinal_of(r, at);
  const array_kind kind = m_state.array(r.array).kind;
  tile t;
  if (how == 'r') {
    t = m_operands.read(reference_number, block_operands::argument_slot + number);
  } else {
    // The array itself does not change, of which the program was warned: this worker's copy does, until the barrier.
    if (kind == array_kind::distributed || kind == array_kind::served)
      if (const auto moved = m_cache.keep_copy(r.array, ordinal))
        for (std::size_t k = 0; k < number; ++k)
          if (to.all[k].data == moved->from) to.all[k].data = moved->to;
    to.targets.push_back(m_operands.write(reference_number, how == 'u', block_operands::argument_slot + number));
    t = to.targets.back();
    if (how == 'w') fill(t.data, t.count, 0);
  }
  to.all[number].data = t.data;
  describe(to.all[number], r.array, at, *t.extents, 0);
}

void instruction_calls::add_region(arguments& to, std::size_t number, std::uint32_t region_number, char how) {
  const region& r = m_code.regions[region_number];
  const contiguous_arrays::part part = m_regions.find(r, m_state.values);
  double* const data = m_operands.scratch(block_operands::argument_slot + number, part.count);
  gather(data, part.whole->data.data(), part.where);
  segment_numbers at{};
  for (std::size_t d = 0; d < r.rank; ++d) at[d] = m_state.values.integer(r.low[d]);
  to.all[number].data = data;
  describe(to.all[number], r.array, at, part.extents, 2);
  if (how != 'r') to.regions.emplace_back(part, data);
}

void instruction_calls::add_whole(sial_argument& to, std::uint32_t array) {
  const array_geometry& a = m_state.array(array);
  segment_numbers at{}, extents{};
  if (a.kind == array_kind::fixed) {
    for (std::size_t d = 0; d < a.rank; ++d) {
      at[d] = a.dims[d].low;
      extents[d] = a.dims[d].elements();
    }
    to.data = m_statics.values(array).data();
  } else {
    contiguous_arrays::memory& only = m_regions.only(array);
    for (std::size_t d = 0; d < a.rank; ++d) {
      at[d] = only.low[d];
      extents[d] = only.extents[d];
    }
    to.data = only.data.data();
  }
  describe(to, array, at, shape(std::span<const std::int64_t>(extents.data(), a.rank)), 1);
}

void instruction_calls::add(arguments& to, std::size_t number, const execution& e) {
  const special_declaration& declared = m_code.specials[e.special];
  const execution::argument& given = e.arguments[number];
  sial_argument& is = to.all[number];
  const char how = declared.signature[number];
  is.struct_size = sizeof is;
  is.intent = how;
  is.name = "";
  is.elements = 1;
  for (std::int64_t& extent : is.extents) extent = 1;
  switch (given.kind) {
    case execution::argument::argument_kind::scalar:
      is.name = m_code.scalars[given.operand].name.c_str();
      is.data = &m_state.values.scalar(given.operand);
      break;
    case execution::argument::argument_kind::literal:
      if (how != 'r')
        throw run_error(fmt::format("argument {} of {} is written, and is a number", number + 1, declared.name));
      to.literals[number] = given.value;
      is.data = &to.literals[number];
      break;
    case execution::argument::argument_kind::block:
      add_block(to, number, given.operand, how);
      break;
    case execution::argument::argument_kind::region:
      add_region(to, number, given.operand, how);
      break;
    case execution::argument::argument_kind::whole:
      add_whole(is, given.operand);
      break;
  }
}

void instruction_calls::call(const execution& e) {
  const special_declaration& declared = m_code.specials[e.special];
  const instruction*& what = m_instructions[e.special];
  if (what == nullptr) what = &m_state.run.instructions.find(declared.name, declared.signature);
  arguments given;
  for (std::size_t k = 0; k < e.arguments.size(); ++k) add(given, k, e);
  sial::execute(*what, m_job, std::span<const sial_argument>(given.all.data(), e.arguments.size()));
  for (const target_tile& t : given.targets) m_operands.write_back(t);
  for (const auto& [part, data] : given.regions) scatter(part.whole->data.data(), data, part.where);
}

}  // namespace tessera::sial
