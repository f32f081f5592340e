#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <limits>

#include "core/base/error.hpp"
#include "core/trace/chrome.hpp"
#include "core/trace/json_text.hpp"

namespace tessera::trace {
namespace {

using nlohmann::json;

const char* const hint = "give a file that --trace has written";

/// What the library says, without the name that it gives its exceptions.
std::string in_words(const json::exception& e) {
  const std::string text = e.what();
  return text.substr(text.starts_with('[') ? text.find("] ") + 2 : 0);
}

/// Reads one event after the other, so that a long trace is never in memory as JSON.
class reader {
 public:
  explicit reader(std::string file) : m_file(std::move(file)) {}

  timeline run(std::istream& from) {
    if (from.peek() == std::istream::traits_type::eof()) fail("the file is empty");
    json head;
    try {
      head = json::parse(
          from, [this](int depth, json::parse_event_t event, json& parsed) { return take(depth, event, parsed); });
    } catch (const json::parse_error& e) {
      if (from.eof()) fail(fmt::format("the file ends in the midst of the trace, after {} events", m_events));
      fail(fmt::format("it is not JSON: byte {}", e.byte));
    } catch (const json::exception& e) {  // a number beyond all bounds
      fail(fmt::format("it is damaged: {}", in_words(e)));
    }
    if (!head.is_object() || !head.contains("tessera_trace")) fail("it is JSON, but no trace of Tessera");
    if (head["tessera_trace"] != 2)
      fail(fmt::format("it is a trace in form {}; this program reads form 2", head["tessera_trace"].dump()));
    if (!m_broken.empty()) fail(m_broken);
    try {
      read_head(head);
    } catch (const json::exception& e) {
      fail(fmt::format("what stands before its events is damaged: {}", in_words(e)));
    }
    finish();
    return std::move(m_made);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw error(error_kind::input, fmt::format("cannot read the trace: {}", why), m_file, hint);
  }

  bool take(int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key) m_key = parsed.get<std::string>();
    if (depth != 2 || event != json::parse_event_t::object_end || m_key != "traceEvents") return true;
    try {
      if (m_broken.empty()) read_event(parsed);
    } catch (const json::exception&) {
      m_broken = fmt::format("event {} is damaged: {}", m_events + 1,
                             parsed.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 200));
    }
    ++m_events;
    return false;
  }

  static nanoseconds time_of(const json& value) {
    const double us = value.get<double>();
    // 2^53 ns are 104 days; a larger number is damage, and NaN cannot come out of JSON.
    if (us < 0 || us > 9e12) throw json::other_error::create(501, "a time out of range", &value);
    return std::llround(us * 1000);
  }

