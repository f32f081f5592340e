#include "hierarchy/simulation/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/units.hpp"
#include "core/block/space_set.hpp"
#include "core/config/toml.hpp"

namespace tessera::hierarchy {
namespace {

using config::value;

[[noreturn]] void wrong(const value& at, std::string message, std::string hint = {}) {
  throw error(error_kind::configuration, std::move(message), at.where, std::move(hint));
}

/// One table with the keys that it may have: each is asked for by name, then `finish` complains about what is left.
class section {
 public:
  section(const config::table& members, std::string name, std::string where)
      : m_members(members), m_name(std::move(name)), m_where(std::move(where)) {}

  const value* find(const std::string& key) {
    m_known.push_back(key);
    for (const config::named_value& m : m_members)
      if (m.name == key) return &m.value;
    return nullptr;
  }
  const value& need(const std::string& key) {
    if (const value* v = find(key)) return *v;
    throw error(error_kind::configuration, fmt::format("{} has no {}", m_name, key), m_where,
                fmt::format("add {} = ...", key));
  }
  void text(const std::string& key, std::string& to) {
    const value* v = find(key);
    if (v == nullptr) return;
    if (!v->get<std::string>()) wrong(*v, fmt::format("{}.{} wants text, not {}", m_name, key, v->type_name()));
    to = *v->get<std::string>();
  }
  void integer(const std::string& key, std::uint32_t& to, std::int64_t least, std::int64_t most) {
    const value* v = find(key);
    if (v == nullptr) return;
    const auto* number = v->get<std::int64_t>();
    if (number == nullptr) wrong(*v, fmt::format("{}.{} wants an integer, not {}", m_name, key, v->type_name()));
    if (*number < least || *number > most)
      wrong(*v, fmt::format("{}.{} = {} is out of range: it must be {} to {}", m_name, key, *number, least, most));
    to = static_cast<std::uint32_t>(*number);
  }
  /// Every key at once, before any is read: an unknown one is what is missing under another name.
  void only(std::vector<std::string> keys) {
    m_known = std::move(keys);
    finish();
  }
  void bytes(const std::string& key, std::uint64_t& to) {
    const value* v = find(key);
    if (v == nullptr) return;
    const auto* said = v->get<std::string>();
    const auto number = said != nullptr ? parse_bytes(*said) : std::nullopt;
    if (!number || *number <= 0)
      refuse(key, *v, "a size above 0 such as \"80 GB\"", "units are B, KiB, MiB, GiB, TiB and kB, MB, GB, TB");
    to = static_cast<std::uint64_t>(*number);
  }
  void rate(const std::string& key, double& to, rate_of what) {
    const value* v = find(key);
    if (v == nullptr) return;
    const auto* said = v->get<std::string>();
    const auto number = said != nullptr ? parse_rate(*said, what) : std::nullopt;
    if (!number || !(*number > 0) || !std::isfinite(*number))
      refuse(key, *v, fmt::format("a rate above 0 such as \"{}\"", what == rate_of::bytes ? "64 GB/s" : "67 TFLOP/s"),
             what == rate_of::bytes ? "it is of bytes, in B/s, GB/s, GiB/s, TB/s and such"
                                    : "it is of operations, in FLOP/s, GFLOP/s, TFLOP/s and such");
    to = *number;
  }
  void duration(const std::string& key, std::uint64_t& to) {
    const value* v = find(key);
    if (v == nullptr) return;
    const auto* said = v->get<std::string>();
    const auto number = said != nullptr ? parse_duration(*said) : std::nullopt;
    if (!number || *number < 0)
      refuse(key, *v, "a duration from 0 on such as \"5 us\"", "units are ns, us, ms, s, min");
    to = static_cast<std::uint64_t>(*number);
  }
  void finish() const {
    for (const config::named_value& m : m_members)
      if (std::ranges::find(m_known, m.name) == m_known.end()) {
        const std::string near = suggest(m.name, m_known);
        wrong(m.value, fmt::format("{} has no key '{}'", m_name, m.name),
              near.empty() ? fmt::format("its keys are {}", fmt::join(m_known, ", "))
                           : fmt::format("did you mean '{}'?", near));
      }
  }
  const std::string& name() const noexcept { return m_name; }
  const std::string& where() const noexcept { return m_where; }

 private:
  [[noreturn]] void refuse(const std::string& key, const value& is, std::string_view wants, std::string hint) const {
    const auto* said = is.get<std::string>();
    wrong(is,
          fmt::format("{}.{} wants {}, not {}", m_name, key, wants,
                      said != nullptr ? '"' + *said + '"' : std::string(is.type_name())),
          std::move(hint));
  }

