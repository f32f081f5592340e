// Block statements as tasks, where a device does them sooner than the worker would. A task's blocks leave the worker's
// hands; whoever needs one in place afterwards waits for it, since views and tasks of a block are in the order of the
// program.
#include <chrono>

#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {

/// A block of a statement, before it is clear where that runs.
struct worker::statement_block {
  std::uint32_t reference_number = nothing;
  bool is_target = false, is_new = false, is_static = false;  ///< new: a target that the statement makes
  bool is_set = false;  ///< a target that gets all of its elements, whatever they were
  segment_numbers at{};
  std::int64_t ordinal = 0;
  private_block* mine = nullptr;
  shared_block* shared = nullptr;
  shape extents;
  bool in_hand = true;  ///< its contents are in the host's memory, and nobody need wait for them
};

bool worker::find_block(statement_block& b) {
  const reference& r = m_code.references[b.reference_number];
  b.ordinal = m_state.values.ordinal_of(r, b.at);
  const array_geometry& a = m_run.sizes.array(r.array);
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
    case array_kind::served: {
      const fetched_block* const found = m_fetched.find(r.array, b.ordinal);
      if (b.is_target || found == nullptr) return false;
      b.mine = found->copy;
      if (b.mine != nullptr) break;
      b.shared = found->from;
      b.extents = b.shared->elements.extents();
      b.in_hand = m_placement->fixed() || found->view.has_value() ||
                  m_generations[r.array]->group().spaces_of(b.shared->elements).meets(m_run.host_spaces);
      return true;
    }
    case array_kind::contiguous_local:
      return false;
  }
  b.in_hand = b.mine == nullptr || (b.is_target ? b.mine->held.has_value() : b.mine->data != nullptr);
  b.extents = b.mine != nullptr ? b.mine->extents() : a.extents_of(b.at.data());
  return true;
}

void worker::bring_target(std::uint32_t reference_number) {
  const reference& r = m_code.references[reference_number];
  const array_kind kind = m_run.sizes.array(r.array).kind;
  if (kind != array_kind::temp && kind != array_kind::local) return;
  segment_numbers at{};
  if (private_block* const b = m_private.find(r, m_state.values.ordinal_of(r, at)); b != nullptr && !b->held)
    m_pool.bring(*b, intent::update);
}

void worker::placed_arithmetic(const step& at) { ++(on_device(at) ? m_counters.on_devices : m_counters.in_place); }

bool worker::on_device(const step& at) {
  const block_operation& o = m_code.block_operations[at.b];
  const auto in_place = [&] {
    // Before it is read: what a target's view shows may be elsewhere than what an operand's showed.
    if (o.left != nothing) bring_target(o.to);
    m_arithmetic.execute(at);
    return false;
  };
  const placement::wish wish = m_placement->wish_in(m_device_regions);
  if (wish == placement::wish::host) return in_place();

  std::array<statement_block, 3> blocks;
  const std::array references{o.left, o.right, o.to};
  bool all_in_hand = true;
  for (std::size_t k = 0; k < 3; ++k) {
    if (references[k] == nothing) continue;
    blocks[k].reference_number = references[k];
    blocks[k].is_target = k == 2;
    if (!find_block(blocks[k])) return in_place();  // which says what is wrong with it
    all_in_hand = all_in_hand && blocks[k].in_hand;
  }
  const auto& [left, right, to] = blocks;
  const bool changes = at.what == opcode::block_add || at.what == opcode::block_multiply;
  const bool set = !changes && (at.what == opcode::block_fill || o.how == assign::set);
  blocks[2].is_set = set;
  if ((to.is_new && !set) || (to.mine != nullptr && (to.mine == left.mine || to.mine == right.mine))) return in_place();
  const bool contracts = at.what == opcode::block_product;
  for (const statement_block& b : blocks)
    if (!contracts && b.reference_number != nothing && b.extents.count() != to.extents.count()) return in_place();
  const double work =
      contracts ? ::tessera::operation::contract_flops(o.left_letters, left.extents, o.right_letters, right.extents)
                : static_cast<double>(to.extents.count());
  if (wish == placement::wish::best && all_in_hand && m_placement->too_short(work, contracts, at.b)) return in_place();

  const double value = at.what == opcode::block_scale ? m_s[o.factor] : o.left == nothing ? m_s[at.a] : 0;
  const statement_tasks tasks =
      tasks_of(at.what, o, value, left.extents.rank() == to.extents.rank(), m_run.rt.builtin());
  if (tasks.count == 0) return in_place();
  if (!hand_over(blocks, all_in_hand, tasks, wish, at.b, in_place)) return false;
  if (contracts) {
    m_counters.flops += work;
    ++m_counters.contractions;
  }
  return true;
}

