#include "languages/sial/estimate/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/base/units.hpp"

namespace tessera::sial {
namespace {

using nlohmann::ordered_json;

constexpr std::array all_kinds{array_kind::fixed,       array_kind::temp,
                               array_kind::local,       array_kind::contiguous_local,
                               array_kind::distributed, array_kind::served};

std::string file_of(const place& p, const source_set& sources) {
  return p.file < sources.files.size() ? sources.files[p.file].path : std::string();
}

std::string line_text(const place& p, const source_set& sources) {
  if (p.file >= sources.files.size() || p.line < 1 || p.line > sources.files[p.file].lines.size()) return {};
  const std::string& line = sources.files[p.file].lines[p.line - 1];
  const std::size_t begin = line.find_first_not_of(" \t\f");
  return begin == std::string::npos ? "" : line.substr(begin);
}

std::string where_text(const place& p, const source_set& sources) {
  return fmt::format("{}:{}:{}", file_of(p, sources), p.line, p.column);
}

/// "at most 12", where that is all that is known.
std::string bounded(const std::string& figure, bool most) { return most ? "<= " + figure : figure; }

std::string flops_text(double flops) {
  constexpr std::array<const char*, 6> prefixes{"", "k", "M", "G", "T", "P"};
  std::size_t k = 0;
  for (; flops >= 1000 && k + 1 < prefixes.size(); ++k) flops /= 1000;
  return k == 0 ? fmt::format("{:.0f} FLOP", flops) : fmt::format("{:.3g} {}FLOP", flops, prefixes[k]);
}

ordered_json to_json(const std::vector<statement_estimate>& all, const source_set& sources, bool flops) {
  auto rows = ordered_json::array();
  for (const statement_estimate& s : all) {
    ordered_json row{{"file", file_of(s.where, sources)},
                     {"line", s.where.line},
                     {"column", s.where.column},
                     {"statement", line_text(s.where, sources)},
                     {"times", s.times}};
    if (flops) row["flops"] = s.flops;
    row["at_most"] = s.most;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

const char* word_of(array_kind kind) noexcept {
  switch (kind) {
    case array_kind::fixed:
      return "static";
    case array_kind::temp:
      return "temp";
    case array_kind::local:
      return "local";
    case array_kind::contiguous_local:
      return "contiguous local";
    case array_kind::distributed:
      return "distributed";
    case array_kind::served:
      return "served";
  }
  return "";
}

std::string to_text(const program_estimate& e, const verdict& v, const source_set& sources) {
  std::string text = fmt::format("{} ({}), {} worker{}\n", e.program, e.path, e.workers, e.workers == 1 ? "" : "s");
  text += fmt::format("  {:<18} {:>14} {:>14}\n", "memory", "per worker", "in all");
  for (const array_kind kind : all_kinds) {
    const kind_estimate& k = e.kinds[static_cast<std::size_t>(kind)];
    if (k.in_all.bytes == 0) continue;
    const bool shared = kind == array_kind::distributed || kind == array_kind::served;
    text += fmt::format("  {:<18} {:>14} {:>14}\n", word_of(kind),
                        shared ? "" : bounded(format_bytes(k.per_worker.bytes), k.most),
                        bounded(format_bytes(k.in_all.bytes), k.most));
  }
  if (e.kept_before.bytes > 0)
    text += fmt::format("  {:<18} {:>14} {:>14}\n", "kept before", "", format_bytes(e.kept_before.bytes));
  if (!e.largest.empty()) text += "  largest blocks\n";
  for (const block_estimate& b : e.largest)
    text += fmt::format("    {:>10}  {}, {} elements\n", format_bytes(b.bytes), b.name, fmt::join(b.extents, " x "));
  text +=
      fmt::format("  contractions       {}, {} pardo iterations\n", bounded(flops_text(e.flops()), e.flops_are_most()),
                  bounded(fmt::format("{:.0f}", e.iterations), e.iterations_most));
  for (const statement_estimate& s : e.contractions)
    text += fmt::format("    {:>14}  {} times  {}  {}\n", bounded(flops_text(s.flops), s.most),
                        bounded(fmt::format("{:.0f}", s.times), s.most), where_text(s.where, sources),
                        line_text(s.where, sources));
  if (!e.executions.empty()) text += "  super instructions, whose operations are not counted\n";
  for (const statement_estimate& s : e.executions)
    text += fmt::format("    {:>14} times  {}  {}\n", bounded(fmt::format("{:.0f}", s.times), s.most),
                        where_text(s.where, sources), line_text(s.where, sources));
  for (const auto& [where, what] : e.notes) text += fmt::format("  {}: {}\n", where_text(where, sources), what);
  text += fmt::format("  {}\n", v.text);
  for (const std::string& remedy : v.remedies) text += fmt::format("    {}\n", remedy);
  return text;
}

ordered_json to_json(const program_estimate& e, const verdict& v, const source_set& sources) {
  ordered_json out{{"program", e.program}, {"file", e.path}, {"memory", ordered_json::array()}};
  for (const array_kind kind : all_kinds) {
    const kind_estimate& k = e.kinds[static_cast<std::size_t>(kind)];
    out["memory"].push_back({{"kind", word_of(kind)},
                             {"bytes_per_worker", k.per_worker.bytes},
                             {"bytes", k.in_all.bytes},
                             {"at_most", k.most}});
  }
  out["kept_bytes"] = e.kept_before.bytes;
  out["largest_blocks"] = ordered_json::array();
  for (const block_estimate& b : e.largest)
    out["largest_blocks"].push_back({{"block", b.name}, {"extents", b.extents}, {"bytes", b.bytes}});
  out["iterations"] = e.iterations;
  out["iterations_at_most"] = e.iterations_most;
  out["contraction_flops"] = e.flops();
  out["contraction_flops_at_most"] = e.flops_are_most();
  out["contractions"] = to_json(e.contractions, sources, true);
  out["executions"] = to_json(e.executions, sources, false);
  out["notes"] = ordered_json::array();
  for (const auto& [where, what] : e.notes)
    out["notes"].push_back(
        {{"file", file_of(where, sources)}, {"line", where.line}, {"column", where.column}, {"text", what}});
  out["fits"] = v.outcome == fit::fits ? "yes" : v.outcome == fit::spills ? "with the disk" : "no";
  out["min_host_bytes"] = v.least;
  out["block_bytes"] = v.all;
  out["spilled_bytes"] = v.spilled;
  out["verdict"] = v.text;
  out["remedies"] = v.remedies;
  return out;
}

}  // namespace tessera::sial
