#include "apps/deepcopy/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/common/model_line.hpp"
#include "apps/common/session.hpp"
#include "apps/common/value_options.hpp"
#include "apps/deepcopy/cycle.hpp"
#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

using namespace deepcopy;

struct deepcopy_options : command_options {
  std::string scenario = "linear", layout = "allinit-allused", scheme = "marshalling", at;
  std::int64_t k = 10, q = 4, n = 10'000, repetitions = 0;
  bool verify = false;
};

constexpr std::int64_t max_repetitions = 10'000, min_repetitions = 5;
constexpr double enough_precision = 0.01, enough_seconds = 10;

/// Whether the machine has one memory where something computes.
bool has_one_memory(const command_options& o) {
  const machine m = hierarchy::assemble(o.load());
  const auto nodes = m.tree.subtree(m.tree.root());
  return 2 > std::ranges::count_if(nodes, [&](location::node_id node) {
           const auto& space = m.tree.at(node).properties.space;
           return space && m.plugins->devices()[space->device]->description().device_class != TSR_DEVICE_STORAGE;
         });
}

/// The options, with two memories of the host where the machine has one memory alone: so that copies are copies.
command_options with_two_memories(command_options o) {
  if (has_one_memory(o))
    o.set.insert(o.set.begin(), {"topology.synthetic=numa:2 core:1 pu:1", "plugin.host.domains=2"});
  return o;
}

/// Throws tessera::error (memory) where the structure has stayed at the host, since a device's memory is too small:
/// that is no measurement of the way there.
void require_moved(const destination& to, const std::string& scheme, const cycle_result& seen, std::uint64_t bytes) {
  if (scheme == "shared" || to.is_host() || seen.moved_in.transfers > 0) return;
  throw error(error_kind::memory, fmt::format("{} do not fit the memory of '{}'", format_bytes(bytes), to.name()),
              "--at", "take a smaller --n, --k or --q, or another location");
}

/// Runs cycles as often as was asked for, or until the mean is known well enough.
template <class Structure>
std::pair<cycle_result, cycle_means> run_cycles(const session& s, const cycle_setup& setup, const deepcopy_options& o,
                                                const typename Structure::size_type& size) {
  cycle_setup first = setup;
  first.poison = o.verify;
  const cycle_result seen = run_cycle<Structure>(first, o.scheme, size, true);  // also touches all memory
  require_moved(setup.to, o.scheme, seen, size.nominal_bytes());
  cycle_means means;
  const auto wanted = [&] {
    if (o.repetitions > 0) return means.count() < o.repetitions;
    if (means.count() < min_repetitions) return true;
    return means.error() > enough_precision && means.count() < max_repetitions &&
           means.mean(&cycle_result::whole) * static_cast<double>(means.count()) < enough_seconds;
  };
  while (wanted()) {
    s.check_interrupt();
    means.add(run_cycle<Structure>(setup, o.scheme, size, false));
  }
  return {seen, means};
}

/// The two ways beside what the memory or the link allows: within the host, a byte that moves is read and written.
void add_ways(report& to, session& s, const destination& at, const cycle_result& seen, double seconds) {
  const auto bytes = static_cast<double>(seen.moved_in.bytes + seen.moved_back.bytes);
  workload did{bytes};
  std::vector<link_traffic> links;
  if (at.is_host()) {
    did.regions.push_back({"copies", 2 * bytes, 0, 0});
  } else if (bytes > 0) {
    const auto node = s.rt().tree().find(at.name());
    links.push_back({"to " + at.name() + " and back", bytes, node ? s.rt().tree().at(*node).properties.bandwidth : 0});
  }
  add_model(to, s, seconds, did, {}, links);
}

