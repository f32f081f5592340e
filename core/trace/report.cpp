#include "core/trace/report.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>

#include "core/trace/json_text.hpp"
#include "page.hpp"

namespace tessera::trace {
namespace {

constexpr std::size_t max_slices = 200000;     // in the picture, before neighbours are merged
constexpr std::size_t max_with_waits = 60000;  // whose waits are shown where one points at them
constexpr nanoseconds merged_bins = 8192;      // per row: more than a screen has pixels
constexpr std::size_t max_samples = 4000;      // per memory
constexpr std::size_t max_slabs = 1000;        // per memory
constexpr std::size_t max_waits = 20000;       // per row
constexpr std::size_t max_with_graph = 60000;  // tasks whose predecessors can be followed

/// Collects a JSON array of numbers or texts.
class list {
 public:
  template <class T>
  void add(const T& value) {
    fmt::format_to(std::back_inserter(m_text), "{}{}", m_text.empty() ? "" : ",", value);
  }
  std::string text() const { return "[" + m_text + "]"; }

 private:
  std::string m_text;
};

class page_writer {
 public:
  page_writer(const timeline& of, const summary& s) : m_of(of), m_sum(s) {
    // Operations in the order of their time: the first ones get colours of their own.
    m_rank.assign(of.operations.size(), no_index);
    for (const operation_summary& o : s.operations) m_rank[o.operation] = m_ranks++;
    for (std::uint32_t& r : m_rank)
      if (r == no_index) r = m_ranks++;
    for (std::uint32_t k = 0; k < of.tracks.size(); ++k) m_order.push_back(k);
    // Links by their names: those out of one memory together.
    std::ranges::stable_sort(m_order, {}, [&](std::uint32_t k) {
      const track& t = of.tracks[k];
      return std::pair(group_of(t.kind), t.kind == track_kind::link ? std::string_view(t.name) : std::string_view());
    });
    m_tasks_of.resize(of.tracks.size());
    for (std::uint32_t k = 0; k < of.tasks.size(); ++k) m_tasks_of[of.tasks[k].track].push_back(k);
    for (auto& tasks : m_tasks_of)
      std::ranges::stable_sort(tasks, {}, [&](std::uint32_t k) { return of.tasks[k].started; });
    m_transfers_of.resize(of.tracks.size());
    for (std::uint32_t k = 0; k < of.transfers.size(); ++k) m_transfers_of[of.transfers[k].track].push_back(k);
    m_merge = of.tasks.size() > max_slices;
  }

  std::string run() {
    std::string d = "{";
    const auto put = [&](std::string_view key, const auto& value) {
      fmt::format_to(std::back_inserter(d), "{}\n\"{}\":{}", d.size() > 1 ? "," : "", key, value);
    };
    put("title", json_string(m_of.title));
    put("machine", json_string(m_of.machine));
    put("length", m_sum.length);
    put("tasks", m_sum.tasks);
    put("views", m_sum.views);
    put("failed", m_sum.failed);
    put("unfinished", m_of.unfinished);
    put("dropped", m_of.dropped);
    put("transfers", m_sum.transfers);
    put("bytes", m_sum.bytes);
    put("merged", m_merge);
    put("waits", waits_of(m_sum.waited));
    list causes;
    for (const idle_cause& c : idle_causes) causes.add(json_string(c.heading));
    put("idle_causes", causes.text());
    std::vector<std::string> names(m_ranks);
    for (std::uint32_t k = 0; k < m_of.operations.size(); ++k) names[m_rank[k]] = m_of.operations[k];
    put("operations", texts(names));
    put("sites", texts(m_of.sites));
    put("blocks", texts(m_of.blocks));
    list operations;
    for (const operation_summary& o : m_sum.operations)
      operations.add(fmt::format(
          R"({{"operation":{},"tasks":{},"time":{},"longest":{},"waits":{},"flops":{},"bytes":{},"work_time":{},"bound":{}}})",
          m_rank[o.operation], o.tasks, o.time, o.longest, waits_of(o.waited), o.work.flops, o.work.bytes, o.work.time,
          o.work.bound));
    put("by_operation", operations.text());
    list tracks;
    for (const std::uint32_t k : m_order)
      if (shown(k)) tracks.add("\n" + track_of(k));
    put("tracks", tracks.text());
    put("path", path());
    put("after", predecessors());
    put("uses", uses());
    list predictions;
    for (const prediction& p : m_sum.what_if)
      predictions.add(fmt::format(R"({{"name":{},"length":{}}})", json_string(p.name), p.length));
    put("what_if", predictions.text());
    put("model", json_string(model_text));
    list links;
    for (const link_summary& l : m_sum.links)
      links.add(fmt::format(
          R"({{"from":{},"to":{},"transfers":{},"write_backs":{},"bytes":{},"busy":{},"achieved":{},"nominal":{}}})",
          l.from, l.to, l.transfers, l.write_backs, l.bytes, l.busy, l.achieved, l.nominal));
    put("links", links.text());
    list spaces;
    for (const space_summary& s : m_sum.spaces) spaces.add("\n" + space_of(s));
    put("spaces", spaces.text());
    return d + "\n}";
  }

