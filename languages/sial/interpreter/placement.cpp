#include "languages/sial/interpreter/placement.hpp"

namespace tessera::sial {
namespace {

namespace op = ::tessera::operation;

// What handing a statement over costs the worker, as work that the host does meanwhile: some 2 us.
constexpr double min_operations = 20'000, min_elements = 4096;
constexpr std::uint16_t often = 16,
                        now_and_then =
                            16;  // refusals in a row, after which a statement is asked about once in so many times

std::pair<const void*, std::size_t> bytes_of(const block_task& t) {
  return std::visit([](const auto& a) { return std::pair<const void*, std::size_t>(&a, sizeof a); }, t.arguments);
}

block_task axpy(double factor, std::uint8_t from, std::uint8_t to, const builtin_operations& known) {
  return {known.axpy, op::axpy_arguments{factor}, {{{from, intent::read}, {to, intent::update}}}, 2};
}

block_task copy(double factor, std::uint8_t from, std::uint8_t to, const builtin_operations& known) {
  return {known.permute,
          op::permute_arguments{factor, 0.0, {0, 1, 2, 3, 4, 5, 6, 7}},
          {{{from, intent::read}, {to, intent::write}}},
          2};
}

block_task product(const block_operation& o, const builtin_operations& known) {
  const bool set = o.assignment == assign::set;
  const op::contract_arguments a{o.assignment == assign::subtract ? -1.0 : 1.0, set ? 0.0 : 1.0, o.left_letters,
                                 o.right_letters, o.to_letters};
  return {known.contract, a, {{{0, intent::read}, {1, intent::read}, {2, set ? intent::write : intent::update}}}, 3};
}

block_task permuted(const block_operation& o, const builtin_operations& known) {
  const bool set = o.assignment == assign::set;
  op::permute_arguments a{o.assignment == assign::subtract ? -1.0 : 1.0, set ? 0.0 : 1.0, {}};
  std::copy_n(o.permutation.begin(), o.common, a.permutation.begin());
  return {known.permute, a, {{{0, intent::read}, {2, set ? intent::write : intent::update}}}, 2};
}

/// What the scheduler is asked about one operation.
struct question {
  std::array<block::access, max_blocks> accesses{};
  std::array<block::space_set, max_blocks> spaces{};
  ::tessera::placement::device_question query;

  question(const block_task& t, std::span<const placed_block> blocks) {
    for (std::size_t k = 0; k < t.blocks; ++k) {
      const placed_block& b = blocks[t.uses[k].operand];
      accesses[k] = {.block = b.record, .version = 0, .intent = t.uses[k].intent, .flags = 0, .space = 0};
      spaces[k] = b.spaces;
    }
    query.operation = t.operation;
    query.arguments = bytes_of(t).first;
    query.accesses = std::span(accesses.data(), t.blocks);
    query.spaces = std::span(spaces.data(), t.blocks);
  }
  question(const question&) = delete;
  question& operator=(const question&) = delete;
};

}  // namespace

statement_tasks tasks_of(opcode what, const block_operation& o, double value, bool same_rank,
                         const builtin_operations& known) {
  const double sign = o.assignment == assign::subtract ? -1 : 1;
  const bool set = o.assignment == assign::set;
  switch (what) {
    case opcode::block_product:
      return {{product(o, known)}, 1};
    case opcode::block_copy:
      if (o.same_order && !set) return {{axpy(sign, 0, 2, known)}, 1};
      if (!same_rank) return {};
      return {{permuted(o, known)}, 1};
    case opcode::block_scale:
      return {{set ? copy(value, 0, 2, known) : axpy(sign * value, 0, 2, known)}, 1};
    case opcode::block_sum: {
      const double second = o.minus ? -sign : sign;
      return {{set ? copy(1, 0, 2, known) : axpy(sign, 0, 2, known), axpy(second, 1, 2, known)}, 2};
    }
    case opcode::block_fill:
      return {{block_task{known.fill, op::fill_arguments{value}, {{{2, intent::write}}}, 1}}, 1};
    case opcode::block_multiply:
      return {{block_task{known.scal, op::scal_arguments{value}, {{{2, intent::update}}}, 1}}, 1};
    default:
      return {};
  }
}

statement_tasks tasks_of_store(bool add, const builtin_operations& known) {
  return {{add ? axpy(1, 0, 1, known) : copy(1, 0, 1, known)}, 1};
}

placement::placement(program_run& run, unsigned worker)
    : m_run(run),
      m_always(run.settings.devices == device_use::always),
      m_fixed(run.settings.deterministic),
      m_host(run.host_space()),
      m_turn(worker),
      m_refusals(run.program.block_operations.size() + run.program.executions.size()) {}

bool placement::too_short(double work, bool contracts, std::size_t statement) {
  if (work < (contracts ? min_operations : min_elements)) return true;
  std::uint16_t& refused = m_refusals[statement];
  if (refused < often) return false;
  if (++refused < often + now_and_then) return true;
  refused = often - 1;
  return false;
}

std::optional<::tessera::placement::device_choice> placement::ask(const statement_tasks& s,
                                                                  std::span<const placed_block> blocks, wish w,
                                                                  std::size_t statement) {
  question q(s.tasks[0], blocks);
  if (s.count > 1) q.query.also = s.tasks[1].operation;
  q.query.only_devices = w == wish::devices;
  q.query.fixed = m_fixed;
  q.query.turn = m_turn;
  const std::optional<::tessera::placement::device_choice> chosen = m_run.front.choose_device(q.query);
  if (statement < m_refusals.size())
    m_refusals[statement] = chosen ? 0 : static_cast<std::uint16_t>(m_refusals[statement] + 1);
  return chosen;
}

void placement::submit(const block_task& t, std::span<const placed_block> blocks,
                       const ::tessera::placement::device_choice& to, std::uint32_t site) {
  const question q(t, blocks);
  const auto [arguments, bytes] = bytes_of(t);
  m_run.rt.submit_operation(*t.operation, arguments, bytes, q.query.accesses,
                            {.from = m_run.sources[site].get(), .to = &to});
}

void placement::learn(const statement_tasks& s, std::span<const placed_block> blocks, double nanoseconds) {
  for (std::size_t k = 0; k < s.count; ++k) {
    const question q(s.tasks[k], blocks);
    m_run.front.learn_in_place(q.query, nanoseconds / static_cast<double>(s.count));
  }
}

block::record& placement::stand_in(std::size_t number, const shape& extents) {
  return m_stand_ins[number].describe(element_type::f64, extents, m_host);
}

}  // namespace tessera::sial
