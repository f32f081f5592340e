// tessera-translate: a source with directives -> a source without.
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <clang/Tooling/Tooling.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "hierarchy/directive/clang/build_flags.hpp"
#include "hierarchy/directive/clang/translate.hpp"

namespace tessera::directive {
namespace {

struct options {
  std::string input, output, json, dependencies, flags_of_build;
  bool no_remarks = false;
  std::vector<std::string> flags;
};

/// Reads one file, and translates it when the whole of it is read.
class translate_action : public clang::ASTFrontendAction {
 public:
  translate_action(const options& o, translation& to, bool& failed) : m_options(o), m_to(to), m_failed(failed) {}

  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    m_messages.emplace(compiler.getDiagnostics(), !m_options.no_remarks);
    m_preprocessor = &compiler.getPreprocessor();
    find_directives(*m_preprocessor, m_found, *m_messages);
    return true;
  }
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    class consumer : public clang::ASTConsumer {
     public:
      explicit consumer(translate_action& of) : m_of(of) {}
      void HandleTranslationUnit(clang::ASTContext& context) override { m_of.translate_all(context); }

     private:
      translate_action& m_of;
    };
    return std::make_unique<consumer>(*this);
  }

 private:
  void translate_all(clang::ASTContext& context) {
    // Without a tree that Clang is content with, nothing is known of the loops.
    if (!context.getDiagnostics().hasErrorOccurred() && !m_messages->failed())
      m_to = translate(
          m_found, m_options.input, context,
          [&](const std::string& name, std::size_t at) { return is_macro(name, at, context.getSourceManager()); },
          *m_messages);
    m_failed = m_messages->failed() || context.getDiagnostics().hasErrorOccurred();
  }
  bool is_macro(const std::string& name, std::size_t at, const clang::SourceManager& files) const {
    const clang::SourceLocation where =
        files.getLocForStartOfFile(files.getMainFileID()).getLocWithOffset(static_cast<int>(at));
    const clang::IdentifierInfo* const known = m_preprocessor->getIdentifierInfo(name);
    const auto defined = m_preprocessor->getMacroDefinitionAtLoc(known, where);
    return defined.getMacroInfo() != nullptr && !defined.getMacroInfo()->isBuiltinMacro();
  }

  const options& m_options;
  translation& m_to;
  bool& m_failed;
  clang::Preprocessor* m_preprocessor = nullptr;  // of the compiler that calls
  std::optional<report> m_messages;
  std::vector<found_directive> m_found;
};

class factory : public clang::tooling::FrontendActionFactory {
 public:
  factory(const options& o, translation& to, bool& failed) : m_options(o), m_to(to), m_failed(failed) {}
  std::unique_ptr<clang::FrontendAction> create() override {
    return std::make_unique<translate_action>(m_options, m_to, m_failed);
  }

 private:
  const options& m_options;
  translation& m_to;
  bool& m_failed;
};

nlohmann::json json_of(const translation& t) {
  static constexpr std::array intents = {"in", "out", "inout"};
  nlohmann::json regions = nlohmann::json::array();
  for (const translated_region& r : t.regions) {
    nlohmann::json arrays = nlohmann::json::array();
    for (const array_use& a : r.model.arrays)
      arrays.push_back(
          {{"name", a.name}, {"intent", intents[static_cast<std::size_t>(a.how)]}, {"pattern", a.pattern}});
    regions.push_back({{"name", r.model.name},
                       {"line", r.line},
                       {"arrays", arrays},
                       {"devices", r.host_alone.empty()},
                       {"host_alone", r.host_alone}});
  }
  return {{"regions", regions}};
}

void check(const std::error_code& failed, const std::string& path) {
  if (failed)
    throw error(error_kind::output, fmt::format("cannot write {}: {}", path, failed.message()), {},
                std::string(hint_for_writing(failed)));
}

void write(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}", text);
    return;
  }
  check(write_whole_file(path, {text}), path);  // a build that is stopped leaves no half of a source
}

/// Clang writes the dependencies itself, and would say of a file that it cannot write that the source is wrong.
void require_writable(const std::string& path) { check(check_writable(path), path); }

