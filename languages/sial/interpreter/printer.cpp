#include "languages/sial/interpreter/printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {
namespace {

constexpr std::int64_t max_printed = 1'000'000;

}  // namespace

printer::printer(worker_state& state, block_operands& operands, static_arrays& statics, contiguous_arrays& regions)
    : m_state(state), m_operands(operands), m_statics(statics), m_regions(regions) {}

void printer::say(const std::string& text) {
  if (is_silent()) return;
  const std::lock_guard guard(m_state.run.print_lock);
  m_state.run.print(text);
}

void printer::print_elements(const char* kind, const std::string& name, const double* data, std::int64_t count,
                             std::int64_t per_line) {
  const std::int64_t shown = std::min(count, max_printed);
  std::string text = fmt::format("{}:  printing {} of {} elements of {} {} in the order stored in memory \n", line(),
                                 shown, count, kind, name);
  for (std::int64_t k = 0; k < shown; ++k) {
    text += fmt::format("{} ", data[k]);
    if ((k + 1) % std::max<std::int64_t>(per_line, 1) == 0 || k + 1 == shown) text += '\n';
  }
  if (shown < count) text += "....\n";
  say(text);
}

void printer::print(const printing& p) {
  if (is_silent()) return;
  using form = print_statement::print_form;
  const registers& values = m_state.values;
  const std::string after = p.line ? "\n" : "";
  switch (p.form) {
    case form::text:
      say(p.text + "\n" + after);
      break;
    case form::scalar_name:
      say(fmt::format("{}:  {} = {:.14f}\n{}", line(), p.text, values.scalar(p.operand), after));
      break;
    case form::int_name:
    case form::index_name:
      say(fmt::format("{}:  {} = {}\n{}", line(), p.text, values.integer(p.operand), after));
      break;
    case form::scalar_value:
      say(fmt::format("{:.14f}\n{}", values.scalar(p.operand), after));
      break;
    case form::int_value:
      say(fmt::format("{}{}", values.integer(p.operand), p.line ? "\n\n" : ""));
      break;
    case form::block:
      print_block(p, after);
      break;
    case form::region:
      print_region(p);
      if (p.line) say("\n");
      break;
    case form::whole:
      print_static(p);
      if (p.line) say("\n");
      break;
  }
}

void printer::print_block(const printing& p, const std::string& after) {
  const std::string name = m_state.values.name_of(m_state.run.program.references[p.operand]);
  const tile t = m_operands.read(p.operand, 0);
  if (t.count == 1) {
    say(fmt::format("{}:  {} = {:.14f}\n{}", line(), name, *t.data, after));
    return;
  }
  print_elements("block", name, t.data, t.count, t.extents->rank() > 0 ? (*t.extents)[0] : 1);
  if (p.line) say("\n");
}

void printer::print_region(const printing& p) {
  const region& r = m_state.run.program.regions[p.operand];
  const contiguous_arrays::part part = m_regions.find(r, m_state.values);
  double* const data = m_operands.scratch(0, part.count);
  gather(data, part.whole->data.data(), part.where);
  print_elements("block", m_state.values.name_of(r), data, part.count, part.extents[0]);
}

void printer::print_static(const printing& p) {
  const array_geometry& a = m_state.array(p.operand);
  if (a.kind != array_kind::fixed)
    throw run_error(fmt::format("'{}' is printed as a whole, and is no static array", a.name));
  const std::vector<double>& all = m_statics.values(p.operand);
  print_elements("contiguous array", a.name, all.data(), static_cast<std::int64_t>(all.size()), a.dims[0].elements());
}

}  // namespace tessera::sial
