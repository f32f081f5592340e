#include "languages/sial/job/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/units.hpp"

namespace tessera::sial {
namespace {

/// What the statements of one line took, or of several.
struct line_profile : statement_profile {
  std::uint64_t device_nanoseconds = 0;
  std::vector<std::uint64_t> of_workers;  ///< nanoseconds of each

  line_profile& operator+=(const line_profile& more) {
    statement_profile::operator+=(more);
    device_nanoseconds += more.device_nanoseconds;
    of_workers.resize(std::max(of_workers.size(), more.of_workers.size()));
    for (std::size_t w = 0; w < more.of_workers.size(); ++w) of_workers[w] += more.of_workers[w];
    return *this;
  }
  /// Of the busiest worker over the mean of all; 1 where they are even.
  double spread() const {
    if (nanoseconds == 0) return 1;
    return static_cast<double>(*std::ranges::max_element(of_workers)) * static_cast<double>(of_workers.size()) /
           static_cast<double>(nanoseconds);
  }
};

using lines_of_file = std::map<std::uint32_t, line_profile>;  // by line

std::map<std::uint32_t, lines_of_file> by_line(const program_run& run) {
  std::map<std::uint32_t, lines_of_file> files;
  for (std::size_t k = 0; k < run.program.sites.size(); ++k) {
    line_profile at;
    at.of_workers.resize(run.profiles.size());
    for (std::size_t w = 0; w < run.profiles.size(); ++w) {
      at.statement_profile::operator+=(run.profiles[w][k]);
      at.of_workers[w] = run.profiles[w][k].nanoseconds;
    }
    if (at.times == 0) continue;
    if (!run.sources.empty()) at.device_nanoseconds = run.sources[k]->device_nanoseconds;
    files[run.program.sites[k].where.file][run.program.sites[k].where.line] += at;
  }
  return files;
}

line_profile sum_of(const lines_of_file& lines) {
  line_profile sum;
  for (const auto& [line, p] : lines) sum += p;
  return sum;
}

double seconds_of(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }
std::string microseconds(double nanoseconds) { return fmt::format("{:.2f}", nanoseconds * 1e-3); }
double mean_of(const line_profile& p) { return static_cast<double>(p.nanoseconds) / static_cast<double>(p.times); }

struct column {
  const char *heading, *in_html;
  std::string (*cell)(const line_profile&);
  bool of_devices = false;  ///< only where there are some
};
constexpr column columns[] = {
    {"times", "times", [](const line_profile& p) { return fmt::format("{}", p.times); }},
    {"seconds", "seconds", [](const line_profile& p) { return fmt::format("{:.6f}", seconds_of(p.nanoseconds)); }},
    {"mean us", "mean &micro;s", [](const line_profile& p) { return microseconds(mean_of(p)); }},
    {"min us", "min", [](const line_profile& p) { return microseconds(static_cast<double>(p.least)); }},
    {"max us", "max", [](const line_profile& p) { return microseconds(static_cast<double>(p.most)); }},
    {"stddev us", "std. dev.",
     [](const line_profile& p) {
       const double mean = mean_of(p);
       return microseconds(std::sqrt(std::max(0.0, p.squares / static_cast<double>(p.times) - mean * mean)));
     }},
    {"waited s", "waited s", [](const line_profile& p) { return fmt::format("{:.6f}", seconds_of(p.waited)); }},
    {"bytes", "bytes",
     [](const line_profile& p) { return p.bytes == 0 ? "-" : format_bytes(static_cast<double>(p.bytes)); }},
    {"GFLOP/s", "GFLOP/s",
     [](const line_profile& p) {
       return p.flops == 0 || p.nanoseconds == 0 ? "-"
                                                 : fmt::format("{:.2f}", p.flops / static_cast<double>(p.nanoseconds));
     }},
    {"spread", "spread", [](const line_profile& p) { return fmt::format("{:.2f}", p.spread()); }},
    {"on devices", "on devices", [](const line_profile& p) { return fmt::format("{}", p.on_devices); }, true},
    {"device s", "device s",
     [](const line_profile& p) { return fmt::format("{:.6f}", seconds_of(p.device_nanoseconds)); }, true}};
constexpr int width = 10;

template <class Function>
void for_each_column(const program_run& run, Function&& function) {
  for (const column& c : columns)
    if (!c.of_devices || !run.sources.empty()) function(c);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

}  // namespace

std::string profile_text(const program_run& run) {
  std::string text;
  const auto figures = [&](const line_profile* p) {
    for_each_column(run,
                    [&](const column& c) { text += fmt::format("{:>{}} ", p == nullptr ? "" : c.cell(*p), width); });
  };
  for (const auto& [file, lines] : by_line(run)) {
    text += run.program.sources.files[file].path + "\n";
    for_each_column(run, [&](const column& c) { text += fmt::format("{:>{}} ", c.heading, width); });
    text += fmt::format("{:>5}\n", "line");
    const std::vector<std::string>& source = run.program.sources.files[file].lines;
    for (std::uint32_t line = 1; line <= source.size(); ++line) {
      const auto found = lines.find(line);
      figures(found == lines.end() ? nullptr : &found->second);
      text += fmt::format("{:>5}  {}\n", line, source[line - 1]);
    }
    const line_profile sum = sum_of(lines);
    figures(&sum);
    text += fmt::format("{:>5}  all lines\n", "");
  }
  return text;
}

std::string profile_html(const program_run& run) {
  const auto files = by_line(run);
  double all = 0;
  for (const auto& [file, lines] : files) all += seconds_of(sum_of(lines).nanoseconds);
  std::string page = fmt::format(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Profile of {0}</title><style>body{{font:14px "
      "sans-serif;margin:1.5em}}"
      "table{{border-collapse:collapse}}td,th{{padding:1px "
      "8px;text-align:right;font-variant-numeric:tabular-nums}}th{{border-bottom:1px solid #888}}"
      "td.s{{text-align:left;font-family:monospace;white-space:pre}}td.l{{color:#888}}tr.all "
      "td{{border-top:1px solid #888}}</style><h1>Profile of {0}</h1>"
      "<p>{1} workers; {2:.3f} s in statements on data, over all workers. Shaded by the share of that time. Spread: "
      "the "
      "busiest worker's time over the mean of all. A sum that became part of the product before it has its time "
      "there.</p>",
      escaped(run.program.program), run.settings.workers, all);
  const auto figures = [&](const line_profile* p) {
    for_each_column(run, [&](const column& c) { page += "<td>" + (p == nullptr ? std::string() : c.cell(*p)); });
  };
  for (const auto& [file, lines] : files) {
    const source_file& source = run.program.sources.files[file];
    page += fmt::format("<h2>{}</h2><table><tr>", escaped(source.path));
    for_each_column(run, [&](const column& c) { page += fmt::format("<th>{}", c.in_html); });
    page += "<th>line<th>";
    for (std::uint32_t line = 1; line <= source.lines.size(); ++line) {
      const auto found = lines.find(line);
      const line_profile* const p = found == lines.end() ? nullptr : &found->second;
      page += p == nullptr ? std::string("<tr>")
                           : fmt::format("<tr style=\"background:rgba(220,80,40,{:.2f})\">",
                                         all > 0 ? seconds_of(p->nanoseconds) / all * 0.8 : 0);
      figures(p);
      page += fmt::format("<td class=l>{}<td class=s>{}", line, escaped(source.lines[line - 1]));
    }
    const line_profile sum = sum_of(lines);
    page += "<tr class=all>";
    figures(&sum);
    page += "<td class=l><td class=s>all lines</table>";
  }
  return page + "</html>\n";
}

}  // namespace tessera::sial
