#include "languages/sial/estimate/uses.hpp"

#include <algorithm>

#include "languages/sial/language/parts.hpp"

namespace tessera::sial {
namespace {

/// Calls int_(symbol), scalar(symbol), index(symbol), block(reference) for everything in an expression.
template <class Int, class Scalar, class Index, class Block>
void look_into(const expression& e, const Int& int_, const Scalar& scalar, const Index& index, const Block& block) {
  if (e.kind == operation::int_variable) int_(e.variable);
  if (e.kind == operation::scalar_variable) scalar(e.variable);
  if (e.kind == operation::index_variable) index(e.variable);
  for (const block_reference& b : e.blocks) block(b);
  for (const expression& operand : e.operands) look_into(operand, int_, scalar, index, block);
}

/// Which ints and scalars decide something: those in conditions and subscripts, and those that these are computed from.
class decision_finder : public part_hooks {
 public:
  decision_finder(std::set<symbol>& ints, std::set<symbol>& scalars) : m_ints(ints), m_scalars(scalars) {}
  void run(const program& p) {
    for (std::size_t before = ~std::size_t{0}; before != m_ints.size() + m_scalars.size();) {
      before = m_ints.size() + m_scalars.size();
      for (const unit& u : p.units) look(u.inside);
      for (const procedure& proc : p.procedures) look(proc.inside);
    }
  }

  // Parts of statements.
  void reads(const block_reference& b) {
    for (const subscript& s : b.subscripts)
      if (s.value) decides(*s.value);
  }
  void writes(const block_reference& b) { reads(b); }
  void argument(const block_reference& b) { reads(b); }
  void value(const expression& e) {
    look_into(
        e, [](symbol) {}, [](symbol) {}, [](symbol) {}, [&](const block_reference& b) { reads(b); });
  }

 private:
  void decides(const expression& e) {
    look_into(
        e, [&](symbol s) { m_ints.insert(s); }, [&](symbol s) { m_scalars.insert(s); }, [](symbol) {},
        [&](const block_reference& b) { reads(b); });
  }
  void look(const body& all) {
    for (const statement& s : all) std::visit([this](const auto& what) { look(what); }, s.form);
  }
  void conditions(const std::vector<relation>& all) {
    for (const relation& r : all) {
      decides(r.left);
      decides(r.right);
    }
  }
  void look(const do_loop& s) { conditions(s.where), look(s.inside); }
  void look(const pardo_loop& s) { conditions(s.where), look(s.inside); }
  void look(const if_statement& s) { conditions({s.condition}), look(s.then), look(s.otherwise); }
  void look(const section_statement& s) { look(s.inside); }
  void look(const gpu_section& s) { look(s.inside); }
  void look(const assign_int& s) { m_ints.contains(s.to) ? decides(s.value) : value(s.value); }
  void look(const assign_scalar& s) { m_scalars.contains(s.to) ? decides(s.value) : value(s.value); }
  void look(const collective_statement& s) { m_scalars.contains(s.scalar) ? decides(s.value) : value(s.value); }
  void look(const allocate_region_statement& s) {
    for (const auto& [low, high] : s.region.ranges) decides(low), decides(high);
  }
  template <class Other>
  void look(const Other& s) {
    parts_of(s, *this);
  }

  std::set<symbol>&m_ints, &m_scalars;
};

}  // namespace

void uses::add(const uses& more) {
  by_value.insert(more.by_value.begin(), more.by_value.end());
  by_length.insert(more.by_length.begin(), more.by_length.end());
  ints.insert(more.ints.begin(), more.ints.end());
  scalars.insert(more.scalars.begin(), more.scalars.end());
  assigned_ints.insert(more.assigned_ints.begin(), more.assigned_ints.end());
  assigned_scalars.insert(more.assigned_scalars.begin(), more.assigned_scalars.end());
  locals.insert(more.locals.begin(), more.locals.end());
  repeatable = repeatable && more.repeatable;
}

/// Goes through statements, procedures in place.
class use_collector : public part_hooks {
 public:
  use_collector(const program& of, use_table& to) : m_program(of), m_to(to) {}
  void look(const body& all) {
    for (const statement& s : all) std::visit([this](const auto& what) { look(what); }, s.form);
  }

  // Parts of statements.
  void reads(const block_reference& b) { chooses(b, false); }
  void writes(const block_reference& b) {
    const array_kind kind = m_program.arrays[b.array].kind;
    if (kind == array_kind::local) m_now.locals.insert(b.array);
    m_to.m_written.insert(b.array);
    chooses(b, kind == array_kind::local);
  }
  void value(const expression& e) { value(e, false); }

