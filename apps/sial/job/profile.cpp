#include "apps/sial/job/profile.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace tessera::sial {
namespace {

/// What the statements of one line took.
struct line_profile : statement_profile {
  std::uint64_t device_nanoseconds = 0;
};

using lines_of_file = std::map<std::uint32_t, line_profile>;  // by line

std::map<std::uint32_t, lines_of_file> by_line(const program_run& run) {
  std::map<std::uint32_t, lines_of_file> files;
  for (std::size_t k = 0; k < run.profile.size(); ++k)
    if (run.profile[k].times > 0) {
      line_profile& line = files[run.program.sites[k].where.file][run.program.sites[k].where.line];
      line += run.profile[k];
      if (!run.sources.empty()) line.device_nanoseconds += run.sources[k]->device_nanoseconds;
    }
  return files;
}

struct metrics {
  double seconds, mean, least, most, deviation, waited, on_device;
};

metrics metrics_of(const line_profile& p) {
  const auto n = static_cast<double>(p.times);
  const double mean = static_cast<double>(p.nanoseconds) / n;
  return {static_cast<double>(p.nanoseconds) * 1e-9,
          mean * 1e-3,
          static_cast<double>(p.least) * 1e-3,
          static_cast<double>(p.most) * 1e-3,
          std::sqrt(std::max(0.0, p.squares / n - mean * mean)) * 1e-3,
          static_cast<double>(p.waited) * 1e-9,
          static_cast<double>(p.device_nanoseconds) * 1e-9};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

}  // namespace

std::string profile_text(const program_run& run) {
  const auto files = by_line(run);
  const bool devices = !run.sources.empty();  // two columns more
  std::string text;
  for (const auto& [file, lines] : files) {
    text += fmt::format("{}\n{:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}{} {:>5}\n",
                        run.program.sources.files[file].path, "times", "seconds", "mean us", "least us", "most us",
                        "stddev us", "waited s", devices ? fmt::format(" {:>10} {:>10}", "on devices", "device s") : "",
                        "line");
    const std::vector<std::string>& source = run.program.sources.files[file].lines;
    for (std::uint32_t line = 1; line <= source.size(); ++line) {
      const auto found = lines.find(line);
      if (found == lines.end()) {
        text += fmt::format("{:>{}} {:>5}  {}\n", "", devices ? 98 : 76, line, source[line - 1]);
        continue;
      }
      const metrics f = metrics_of(found->second);
      text += fmt::format("{:>10} {:>10.6f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.6f}{} {:>5}  {}\n",
                          found->second.times, f.seconds, f.mean, f.least, f.most, f.deviation, f.waited,
                          devices ? fmt::format(" {:>10} {:>10.6f}", found->second.on_devices, f.on_device) : "", line,
                          source[line - 1]);
    }
  }
  return text;
}

std::string profile_html(const program_run& run) {
  const auto files = by_line(run);
  const bool devices = !run.sources.empty();
  double all = 0;
  for (const auto& [file, lines] : files)
    for (const auto& [line, p] : lines) all += static_cast<double>(p.nanoseconds) * 1e-9;
  std::string page = fmt::format(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Profile of {0}</title><style>body{{font:14px "
      "sans-serif;margin:1.5em}}"
      "table{{border-collapse:collapse}}td,th{{padding:1px "
      "8px;text-align:right;font-variant-numeric:tabular-nums}}th{{border-bottom:1px solid #888}}"
      "td.s{{text-align:left;font-family:monospace;white-space:pre}}td.l{{color:#888}}</style><h1>Profile of {0}</h1>"
      "<p>{1} workers; {2:.3f} s in statements on data, over all workers. Shaded by the share of that time. A sum that "
      "became part of the product before it has its time there.</p>",
      escaped(run.program.program), run.settings.workers, all);
  for (const auto& [file, lines] : files) {
    const source_file& source = run.program.sources.files[file];
    page += fmt::format(
        "<h2>{}</h2><table><tr><th>times<th>seconds<th>mean &micro;s<th>least<th>most<th>std. dev.<th>waited "
        "s{}<th>line<th>",
        escaped(source.path), devices ? "<th>on devices<th>device s" : "");
    for (std::uint32_t line = 1; line <= source.lines.size(); ++line) {
      const auto found = lines.find(line);
      const std::string text = escaped(source.lines[line - 1]);
      if (found == lines.end()) {
        page += fmt::format("<tr><td><td><td><td><td><td><td>{}<td class=l>{}<td class=s>{}", devices ? "<td><td>" : "",
                            line, text);
        continue;
      }
      const metrics f = metrics_of(found->second);
      page += fmt::format(
          "<tr "
          "style=\"background:rgba(220,80,40,{:.2f})\"><td>{}<td>{:.6f}<td>{:.2f}<td>{:.2f}<td>{:.2f}<td>{:.2f}<td>{:."
          "6f}{}<td class=l>{}<td class=s>{}",
          all > 0 ? f.seconds / all * 0.8 : 0, found->second.times, f.seconds, f.mean, f.least, f.most, f.deviation,
          f.waited, devices ? fmt::format("<td>{}<td>{:.6f}", found->second.on_devices, f.on_device) : "", line, text);
    }
    page += "</table>";
  }
  return page + "</html>\n";
}

}  // namespace tessera::sial