template <class Structure>
int run(const deepcopy_options& o, const typename Structure::size_type& size) {
  session s(with_two_memories(o));
  const destination to(s.rt(), o.at);
  const cycle_setup setup{s.rt(), to};
  s.require_memory(2 * static_cast<double>(size.nominal_bytes()), "the structure's copies");
  const auto [seen, means] = run_cycles<Structure>(s, setup, o, size);

  report r;
  s.describe(r);
  r.add("scenario", "structure", size.text(), o.scenario);
  if (o.scenario == "linear") r.add("layout", "layout", o.layout);
  r.add("scheme", "scheme", o.scheme);
  r.add("destination", "copied to", to.is_only_memory() ? to.name() + ", the only memory: nothing moves" : to.name(),
        to.name());
  r.add_integer("nominal_bytes", "nominal", static_cast<std::int64_t>(size.nominal_bytes()));
  const auto moved = [&r](const char* key, const char* label, const traffic& t) {
    r.add("", label, fmt::format("{} in {} transfers", format_bytes(t.bytes), t.transfers), nullptr);
    r.note(std::string("bytes_") + key, t.bytes);
    r.note(std::string("transfers_") + key, t.transfers);
  };
  moved("in", "moved in", seen.moved_in);
  moved("back", "moved back", seen.moved_back);
  r.add_integer("pointers", "pointers", static_cast<std::int64_t>(seen.pointers));
  const auto time = [&, means = means](const char* key, const char* label, double cycle_result::*of) {
    r.add(key, label, format_seconds(means.mean(of)), means.mean(of));
  };
  time("cycle_seconds", "cycle", &cycle_result::whole);
  time("in_seconds", "way in", &cycle_result::in);
  time("kernel_seconds", "kernel", &cycle_result::kernel);
  time("back_seconds", "way back", &cycle_result::back);
  add_ways(r, s, to, seen, means.mean(&cycle_result::in) + means.mean(&cycle_result::back));
  r.add("repetitions", "repetitions",
        fmt::format("{}  (standard error of the cycle {:.2g} %)", means.count(), 100 * means.error()), means.count());
  r.note("relative_error", means.error());
  r.add("wrong", "check", seen.wrong == 0 ? "all elements are right" : fmt::format("{} elements are wrong", seen.wrong),
        seen.wrong);
  s.finish(r);
  if (seen.wrong == 0) return 0;
  fmt::print(stderr, "error: {} elements do not hold what they should\n", seen.wrong);
  return 1;
}

int run(const deepcopy_options& o) {
  if (o.scenario == "dense") return run<dense>(o, {o.q, o.n});
  const std::map<std::string, list_layout> layouts{{"allinit-allused", list_layout::all_all},
                                                   {"allinit-llused", list_layout::all_last},
                                                   {"llinit-llused", list_layout::last_last}};
  return run<linear>(o, {o.k, o.n, layouts.at(o.layout)});
}

}  // namespace

void add_deepcopy(command_table& to) {
  auto o = std::make_shared<deepcopy_options>();
  command_table& sub = to.add_command("deepcopy", "Ways of moving nested structures to another memory and back");
  sub.add({{"--scenario",
            &o->scenario,
            "",
            "linear: a list of structures; dense: a tree of height 3",
            {.choices = {"linear", "dense"}, .shows_default = true}},
           {"--layout",
            &o->layout,
            "",
            "of the list, which arrays there are and which are used: allinit-allused, allinit-llused, "
            "llinit-llused (ll: that of the last structure alone)",
            {.choices = {"allinit-allused", "allinit-llused", "llinit-llused"}, .shows_default = true}},
           {"--scheme",
            &o->scheme,
            "",
            "shared, marshalling, chain or block-by-block",
            {.choices = {"shared", "marshalling", "chain", "block-by-block"}, .shows_default = true}},
           number_option("--k", o->k, "structures of the list", 1, 10'000),
           number_option("--q", o->q, "children of each node of the tree", 1, 64),
           number_option("--n", o->n, "numbers of each array", 1, 1'000'000'000),
           number_option("--repetitions", o->repetitions, "cycles that are timed; 0: until the mean is known to 1 %", 0,
                         1'000'000),
           {"--at", &o->at, "LOCATION", "the location to copy to; else the first device, or the host's last memory"},
           {"--verify", &o->verify, "", "fill the destination with other values before the first cycle's copies"}});
  o->add_run_options(sub);
  sub.footer =
      "Example:\n  tessera deepcopy --scenario linear --layout llinit-llused --scheme chain --n 1000000 --verify\n"
      "Ends with 1 when an element is not what it should be.";
  sub.check = [o, &sub] {
    const bool list = o->scenario == "linear";
    for (const char* other : list ? std::vector<const char*>{"--q"} : std::vector<const char*>{"--layout", "--k"})
      if (sub.is_given(other))
        throw error(error_kind::usage, fmt::format("'{}' is no option of --scenario {}", other, o->scenario), other,
                    list ? "a list takes --layout and --k; --scenario dense is a tree, which takes --q"
                         : "a tree takes --q; --scenario linear is a list, which takes --layout and --k");
  };
  sub.run = [o] { return run(*o); };
}

}  // namespace tessera::apps
