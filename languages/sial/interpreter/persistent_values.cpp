#include "languages/sial/interpreter/persistent_values.hpp"

#include <fmt/format.h>

#include <memory>
#include <variant>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {
namespace {

/// What is to be restored, as a T. Throws run_error when it is something else, @param lacks says what it is not.
template <class T>
const T& kept_as(const kept_item& item, const persistent& p, const char* lacks) {
  if (const T* const found = std::get_if<T>(&item)) return *found;
  throw run_error(fmt::format("'{}' cannot be restored from \"{}\": {}", p.name, p.label, lacks));
}

void check_dimensions(const std::vector<kept_dimension>& dims, const array_geometry& of, const persistent& p) {
  if (dims != dimensions_of(of))
    throw run_error(fmt::format("'{}' cannot be restored from \"{}\": its dimensions are others", p.name, p.label));
}

}  // namespace

void persistent_values::set(const persistent& p) {
  std::erase_if(m_to_keep, [&](const persistent* other) { return other->label == p.label; });
  m_to_keep.push_back(&p);
}

void persistent_values::restore(const persistent& p) {
  program_run& run = m_state.run;
  m_collectives.barrier();  // no worker changes the items meanwhile
  const auto found = run.items.find(p.label);
  if (found == run.items.end())
    throw run_error(fmt::format("'{}' cannot be restored from \"{}\": no program has kept anything under this label",
                                p.name, p.label));
  const kept_item& item = found->second;
  const bool is_shared = !p.is_scalar && m_state.array(p.operand).kind != array_kind::fixed;
  if (p.is_scalar) {
    m_state.values.scalar(p.operand) = kept_as<double>(item, p, "it is no scalar");
  } else if (is_shared) {
    check_dimensions(kept_as<kept_blocks>(item, p, "it is no distributed or served array").dims,
                     m_state.array(p.operand), p);
  } else {
    const auto& kept = kept_as<kept_values>(item, p, "it is no static array");
    check_dimensions(kept.dims, m_state.array(p.operand), p);
    m_statics.values(p.operand) = kept.values;
  }
  m_collectives.barrier([&] {
    if (is_shared)
      run.restored = run.workers.make_array(m_state.array(p.operand).name, counts_of(m_state.array(p.operand)),
                                            std::get<kept_blocks>(item).generation);
    else
      run.items.erase(found);  // scalars and static arrays are handed on only when they are kept again
  });
  if (is_shared) m_exchange.replace(p.operand, run.restored);
  m_collectives.barrier();
}

void persistent_values::keep() {
  const bool keeps = m_state.number == m_state.run.workers.first_here();  // all others of this process wait below
  const bool alone = m_state.run.workers.here() == m_state.run.workers.size();
  for (const persistent* p : m_to_keep) {
    if (!keeps && alone) break;
    kept_items& items = m_state.run.items;
    const bool is_static = !p->is_scalar && m_state.array(p->operand).kind == array_kind::fixed;
    std::vector<double> values;
    if (p->is_scalar) values.push_back(m_state.values.scalar(p->operand));
    if (is_static) values = m_statics.values(p->operand);
    if (!alone) m_collectives.broadcast(0, values);
    if (!keeps) continue;
    if (p->is_scalar)
      items.insert_or_assign(p->label, values[0]);
    else if (is_static)
      items.insert_or_assign(p->label, kept_values{dimensions_of(m_state.array(p->operand)), std::move(values)});
    else
      items.insert_or_assign(p->label, kept_blocks{dimensions_of(m_state.array(p->operand)),
                                                   m_generations[p->operand]->kept(m_generations[p->operand])});
  }
  m_collectives.barrier();
}

}  // namespace tessera::sial
