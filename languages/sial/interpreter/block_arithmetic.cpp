#include "languages/sial/interpreter/block_arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {
namespace {

using operand = ::tessera::operation::operand;

operand operand_of(const double* data, const shape* extents, std::int64_t count, intent how) {
  operand o;
  o.host = const_cast<double*>(data);
  o.address = {nullptr, reinterpret_cast<std::uintptr_t>(data)};
  o.type = element_type::f64;
  o.intent = how;
  o.extents = extents;
  o.bytes = static_cast<std::uint64_t>(count) * sizeof(double);
  return o;
}

}  // namespace

block_arithmetic::block_arithmetic(worker_state& state, block_operands& operands)
    : m_state(state),
      m_code(state.run.program),
      m_operands(operands),
      m_contractions(state.run.program.block_operations.size()) {}

target_tile block_arithmetic::written_by(const block_operation& o) {
  if (o.sum_site != nothing) m_state.site = o.sum_site;
  return m_operands.write(o.to, o.assignment != assign::set, block_operands::target_slot);
}

void block_arithmetic::execute(const step& at) {
  const block_operation& o = m_code.block_operations[at.b];
  switch (at.operation) {
    case opcode::block_copy:
      copied(o);
      break;
    case opcode::block_sum:
      sum(o);
      break;
    case opcode::block_scale:
      scaled(o);
      break;
    case opcode::block_product:
      product(o);
      break;
    default:
      scalar(at);
  }
}

double block_arithmetic::element(std::uint32_t reference_number) { return *m_operands.read(reference_number, 0).data; }

void block_arithmetic::scalar(const step& at) {
  const block_operation& o = m_code.block_operations[at.b];
  const double value = m_state.values.scalar(at.a);
  const target_tile to = m_operands.write(o.to, at.operation != opcode::block_fill, block_operands::target_slot);
  if (at.operation == opcode::block_fill)
    fill(to.data, to.count, value);
  else if (at.operation == opcode::block_multiply)
    multiply(to.data, to.count, value);
  else
    add_value(to.data, to.count, o.assignment == assign::subtract ? -value : value);
  m_operands.write_back(to);
}

void block_arithmetic::permute(const tile& from, const tile& to, const block_operation& o, double alpha, double beta) {
  // Trailing simple dimensions have one element; what is left has the same dimensions on both sides.
  const auto dims = [&](const shape& s) { return shape(s.extents().first(o.common)); };
  const shape source = dims(*from.extents), destination = dims(*to.extents);
  ::tessera::operation::permute_arguments arguments{alpha, beta, {}};
  std::copy_n(o.permutation.begin(), o.common, arguments.permutation.begin());
  const std::array operands{operand_of(from.data, &source, from.count, intent::read),
                            operand_of(to.data, &destination, to.count, beta == 0 ? intent::write : intent::update)};
  m_state.run.front.run_in_place(*m_state.run.rt.builtin().permute, &arguments, sizeof arguments, operands);
}

void block_arithmetic::copied(const block_operation& o) {
  tile from = m_operands.read(o.left, 0);
  const target_tile to = written_by(o);
  if (from.count != to.count)
    throw run_error(fmt::format("{} elements do not fit {}", from.count, to.count), "the segments differ");
  const double factor = o.assignment == assign::subtract ? -1 : 1;
  if (o.same_order) {
    if (o.assignment == assign::set)
      copy(to.data, from.data, to.count);
    else
      add_scaled(to.data, from.data, to.count, factor);
  } else {
    if (from.data == to.data) {  // onto itself
      double* const aside = m_operands.scratch(1, from.count);
      copy(aside, from.data, from.count);
      from.data = aside;
    }
    permute(from, to, o, factor, o.assignment == assign::set ? 0 : 1);
  }
  m_operands.write_back(to);
}

void block_arithmetic::sum(const block_operation& o) {
  const tile left = m_operands.read(o.left, 0), right = m_operands.read(o.right, 1);
  const target_tile to = written_by(o);
  if (left.count != to.count || right.count != to.count) throw run_error("the blocks of a sum have different sizes");
  const double sign = o.minus ? -1 : 1;
  if (o.assignment == assign::set) {
    sum_into(to.data, left.data, right.data, to.count, sign);
  } else {
    const double factor = o.assignment == assign::subtract ? -1 : 1;
    add_scaled(to.data, left.data, to.count, factor);
    add_scaled(to.data, right.data, to.count, factor * sign);
  }
  m_operands.write_back(to);
}

