#pragma once
// What a statement names: the one place that knows it of every kind of statement.
#include <variant>

#include "languages/sial/language/program.hpp"

namespace tessera::sial {

/// What parts_of calls, doing nothing. Derive from it and declare those that matter.
struct part_hooks {
  void reads(const block_reference&) {}
  void writes(const block_reference&) {}    ///< also when the statement reads it, too
  void argument(const block_reference&) {}  ///< of a super instruction, whose signature says what happens to it
  void region(const region_reference&) {
  }                      ///< of a contiguous local array; the expressions of its ranges are the hook's to look into
  void array(symbol) {}  ///< as a whole
  void value(const expression&) {}  ///< blocks in it are the hook's to look into
};

/// Calls the hooks for what a statement of one kind names itself; the statements inside of it are left out.
template <class Hooks>
class part_caller {
 public:
  explicit part_caller(Hooks& to) : m_to(to) {}

  void operator()(const do_loop& s) { conditions(s.where); }
  void operator()(const pardo_loop& s) { conditions(s.where); }
  void operator()(const if_statement& s) { condition(s.condition); }
  void operator()(const section_statement&) {}
  void operator()(const gpu_section&) {}
  void operator()(const call_statement&) {}
  void operator()(const return_statement&) {}
  void operator()(const stop_statement&) {}
  void operator()(const exit_statement&) {}
  void operator()(const barrier_statement&) {}
  void operator()(const fetch_statement& s) { m_to.reads(s.block); }
  void operator()(const store_statement& s) {
    m_to.writes(s.to), std::visit([this](const auto& what) { one(what); }, s.from);
  }
  void operator()(const create_statement& s) { m_to.array(s.array); }
  void operator()(const delete_statement& s) { m_to.array(s.array); }
  void operator()(const allocate_statement& s) { m_to.array(s.array); }
  void operator()(const allocate_region_statement& s) { m_to.region(s.region); }
  void operator()(const collective_statement& s) { m_to.value(s.value); }
  void operator()(const broadcast_statement& s) { m_to.value(s.from), m_to.array(s.array); }
  void operator()(const assert_same_statement&) {}
  void operator()(const execute_statement& s) {
    for (const execute_argument& a : s.arguments) {
      if (const auto* block = std::get_if<block_reference>(&a))
        m_to.argument(*block);
      else
        std::visit([this](const auto& what) { one(what); }, a);
    }
  }
  void operator()(const persistent_statement& s) {
    if (!s.is_scalar) m_to.array(s.operand);
  }
  void operator()(const gpu_transfer& s) {
    std::visit([this](const auto& what) { one(what); }, s.operand);
  }
  void operator()(const print_statement& s) {
    std::visit([this](const auto& what) { one(what); }, s.operand);
  }
  void operator()(const assign_int& s) { m_to.value(s.value); }
  void operator()(const assign_scalar& s) { m_to.value(s.value); }
  void operator()(const block_scalar& s) { m_to.writes(s.to), m_to.value(s.value); }
  void operator()(const block_copy& s) { m_to.writes(s.to), m_to.reads(s.from); }
  void operator()(const block_sum& s) { m_to.writes(s.to), m_to.reads(s.left), m_to.reads(s.right); }
  void operator()(const block_scaled& s) { m_to.writes(s.to), m_to.value(s.factor), m_to.reads(s.from); }
  void operator()(const block_product& s) { m_to.writes(s.to), m_to.reads(s.left), m_to.reads(s.right); }
  void operator()(const block_slice& s) { m_to.writes(s.to), m_to.reads(s.from); }
  void operator()(const region_fill& s) { m_to.region(s.to), m_to.value(s.value); }
  void operator()(const region_from_block& s) { m_to.region(s.to), m_to.reads(s.from); }
  void operator()(const block_from_region& s) { m_to.writes(s.to), m_to.region(s.from); }

 private:
  void one(const block_reference& b) { m_to.reads(b); }
  void one(const region_reference& r) { m_to.region(r); }
  void one(const whole_array& a) { m_to.array(a.array); }
  void one(const expression& e) { m_to.value(e); }
  void one(const scalar_argument&) {}
  void one(const literal_argument&) {}
  void one(const std::string&) {}
  void condition(const relation& r) { m_to.value(r.left), m_to.value(r.right); }
  void conditions(const std::vector<relation>& all) {
    for (const relation& r : all) condition(r);
  }
  Hooks& m_to;
};

/// `what`: a statement of one kind.
template <class Kind, class Hooks>
void parts_of(const Kind& what, Hooks& to) {
  part_caller<Hooks> call(to);
  call(what);
}

}  // namespace tessera::sial
