#include "core/trace/summary.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace tessera::trace {
namespace {

/// Length of the union of intervals.
nanoseconds covered(std::vector<std::pair<nanoseconds, nanoseconds>>& intervals) {
  std::ranges::sort(intervals);
  nanoseconds sum = 0, until = 0;
  for (const auto& [begin, end] : intervals) {
    if (end > until) sum += end - std::max(begin, until);
    until = std::max(until, end);
  }
  return sum;
}

/// Bytes of memory that a task moves at least, by its blocks; below 0: not known.
double traffic_of(const timeline& of, const task& t) {
  if (t.use_count == 0) return -1;
  double bytes = 0;
  for (std::uint32_t u = 0; u < t.use_count; ++u) {
    const use& one = of.uses[t.first_use + u];
    const bool both = one.how == use_kind::update || one.how == use_kind::accumulate || one.how == use_kind::commute;
    if (one.how != use_kind::scratch) bytes += (both ? 2 : 1) * static_cast<double>(one.bytes);
  }
  return bytes;
}

/// The least time of it where it ran; 0: not known.
double bound_of(const timeline& of, const task& t, double bytes) {
  const std::uint32_t number = of.tracks[t.track].place;
  if (number >= of.places.size()) return 0;
  const recording::place& at = of.places[number];
  const double flops = at.flops * (t.single ? 2 : 1);
  double seconds = 0;
  if (flops > 0 && t.flops > 0) seconds = t.flops / flops;
  if (at.bandwidth > 0 && bytes > 0) seconds = std::max(seconds, bytes / at.bandwidth);
  return seconds * 1e9;
}

void add_work(work_summary& to, const timeline& of, const task& t) {
  if (t.failed) return;
  const double bytes = traffic_of(of, t);
  to.time += t.ended - t.started;
  to.flops = t.flops < 0 || to.flops < 0 ? -1 : to.flops + t.flops;
  to.bytes = bytes < 0 || to.bytes < 0 ? -1 : to.bytes + bytes;
  const double bound = bound_of(of, t, bytes);
  to.bound = bound <= 0 || to.bound < 0 ? -1 : to.bound + bound;
}

}  // namespace

std::vector<std::uint32_t> topological_order(const timeline& of) {
  const std::size_t count = of.tasks.size();
  std::vector<std::uint32_t> missing(count), first(count + 1, 0), after(of.predecessors.size());
  for (const std::uint32_t p : of.predecessors) ++first[p + 1];
  for (std::size_t k = 0; k < count; ++k) first[k + 1] += first[k];
  std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
  for (std::uint32_t k = 0; k < count; ++k) {
    const task& t = of.tasks[k];
    missing[k] = t.predecessor_count;
    for (std::uint32_t p = 0; p < t.predecessor_count; ++p) after[fill[of.predecessors[t.first_predecessor + p]]++] = k;
  }
  std::vector<std::uint32_t> order;
  order.reserve(count);
  for (std::uint32_t k = 0; k < count; ++k)
    if (missing[k] == 0) order.push_back(k);
  for (std::size_t k = 0; k < order.size(); ++k)
    for (std::uint32_t e = first[order[k]]; e < first[order[k] + 1]; ++e)
      if (--missing[after[e]] == 0) order.push_back(after[e]);
  if (order.size() != count)
    throw error(error_kind::input, "the dependencies of the tasks run in a circle", {},
                "the trace has been changed or damaged");
  return order;
}

std::vector<std::uint32_t> critical_path(const timeline& of) {
  std::vector<nanoseconds> until(of.tasks.size(), 0);  // longest chain up to and with the task
  std::vector<std::uint32_t> from(of.tasks.size(), no_index);
  std::uint32_t last = no_index;
  for (const std::uint32_t k : topological_order(of)) {
    const task& t = of.tasks[k];
    for (std::uint32_t p = 0; p < t.predecessor_count; ++p) {
      const std::uint32_t before = of.predecessors[t.first_predecessor + p];
      if (until[before] > until[k]) until[k] = until[before], from[k] = before;
    }
    if (!t.view) until[k] += t.ended - t.started;  // the program's own time is not the graph's
    if (last == no_index || until[k] > until[last]) last = k;
  }
  std::vector<std::uint32_t> path;
  for (std::uint32_t k = last; k != no_index; k = from[k])
    if (!of.tasks[k].view) path.push_back(k);
  std::ranges::reverse(path);
  return path;
}