void block_arithmetic::scaled(const block_operation& o) {
  const tile from = m_operands.read(o.left, 0);
  const target_tile to = written_by(o);
  if (from.count != to.count) throw run_error("the blocks have different sizes");
  const double factor = m_state.values.scalar(o.factor);
  if (o.assignment == assign::set)
    scale_into(to.data, from.data, to.count, factor);
  else
    add_scaled(to.data, from.data, to.count, o.assignment == assign::subtract ? -factor : factor);
  m_operands.write_back(to);
}

void block_arithmetic::product(const block_operation& o) {
  tile left = m_operands.read(o.left, 0), right = m_operands.read(o.right, 1);
  const target_tile to = written_by(o);
  const auto aside = [&](tile& t, std::size_t slot) {
    if (t.data != to.data) return;
    double* const other = m_operands.scratch(slot, t.count);
    copy(other, t.data, t.count);
    t.data = other;
  };
  aside(left, 0);
  aside(right, 1);
  contraction& last = m_contractions[static_cast<std::size_t>(&o - m_code.block_operations.data())];
  if (!last.facts.known || last.left != *left.extents || last.right != *right.extents || last.to != *to.extents)
    last = {*left.extents,
            *right.extents,
            *to.extents,
            {},
            ::tessera::operation::contract_flops(o.left_letters, *left.extents, o.right_letters, *right.extents)};
  ::tessera::operation::contract_arguments arguments;
  arguments.alpha = o.assignment == assign::subtract ? -1 : 1;
  arguments.beta = o.assignment == assign::set ? 0 : 1;
  arguments.a = o.left_letters;
  arguments.b = o.right_letters;
  arguments.c = o.to_letters;
  const std::array operands{
      operand_of(left.data, left.extents, left.count, intent::read),
      operand_of(right.data, right.extents, right.count, intent::read),
      operand_of(to.data, to.extents, to.count, o.assignment == assign::set ? intent::write : intent::update)};
  m_state.run.front.run_in_place(*m_state.run.rt.builtin().contract, &arguments, sizeof arguments, operands,
                                 &last.facts);
  m_state.counters.flops += last.flops;
  ++m_state.counters.contractions;
  m_operands.write_back(to);
}

double block_arithmetic::inner_product(const block_operation& o) {
  const tile left = m_operands.read(o.left, 0), right = m_operands.read(o.right, 1);
  if (left.count != right.count) throw run_error("the blocks of an inner product have different sizes");
  if (o.same_order) return sial::inner_product(left.data, right.data, left.count);
  return inner_product_permuted(left.data, left.extents->extents(), right.data, o.permutation.data());
}

void block_arithmetic::slice(const block_operation& o) {
  const tile from = m_operands.read(o.left, 0);
  const target_tile to = m_operands.write(o.to, o.insert, block_operands::target_slot);
  const reference& piece = m_code.references[o.insert ? o.left : o.to];
  const tile& small = o.insert ? from : static_cast<const tile&>(to);
  const tile& large = o.insert ? static_cast<const tile&>(to) : from;
  const array_geometry& a = m_state.array(piece.array);
  box part;
  part.rank = a.rank;
  for (std::size_t d = 0; d < a.rank; ++d) {
    part.array_extents[d] = (*large.extents)[d];
    part.extents[d] = (*small.extents)[d];
    if (a.dims[d].kind != index_kind::sub) continue;
    const std::int64_t number = m_state.values.integer(piece.at[d]),
                       first = (number - 1) / pieces_of_a_segment * pieces_of_a_segment + 1;
    for (std::int64_t s = first; s < number; ++s) part.offset[d] += a.dims[d].length(s);
  }
  if (o.insert)
    scatter(large.data, small.data, part);
  else
    gather(small.data, large.data, part);
  m_operands.write_back(to);
}

}  // namespace tessera::sial
