#include <algorithm>
#include <cmath>

#include "core/base/units.hpp"
#include "core/trace/json_text.hpp"
#include "core/trace/summary.hpp"

namespace tessera::trace {
namespace {

std::string time_text(nanoseconds ns) { return format_seconds(static_cast<double>(ns) * 1e-9); }
std::string bytes_text(std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); }
std::string rate_text(double rate) { return rate > 0 ? format_bytes(rate) + "/s" : "-"; }
double seconds(nanoseconds ns) { return static_cast<double>(ns) * 1e-9; }
std::string percent(nanoseconds part, nanoseconds whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole)) : "-";
}

/// "12.3": thousand millions per second; an amount below 0 is not known.
std::string giga_text(double amount, double ns) {
  if (amount < 0) return "not known";
  return ns > 0 ? fmt::format("{:.3g}", amount / ns) : "-";
}
std::string bound_text(double amount, double bound) {
  if (amount < 0) return "-";
  return bound > 0 ? giga_text(amount, bound) : "not measured";
}

/// Tasks of a path per operation, most time first.
std::vector<operation_summary> path_by_operation(const timeline& of, const summary& s) {
  std::vector<operation_summary> parts;
  for (const std::uint32_t k : s.critical_path) {
    const task& t = of.tasks[k];
    auto part = std::ranges::find(parts, t.operation, &operation_summary::operation);
    if (part == parts.end()) {
      parts.push_back({});
      part = parts.end() - 1;
      part->operation = t.operation;
    }
    ++part->tasks;
    part->time += t.ended - t.started;
  }
  std::ranges::stable_sort(parts, std::greater<>{}, &operation_summary::time);
  return parts;
}

}  // namespace

std::string to_text(const timeline& of, const summary& s) {
  std::string text;
  const auto line = [&]<class... Values>(fmt::format_string<const Values&...> format, const Values&... values) {
    fmt::format_to(std::back_inserter(text), format, values...);
  };
  if (!of.title.empty()) line("{}\n", of.title);
  if (!of.machine.empty()) line("{}\n", of.machine);
  line("{} tasks in {}, {} views, {} transfers of {}, {} evictions\n", s.tasks, time_text(s.length), s.views,
       s.transfers, bytes_text(s.bytes), s.evictions);
  if (s.failed > 0) line("{} tasks failed\n", s.failed);
  if (of.unfinished > 0 && of.dropped == 0) line("{} tasks were submitted and never ran\n", of.unfinished);
  if (of.unfinished > 0 && of.dropped > 0)
    line("{} tasks were submitted and are not seen to run: they did not, or there was no room to note it\n",
         of.unfinished);
  if (of.dropped > 0) line("{} events found no room and are missing: raise runtime.trace_limit\n", of.dropped);

  line("\nWhy tasks waited, from submission to start, all tasks together\n");
  line("{:<20} {:>8} {:>10} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10}\n", "operation", "tasks", "running", "longest",
       "dependency", "data", "memory", "slab", "worker");
  const auto row = [&](const std::string& name, std::uint64_t tasks, nanoseconds time, nanoseconds longest,
                       const waiting& w) {
    line("{:<20} {:>8} {:>10} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10}\n", name, tasks, time_text(time),
         time_text(longest), time_text(w.dependency), time_text(w.data), time_text(w.memory), time_text(w.slab),
         time_text(w.worker));
  };
  nanoseconds running = 0, longest = 0;
  for (const operation_summary& o : s.operations) {
    row(of.operations[o.operation], o.tasks, o.time, o.longest, o.waited);
    running += o.time, longest = std::max(longest, o.longest);
  }
  row("all", s.tasks, running, longest, s.waited);

  line("\nWhat operations did, per second of one worker or stream, and at most by its part of the measured rates\n");
  line("{:<20} {:>12} {:>12} {:>12} {:>12} {:>10}\n", "operation", "GFLOP/s", "at most", "GB/s", "at most", "of bound");
  for (const operation_summary& o : s.operations) {
    const auto time = static_cast<double>(o.work.time);
    line("{:<20} {:>12} {:>12} {:>12} {:>12} {:>10}\n", of.operations[o.operation], giga_text(o.work.flops, time),
         bound_text(o.work.flops, o.work.bound), giga_text(o.work.bytes, time), bound_text(o.work.bytes, o.work.bound),
         o.work.bound > 0 ? percent(std::llround(o.work.bound), o.work.time) : "-");
  }

  line("\n{:<28} {:>8} {:>10} {:>8}   idle:", "worker or stream", "tasks", "busy", "");
  for (const idle_cause& c : idle_causes) line(" {:>10}", c.heading);
  line("\n");
  for (const track_summary& t : s.tracks)
    if (t.tasks > 0 || of.tracks[t.track].kind == track_kind::stream) {
      line("{:<28} {:>8} {:>10} {:>8}        ", of.tracks[t.track].name, t.tasks, time_text(t.busy),
           percent(t.busy, s.length));
      for (const idle_cause& c : idle_causes) line(" {:>10}", time_text(t.idle.*c.part));
      line("\n");
    }
  if (!s.links.empty()) {
    line("\n{:<34} {:>9} {:>10} {:>10} {:>12} {:>12}\n", "link", "transfers", "bytes", "busy", "achieved", "nominal");
    for (const link_summary& l : s.links)
      line("{:<34} {:>9} {:>10} {:>10} {:>12} {:>12}\n", of.spaces[l.from].name + " -> " + of.spaces[l.to].name,
           l.transfers, bytes_text(l.bytes), time_text(l.busy), rate_text(l.achieved), rate_text(l.nominal));
  }
  line("\n{:<28} {:>10} {:>10} {:>9} {:>13}\n", "memory", "peak", "limit", "dropped", "written back");
  for (const space_summary& m : s.spaces)
    line("{:<28} {:>10} {:>10} {:>9} {:>13}\n", of.spaces[m.space].name, bytes_text(m.peak),
         m.limit == ~std::uint64_t{0} ? "-" : bytes_text(m.limit), m.dropped, m.written_back);

  for (const space_summary& m : s.spaces)
    if (m.slabs > 0)
      line("{}: {} slab{} of {} together, allocated in {}\n", of.spaces[m.space].name, m.slabs, m.slabs == 1 ? "" : "s",
           bytes_text(m.slab_bytes), time_text(m.slab_time));

  line("\nCritical path: {} tasks, {}, {} of the run\n", s.critical_path.size(), time_text(s.critical_time),
       percent(s.critical_time, s.length));
  for (const operation_summary& part : path_by_operation(of, s))
    line("  {:<18} {:>8} {:>10}\n", of.operations[part.operation], part.tasks, time_text(part.time));
  line("\nWhat if (a model; the measured run took {})\n", time_text(s.length));
  for (const prediction& p : s.what_if) line("  {:<18} {:>10}\n", p.name, time_text(p.length));
  return text;
}

