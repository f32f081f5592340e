// Instructions as people read them.
#include <fmt/format.h>

#include "languages/sial/code/code.hpp"

namespace tessera::sial {
namespace {

constexpr std::array names{"move_int",
                           "add_int",
                           "subtract_int",
                           "multiply_int",
                           "divide_int",
                           "negate_int",
                           "round",
                           "check_bound",
                           "move_scalar",
                           "add_scalar",
                           "subtract_scalar",
                           "multiply_scalar",
                           "divide_scalar",
                           "power",
                           "negate_scalar",
                           "square_root",
                           "to_scalar",
                           "load_element",
                           "inner_product",
                           "jump",
                           "jump_less_int",
                           "jump_less_equal_int",
                           "jump_equal_int",
                           "jump_not_equal_int",
                           "jump_less_scalar",
                           "jump_less_equal_scalar",
                           "jump_not_less_scalar",
                           "jump_not_less_equal_scalar",
                           "jump_equal_scalar",
                           "jump_not_equal_scalar",
                           "call",
                           "return",
                           "stop",
                           "end",
                           "loop_begin",
                           "loop_next",
                           "loop_leave",
                           "pardo_begin",
                           "pardo_next",
                           "pardo_leave",
                           "devices_on",
                           "devices_off",
                           "iteration",
                           "block_fill",
                           "block_add",
                           "block_multiply",
                           "block_copy",
                           "block_sum",
                           "block_scale",
                           "block_product",
                           "block_slice",
                           "region_fill",
                           "region_from_block",
                           "block_from_region",
                           "fetch",
                           "store_block",
                           "store_scalar",
                           "create",
                           "remove",
                           "allocate",
                           "release",
                           "allocate_region",
                           "release_region",
                           "barrier",
                           "collective",
                           "broadcast",
                           "assert_same",
                           "execute",
                           "set_persistent",
                           "restore_persistent",
                           "print"};
static_assert(names.size() == static_cast<std::size_t>(opcode::print) + 1);

class listing {
 public:
  explicit listing(const code& c) : m_code(c) {}

  std::string run() {
    std::string text = fmt::format("{}: {} instructions\n", m_code.program, m_code.steps.size());
    std::uint32_t site = ~std::uint32_t{0};
    for (std::size_t k = 0; k < m_code.steps.size(); ++k) {
      const step& now = m_code.steps[k];
      if (now.site != site && now.site < m_code.sites.size()) {
        site = now.site;
        const place& at = m_code.sites[site].where;
        if (at.file < m_code.sources.files.size() && at.line > 0 &&
            at.line <= m_code.sources.files[at.file].lines.size())
          text += fmt::format("{}: {}\n", where_of(m_code, site), m_code.sources.files[at.file].lines[at.line - 1]);
      }
      text += fmt::format("{:6}  {:<22} {}\n", k, names[static_cast<std::size_t>(now.operation)], operands(now));
    }
    return text;
  }

 private:
  std::string int_name(std::uint32_t r) const {
    if (r < m_code.ints.size()) return m_code.ints[r].name;
    if (r >= m_code.first_index && r - m_code.first_index < m_code.indices.size())
      return m_code.indices[r - m_code.first_index].name;
    return fmt::format("i{}", r);
  }
  std::string int_text(std::uint32_t r) const {  // a constant shows its value
    if (r < m_code.first_index + m_code.indices.size()) return int_name(r);
    return fmt::format("i{}({})", r, m_code.int_start[r]);
  }
  std::string scalar_text(std::uint32_t r) const {
    return r < m_code.scalars.size() ? m_code.scalars[r].name : fmt::format("s{}({})", r, m_code.scalar_start[r]);
  }
  std::string block(std::uint32_t number) const {
    if (number == nothing) return "-";
    const reference& r = m_code.references[number];
    std::string text = m_code.arrays[r.array].name + "[";
    for (std::size_t d = 0; d < r.rank; ++d) text += (d == 0 ? "" : ",") + int_name(r.at[d]);
    return text + "]";
  }
  std::string part(std::uint32_t number) const {
    const region& r = m_code.regions[number];
    std::string text = m_code.arrays[r.array].name + "[";
    for (std::size_t d = 0; d < r.rank; ++d)
      text += (d == 0 ? "" : ",") + int_text(r.low[d]) + ":" + int_text(r.high[d]);
    return text + "]";
  }
  static const char* sign(assign how) {
    return how == assign::set ? "=" : how == assign::add ? "+=" : how == assign::subtract ? "-=" : "*=";
  }