 private:
  static std::string waits_of(const waiting& w) {
    return fmt::format("[{},{},{},{},{}]", w.dependency, w.data, w.memory, w.slab, w.worker);
  }
  static std::string texts(const std::vector<std::string>& names) {
    list made;
    for (const std::string& name : names) made.add(json_string(name));
    return made.text();
  }

  /// Workers of the machine and streams always; threads that only submitted, and drivers, when something is on them.
  bool shown(std::uint32_t k) const {
    return m_of.tracks[k].kind == track_kind::stream || !m_tasks_of[k].empty() || !m_transfers_of[k].empty() ||
           std::ranges::any_of(m_of.fences, [&](const fence& f) { return f.track == k; }) ||
           std::ranges::any_of(m_of.waits, [&](const program_wait& w) { return w.track == k; }) ||
           (m_of.tracks[k].kind == track_kind::worker && m_of.tracks[k].name.starts_with("worker"));
  }

  std::string track_of(std::uint32_t number) const {
    const track& t = m_of.tracks[number];
    nanoseconds busy = 0;
    list idle;
    for (const track_summary& s : m_sum.tracks)
      if (s.track == number) {
        busy = s.busy;
        for (const idle_cause& c : idle_causes) idle.add(s.idle.*c.part);
      }
    std::string d = fmt::format(R"({{"name":{},"kind":"{}","busy":{},"idle":{})", json_string(t.name), word_of(t.kind),
                                busy, idle.text());
    const auto put = [&](std::string_view key, const list& values) {
      fmt::format_to(std::back_inserter(d), ",\"{}\":{}", key, values.text());
    };
    list fences;
    for (const fence& f : m_of.fences)
      if (f.track == number) fences.add(f.started), fences.add(f.ended);
    put("fences", fences);
    list waits;  // of many the first: a band is as wide as a pixel at least
    std::size_t drawn = 0;
    for (const program_wait& w : m_of.waits)
      if (w.track == number && drawn++ < max_waits)
        waits.add(w.started), waits.add(w.ended), waits.add(w.barrier ? 1 : 0);
    put("bands", waits);
    if (t.kind == track_kind::link)
      slices_of_link(number, put);
    else if (m_merge && m_tasks_of[number].size() > static_cast<std::size_t>(merged_bins))
      merged_slices(number, put);
    else
      slices(number, put);
    return d + "}";
  }

  template <class Put>
  void slices(std::uint32_t number, Put&& put) const {
    list start, length, operation, task_number, site, waits;
    nanoseconds before = 0;
    const bool with_waits = m_of.tasks.size() <= max_with_waits;
    for (const std::uint32_t k : m_tasks_of[number]) {
      const task& t = m_of.tasks[k];
      start.add(t.started - before), length.add(t.ended - t.started), operation.add(m_rank[t.operation]);
      task_number.add(k), site.add(t.site);
      before = t.started;
      if (!with_waits) continue;
      waits.add(t.waited.dependency), waits.add(t.waited.data), waits.add(t.waited.memory), waits.add(t.waited.slab),
          waits.add(t.waited.worker);
    }
    put("start", start), put("length", length), put("operation", operation), put("task", task_number),
        put("site", site);
    if (with_waits) put("waits", waits);
  }

  /// Neighbours in one bin of time become one slice, with the operation that had most of it.
  template <class Put>
  void merged_slices(std::uint32_t number, Put&& put) const {
    list start, length, operation, busy, count;
    nanoseconds before = 0;
    const nanoseconds bin = std::max<nanoseconds>(m_of.length / merged_bins, 1);
    const auto& tasks = m_tasks_of[number];
    std::vector<nanoseconds> parts(m_ranks);
    for (std::size_t k = 0; k < tasks.size();) {
      const nanoseconds begin = m_of.tasks[tasks[k]].started;
      nanoseconds end = begin, sum = 0;
      std::size_t merged = 0;
      std::ranges::fill(parts, 0);
      for (; k < tasks.size() && m_of.tasks[tasks[k]].started / bin == begin / bin; ++k, ++merged) {
        const task& t = m_of.tasks[tasks[k]];
        end = std::max(end, t.ended);
        sum += t.ended - t.started;
        parts[m_rank[t.operation]] += t.ended - t.started;
      }
      start.add(begin - before), length.add(end - begin), busy.add(sum), count.add(merged);
      operation.add(std::ranges::max_element(parts) - parts.begin());
      before = begin;
    }
    put("start", start), put("length", length), put("operation", operation), put("busy_in", busy), put("count", count);
  }