int run(const options& o) {
  std::error_code same;
  if (std::filesystem::equivalent(o.input, o.output, same))
    throw error(error_kind::usage, fmt::format("{} would be overwritten", o.input), {}, "give another -o");
  std::vector<std::string> flags = {"-xc++", "-Wno-unknown-pragmas", "-Wno-unknown-warning-option",
                                    "-Qunused-arguments", "-resource-dir=" TESSERA_CLANG_RESOURCES};
  flags.emplace_back("-std=c++20");  // the last one counts
  if (!o.flags_of_build.empty()) {
    const build_flags build = read_build_flags(o.flags_of_build);
    flags.insert(flags.end(), build.known.begin(), build.known.end());
    if (!build.unknown.empty() && !o.no_remarks)
      fmt::print(stderr, "tessera-translate: remark: Clang does not know {}, which it reads {} without\n",
                 fmt::join(build.unknown, ", "), o.input);
  }
  if (!o.dependencies.empty()) {
    require_writable(o.dependencies);
    flags.insert(flags.end(), {"-MD", "-MF", o.dependencies, "-MT", o.output});
  }
  flags.insert(flags.end(), o.flags.begin(), o.flags.end());
  const clang::tooling::FixedCompilationDatabase how(".", flags);
  clang::tooling::ClangTool tool(how, {o.input});
  // Not those that remove the flags for dependencies.
  tool.setPrintErrorMessage(false);
  tool.clearArgumentsAdjusters();
  tool.appendArgumentsAdjuster(clang::tooling::getClangSyntaxOnlyAdjuster());
  translation made;
  bool failed = true;
  factory actions(o, made, failed);
  const int status = tool.run(&actions);
  if (status != 0 || failed) return exit_code_of(error_kind::input);
  write(o.output, made.text);
  if (!o.json.empty())
    write(o.json, json_of(made).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return 0;
}

std::string list_of_directives() {
  std::string text = "Directives (docs/directives.md has their clauses):\n";
  for (const directive_rule& rule : directive_rules())
    text += fmt::format("  #pragma {}\n      {}\n", rule.example, rule.does);
  return text;
}

int command(int count, char** words) {
  // What stands behind "--" is for the compiler.
  options o;
  int own = 1;
  while (own < count && std::string_view(words[own]) != "--") ++own;
  for (int k = own + 1; k < count; ++k) o.flags.emplace_back(words[k]);

  CLI::App app("Translates the directives of a source, #pragma gecko and #pragma pointerchain, to calls of Tessera.",
               "tessera-translate");
  app.add_option("INPUT", o.input, "a source in C++, or in C that is C++ too")->required()->check(CLI::ExistingFile);
  app.add_option("-o,--output", o.output, "where the translated source goes; - is standard output")
      ->required()
      ->type_name("FILE");
  app.add_option("--json", o.json, "write what the loops became as JSON; - is standard output")->type_name("FILE");
  app.add_option("--depfile", o.dependencies, "write the files that it has read, for make and ninja")
      ->type_name("FILE");
  app.add_option(
         "--flags", o.flags_of_build,
         "a file with the compiler's flags, one a line, as a build has them: those for warnings, and those that "
         "Clang does not know, are left out")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.add_flag("--no-remarks", o.no_remarks, "do not say why a region runs on the host alone, and such");
  app.footer(list_of_directives() +
             "Behind -- come the compiler's flags for the source: -I, -D, -std (c++20 where none is given).\n"
             "Exit codes: 0 done, 2 wrong arguments, 4 the source is refused, 11 the result cannot be written.\n"
             "Example:\n  tessera-translate saxpy.cpp -o saxpy.translated.cpp -- -Iinclude");
  try {
    app.parse(own, words);
    return run(o);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : exit_code_of(error_kind::usage);
  } catch (const error& e) {
    fmt::print(stderr, "tessera-translate: {}\n", e.what());
    return exit_code_of(e.kind());
  }
}

}  // namespace
}  // namespace tessera::directive

int main(int count, char** words) { return tessera::directive::command(count, words); }
