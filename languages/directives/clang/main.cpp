// tessera-translate: a source with directives -> a source without.
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/Utils.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <clang/Tooling/Tooling.h>
#include <fmt/format.h>
#include <llvm/Support/raw_ostream.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/same_file.hpp"
#include "core/base/whole_file.hpp"
#include "languages/directives/clang/build_flags.hpp"
#include "languages/directives/clang/translate.hpp"

namespace tessera::directive {
namespace {

struct options {
  std::string input, output, json, dependencies, flags_of_build;
  bool no_remarks = false;
  std::vector<std::string> flags;
};

/// What came of a source.
struct result {
  translation made;
  std::vector<std::string> read;  ///< all files, the source among them
  std::string dependencies;       ///< the same, for make and ninja
  bool failed = true;
};

/// Remembers the files that Clang reads. Clang's own flags would write over one of them while it reads.
class files_read : public clang::DependencyFileGenerator {
 public:
  /// @param to  must outlive it
  files_read(const clang::DependencyOutputOptions& how, result& to) : DependencyFileGenerator(how), m_to(to) {}
  void finishedMainFile(clang::DiagnosticsEngine&) override {
    m_to.read = getDependencies();
    llvm::raw_string_ostream text(m_to.dependencies);
    outputDependencyFile(text);
  }

 private:
  result& m_to;
};

/// Reads one file, and translates it when the whole of it is read.
class translate_action : public clang::ASTFrontendAction {
 public:
  translate_action(const options& o, result& to) : m_options(o), m_to(to) {}

  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    m_messages.emplace(compiler.getDiagnostics(), !m_options.no_remarks);
    m_preprocessor = &compiler.getPreprocessor();
    find_directives(*m_preprocessor, m_found, *m_messages);
    clang::DependencyOutputOptions how;
    how.IncludeSystemHeaders = 1;
    how.Targets = {m_options.output};
    m_files = std::make_shared<files_read>(how, m_to);
    m_files->attachToPreprocessor(*m_preprocessor);
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
      m_to.made = translate(
          m_found, m_options.input, context,
          [&](const std::string& name, std::size_t at) { return is_macro(name, at, context.getSourceManager()); },
          *m_messages);
    m_to.failed = m_messages->failed() || context.getDiagnostics().hasErrorOccurred();
  }
  bool is_macro(const std::string& name, std::size_t at, const clang::SourceManager& files) const {
    const clang::SourceLocation where =
        files.getLocForStartOfFile(files.getMainFileID()).getLocWithOffset(static_cast<int>(at));
    const clang::IdentifierInfo* const known = m_preprocessor->getIdentifierInfo(name);
    const auto defined = m_preprocessor->getMacroDefinitionAtLoc(known, where);
    return defined.getMacroInfo() != nullptr && !defined.getMacroInfo()->isBuiltinMacro();
  }

  const options& m_options;
  result& m_to;
  clang::Preprocessor* m_preprocessor = nullptr;  // of the compiler that calls
  std::optional<report> m_messages;
  std::shared_ptr<files_read> m_files;
  std::vector<found_directive> m_found;
};

class factory : public clang::tooling::FrontendActionFactory {
 public:
  factory(const options& o, result& to) : m_options(o), m_to(to) {}
  std::unique_ptr<clang::FrontendAction> create() override {
    return std::make_unique<translate_action>(m_options, m_to);
  }

 private:
  const options& m_options;
  result& m_to;
};

nlohmann::json json_of(const translation& t) {
  static constexpr std::array intents = {"read", "write", "update"};
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

/// A file that the command line names.
struct named_file {
  std::string_view option;
  const std::string& path;
};
std::vector<named_file> outputs_of(const options& o) {
  std::vector<named_file> named = {{"-o", o.output}};
  if (!o.json.empty()) named.push_back({"--json", o.json});
  if (!o.dependencies.empty()) named.push_back({"--depfile", o.dependencies});
  return named;
}

/// Throws tessera::error (usage) where an output would replace one of the files that are read.
void require_kept(const std::vector<std::string>& read, const options& o) {
  for (const named_file& output : outputs_of(o))
    for (const std::string& file : read)
      if (output.path != "-" && is_same_file(file, output.path))
        throw error(error_kind::usage,
                    fmt::format("{} would be overwritten: it is read, and {} names it", file, output.option), {},
                    fmt::format("give another {}", output.option));
}

/// The same where two outputs would go into one file.
void require_apart(const options& o) {
  const std::vector<named_file> outputs = outputs_of(o);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (outputs[k].path == "-" ? outputs[j].path == "-" : is_same_file(outputs[k].path, outputs[j].path))
        throw error(error_kind::usage,
                    fmt::format("{} and {} would both be written to {}", outputs[j].option, outputs[k].option,
                                outputs[k].path == "-" ? "standard output" : outputs[k].path),
                    {}, fmt::format("give {} a file of its own", outputs[k].option));
}

int run(const options& o) {
  require_apart(o);
  std::vector<std::string> named = {o.input};
  if (!o.flags_of_build.empty()) named.push_back(o.flags_of_build);
  require_kept(named, o);
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
  flags.insert(flags.end(), o.flags.begin(), o.flags.end());
  const clang::tooling::FixedCompilationDatabase how(".", flags);
  clang::tooling::ClangTool tool(how, {o.input});
  tool.setPrintErrorMessage(false);
  result got;
  factory actions(o, got);
  const int status = tool.run(&actions);
  if (status != 0 || got.failed) return exit_code_of(error_kind::input);
  require_kept(got.read, o);
  if (!o.dependencies.empty()) write(o.dependencies, got.dependencies);
  write(o.output, got.made.text);
  if (!o.json.empty())
    write(o.json, json_of(got.made).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
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