  std::string operands(const step& n) const {
    using enum opcode;
    switch (n.operation) {
      case move_int:
      case negate_int:
        return fmt::format("{} = {}", int_text(n.a), int_text(n.b));
      case add_int:
      case subtract_int:
      case multiply_int:
      case divide_int:
        return fmt::format("{} = {}, {}", int_text(n.a), int_text(n.b), int_text(n.c));
      case round:
        return fmt::format("{} = {}", int_text(n.a), scalar_text(n.b));
      case check_bound:
        return int_name(n.a);
      case move_scalar:
      case negate_scalar:
      case square_root:
        return fmt::format("{} = {}", scalar_text(n.a), scalar_text(n.b));
      case add_scalar:
      case subtract_scalar:
      case multiply_scalar:
      case divide_scalar:
      case power:
        return fmt::format("{} = {}, {}", scalar_text(n.a), scalar_text(n.b), scalar_text(n.c));
      case to_scalar:
        return fmt::format("{} = {}", scalar_text(n.a), int_text(n.b));
      case load_element:
        return fmt::format("{} = {}", scalar_text(n.a), block(n.b));
      case inner_product: {
        const block_operation& o = m_code.block_operations[n.b];
        return fmt::format("{} = {} * {}", scalar_text(n.a), block(o.left), block(o.right));
      }
      case jump:
      case call:
        return fmt::format("to {}", n.a);
      case jump_less_int:
      case jump_less_equal_int:
      case jump_equal_int:
      case jump_not_equal_int:
        return fmt::format("{}, {}: to {}", int_text(n.b), int_text(n.c), n.a);
      case jump_less_scalar:
      case jump_less_equal_scalar:
      case jump_not_less_scalar:
      case jump_not_less_equal_scalar:
      case jump_equal_scalar:
      case jump_not_equal_scalar:
        return fmt::format("{}, {}: to {}", scalar_text(n.b), scalar_text(n.c), n.a);
      case loop_begin:
      case loop_next:
      case loop_leave: {
        const loop& l = m_code.loops[n.b];
        const std::string range = l.within == no_symbol ? fmt::format("{}:{}", int_text(l.low), int_text(l.high))
                                                        : "in " + m_code.indices[l.within].name;
        return fmt::format("{} {}{}", int_name(l.index), range,
                           n.operation == loop_leave ? "" : fmt::format(": to {}", n.a));
      }
      case pardo_begin:
      case pardo_next:
      case pardo_leave:
      case iteration: {
        std::string text;
        for (const std::uint32_t index : m_code.pardos[n.b].indices)
          text += (text.empty() ? "" : ",") + int_name(index);
        return n.operation == pardo_begin || n.operation == pardo_next ? fmt::format("{}: to {}", text, n.a) : text;
      }
      case block_fill:
      case block_add:
      case block_multiply: {
        const block_operation& o = m_code.block_operations[n.b];
        return fmt::format("{} {} {}", block(o.to), sign(o.assignment), scalar_text(n.a));
      }
      case block_copy:
      case block_slice: {
        const block_operation& o = m_code.block_operations[n.b];
        return fmt::format("{} {} {}", block(o.to), sign(o.assignment), block(o.left));
      }
      case block_sum: {
        const block_operation& o = m_code.block_operations[n.b];
        return fmt::format("{} {} {} {} {}", block(o.to), sign(o.assignment), block(o.left), o.minus ? "-" : "+",
                           block(o.right));
      }
      case block_scale: {
        const block_operation& o = m_code.block_operations[n.b];
        return fmt::format("{} {} {} * {}", block(o.to), sign(o.assignment), scalar_text(o.factor), block(o.left));
      }
      case block_product: {
        const block_operation& o = m_code.block_operations[n.b];
        return fmt::format("{} {} {} * {}", block(o.to), sign(o.assignment), block(o.left), block(o.right));
      }
      case region_fill:
        return fmt::format("{} = {}", part(m_code.region_operations[n.b].region), scalar_text(n.a));
      case region_from_block:
        return fmt::format("{} = {}", part(m_code.region_operations[n.b].region),
                           block(m_code.region_operations[n.b].block));
      case block_from_region:
        return fmt::format("{} = {}", block(m_code.region_operations[n.b].block),
                           part(m_code.region_operations[n.b].region));
      case fetch:
        return block(n.b);
      case store_block:
        return fmt::format("{} {} {}", block(m_code.stores[n.b].to), sign(m_code.stores[n.b].assignment),
                           block(m_code.stores[n.b].from));
      case store_scalar:
        return fmt::format("{} {} {}", block(m_code.stores[n.b].to), sign(m_code.stores[n.b].assignment),
                           scalar_text(n.a));
      case create:
      case remove:
        return m_code.arrays[n.a].name;
      case allocate:
      case release: {
        const allocation& a = m_code.allocations[n.b];
        std::string text;
        for (const std::uint32_t at : a.at)
          text += (text.empty() ? "" : ",") + (at == nothing ? std::string("*") : int_name(at));
        return m_code.arrays[a.array].name + (text.empty() ? "" : "[" + text + "]");
      }
      case allocate_region:
      case release_region:
        return part(n.b);
      case collective:
        return fmt::format("{} += {}", scalar_text(n.a), scalar_text(n.b));
      case broadcast:
        return fmt::format("{} from {}", m_code.arrays[n.b].name, int_text(n.a));
      case assert_same:
        return scalar_text(n.a);
      case execute:
        return execution_text(m_code.executions[n.b]);
      case set_persistent:
      case restore_persistent:
        return fmt::format("{} \"{}\"", m_code.persistents[n.b].name, m_code.persistents[n.b].label);
      case print:
        return m_code.prints[n.b].text;
      default:
        return {};
    }
  }

  std::string execution_text(const execution& e) const {
    using kind = execution::argument::argument_kind;
    std::string text = m_code.specials[e.special].name;
    for (const execution::argument& a : e.arguments) {
      text += ' ';
      switch (a.kind) {
        case kind::scalar:
          text += scalar_text(a.operand);
          break;
        case kind::literal:
          text += fmt::format("{}", a.value);
          break;
        case kind::block:
          text += block(a.operand);
          break;
        case kind::region:
          text += part(a.operand);
          break;
        case kind::whole:
          text += m_code.arrays[a.operand].name;
          break;
      }
    }
    return text;
  }

  const code& m_code;
};

}  // namespace

std::string to_text(const code& c) { return listing(c).run(); }

}  // namespace tessera::sial
