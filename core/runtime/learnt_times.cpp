#include "core/runtime/learnt_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/placement/history_file.hpp"

namespace tessera {
namespace {

/// "4.19 M".
std::string short_number(double value) {
  constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t k = 0;
  while (value >= 1000 && k + 1 < std::size(prefixes)) {
    value /= 1000;
    ++k;
  }
  return fmt::format("{:.3g}{}", value, prefixes[k]);
}

}  // namespace

learnt_times read_learnt_times(const machine& m) {
  learnt_times out;
  out.machine = placement::machine_lines(m.plugins->devices());
  const auto file = placement::history_path(m.settings.history, placement::signature_of(out.machine));
  out.file = file.string();
  if (file.empty()) return out;
  placement::stored_history stored = placement::read_history(file, out.machine);
  out.refused = std::move(stored.refused);
  out.sizes = std::move(stored.cells);
  out.crossovers = placement::crossovers_of(out.sizes, stored.kinds);
  return out;
}

bool clear_learnt_times(const machine& m) {
  const auto lines = placement::machine_lines(m.plugins->devices());
  const auto file = placement::history_path(m.settings.history, placement::signature_of(lines));
  return !file.empty() && placement::clear_history(file, lines);
}

std::string to_text(std::span<const placement::crossover> crossovers) {
  std::string text;
  const auto bytes = [](double value) { return format_bytes(value); };
  for (const placement::crossover& c : crossovers) {
    text += fmt::format("             {} {}: '{}' ", c.operation, name_of(c.type), c.device);
    if (!c.resident.found) {
      text += fmt::format("does not beat {} up to blocks of {}", c.host, bytes(c.largest_block));
    } else {
      text += fmt::format("beats {} from blocks of {} on ({} {})", c.host, bytes(c.resident.block_bytes),
                          short_number(c.resident.amount), c.counts_operations ? "operations" : "bytes");
      if (!c.moved.found)
        text += ", not when data must be moved";
      else if (c.moved.amount != c.resident.amount)
        text += fmt::format(", from {} when data must be moved", bytes(c.moved.block_bytes));
      else
        text += ", also when data must be moved";
    }
    text += fmt::format("; measured {} to {}\n", bytes(c.smallest_block), bytes(c.largest_block));
  }
  return text;
}

std::string to_text(const learnt_times& learnt) {
  std::string text = fmt::format("file         {}\n", learnt.file.empty() ? "none: nothing is kept" : learnt.file);
  for (const std::string& line : learnt.machine) text += fmt::format("machine      {}\n", line);
  if (!learnt.refused.empty()) text += fmt::format("refused      {}\n", learnt.refused);
  if (learnt.sizes.empty()) return text;
  text += fmt::format("\n{:<12} {:<5} {:<20} {:>12} {:>12} {:>10} {:>14} {:>8}\n", "operation", "type", "place",
                      "amount", "largest block", "time", "rate", "measured");
  for (const placement::history_cell& c : learnt.sizes) {
    const double seconds = c.seconds();
    const char* const unit = c.counts_operations ? "op" : "B";
    text += fmt::format("{:<12} {:<5} {:<20} {:>12} {:>13} {:>10} {:>14} {:>8}\n", c.operation, name_of(c.type),
                        c.place, short_number(c.amount) + (c.amount < 1000 ? " " : "") + unit,
                        format_bytes(c.block_bytes), format_seconds(seconds),
                        short_number(seconds > 0 ? c.amount / seconds : 0) + unit + "/s", c.samples.size());
  }
  if (!learnt.crossovers.empty()) text += "\ncrossovers\n" + to_text(learnt.crossovers);
  return text;
}

std::unique_ptr<history_keeper> history_keeper::open(const machine& m, placement::history& model) {
  auto keeper = std::make_unique<history_keeper>();
  keeper->m_log = m.log;
  keeper->m_machine = placement::machine_lines(m.plugins->devices());
  keeper->m_file = placement::history_path(m.settings.history, placement::signature_of(keeper->m_machine));
  keeper->m_automatic = m.settings.history == "auto";
  if (keeper->m_file.empty()) return nullptr;
  if (!keeper->m_automatic) placement::require_history_writable(keeper->m_file);
  placement::stored_history stored = placement::read_history(keeper->m_file, keeper->m_machine);
  if (!stored.refused.empty())
    say(m.log, 2,
        fmt::format("what was learnt in {} is not used: {}{}", keeper->m_file.string(), stored.refused,
                    stored.replaceable ? "" : "; the file is left as it is, and nothing is kept"));
  if (!stored.replaceable) return nullptr;
  model.restore(std::move(stored.cells));
  return keeper;
}

void history_keeper::keep(const placement::history& model) const noexcept {
  std::string why;
  try {
    const auto cells = model.cells(true);
    if (std::ranges::none_of(cells, &placement::history_cell::fresh)) return;
    why = placement::write_history(m_file, m_machine, model.kinds(), cells);
    if (!why.empty())
      say(m_log, m_automatic ? 1 : 2, fmt::format("what was learnt cannot be written to {}: {}", m_file.string(), why));
  } catch (const std::exception& e) {  // out of memory, a log that throws: what was learnt is not worth more
    std::fprintf(stderr, "tessera: what was learnt is lost: %s\n", e.what());
  }
}

}  // namespace tessera
