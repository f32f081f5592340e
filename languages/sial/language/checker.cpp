#include "languages/sial/language/checker.hpp"

#include <fmt/format.h>

#include "languages/sial/language/check/bodies.hpp"
#include "languages/sial/language/check/declarations.hpp"

namespace tessera::sial {
namespace {

class program_checker {
 public:
  program_checker(const loaded_files& files, message_list& messages) : m_files(files), m_messages(messages) {
    m_out.sources = files.sources;
  }

  program run() {
    m_scopes.resize(m_files.files.size());
    for (const std::uint32_t number : m_files.order) check(m_files.files[number]);
    if (!m_out.units.empty() && m_messages.errors() == 0) warn_of_unused(m_files.order.back());
    return std::move(m_out);
  }

 private:
  void check(const syntax::file& f) {
    std::vector<const scope*> imported;
    for (const std::uint32_t number : m_files.imported[f.number])
      if (m_scopes[number]) imported.push_back(m_scopes[number].get());
    m_scopes[f.number] = std::make_unique<scope>(f, std::move(imported), m_out.sources, m_messages);
    scope& names = *m_scopes[f.number];
    for (const syntax::declaration& d : f.declarations)
      if (d.kind == syntax::declared::procedure)
        check_procedure(f, names, d);
      else
        check_declaration(m_out, names, m_messages, f.number, d);
    body_checker of_file(environment{m_out, names, m_messages}, m_effects, no_symbol);
    m_out.units.push_back({f.id.text, f.number, of_file.check(f.statements)});
  }

  void check_procedure(const syntax::file& f, scope& names, const syntax::declaration& d) {
    const auto number = static_cast<symbol>(m_out.procedures.size());
    names.declare(d.id, entity_kind::procedure, number);  // a second one of a name is checked, too
    m_out.procedures.push_back({d.id.text, d.id.where.where, f.number, {}, false});
    m_effects.emplace_back();
    environment in{m_out, names, m_messages};
    in.any_index_bound = true;
    body checked = body_checker(std::move(in), m_effects, number).check(d.inside);
    m_out.procedures[number].inside = std::move(checked);
  }

  void warn_of_unused(std::uint32_t file) {
    for (const array_declaration& a : m_out.arrays)
      if (!a.used && a.program == file)
        m_messages.warning({a.where, static_cast<std::uint32_t>(a.name.size())},
                           fmt::format("array '{}' is not used", a.name));
    for (const procedure& p : m_out.procedures)
      if (!p.called && p.program == file)
        m_messages.warning({p.where, static_cast<std::uint32_t>(p.name.size())},
                           fmt::format("procedure '{}' is not called", p.name));
  }

  const loaded_files& m_files;
  message_list& m_messages;
  program m_out;
  std::vector<std::unique_ptr<scope>> m_scopes;  // by file
  procedure_effects m_effects;
};

}  // namespace

program check(const loaded_files& files, message_list& messages) { return program_checker(files, messages).run(); }

}  // namespace tessera::sial
