#include "languages/sial/interpreter/device_offload.hpp"

#include <algorithm>
#include <span>

namespace tessera::sial {

device_offload::device_offload(worker_state& state, const array_generations& arrays, block_pool& pool,
                               private_store& blocks, static_arrays& statics, shared_cache& cache)
    : m_state(state),
      m_code(state.run.program),
      m_generations(arrays),
      m_pool(pool),
      m_private(blocks),
      m_statics(statics),
      m_cache(cache),
      m_placement(state.run, state.number) {}

void device_offload::begin_offer(placement::wish wish, std::size_t statement) {
  m_offer.count = 0;
  m_offer.all_in_hand = true;
  m_offer.wish = wish;
  m_offer.statement = statement;
}

bool device_offload::find_shared(statement_block& b) {
  const std::uint32_t array = m_code.references[b.reference_number].array;
  const fetched_block* const found = m_cache.find(array, b.ordinal);
  if (b.is_target || found == nullptr) return false;
  b.mine = found->copy;
  if (b.mine != nullptr) return true;
  b.shared = found->from;
  b.extents = b.shared->elements.stored_extents();
  b.in_hand = m_placement.fixed() || found->view.has_value() ||
              m_generations[array]->group().spaces_of(b.shared->elements).meets(m_state.run.host_spaces);
  return true;
}

bool device_offload::find_block(statement_block& b) {
  const reference& r = m_code.references[b.reference_number];
  b.ordinal = m_state.values.ordinal_of(r, b.at);
  const array_geometry& a = m_state.array(r.array);
  switch (a.kind) {
    case array_kind::temp:
    case array_kind::local:
      b.mine = m_private.find(r, b.ordinal);
      b.is_new = b.mine == nullptr;
      if (b.is_new && !b.is_target) return false;
      break;
    case array_kind::fixed:
      b.is_static = true;
      break;
    case array_kind::distributed:
    case array_kind::served:
      if (!find_shared(b)) return false;
      if (b.shared != nullptr) return true;
      break;
    case array_kind::contiguous_local:
      return false;
  }
  b.in_hand = b.mine == nullptr || (b.is_target ? b.mine->held.has_value() : b.mine->data != nullptr);
  b.extents = b.mine != nullptr ? b.mine->extents() : a.extents_of(b.at.data());
  return true;
}

void device_offload::bring_target(std::uint32_t reference_number) {
  const reference& r = m_code.references[reference_number];
  const array_kind kind = m_state.array(r.array).kind;
  if (kind != array_kind::temp && kind != array_kind::local) return;
  segment_numbers at{};
  if (private_block* const b = m_private.find(r, m_state.values.ordinal_of(r, at)); b != nullptr && !b->held)
    m_pool.bring(*b, intent::update);
}

bool device_offload::find_operands(const step& at) {
  const block_operation& o = m_code.block_operations[at.b];
  const std::array references{o.left, o.right, o.to};
  m_offer.count = references.size();
  std::fill_n(m_offer.blocks.begin(), m_offer.count, statement_block());
  for (std::size_t k = 0; k < references.size(); ++k) {
    if (references[k] == nothing) continue;
    statement_block& b = m_offer.blocks[k];
    b.reference_number = references[k];
    b.is_target = k == 2;
    if (!find_block(b)) return false;
    m_offer.all_in_hand = m_offer.all_in_hand && b.in_hand;
  }
  const statement_block &left = m_offer.blocks[0], &right = m_offer.blocks[1];
  statement_block& to = m_offer.blocks[2];
  const bool changes = at.operation == opcode::block_add || at.operation == opcode::block_multiply;
  to.is_set = !changes && (at.operation == opcode::block_fill || o.assignment == assign::set);
  if (to.is_new && !to.is_set) return false;
  if (to.mine != nullptr && (to.mine == left.mine || to.mine == right.mine)) return false;
  const auto fits = [&](const statement_block& b) {
    return b.reference_number == nothing || b.extents.count() == to.extents.count();
  };
  return at.operation == opcode::block_product || (fits(left) && fits(right));
}

device_offload::outcome device_offload::submit(const step& at) {
  const placement::wish wish = m_placement.wish_in(m_regions);
  if (wish == placement::wish::host) return outcome::in_place;
  begin_offer(wish, at.b);
  if (!find_operands(at)) return outcome::in_place;  // which says what is wrong, if anything is

  const block_operation& o = m_code.block_operations[at.b];
  const statement_block &left = m_offer.blocks[0], &right = m_offer.blocks[1], &to = m_offer.blocks[2];
  const bool contracts = at.operation == opcode::block_product;
  const double work =
      contracts ? ::tessera::operation::contract_flops(o.left_letters, left.extents, o.right_letters, right.extents)
                : static_cast<double>(to.extents.count());
  if (wish == placement::wish::best && m_offer.all_in_hand && m_placement.too_short(work, contracts, at.b))
    return outcome::in_place;

  const double value = at.operation == opcode::block_scale ? m_state.values.scalar(o.factor)
                       : o.left == nothing                 ? m_state.values.scalar(at.a)
                                                           : 0;
  m_offer.tasks = tasks_of(at.operation, o, value, left.extents.rank() == to.extents.rank(), m_state.run.rt.builtin());
  if (m_offer.tasks.count == 0) return outcome::in_place;
  const outcome how = decide();
  if (how == outcome::submitted && contracts) {
    m_state.counters.flops += work;
    ++m_state.counters.contractions;
  }
  return how;
}

bool device_offload::find_arguments(const execution& e, const ::tessera::operation::definition& form, double& work) {
  const std::string& signature = m_code.specials[e.special].signature;
  instruction_numbers numbers;
  block_task task{&form, numbers, {}, 0};
  for (std::size_t k = 0; k < e.arguments.size(); ++k) {
    const execution::argument& given = e.arguments[k];
    if (given.kind != execution::argument::argument_kind::block) {
      numbers.values[k] = given.kind == execution::argument::argument_kind::literal
                              ? given.value
                              : m_state.values.scalar(given.operand);
      continue;
    }
    const std::size_t number = m_offer.count++;
    statement_block& b = m_offer.blocks[number] = {};
    b.reference_number = given.operand;
    b.is_target = signature[k] != 'r';
    b.is_set = signature[k] == 'w';
    if (!find_block(b) || (b.is_new && !b.is_set)) return false;
    const array_kind kind = m_state.array(m_code.references[given.operand].array).kind;
    if (b.is_target && (kind == array_kind::distributed || kind == array_kind::served))
      return false;  // the worker writes its copy
    for (std::size_t other = 0; other < number; ++other)
      if (b.mine != nullptr && m_offer.blocks[other].mine == b.mine && (b.is_target || m_offer.blocks[other].is_target))
        return false;
    m_offer.all_in_hand = m_offer.all_in_hand && b.in_hand;
    work = std::max(work, static_cast<double>(b.extents.count()));
    task.uses[number] = {static_cast<std::uint8_t>(number), b.is_set      ? intent::write
                                                            : b.is_target ? intent::update
                                                                          : intent::read};
  }
  task.arguments = numbers;
  task.blocks = m_offer.count;
  m_offer.tasks = {{task}, 1};
  return true;
}

device_offload::outcome device_offload::submit_execution(std::size_t number) {
  const placement::wish wish = m_placement.wish_in(m_regions);
  if (wish == placement::wish::host) return outcome::in_place;
  begin_offer(wish, m_code.block_operations.size() + number);
  double work = 0;
  if (!find_arguments(m_code.executions[number], *m_state.run.instruction_forms[number], work))
    return outcome::in_place;  // which says what is wrong, if anything is
  if (wish == placement::wish::best && m_offer.all_in_hand && m_placement.too_short(work, false, m_offer.statement))
    return outcome::in_place;
  return decide();
}

void device_offload::place_blocks() {
  for (std::size_t k = 0; k < m_offer.count; ++k) {
    const statement_block& b = m_offer.blocks[k];
    placed_block& to = m_offer.placed[k];
    if (b.reference_number == nothing)
      to = {};
    else if (b.mine != nullptr)
      to = {&b.mine->elements.record(), b.mine->held ? m_placement.host() : b.mine->spaces};
    else if (b.shared != nullptr)
      to = {&b.shared->elements.record(), m_placement.fixed() ? m_placement.host() : block::space_set()};
    else
      to = {&m_placement.stand_in(k, b.extents), m_placement.host()};
  }
}

device_offload::outcome device_offload::decide() {
  place_blocks();
  const auto chosen = m_placement.ask(m_offer.tasks, m_offer.placed, m_offer.wish, m_offer.statement);
  if (!chosen) return m_offer.all_in_hand ? outcome::in_place_measured : outcome::in_place;
  hand_over(*chosen);
  return outcome::submitted;
}

void device_offload::hand_over(const ::tessera::placement::device_choice& to) {
  const std::span<statement_block> blocks(m_offer.blocks.data(), m_offer.count);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    statement_block& b = blocks[k];
    if (b.reference_number == nothing || b.shared != nullptr) continue;
    const std::uint32_t array = m_code.references[b.reference_number].array;
    if (b.is_static) {
      b.mine = &m_pool.take(b.extents);
      if (!b.is_set) gather(b.mine->data, m_statics.values(array).data(), m_statics.part_of(array, b.at));
    } else if (b.is_new) {
      b.mine = &m_private.make(array, b.at, b.ordinal, true);
    }
    if (b.is_target || b.mine->held) m_pool.let_go(*b.mine);
    m_offer.placed[k].record = &b.mine->elements.record();
  }
  for (std::size_t k = 0; k < m_offer.tasks.count; ++k)
    m_placement.submit(m_offer.tasks.tasks[k], m_offer.placed, to, m_state.site);
  const auto there = block::space_set::of(to.space);
  for (statement_block& b : blocks) {
    if (b.mine == nullptr) continue;
    b.mine->spaces = b.is_target ? there : b.mine->spaces | there;
    if (b.is_static) take_back_static(b);
  }
}

