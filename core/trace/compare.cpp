#include "core/trace/compare.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/base/units.hpp"
#include "core/trace/json_text.hpp"

namespace tessera::trace {
namespace {

std::string time_of(nanoseconds ns) { return format_seconds(static_cast<double>(ns) * 1e-9); }
double in_seconds(nanoseconds ns) { return static_cast<double>(ns) * 1e-9; }

/// "1.25": b over a.
std::string ratio(nanoseconds a, nanoseconds b) {
  return a > 0 ? fmt::format("{:.2f}", static_cast<double>(b) / static_cast<double>(a)) : "-";
}

struct pair_of_operations {
  std::string name;
  operation_summary a, b;
};

/// By name; what changes most comes first.
std::vector<pair_of_operations> operations_of(const compared_run& a, const compared_run& b) {
  std::map<std::string, pair_of_operations> by_name;
  for (const operation_summary& o : a.figures.operations) by_name[a.of.operations[o.operation]].a = o;
  for (const operation_summary& o : b.figures.operations) by_name[b.of.operations[o.operation]].b = o;
  std::vector<pair_of_operations> all;
  for (auto& [name, both] : by_name) both.name = name, all.push_back(both);
  std::ranges::stable_sort(all, std::greater<>{},
                           [](const pair_of_operations& p) { return std::abs(p.b.time - p.a.time); });
  return all;
}

idle_time idle_of(const summary& s) {
  idle_time sum;
  for (const track_summary& t : s.tracks) sum += t.idle;
  return sum;
}

struct row {
  std::string name;
  nanoseconds a, b;
};
std::vector<row> totals(const compared_run& a, const compared_run& b) {
  const waiting &wa = a.figures.waited, &wb = b.figures.waited;
  const idle_time ia = idle_of(a.figures), ib = idle_of(b.figures);
  std::vector<row> rows = {{"length", a.figures.length, b.figures.length},
                           {"critical path", a.figures.critical_time, b.figures.critical_time},
                           {"waited for data", wa.data, wb.data},
                           {"waited for memory", wa.memory, wb.memory},
                           {"waited for slabs", wa.slab, wb.slab},
                           {"waited for workers", wa.worker, wb.worker}};
  for (const idle_cause& c : idle_causes) rows.push_back({fmt::format("idle, {}", c.heading), ia.*c.part, ib.*c.part});
  return rows;
}

}  // namespace

std::string compare_text(const compared_run& a, const compared_run& b) {
  std::string text;
  const auto line = [&]<class... Values>(fmt::format_string<const Values&...> format, const Values&... values) {
    fmt::format_to(std::back_inserter(text), format, values...);
  };
  for (const compared_run* one : {&a, &b}) line("{}: {}\n  {}\n", one->name, one->of.title, one->of.machine);
  line("\n{:<24} {:>12} {:>12} {:>8}\n", "", "first", "second", "ratio");
  for (const row& r : totals(a, b))
    line("{:<24} {:>12} {:>12} {:>8}\n", r.name, time_of(r.a), time_of(r.b), ratio(r.a, r.b));
  line("{:<24} {:>12} {:>12}\n", "tasks", a.figures.tasks, b.figures.tasks);
  line("{:<24} {:>12} {:>12}\n", "bytes moved", format_bytes(static_cast<double>(a.figures.bytes)),
       format_bytes(static_cast<double>(b.figures.bytes)));
  line("\n{:<24} {:>9} {:>9} {:>12} {:>12} {:>8} {:>12} {:>12}\n", "operation", "tasks", "tasks", "running", "running",
       "ratio", "longest", "longest");
  for (const pair_of_operations& p : operations_of(a, b))
    line("{:<24} {:>9} {:>9} {:>12} {:>12} {:>8} {:>12} {:>12}\n", p.name, p.a.tasks, p.b.tasks, time_of(p.a.time),
         time_of(p.b.time), ratio(p.a.time, p.b.time), time_of(p.a.longest), time_of(p.b.longest));
  return text;
}

std::string compare_json(const compared_run& a, const compared_run& b) {
  using json = nlohmann::ordered_json;
  json made = {{"files", {a.name, b.name}},
               {"titles", {a.of.title, b.of.title}},
               {"machines", {a.of.machine, b.of.machine}},
               {"tasks", {a.figures.tasks, b.figures.tasks}},
               {"bytes_transferred", {a.figures.bytes, b.figures.bytes}}};
  made["seconds"] = json::object();
  for (const row& r : totals(a, b)) made["seconds"][r.name] = {in_seconds(r.a), in_seconds(r.b)};
  made["operations"] = json::array();
  for (const pair_of_operations& p : operations_of(a, b))
    made["operations"].push_back({{"operation", p.name},
                                  {"tasks", {p.a.tasks, p.b.tasks}},
                                  {"seconds", {in_seconds(p.a.time), in_seconds(p.b.time)}},
                                  {"longest", {in_seconds(p.a.longest), in_seconds(p.b.longest)}}});
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::trace
