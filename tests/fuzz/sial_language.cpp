// The front end of SIAL on any bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "languages/sial/language/compile.hpp"
#include "languages/sial/language/parser.hpp"

namespace {

using namespace tessera::sial;

void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find('\x1c', at);
    parts.push_back(text.substr(at, end - at));
    if (end == text.npos) return parts;
    at = end + 1;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> parts = split(std::string(reinterpret_cast<const char*>(data), size));
  const compiled c = compile("main", [&](const std::string& path) -> std::optional<std::string> {
    const std::size_t number = path == "main" ? 0 : path == "a" ? 1 : path == "b" ? 2 : parts.size();
    if (number >= parts.size()) return {};
    return parts[number];
  });

  std::size_t errors = 0;
  for (const message& m : c.messages) {
    if (m.level == severity::error) ++errors;
    promise(!m.text.empty(), "a message says something");
    promise(m.where.file < c.sources.files.size(), "a message is about a file");
    if (m.where.line == 0) continue;
    const auto& lines = c.sources.files[m.where.file].lines;
    promise(m.where.line <= lines.size() + 1, "a message is about a line of the file");
    const std::size_t width = m.where.line <= lines.size() ? lines[m.where.line - 1].size() : 0;
    promise(m.where.column >= 1 && m.where.column <= width + 1, "a message is about a column of its line");
  }
  promise(c.result.has_value() == (errors == 0), "a program without errors, or errors");
  promise(errors <= message_list::error_limit + 1, "the number of errors is bounded");
  promise(to_text(c.messages, c.sources).empty() == c.messages.empty(), "messages have texts");
  if (c.result) promise(!to_text(*c.result).empty(), "a program has a dump");

  message_list messages;
  promise(!syntax::to_text(parse(lex(parts[0], 0, messages), 0, messages)).empty(), "a tree has a dump");
  return 0;
}