 private:
  void value(const expression& e, bool decides) {
    look_into(
        e,
        [&](symbol s) {
          if (decides && m_to.decides_int(s)) m_now.ints.insert(s);
        },
        [&](symbol s) {
          if (decides && m_to.decides_scalar(s)) m_now.scalars.insert(s);
        },
        [&](symbol s) {
          if (decides) m_now.by_value.insert(s);
        },
        [&](const block_reference& b) { chooses(b, decides); });
  }
  void chooses(const block_reference& b, bool by_value) {
    for (const subscript& s : b.subscripts) {
      if (s.value) {
        value(*s.value, true);
        continue;
      }
      const index_declaration& d = m_program.indices[s.index];
      if (d.kind == index_kind::sub) m_now.by_value.insert(d.parent);
      (by_value || d.kind == index_kind::sub ? m_now.by_value : m_now.by_length).insert(s.index);
    }
  }
  void condition(const relation& r) { value(r.left, true), value(r.right, true); }
  void assigned_int(symbol s) {
    if (m_to.decides_int(s)) m_now.ints.insert(s), m_now.assigned_ints.insert(s);
  }
  void assigned_scalar(symbol s) {
    if (m_to.decides_scalar(s)) m_now.scalars.insert(s), m_now.assigned_scalars.insert(s);
  }

  template <class Loop>
  void loop(const Loop& s, const std::vector<symbol>& own) {
    uses outer = std::move(m_now);
    m_now = {};
    look(s.inside);
    m_to.m_iterations[&s] = m_now;
    for (const relation& r : s.where) condition(r);
    for (const symbol index : own) m_now.by_value.erase(index), m_now.by_length.erase(index);
    m_to.m_loops[&s] = m_now;
    m_now.add(outer);
  }
  void look(const do_loop& s) {
    loop(s, {s.index});
    if (s.within == no_symbol) return;
    m_now.by_value.insert(s.within);
    m_to.m_loops[&s].by_value.insert(s.within);
  }
  void look(const pardo_loop& s) { loop(s, s.indices); }
  void look(const if_statement& s) { condition(s.condition), look(s.then), look(s.otherwise); }
  void look(const section_statement& s) { look(s.inside); }
  void look(const gpu_section& s) { look(s.inside); }
  void look(const call_statement& s) {
    if (!m_inside.insert(s.procedure).second) {
      m_now.repeatable = false;  // it calls itself
      return;
    }
    look(m_program.procedures[s.procedure].inside);
    m_inside.erase(s.procedure);
  }
  void look(const fetch_statement&) {}  // makes no block of a worker
  void look(const store_statement& s) {
    chooses(s.to, true);
    if (const auto* from = std::get_if<block_reference>(&s.from)) reads(*from);
  }
  void look(const delete_statement&) { m_now.repeatable = false; }
  void look(const allocate_statement& s) {
    m_now.repeatable = false;
    for (const symbol index : s.subscripts)
      if (index != no_symbol) m_now.by_value.insert(index);
  }
  void look(const allocate_region_statement& s) {
    m_now.repeatable = false;
    for (const auto& [low, high] : s.region.ranges) value(low, true), value(high, true);
  }
  void look(const collective_statement& s) { value(s.value, m_to.decides_scalar(s.scalar)), assigned_scalar(s.scalar); }
  void look(const execute_statement& s) {
    const std::string& letters = m_program.specials[s.special].signature;
    for (std::size_t k = 0; k < s.arguments.size(); ++k) {
      if (const auto* scalar = std::get_if<scalar_argument>(&s.arguments[k]); scalar != nullptr && letters[k] != 'r')
        assigned_scalar(scalar->scalar);
      if (const auto* b = std::get_if<block_reference>(&s.arguments[k])) letters[k] == 'r' ? reads(*b) : writes(*b);
    }
  }
  void look(const persistent_statement& s) {
    m_now.repeatable = false;
    if (s.restore && !s.is_scalar) m_to.m_written.insert(s.operand);
  }
  void look(const assign_int& s) { value(s.value, m_to.decides_int(s.to)), assigned_int(s.to); }
  void look(const assign_scalar& s) { value(s.value, m_to.decides_scalar(s.to)), assigned_scalar(s.to); }
  template <class Other>
  void look(const Other& s) {
    parts_of(s, *this);
  }

  const program& m_program;
  use_table& m_to;
  uses m_now;
  std::set<symbol> m_inside;  // procedures
};

use_table::use_table(const program& of) {
  decision_finder(m_deciding_ints, m_deciding_scalars).run(of);
  use_collector collector(of, *this);
  for (const unit& u : of.units) collector.look(u.inside);
}

}  // namespace tessera::sial