summary summarize(const timeline& of) {
  summary s;
  s.length = of.length;
  s.critical_path = critical_path(of);
  for (const std::uint32_t k : s.critical_path) s.critical_time += of.tasks[k].ended - of.tasks[k].started;

  std::vector<operation_summary> operations(of.operations.size());
  std::vector<track_summary> tracks(of.tracks.size());
  std::vector<std::vector<std::pair<nanoseconds, nanoseconds>>> intervals(of.tracks.size());
  for (std::uint32_t k = 0; k < operations.size(); ++k) operations[k].operation = k;
  for (std::uint32_t k = 0; k < tracks.size(); ++k) tracks[k].track = k;
  for (const task& t : of.tasks) {
    if (t.view) {
      ++s.views;
      continue;
    }
    ++s.tasks;
    s.failed += t.failed;
    s.waited += t.waited;
    operation_summary& o = operations[t.operation];
    ++o.tasks;
    o.time += t.ended - t.started;
    o.longest = std::max(o.longest, t.ended - t.started);
    o.waited += t.waited;
    add_work(o.work, of, t);
    ++tracks[t.track].tasks;
    intervals[t.track].emplace_back(t.started, t.ended);
  }
  std::erase_if(operations, [](const operation_summary& o) { return o.tasks == 0; });
  std::ranges::stable_sort(operations, std::greater<>{}, &operation_summary::time);
  s.operations = std::move(operations);

  for (const transfer& x : of.transfers) {
    auto link = std::ranges::find_if(s.links, [&](const link_summary& l) { return l.from == x.from && l.to == x.to; });
    if (link == s.links.end()) {
      link_summary fresh;
      fresh.from = x.from, fresh.to = x.to;
      for (const auto& l : of.links)
        if (l.from == x.from && l.to == x.to) fresh.nominal = l.bandwidth;
      s.links.push_back(fresh);
      link = s.links.end() - 1;
    }
    ++link->transfers, ++s.transfers;
    link->bytes += x.bytes, s.bytes += x.bytes;
    link->write_backs += x.write_back;
    intervals[x.track].emplace_back(x.started, x.ended);
  }
  for (link_summary& l : s.links) {
    for (const transfer& x : of.transfers)
      if (x.from == l.from && x.to == l.to) {
        l.busy = covered(intervals[x.track]);
        break;
      }
    l.achieved = l.busy > 0 ? static_cast<double>(l.bytes) / static_cast<double>(l.busy) * 1e9 : 0;
  }
  std::ranges::sort(s.links, {}, [](const link_summary& l) { return std::pair(l.from, l.to); });
  const std::vector<idle_time> idle = idle_times(of);
  for (track_summary& t : tracks) {
    const track_kind kind = of.tracks[t.track].kind;
    if (kind == track_kind::link || kind == track_kind::program) continue;
    t.busy = covered(intervals[t.track]);
    t.idle = idle[t.track];
    s.tracks.push_back(t);
  }

  for (std::uint32_t k = 0; k < of.spaces.size(); ++k) {
    space_summary m;
    m.space = k;
    m.limit = of.spaces[k].limit;
    for (const memory_sample& sample : of.spaces[k].samples) m.peak = std::max(m.peak, sample.used);
    for (const eviction& e : of.evictions)
      if (e.space == k) ++(e.written_back ? m.written_back : m.dropped), m.evicted_bytes += e.bytes;
    for (const slab& had : of.slabs)
      if (had.space == k) ++m.slabs, m.slab_bytes += had.bytes, m.slab_time += had.ended - had.started;
    s.spaces.push_back(m);
  }
  s.evictions = of.evictions.size();
  s.what_if = predict(of);
  return s;
}

}  // namespace tessera::trace