std::string to_json(const timeline& of, const summary& s) {
  using json = nlohmann::ordered_json;
  const auto waits = [](const waiting& w) {
    return json{{"dependency", seconds(w.dependency)},
                {"data", seconds(w.data)},
                {"memory", seconds(w.memory)},
                {"slab", seconds(w.slab)},
                {"worker", seconds(w.worker)}};
  };
  json made = {{"title", of.title},
               {"machine", of.machine},
               {"seconds", seconds(s.length)},
               {"tasks", s.tasks},
               {"views", s.views},
               {"failed", s.failed},
               {"unfinished", of.unfinished},
               {"dropped_events", of.dropped},
               {"transfers", s.transfers},
               {"bytes_transferred", s.bytes},
               {"evictions", s.evictions},
               {"waiting", waits(s.waited)}};
  const auto idle = [](const idle_time& t) {
    json parts = json::object();
    for (const idle_cause& c : idle_causes) parts[c.key] = seconds(t.*c.part);
    return parts;
  };
  made["operations"] = json::array();
  for (const operation_summary& o : s.operations)
    made["operations"].push_back({{"operation", of.operations[o.operation]},
                                  {"tasks", o.tasks},
                                  {"seconds", seconds(o.time)},
                                  {"longest", seconds(o.longest)},
                                  {"waiting", waits(o.waited)},
                                  {"flops", o.work.flops < 0 ? json() : json(o.work.flops)},
                                  {"bytes", o.work.bytes < 0 ? json() : json(o.work.bytes)},
                                  {"work_seconds", seconds(o.work.time)},
                                  {"bound_seconds", o.work.bound > 0 ? json(o.work.bound * 1e-9) : json()}});
  made["workers"] = json::array();
  for (const track_summary& t : s.tracks)
    made["workers"].push_back(
        {{"name", of.tracks[t.track].name}, {"tasks", t.tasks}, {"busy", seconds(t.busy)}, {"idle", idle(t.idle)}});
  made["links"] = json::array();
  for (const link_summary& l : s.links)
    made["links"].push_back({{"from", of.spaces[l.from].name},
                             {"to", of.spaces[l.to].name},
                             {"transfers", l.transfers},
                             {"bytes", l.bytes},
                             {"write_backs", l.write_backs},
                             {"busy", seconds(l.busy)},
                             {"achieved", l.achieved},
                             {"nominal", l.nominal}});
  made["memory"] = json::array();
  for (const space_summary& m : s.spaces)
    made["memory"].push_back({{"name", of.spaces[m.space].name},
                              {"peak_bytes", m.peak},
                              {"limit_bytes", m.limit == ~std::uint64_t{0} ? json() : json(m.limit)},
                              {"evicted_dropped", m.dropped},
                              {"evicted_written_back", m.written_back},
                              {"evicted_bytes", m.evicted_bytes},
                              {"slabs", m.slabs},
                              {"slab_bytes", m.slab_bytes},
                              {"slab_seconds", seconds(m.slab_time)}});
  made["critical_path"] = {{"seconds", seconds(s.critical_time)}, {"tasks", json::array()}};
  for (const std::uint32_t k : s.critical_path) {
    const task& t = of.tasks[k];
    made["critical_path"]["tasks"].push_back({{"operation", of.operations[t.operation]},
                                              {"site", of.sites[t.site]},
                                              {"location", of.tracks[t.track].name},
                                              {"start", seconds(t.started)},
                                              {"seconds", seconds(t.ended - t.started)}});
  }
  made["what_if"] = json::array();
  for (const prediction& p : s.what_if) made["what_if"].push_back({{"name", p.name}, {"seconds", seconds(p.length)}});
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::trace