void device_offload::take_back_static(statement_block& b) {
  if (b.is_target) {
    const std::uint32_t array = m_code.references[b.reference_number].array;
    m_pool.bring(*b.mine, intent::read);
    scatter(m_statics.values(array).data(), b.mine->data, m_statics.part_of(array, b.at));
  }
  m_pool.give(*b.mine);
}

private_block* device_offload::result_with_task(const store& s, const shape& extents) {
  if (s.from == nothing || m_state.run.workers.deterministic()) return nullptr;
  const reference& r = m_code.references[s.from];
  const array_kind kind = m_state.array(r.array).kind;
  if (kind != array_kind::temp && kind != array_kind::local) return nullptr;
  segment_numbers at{};
  private_block* const found = m_private.find(r, m_state.values.ordinal_of(r, at));
  return found != nullptr && found->data == nullptr && found->extents() == extents ? found : nullptr;
}

bool device_offload::submit_store(const store& s, private_block& from, shared_block& to) {
  const placement::wish wish = m_placement.wish_in(m_regions);
  if (wish == placement::wish::host) return false;
  const statement_tasks tasks = tasks_of_store(s.assignment == assign::add && to.written, m_state.run.rt.builtin());
  const std::array placed{placed_block{&from.elements.record(), from.spaces}, placed_block{&to.elements.record(), {}}};
  const auto chosen = m_placement.ask(tasks, placed, wish, nothing);
  if (!chosen) return false;
  m_placement.submit(tasks.tasks[0], placed, *chosen, m_state.site);
  from.spaces.add(chosen->space);
  to.written = true;
  ++m_state.counters.on_devices;
  return true;
}

}  // namespace tessera::sial