  const config::table& m_members;
  std::string m_name, m_where;
  std::vector<std::string> m_known;
};

const config::table& table_of(const value& v, const std::string& name) {
  if (const auto* t = v.get<config::table>()) return *t;
  wrong(v, fmt::format("{} is a table, not {}", name, v.type_name()), fmt::format("write [{}]", name));
}

double number_of(const value& v, const std::string& name) {
  if (const auto* integer = v.get<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* number = v.get<double>()) return *number;
  wrong(v, fmt::format("{} wants numbers, not {}", name, v.type_name()), "write [[size, share], [size, share], ...]");
}

efficiency_curve read_curve(const value& v, const std::string& name) {
  efficiency_curve curve;
  const auto* points = v.get<config::array>();
  if (points == nullptr || points->empty())
    wrong(v, fmt::format("{} wants a list of pairs", name), "write [[size, share], [size, share], ...]");
  for (const value& p : *points) {
    const auto* pair = p.get<config::array>();
    if (pair == nullptr || pair->size() != 2)
      wrong(p, fmt::format("{} wants pairs of a size and a share of the peak", name),
            "write [[size, share], [size, share], ...]");
    const efficiency_curve::point at{number_of((*pair)[0], name), number_of((*pair)[1], name)};
    if (!(at.size > 0)) wrong(p, fmt::format("{}: a size must be above 0", name));
    if (!(at.share > 0) || at.share > 1)
      wrong(p, fmt::format("{}: a share of the peak is above 0 and at most 1", name));
    if (!curve.points.empty() && at.size <= curve.points.back().size)
      wrong(p, fmt::format("{}: sizes must ascend", name));
    curve.points.push_back(at);
  }
  return curve;
}

void read_speed(section& from, described_speed& to, const std::string& overhead) {
  from.rate("peak_f64", to.peak_f64, rate_of::operations);
  if (to.peak_f64 == 0) from.need("peak_f64");
  to.peak_f32 = 2 * to.peak_f64;
  from.rate("peak_f32", to.peak_f32, rate_of::operations);
  from.rate("memory_bandwidth", to.memory_bandwidth, rate_of::bytes);
  if (to.memory_bandwidth == 0) from.need("memory_bandwidth");
  from.duration(overhead, to.overhead_ns);
  const value* shares = from.find("efficiency");
  if (shares == nullptr) return;
  section curves(table_of(*shares, from.name() + ".efficiency"), from.name() + ".efficiency", shares->where);
  for (std::size_t k = 0; k < timed_operation_names.size(); ++k) {
    const std::string operation(timed_operation_names[k]);
    if (const value* v = curves.find(operation))
      to.efficiency[k] = read_curve(*v, curves.name() + "." + operation);
    else if (k > 0)
      to.efficiency[k] = to.efficiency[0];  // as gemm
  }
  curves.finish();
}

/// Calls read(section) for each [[name]].
void for_each_table(section& top, const std::string& name, const std::function<void(section&)>& read) {
  const value* all = top.find(name);
  if (all == nullptr) return;
  const auto* list = all->get<config::array>();
  if (list == nullptr)
    wrong(*all, fmt::format("{} is a list of tables, not {}", name, all->type_name()),
          fmt::format("write [[{}]]", name));
  for (const value& entry : *list) {
    section one(table_of(entry, name), name, entry.where);
    read(one);
    one.finish();
  }
}

constexpr std::uint32_t max_threads = 65'000;  // a runtime numbers them with 16 bits

void check(const machine_description& m, const std::string& file) {
  std::vector<std::string> names{"host"};
  for (const described_device& d : m.devices) {
    if (std::ranges::find(names, d.name) != names.end())
      throw error(error_kind::configuration, fmt::format("there are two places called '{}'", d.name), d.where,
                  "count = N makes several devices of one kind");
    names.push_back(d.name);
  }
  if (m.device_count() + m.host.domains > block::space_set::max_spaces)
    throw error(error_kind::configuration,
                fmt::format("{} devices and {} memory domains are more than the {} memories that a runtime takes",
                            m.device_count(), m.host.domains, block::space_set::max_spaces),
                file);
  if (m.host.domains * m.host.cores + m.device_count() > max_threads)
    throw error(error_kind::configuration,
                fmt::format("{} cores and {} devices are more than the {} threads that a runtime has",
                            m.host.domains * m.host.cores, m.device_count(), max_threads),
                file, "describe several cores as one");
  for (std::size_t k = 0; k < m.links.size(); ++k) {
    const described_link& l = m.links[k];
    for (const std::string& end : {l.from, l.to})
      if (std::ranges::find(names, end) == names.end()) {
        const std::string near = suggest(end, names);
        throw error(error_kind::configuration, fmt::format("a link names '{}', and there is no such place", end),
                    l.where,
                    near.empty() ? fmt::format("places are {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", near));
      }
    if (l.from == "host" && l.to == "host")
      throw error(error_kind::configuration, "memory domains of the host need no link", l.where,
                  "host.bandwidth is what lies between them");
    for (std::size_t j = 0; j < k; ++j)
      if ((m.links[j].from == l.from && m.links[j].to == l.to) || (m.links[j].from == l.to && m.links[j].to == l.from))
        throw error(error_kind::configuration, fmt::format("'{}' and '{}' are linked twice", l.from, l.to), l.where);
  }
  for (const described_device& d : m.devices)
    if (std::ranges::none_of(m.links, [&](const described_link& l) {
          return (l.from == "host" && l.to == d.name) || (l.to == "host" && l.from == d.name);
        }))
      throw error(error_kind::configuration, fmt::format("'{}' has no link to the host", d.name), d.where,
                  fmt::format("add [[link]] with between = [\"host\", \"{}\"]", d.name));
}

}  // namespace

double efficiency_curve::at(double size) const noexcept {
  if (points.empty()) return 1;
  if (size <= points.front().size) return points.front().share;
  for (std::size_t k = 1; k < points.size(); ++k) {
    if (size > points[k].size) continue;
    const point &low = points[k - 1], &high = points[k];
    const double part = std::log(size / low.size) / std::log(high.size / low.size);
    return low.share + part * (high.share - low.share);
  }
  return points.back().share;
}

machine_description parse_machine(std::string_view toml, const std::string& name) {
  const config::table members = config::parse_toml(toml, name);
  machine_description m;
  m.name = name;
  section top(members, "a machine", name);
  top.only({"name", "host", "device", "link", "runtime"});
  top.text("name", m.name);
  const value& host = top.need("host");
  section h(table_of(host, "host"), "host", host.where);
  h.integer("domains", m.host.domains, 1, 16);
  h.integer("cores", m.host.cores, 1, max_threads);
  h.bytes("memory", m.host.memory_bytes);
  h.rate("bandwidth", m.host.bandwidth, rate_of::bytes);
  if (m.host.domains > 1 && m.host.bandwidth == 0) h.need("bandwidth");
  read_speed(h, m.host.core, "overhead");
  h.finish();
  for_each_table(top, "device", [&](section& s) {
    described_device d;
    d.where = s.where();
    s.text("name", d.name);
    if (d.name.empty()) s.need("name");
    s.integer("count", d.count, 1, block::space_set::max_spaces - 1);
    s.bytes("memory", d.memory_bytes);
    if (d.memory_bytes == 0) s.need("memory");
    s.integer("kernels", d.kernels, 1, 128);
    read_speed(s, d.speed, "launch");
    m.devices.push_back(std::move(d));
  });
  for_each_table(top, "link", [&](section& s) {
    described_link l;
    l.where = s.where();
    const value& ends = s.need("between");
    const auto* list = ends.get<config::array>();
    if (list == nullptr || list->size() != 2 || !(*list)[0].get<std::string>() || !(*list)[1].get<std::string>())
      wrong(ends, "link.between wants two names", "write between = [\"host\", \"gpu\"]");
    l.from = *(*list)[0].get<std::string>();
    l.to = *(*list)[1].get<std::string>();
    s.rate("bandwidth", l.bandwidth, rate_of::bytes);
    if (l.bandwidth == 0) s.need("bandwidth");
    s.duration("latency", l.latency_ns);
    s.integer("at_once", l.at_once, 0, 1 << 16);
    m.links.push_back(std::move(l));
  });
  if (const value* costs = top.find("runtime")) {
    section r(table_of(*costs, "runtime"), "runtime", costs->where);
    r.duration("submit", m.runtime.submit_ns);
    r.duration("host_task", m.runtime.host_task_ns);
    r.duration("device_task", m.runtime.device_task_ns);
    r.finish();
  }
  check(m, name);
  return m;
}

machine_description read_machine(const std::string& file) { return parse_machine(config::read_text_file(file), file); }

}  // namespace tessera::hierarchy