  template <class Put>
  void slices_of_link(std::uint32_t number, Put&& put) const {
    list start, length, operation, block, bytes, back;
    nanoseconds before = 0;
    for (const std::uint32_t k : m_transfers_of[number]) {
      const transfer& x = m_of.transfers[k];
      start.add(x.started - before), length.add(x.ended - x.started), operation.add(0), block.add(x.block),
          bytes.add(x.bytes);
      back.add(x.write_back ? 1 : 0);
      before = x.started;
    }
    put("start", start), put("length", length), put("operation", operation), put("block", block), put("bytes", bytes),
        put("back", back);
  }

  /// By task, those before it; none where there are too many tasks to follow.
  std::string predecessors() const {
    if (m_of.tasks.size() > max_with_graph) return "null";
    list all;
    for (const task& t : m_of.tasks) {
      list before;
      for (std::uint32_t p = 0; p < t.predecessor_count; ++p) before.add(m_of.predecessors[t.first_predecessor + p]);
      all.add(before.text());
    }
    return all.text();
  }

  /// By task, its blocks: name, what it did with it, bytes; none where predecessors cannot be followed either.
  std::string uses() const {
    if (m_of.tasks.size() > max_with_graph) return "null";
    list all;
    for (const task& t : m_of.tasks) {
      list blocks;
      for (std::uint32_t u = 0; u < t.use_count; ++u) {
        const use& one = m_of.uses[t.first_use + u];
        blocks.add(fmt::format("[{},{},{}]", one.block, static_cast<int>(one.how), one.bytes));
      }
      all.add(fmt::format(R"({{"flops":{},"blocks":{}}})", t.flops, blocks.text()));
    }
    return all.text();
  }

  std::string path() const {
    list tasks;
    for (const std::uint32_t k : m_sum.critical_path) {
      const task& t = m_of.tasks[k];
      tasks.add(fmt::format(R"({{"task":{},"operation":{},"site":{},"where":{},"start":{},"length":{}}})", k,
                            m_rank[t.operation], t.site, json_string(m_of.tracks[t.track].name), t.started,
                            t.ended - t.started));
    }
    return fmt::format(R"({{"time":{},"tasks":{}}})", m_sum.critical_time, tasks.text());
  }

  std::string space_of(const space_summary& s) const {
    const timeline::space& from = m_of.spaces[s.space];
    list times, used;
    // Of many samples the highest of each group: peaks stay.
    const std::size_t step = from.samples.size() / max_samples + 1;
    for (std::size_t k = 0; k < from.samples.size(); k += step) {
      const auto end = from.samples.begin() + static_cast<std::ptrdiff_t>(std::min(k + step, from.samples.size()));
      const auto most =
          std::max_element(from.samples.begin() + static_cast<std::ptrdiff_t>(k), end,
                           [](const memory_sample& a, const memory_sample& b) { return a.used < b.used; });
      times.add(most->time), used.add(most->used);
    }
    list slabs;
    std::size_t drawn = 0;
    for (const slab& one : m_of.slabs)
      if (one.space == s.space && drawn++ < max_slabs)
        slabs.add(fmt::format("[{},{},{}]", one.started, one.ended - one.started, one.bytes));
    return fmt::format(
        R"({{"name":{},"peak":{},"limit":{},"dropped":{},"written_back":{},"times":{},"used":{},"slabs":{},"slab_count":{},"slab_bytes":{},"slab_time":{}}})",
        json_string(from.name), s.peak, s.limit == ~std::uint64_t{0} ? 0 : s.limit, s.dropped, s.written_back,
        times.text(), used.text(), slabs.text(), s.slabs, s.slab_bytes, s.slab_time);
  }

  const timeline& m_of;
  const summary& m_sum;
  std::uint32_t m_ranks = 0;
  std::vector<std::uint32_t> m_rank, m_order;
  std::vector<std::vector<std::uint32_t>> m_tasks_of, m_transfers_of;
  bool m_merge = false;
};

}  // namespace

void write_report(std::ostream& to, const timeline& of, const summary& s, std::string_view sections) {
  std::string_view rest = page::html;
  const auto part = [&](std::string_view mark, std::string_view text) {
    const std::size_t at = rest.find(mark);
    to << rest.substr(0, at) << text;
    rest.remove_prefix(at + mark.size());
  };
  part("@PAGE_STYLE@", page::style);
  part("@PAGE_SECTIONS@", sections);
  part("@PAGE_DATA@", page_writer(of, s).run());
  part("@PAGE_SCRIPT@", page::script);
  to << rest;
}

}  // namespace tessera::trace