bool worker::on_device(const execution& e, std::size_t number, const ::tessera::operation::definition& form) {
  const std::string& signature = m_code.specials[e.special].signature;
  const auto in_place = [&] {
    execute_in_place(e);
    return false;
  };
  const placement::wish wish = m_placement->wish_in(m_device_regions);
  if (wish == placement::wish::host) return in_place();
  std::array<statement_block, most_blocks> blocks;
  std::size_t count = 0;
  bool all_in_hand = true;
  double work = 0;
  instruction_numbers numbers;
  block_task task{&form, numbers, {}, 0};
  for (std::size_t k = 0; k < e.arguments.size(); ++k) {
    const execution::argument& given = e.arguments[k];
    if (given.what != execution::argument::kind::block) {
      numbers.values[k] = given.what == execution::argument::kind::literal ? given.value : m_s[given.of];
      continue;
    }
    statement_block& b = blocks[count];
    b.reference_number = given.of;
    b.is_target = signature[k] != 'r';
    b.is_set = signature[k] == 'w';
    if (!find_block(b) || (b.is_new && !b.is_set)) return in_place();  // which says what is wrong with it
    for (std::size_t other = 0; other < count; ++other)
      if (b.mine != nullptr && blocks[other].mine == b.mine && (b.is_target || blocks[other].is_target))
        return in_place();
    all_in_hand = all_in_hand && b.in_hand;
    work = std::max(work, static_cast<double>(b.extents.count()));
    task.uses[count] = {static_cast<std::uint8_t>(count), b.is_set      ? intent::write
                                                          : b.is_target ? intent::update
                                                                        : intent::read};
    ++count;
  }
  task.arguments = numbers;
  task.blocks = count;
  const std::size_t statement = m_code.block_operations.size() + number;
  if (wish == placement::wish::best && all_in_hand && m_placement->too_short(work, false, statement)) return in_place();
  return hand_over({blocks.data(), count}, all_in_hand, {{task}, 1}, wish, statement, in_place);
}

template <class InPlace>
bool worker::hand_over(std::span<statement_block> blocks, bool all_in_hand, const statement_tasks& tasks,
                       placement::wish wish, std::size_t statement, const InPlace& in_place) {
  std::array<placed_block, most_blocks> placed;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const statement_block& b = blocks[k];
    if (b.reference_number == nothing) continue;
    if (b.mine != nullptr)
      placed[k] = {&b.mine->elements.record(), b.mine->held ? m_placement->host() : b.mine->spaces};
    else if (b.shared != nullptr)
      placed[k] = {&b.shared->elements.record(), m_placement->fixed() ? m_placement->host() : block::space_set()};
    else
      placed[k] = {&m_placement->stand_in(k, b.extents), m_placement->host()};
  }
  const auto chosen = m_placement->ask(tasks, placed, wish, statement);
  if (!chosen) {
    if (!all_in_hand) return in_place();
    const auto began = std::chrono::steady_clock::now();
    in_place();
    m_placement->learn(tasks, placed,
                       std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count());
    return false;
  }

  for (std::size_t k = 0; k < blocks.size(); ++k) {
    statement_block& b = blocks[k];
    if (b.reference_number == nothing || b.shared != nullptr) continue;
    const reference& r = m_code.references[b.reference_number];
    if (b.is_static) {
      b.mine = &m_pool.take(b.extents);
      if (!b.is_set) gather(b.mine->data, m_statics.values(r.array).data(), m_statics.part_of(r.array, b.at));
    } else if (b.is_new) {
      b.mine = &m_private.make(r.array, b.at, b.ordinal, true);
    }
    if (b.is_target || b.mine->held) m_pool.let_go(*b.mine);
    placed[k].record = &b.mine->elements.record();
  }
  for (std::size_t k = 0; k < tasks.count; ++k) m_placement->submit(tasks.tasks[k], placed, *chosen, m_site);
  const auto there = block::space_set::of(chosen->space);
  for (statement_block& b : blocks) {
    if (b.mine == nullptr) continue;
    b.mine->spaces = b.is_target ? there : b.mine->spaces | there;
    if (!b.is_static) continue;
    if (b.is_target) {
      m_pool.bring(*b.mine, intent::read);
      const std::uint32_t array = m_code.references[b.reference_number].array;
      scatter(m_statics.values(array).data(), b.mine->data, m_statics.part_of(array, b.at));
    }
    m_pool.give(*b.mine);
  }
  return true;
}

private_block* worker::result_with_task(const store& s, const shape& extents) {
  if (s.from == nothing || m_run.workers.deterministic()) return nullptr;
  const reference& r = m_code.references[s.from];
  const array_kind kind = m_run.sizes.array(r.array).kind;
  if (kind != array_kind::temp && kind != array_kind::local) return nullptr;
  segment_numbers at{};
  private_block* const found = m_private.find(r, m_state.values.ordinal_of(r, at));
  return found != nullptr && found->data == nullptr && found->extents() == extents ? found : nullptr;
}

bool worker::store_from_device(const store& s, private_block& from, shared_block& to) {
  const placement::wish wish = m_placement->wish_in(m_device_regions);
  if (wish == placement::wish::host) return false;
  const statement_tasks tasks = tasks_of_store(s.how == assign::add && to.written, m_run.rt.builtin());
  const std::array placed{placed_block{&from.elements.record(), from.spaces}, placed_block{&to.elements.record(), {}}};
  const auto chosen = m_placement->ask(tasks, placed, wish, nothing);
  if (!chosen) return false;
  m_placement->submit(tasks.tasks[0], placed, *chosen, m_site);
  from.spaces.add(chosen->space);
  to.written = true;
  ++m_counters.on_devices;
  return true;
}

}  // namespace tessera::sial
