// What programs print.
#include <fmt/format.h>

#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {
namespace {

constexpr std::int64_t most_printed = 1'000'000;

}  // namespace

void worker::say(const std::string& text) {
  if (m_number != 0 && !m_run.all_print) return;
  const std::lock_guard guard(m_run.print_lock);
  m_run.print(text);
}

void worker::print_elements(const std::string& head, const double* data, std::int64_t count, std::int64_t per_line) {
  const std::int64_t shown = std::min(count, most_printed);
  std::string text = head;
  for (std::int64_t k = 0; k < shown; ++k) {
    text += fmt::format("{} ", data[k]);
    if ((k + 1) % std::max<std::int64_t>(per_line, 1) == 0 || k + 1 == shown) text += '\n';
  }
  if (shown < count) text += "....\n";
  say(text);
}

void worker::print(const printing& p) {
  if (m_number != 0 && !m_run.all_print) return;
  using form = print_statement::form;
  const std::uint32_t line = m_code.sites[m_site].where.line;
  const std::string after = p.line ? "\n" : "";
  switch (p.how) {
    case form::text:
      say(p.text + "\n" + after);
      return;
    case form::scalar_name:
      say(fmt::format("{}:  {} = {:.14f}\n{}", line, p.text, m_s[p.of], after));
      return;
    case form::int_name:
    case form::index_name:
      say(fmt::format("{}:  {} = {}\n{}", line, p.text, m_i[p.of], after));
      return;
    case form::scalar_value:
      say(fmt::format("{:.14f}\n{}", m_s[p.of], after));
      return;
    case form::int_value:
      say(fmt::format("{}{}", m_i[p.of], p.line ? "\n\n" : ""));
      return;
    case form::block: {
      const reference& r = m_code.references[p.of];
      const tile t = read(p.of, 0);
      if (t.count == 1) {
        say(fmt::format("{}:  {} = {:.14f}\n{}", line, name_of(r), *t.data, after));
        return;
      }
      print_elements(fmt::format("{}:  printing {} of {} elements of block {} in the order stored in memory \n", line,
                                 std::min(t.count, most_printed), t.count, name_of(r)),
                     t.data, t.count, t.extents->rank() > 0 ? (*t.extents)[0] : 1);
      break;
    }
    case form::region: {
      const region& r = m_code.regions[p.of];
      const contiguous_arrays::part part = m_contiguous.find(r, m_state.values);
      double* const data = scratch(0, part.count);
      gather(data, part.whole->data.data(), part.where);
      print_elements(fmt::format("{}:  printing {} of {} elements of block {} in the order stored in memory \n", line,
                                 std::min(part.count, most_printed), part.count, m_state.values.name_of(r)),
                     data, part.count, part.extents[0]);
      break;
    }
    case form::whole: {
      const array_geometry& a = m_run.sizes.array(p.of);
      if (a.kind != array_kind::fixed)
        throw run_error(fmt::format("'{}' is printed as a whole, and is no static array", a.name));
      const std::vector<double>& all = m_statics.values(p.of);
      const auto count = static_cast<std::int64_t>(all.size());
      print_elements(
          fmt::format("{}:  printing {} of {} elements of contiguous array {} in the order stored in memory \n", line,
                      std::min(count, most_printed), count, a.name),
          all.data(), count, a.dims[0].elements());
      break;
    }
  }
  if (p.line) say("\n");
}

}  // namespace tessera::sial
