#include <ostream>

#include "core/base/units.hpp"
#include "core/trace/chrome.hpp"
#include "core/trace/json_text.hpp"
#include "core/trace/summary.hpp"

namespace tessera::trace {
namespace {

constexpr int memory_group = 5;  // behind those of group_of

class chrome_writer {
 public:
  chrome_writer(std::ostream& to, const timeline& of) : m_to(to), m_of(of) {}

  void run() {
    head();
    groups();
    for (std::uint32_t k = 0; k < m_of.tasks.size(); ++k) write(k, m_of.tasks[k]);
    for (const transfer& x : m_of.transfers) write(x);
    for (const fence& f : m_of.fences)
      line(R"({{"ph":"X","name":"fence","cat":"fence","pid":{},"tid":{},"ts":{},"dur":{}}})", group(f.track),
           f.track + 1, microseconds(f.started), microseconds(f.ended - f.started));
    for (const program_wait& w : m_of.waits)
      line(R"({{"ph":"X","name":"waits for {}","cat":"wait","pid":{},"tid":{},"ts":{},"dur":{}}})",
           w.barrier ? "a barrier" : "a block", group(w.track), w.track + 1, microseconds(w.started),
           microseconds(w.ended - w.started));
    for (std::size_t k = 0; k < m_of.spaces.size(); ++k)
      for (const memory_sample& m : m_of.spaces[k].samples)
        line(R"({{"ph":"C","name":{},"cat":"memory","pid":{},"tid":{},"ts":{},"args":{{"bytes":{}}}}})",
             json_string(m_of.spaces[k].name), memory_group, k, microseconds(m.time), m.used);
    for (const eviction& e : m_of.evictions)
      line(
          R"({{"ph":"i","s":"p","name":"eviction","cat":"eviction","pid":{},"tid":{},"ts":{},"args":{{"block":{},"bytes":{},"written_back":{}}}}})",
          memory_group, e.space, microseconds(e.time), block(e.block), e.bytes, e.written_back);
    for (const slab& s : m_of.slabs)
      line(R"({{"ph":"X","name":"slab of {}","cat":"slab","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"bytes":{}}}}})",
           format_bytes(static_cast<double>(s.bytes)), memory_group, s.space, microseconds(s.started),
           microseconds(s.ended - s.started), s.bytes);
    arrows();
    m_to << "\n]}\n";
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    m_buffer.clear();
    if (!m_first) m_buffer += ",";
    m_first = false;
    m_buffer += "\n";
    fmt::format_to(std::back_inserter(m_buffer), format, std::forward<Values>(values)...);
    m_to << m_buffer;
  }

  int group(std::uint32_t track) const { return group_of(m_of.tracks[track].kind); }
  std::string block(std::uint32_t number) const {
    return json_string(number < m_of.blocks.size() ? m_of.blocks[number] : "?");
  }

  void head() {
    m_to << fmt::format(
        R"({{"tessera_trace":2,"displayTimeUnit":"ns","title":{},"machine":{},"length":{},"dropped":{},"unfinished":{},)",
        json_string(m_of.title), json_string(m_of.machine), microseconds(m_of.length), m_of.dropped, m_of.unfinished);
    const auto list = [&](const char* key, const auto& items, auto&& each) {
      m_to << "\n\"" << key << "\":[";
      for (std::size_t k = 0; k < items.size(); ++k) m_to << (k > 0 ? ",\n" : "") << each(items[k]);
      m_to << "],";
    };
    list("places", m_of.places, [](const recording::place& p) {
      return fmt::format(R"({{"name":{},"host":{},"parallelism":{},"flops":{},"bandwidth":{}}})", json_string(p.name),
                         p.is_host, p.parallelism, p.flops, p.bandwidth);
    });
    list("tracks", m_of.tracks, [](const track& t) {
      return fmt::format(R"({{"name":{},"kind":"{}","place":{}}})", json_string(t.name), word_of(t.kind), t.place);
    });
    list("spaces", m_of.spaces, [](const timeline::space& s) {
      return fmt::format(R"({{"name":{},"limit":{}}})", json_string(s.name),
                         s.limit == ~std::uint64_t{0} ? "null" : std::to_string(s.limit));
    });
    list("links", m_of.links, [](const recording::link& l) {
      return fmt::format(R"({{"from":{},"to":{},"bandwidth":{}}})", l.from, l.to, l.bandwidth);
    });
    m_to << "\n\"traceEvents\":[";
  }

  void groups() {
    const char* const names[] = {"interpreters", "workers", "devices", "links", "program", "memory"};
    for (int k = 0; k < 6; ++k) {
      line(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":"{}"}}}})", k, names[k]);
      line(R"({{"ph":"M","name":"process_sort_index","pid":{},"tid":0,"args":{{"sort_index":{}}}}})", k, k);
    }
    for (std::uint32_t k = 0; k < m_of.tracks.size(); ++k)
      line(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", group(k), k + 1,
           json_string(m_of.tracks[k].name));
  }

  void write(std::uint32_t number, const task& t) {
    m_list.clear();
    for (std::uint32_t p = 0; p < t.predecessor_count; ++p)
      fmt::format_to(std::back_inserter(m_list), "{}{}", p > 0 ? "," : "", m_of.predecessors[t.first_predecessor + p]);
    m_work.clear();
    if (t.flops >= 0)
      fmt::format_to(std::back_inserter(m_work), R"(,"flops":{}{})", t.flops, t.single ? R"(,"single":true)" : "");
    for (std::uint32_t u = 0; u < t.use_count; ++u) {
      const use& one = m_of.uses[t.first_use + u];
      fmt::format_to(std::back_inserter(m_work), R"({}[{},"{}",{}])", u > 0 ? "," : R"(,"blocks":[)", block(one.block),
                     word_of(one.how), one.bytes);
    }
    if (t.use_count > 0) m_work += "]";
    line(
        R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"task":{},"site":{},"submitted":{},"by":{},)"
        R"("waited":{{"dependency":{},"data":{},"memory":{},"slab":{},"worker":{}}},"after":[{}]{}{}}}}})",
        json_string(m_of.operations[t.operation]), t.view ? "view" : "task", group(t.track), t.track + 1,
        microseconds(t.started), microseconds(t.ended - t.started), number, json_string(m_of.sites[t.site]),
        microseconds(t.submitted), t.submitter, microseconds(t.waited.dependency), microseconds(t.waited.data),
        microseconds(t.waited.memory), microseconds(t.waited.slab), microseconds(t.waited.worker), m_list, m_work,
        t.failed ? ",\"failed\":true" : "");
  }

  void write(const transfer& x) {
    line(
        R"({{"ph":"X","name":{},"cat":"transfer","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"from":{},"to":{},"bytes":{},"issued":{},"write_back":{}}}}})",
        block(x.block), group(x.track), x.track + 1, microseconds(x.started), microseconds(x.ended - x.started), x.from,
        x.to, x.bytes, microseconds(x.issued), x.write_back);
  }

  void arrows() {
    const std::vector<std::uint32_t> path = critical_path(m_of);
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
      const task &a = m_of.tasks[path[k]], &b = m_of.tasks[path[k + 1]];
      // A viewer binds an arrow to the slice in which its time lies: just before the end, at the start.
      line(R"({{"ph":"s","name":"critical path","cat":"critical","id":{},"pid":{},"tid":{},"ts":{}}})", k,
           group(a.track), a.track + 1, microseconds(std::max(a.started, a.ended - 1)));
      line(R"({{"ph":"f","bp":"e","name":"critical path","cat":"critical","id":{},"pid":{},"tid":{},"ts":{}}})", k,
           group(b.track), b.track + 1, microseconds(b.started));
    }
  }

  std::ostream& m_to;
  const timeline& m_of;
  bool m_first = true;
  std::string m_buffer, m_list, m_work;
};

}  // namespace

void write_chrome(std::ostream& to, const timeline& of) { chrome_writer(to, of).run(); }

}  // namespace tessera::trace
