#include "languages/sial/job/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "core/base/units.hpp"

namespace tessera::sial {
namespace {

/// The words of a line, in small letters, up to the second one.
std::pair<std::string, std::string> first_words(const std::string& line) {
  std::pair<std::string, std::string> words;
  std::size_t at = 0;
  for (std::string* word : {&words.first, &words.second}) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    for (; at < line.size() && line[at] != ' ' && line[at] != '\t' && line[at] != '#' && line[at] != '\r'; ++at)
      *word += line[at] >= 'A' && line[at] <= 'Z' ? static_cast<char>(line[at] - 'A' + 'a') : line[at];
  }
  return words;
}

/// What the comment in front of a line begins with.
std::string comment_before(const std::vector<std::string>& lines, std::size_t line) {
  std::string text;
  for (std::size_t k = line; k > 0 && lines[k - 1].starts_with("#"); --k)
    text = lines[k - 1].substr(std::min(lines[k - 1].size(), lines[k - 1].find_first_not_of("# ")));
  return text;
}

/// Which procedure of a file each of its lines is in; 0: none.
struct procedures_of_file {
  explicit procedures_of_file(const std::vector<std::string>& lines) {
    std::size_t open = 0;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const auto [first, second] = first_words(lines[k]);
      if (first == "proc") {
        term_report one;
        one.name = second;
        one.meaning = comment_before(lines, k);
        terms.push_back(one);
        open = terms.size() - 1;
      }
      of_line.push_back(open);
      if (first == "endproc") open = 0;
    }
  }
  std::vector<term_report> terms{1};
  std::vector<std::size_t> of_line;
};

}  // namespace

std::vector<term_report> terms_of(const program_run& run) {
  std::vector<procedures_of_file> files;
  for (const source_file& one : run.program.sources.files) files.emplace_back(one.lines);
  for (const std::vector<statement_profile>& worker : run.profiles)
    for (std::size_t k = 0; k < worker.size(); ++k) {
      const statement_profile& p = worker[k];
      if (p.times == 0) continue;
      const place where = run.program.sites[k].where;
      procedures_of_file& file = files[where.file];
      term_report& to = file.terms[file.of_line[where.line - 1]];
      to.statements += p.times;
      to.seconds += 1e-9 * static_cast<double>(p.nanoseconds);
      to.waited += 1e-9 * static_cast<double>(p.waited);
      to.bytes += p.bytes;
      to.flops += p.flops;
    }
  std::vector<term_report> all;
  for (const procedures_of_file& file : files)
    std::ranges::copy_if(file.terms, std::back_inserter(all), [](const term_report& t) { return t.statements > 0; });
  std::ranges::stable_sort(all, std::greater<>{}, &term_report::seconds);
  return all;
}

std::string to_text(const std::vector<term_report>& terms) {
  std::size_t width = 4;
  for (const term_report& t : terms) width = std::max(width, t.name.size());
  std::string text = fmt::format("{:<{}} {:>10} {:>9} {:>9} {:>9} {:>10}  what", "term", width, "statements", "seconds",
                                 "waited", "GFLOP", "bytes");
  for (const term_report& t : terms)
    text += fmt::format("\n{:<{}} {:>10} {:>9.3f} {:>9.3f} {:>9.3f} {:>10}  {}", t.name.empty() ? "-" : t.name, width,
                        t.statements, t.seconds, t.waited, t.flops * 1e-9, format_bytes(static_cast<double>(t.bytes)),
                        t.meaning);
  return text;
}

}  // namespace tessera::sial