  template <class Number>
  static Number whole(const json& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<Number>::max())
      throw json::other_error::create(501, "no whole number, or one out of range", &value);
    return value.get<Number>();
  }

  /// Of a place; 0: not measured.
  static double rate_of(const json& place, const char* name) {
    const double rate = place.value(name, 0.0);
    if (!(rate >= 0 && rate <= max_flops)) throw json::other_error::create(501, "a rate out of range", &place);
    return rate;
  }

  static use_kind use_of(const json& word) {
    for (const use_kind how : {use_kind::read, use_kind::write, use_kind::update, use_kind::accumulate,
                               use_kind::scratch, use_kind::commute})
      if (word.get_ref<const std::string&>() == word_of(how)) return how;
    throw json::other_error::create(501, "an unknown use", &word);
  }
  /// Of a task; traces of earlier versions say nothing of it.
  void read_work(task& t, const json& a) {
    t.flops = known_flops(a.value("flops", -1.0));
    t.single = a.value("single", false);
    t.first_use = static_cast<std::uint32_t>(m_made.uses.size());
    if (!a.contains("blocks")) return;
    for (const json& u : a["blocks"])
      m_made.uses.push_back({number_of(m_blocks, m_made.blocks, u.at(0).get<std::string>()), use_of(u.at(1)),
                             whole<std::uint64_t>(u.at(2))});
    t.use_count = static_cast<std::uint32_t>(m_made.uses.size()) - t.first_use;
  }

  template <class Map>
  static std::uint32_t number_of(Map& known, std::vector<std::string>& names, const std::string& name) {
    const auto [entry, is_new] = known.try_emplace(name, static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(name);
    return entry->second;
  }

  void read_event(const json& e) {
    const std::string category = e.value("cat", std::string());
    if (category.empty() || category == "critical") return;
    const nanoseconds start = time_of(e.at("ts")), length = e.contains("dur") ? time_of(e["dur"]) : 0;
    const auto tid = whole<std::uint32_t>(e.at("tid"));
    static const json no_arguments = json::object();
    const json& a = e.contains("args") ? e["args"] : no_arguments;
    if (category == "task" || category == "view") {
      task t;
      t.operation = number_of(m_operations, m_made.operations, e.at("name").get<std::string>());
      t.site = number_of(m_sites, m_made.sites, a.at("site").get<std::string>());
      t.track = tid - 1;
      t.submitter = whole<std::uint32_t>(a.at("by"));
      t.view = category == "view";
      t.failed = a.value("failed", false);
      t.submitted = time_of(a.at("submitted"));
      t.started = start, t.ended = start + length;
      const json& w = a.at("waited");
      t.waited = {time_of(w.at("dependency")), time_of(w.at("data")), time_of(w.at("memory")), time_of(w.at("slab")),
                  time_of(w.at("worker"))};
      const json& after = a.at("after");
      t.first_predecessor = static_cast<std::uint32_t>(m_made.predecessors.size());
      t.predecessor_count = static_cast<std::uint32_t>(after.size());
      for (const json& p : after) m_made.predecessors.push_back(whole<std::uint32_t>(p));
      read_work(t, a);
      if (whole<std::uint64_t>(a.at("task")) != m_made.tasks.size())
        throw json::other_error::create(501, "out of order", &e);
      m_made.tasks.push_back(t);
    } else if (category == "transfer") {
      transfer x;
      x.from = whole<std::uint32_t>(a.at("from")), x.to = whole<std::uint32_t>(a.at("to"));
      x.block = number_of(m_blocks, m_made.blocks, e.at("name").get<std::string>());
      x.track = tid - 1;
      x.bytes = whole<std::uint64_t>(a.at("bytes"));
      x.issued = time_of(a.at("issued")), x.started = start, x.ended = start + length;
      x.write_back = a.at("write_back").get<bool>();
      m_made.transfers.push_back(x);
    } else if (category == "fence") {
      m_made.fences.push_back({tid - 1, start, start + length});
    } else if (category == "wait") {
      m_made.waits.push_back(
          {tid - 1, start, start + length, e.at("name").get<std::string>() == "waits for a barrier"});
    } else if (category == "slab") {
      m_made.slabs.push_back({tid, whole<std::uint64_t>(a.at("bytes")), start, start + length});
    } else if (category == "memory") {
      m_samples.emplace_back(tid, memory_sample{start, whole<std::uint64_t>(a.at("bytes"))});
    } else if (category == "eviction") {
      m_made.evictions.push_back({tid, number_of(m_blocks, m_made.blocks, a.at("block").get<std::string>()),
                                  whole<std::uint64_t>(a.at("bytes")), start, a.at("written_back").get<bool>()});
    }
  }

  void read_head(const json& head) {
    m_made.title = head.at("title").get<std::string>();
    m_made.machine = head.at("machine").get<std::string>();
    m_made.length = time_of(head.at("length"));
    m_made.dropped = whole<std::uint64_t>(head.at("dropped"));
    m_made.unfinished = whole<std::uint64_t>(head.at("unfinished"));
    for (const json& p : head.at("places"))
      m_made.places.push_back({p.at("name").get<std::string>(), p.at("host").get<bool>(),
                               whole<std::uint32_t>(p.at("parallelism")), rate_of(p, "flops"),
                               rate_of(p, "bandwidth")});
    for (const json& t : head.at("tracks")) {
      track made{t.at("name").get<std::string>(), track_kind::worker, whole<std::uint32_t>(t.at("place"))};
      const auto kind = t.at("kind").get<std::string>();
      bool known = false;
      for (const track_kind k :
           {track_kind::worker, track_kind::stream, track_kind::program, track_kind::link, track_kind::interpreter})
        if (kind == word_of(k)) made.kind = k, known = true;
      if (!known) fail(fmt::format("a track of kind '{}' is unknown", kind));
      m_made.tracks.push_back(made);
    }
    for (const json& s : head.at("spaces"))
      m_made.spaces.push_back({s.at("name").get<std::string>(),
                               s.at("limit").is_null() ? ~std::uint64_t{0} : whole<std::uint64_t>(s.at("limit")),
                               {}});
    for (const json& l : head.at("links"))
      m_made.links.push_back(
          {whole<std::uint32_t>(l.at("from")), whole<std::uint32_t>(l.at("to")), l.at("bandwidth").get<double>()});
  }

  /// Everything that refers to something else finds it.
  void finish() {
    const auto check = [&](bool right, const char* what) {
      if (!right) fail(fmt::format("{} that is not there is named", what));
    };
    const std::size_t tracks = m_made.tracks.size(), spaces = m_made.spaces.size();
    for (const track& t : m_made.tracks)
      check(t.place < m_made.places.size() || (t.kind != track_kind::worker && t.kind != track_kind::stream),
            "a place");
    for (const recording::place& p : m_made.places)
      if (p.parallelism == 0) fail(fmt::format("the place {} has no workers", p.name));
    for (const task& t : m_made.tasks) check(t.track < tracks && t.submitter < tracks, "a worker");
    for (const std::uint32_t p : m_made.predecessors) check(p < m_made.tasks.size(), "a task");
    for (const transfer& x : m_made.transfers) check(x.track < tracks && x.from < spaces && x.to < spaces, "a link");
    for (const fence& f : m_made.fences) check(f.track < tracks, "a worker");
    for (const program_wait& w : m_made.waits) check(w.track < tracks, "a worker");
    for (const eviction& e : m_made.evictions) check(e.space < spaces, "a memory");
    for (const slab& s : m_made.slabs) check(s.space < spaces, "a memory");
    for (const auto& [space, sample] : m_samples) {
      check(space < spaces, "a memory");
      m_made.spaces[space].samples.push_back(sample);
    }
    for (const task& t : m_made.tasks) m_made.length = std::max(m_made.length, t.ended);
    for (const transfer& x : m_made.transfers) m_made.length = std::max(m_made.length, x.ended);
    for (const fence& f : m_made.fences) m_made.length = std::max(m_made.length, f.ended);
    for (const program_wait& w : m_made.waits) m_made.length = std::max(m_made.length, w.ended);
  }

  std::string m_file, m_key, m_broken;
  std::uint64_t m_events = 0;
  timeline m_made;
  std::unordered_map<std::string, std::uint32_t> m_operations, m_sites, m_blocks;
  std::vector<std::pair<std::uint32_t, memory_sample>> m_samples;
};

}  // namespace

timeline read_chrome(std::istream& from, const std::string& file) { return reader(file).run(from); }

timeline read_chrome(const std::string& file) {
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored))
    throw error(error_kind::input, "cannot open the trace: Is a directory", file, hint);
  errno = 0;
  std::ifstream from(file, std::ios::binary);
  if (!from) throw error(error_kind::input, fmt::format("cannot open the trace: {}", std::strerror(errno)), file, hint);
  return read_chrome(from, file);
}

}  // namespace tessera::trace
