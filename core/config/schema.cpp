#include "core/config/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace tessera::config {
namespace {

constexpr std::uint64_t KiB = 1ull << 10, TiB = 1ull << 40, PiB = 1ull << 50;

constexpr std::array keys{
    key{"runtime", "workers", key_type::integer, 0, 65535, "", false,
        "Threads that run host tasks, the waiting thread included; 0: one per core allowed.",
        [](settings& s) -> field { return &s.runtime.workers; }},
    key{"runtime", "bind", key_type::boolean, 0, 0, "", false,
        "Bind each worker to the CPUs of its core, inside the set that the process inherited.",
        [](settings& s) -> field { return &s.runtime.bind; }},
    key{"runtime", "placement", key_type::text, 0, 0, "eager|locality|pinned|cost|plugin:*", false,
        "How a place is chosen for a task. `eager`: the shortest queue; `locality`: the lowest sum of transfer "
        "and queued time; `pinned`: where the task says; `cost`: the earliest estimated finish; `plugin:NAME`: "
        "the choice of that plugin.",
        [](settings& s) -> field { return &s.runtime.placement; }},
    key{"runtime", "history", key_type::text, 0, 0, "auto|off", true,
        "Where learnt times are kept from run to run, for placement cost and plugins that place tasks. A file per "
        "machine in the user's cache folder (auto), no file (off), or the path of a file.",
        [](settings& s) -> field { return &s.runtime.history; }},
    key{"runtime", "kernel_cache", key_type::text, 0, 0, "auto|off", true,
        "Where kernels that were compiled at run time are kept: auto (the user's cache folder), off, or the path "
        "of a folder that only its owner can write to.",
        [](settings& s) -> field { return &s.runtime.kernel_cache; }},
    key{"runtime", "kernel_cache_limit", key_type::size, 1, PiB, "", false,
        "Bytes of compiled kernels above which the least recently used ones are removed.",
        [](settings& s) -> field { return &s.runtime.kernel_cache_limit; }},
    key{"runtime", "window_tasks", key_type::integer, 1, 1ull << 32, "", false,
        "Unfinished tasks above which a submitting thread runs tasks itself.",
        [](settings& s) -> field { return &s.runtime.window_tasks; }},
    key{"runtime", "window_bytes", key_type::size, 0, PiB, "", false,
        "Bytes of unfinished tasks' blocks above which a submitting thread runs tasks itself; 0: no limit.",
        [](settings& s) -> field { return &s.runtime.window_bytes; }},
    key{"runtime", "spin", key_type::duration, 0, 1'000'000'000, "", false,
        "How long an idle worker spins before it sleeps, and on machines with 8 processors or more a device's driver "
        "with "
        "work under way; at most one second.",
        [](settings& s) -> field { return &s.runtime.spin_ns; }},
    key{"runtime", "plugins", key_type::text_list, 0, 0, "", false,
        "Plugins to open, in this order: names, or absolute paths of files.",
        [](settings& s) -> field { return &s.runtime.plugins; }},
    key{"runtime", "plugin_path", key_type::text_list, 0, 0, "", false,
        "Absolute directories to look for plugins in; empty: beside the library.",
        [](settings& s) -> field { return &s.runtime.plugin_path; }},
    key{"runtime", "layers", key_type::text_list, 0, 0, "", false,
        "Plugins that wrap others, each as \"layer:wrapped\"; the first is the innermost.",
        [](settings& s) -> field { return &s.runtime.layers; }},
    key{"runtime", "detached", key_type::text_list, 0, 0, "", false,
        "Locations whose devices take no tasks until the program attaches them.",
        [](settings& s) -> field { return &s.runtime.detached; }},
    key{"runtime", "watchdog", key_type::duration, 0, 31'536'000'000'000'000, "", false,
        "How long one piece of work may take on a device's stream before it counts as hanging and the run ends with "
        "an error that names it. 0 s: no limit.",
        [](settings& s) -> field { return &s.runtime.watchdog_ns; }},
    key{"runtime", "plugin_patience", key_type::duration, 0, 31'536'000'000'000'000, "", false,
        "How long one call of a plugin may take while plugins are opened before the command ends with an error "
        "that names it; a note appears after 10 s. 0 s: no limit.",
        [](settings& s) -> field { return &s.runtime.plugin_patience_ns; }},
    key{"runtime", "patience", key_type::duration, 0, 31'536'000'000'000'000, "", false,
        "How long a thread that holds host views waits for another view, or for room for a replay, when nothing runs "
        "and only threads without views do not wait. After that the call is an error that names the views. If all "
        "threads wait, it is one at once. A thread that sits in a join does not wait in this sense.",
        [](settings& s) -> field { return &s.runtime.view_patience_ns; }},
    key{"runtime", "survive_loss", key_type::boolean, 0, 0, "", false,
        "Continue without a lost device: a fence names the blocks that only it had; false: the run is cancelled.",
        [](settings& s) -> field { return &s.runtime.survive_loss; }},
    key{"runtime", "copy_retries", key_type::integer, 0, 1000, "", false,
        "How often a failed copy is retried from the same memory before the task that needs it fails.",
        [](settings& s) -> field { return &s.runtime.copy_retries; }},
    key{"runtime", "checked_copies", key_type::boolean, 0, 0, "", false,
        "Start a device task only after its copies have arrived, so that failed copies can be retried. With false, "
        "tasks "
        "are enqueued after their copies until the first failure of a run, which may cost tasks and their blocks.",
        [](settings& s) -> field { return &s.runtime.checked_copies; }},
    key{"runtime", "graphs", key_type::boolean, 0, 0, "", false,
        "Replays hand whole segments of a recording to devices that offer graphs, as one launch each.",
        [](settings& s) -> field { return &s.runtime.graphs; }},
    key{"runtime", "batch", key_type::integer, 1, 4096, "", false,
        "Most ready tasks that are given to a device as one launch, if they differ in their blocks alone and "
        "operation and device take batches. 1: no batches, as with deterministic and validate.",
        [](settings& s) -> field { return &s.runtime.batch; }},
    key{"runtime", "deterministic", key_type::boolean, 0, 0, "", false,
        "Sum accumulates in the order of their submission, so that results do not depend on workers and places. At "
        "most four additions to a block run at the same time then.",
        [](settings& s) -> field { return &s.runtime.deterministic; }},
    key{"runtime", "trace", key_type::boolean, 0, 0, "", false,
        "Record every task, transfer and wait; runtime.report and runtime.trace_file turn it on.",
        [](settings& s) -> field { return &s.runtime.trace; }},
    key{"runtime", "report", key_type::text, 0, 0, "", true,
        "HTML page that is written when the runtime ends: timeline, waits, transfers, memory, critical path. `%p` is "
        "the "
        "process's number. Also TESSERA_REPORT, and --report of a command.",
        [](settings& s) -> field { return &s.runtime.report; }, "TESSERA_REPORT"},
    key{"runtime", "trace_file", key_type::text, 0, 0, "", true,
        "Recording that is written when the runtime ends, for Perfetto and `tessera trace`. Also TESSERA_TRACE, and "
        "--trace of a command.",
        [](settings& s) -> field { return &s.runtime.trace_file; }, "TESSERA_TRACE"},
    key{"runtime", "stats", key_type::boolean, 0, 0, "", false,
        "Print what the runtime did to standard error when it ends: tasks, transfers, memory. Also TESSERA_STATS.",
        [](settings& s) -> field { return &s.runtime.stats; }, "TESSERA_STATS"},
    key{"runtime", "trace_limit", key_type::size, 0, PiB, "", false,
        "Bytes of recorded events above which further ones are counted and dropped; a host task takes about 100.",
        [](settings& s) -> field { return &s.runtime.trace_limit; }},
    key{"runtime", "validate", key_type::boolean, 0, 0, "", false,
        "Look for unordered accesses, wrong intents and uses after the end, at several times the cost; --validate of a "
        "command "
        "turns it on.",
        [](settings& s) -> field { return &s.runtime.validate; }},
    key{"memory", "host_limit", key_type::size, 0, PiB, "", false,
        "Bytes of blocks that each host space may hold, even more than the limits of the process leave; 0: what "
        "the machine has and these limits leave.",
        [](settings& s) -> field { return &s.runtime.host_limit; }},
    key{"memory", "slab_bytes", key_type::size, 64 * KiB, TiB, "", false,
        "Size of the slabs that plugins allocate and the core carves into blocks; the first slabs of a memory of "
        "16 or more are smaller.",
        [](settings& s) -> field { return &s.runtime.slab_bytes; }},
    key{"memory", "eviction", key_type::text, 0, 0, "next_use|lru|fifo", false,
        "Which replica leaves a full memory first: the one whose next use is last, the least recently used, or "
        "the one that came first.",
        [](settings& s) -> field { return &s.runtime.eviction; }},
    key{"memory", "high_watermark", key_type::integer, 1, 100, "", false,
        "Percent of a memory's limit above which blocks leave in the background, once it has been full.",
        [](settings& s) -> field { return &s.runtime.high_watermark; }},
    key{"memory", "low_watermark", key_type::integer, 1, 100, "", false,
        "Percent of a memory's limit down to which they leave.",
        [](settings& s) -> field { return &s.runtime.low_watermark; }},
    key{"memory", "write_ahead", key_type::integer, 0, 100, "", false,
        "Percent of a full memory's limit kept ready to leave at once: the next to go are copied to the parent memory "
        "ahead of time.",
        [](settings& s) -> field { return &s.runtime.write_ahead; }},
    key{"memory", "patience", key_type::duration, 0, 31'536'000'000'000'000, "", false,
        "How long tasks wait for a full memory when nothing runs any more and only a thread of the program that "
        "does not wait could make room. If all of them wait, have ended, or wait elsewhere "
        "(`runtime::waiting_elsewhere`), the task is given up at once.",
        [](settings& s) -> field { return &s.runtime.patience_ns; }},
    key{"memory", "staging_bytes", key_type::size, 64 * KiB, TiB, "", false,
        "Size of each device's staging ring in host memory.",
        [](settings& s) -> field { return &s.runtime.staging_bytes; }},
    key{"memory", "registration_limit", key_type::size, 0, PiB, "", false,
        "Bytes of the program's own memory that are kept registered with devices.",
        [](settings& s) -> field { return &s.runtime.registration_limit; }},
    key{"memory", "huge_pages", key_type::boolean, 0, 0, "", false, "Ask the system for huge pages behind host slabs.",
        [](settings& s) -> field { return &s.runtime.huge_pages; }},
    key{"topology", "synthetic", key_type::text, 0, 0, "", false,
        "Describe a machine in hwloc's synthetic form instead of looking at this one; nothing is bound then.",
        [](settings& s) -> field { return &s.topology.synthetic; }},
    key{"topology", "xml", key_type::text, 0, 0, "", true,
        "Read the machine from an XML file written by lstopo instead of looking at this one; nothing is bound then.",
        [](settings& s) -> field { return &s.topology.xml; }},
    key{"topology", "declarations", key_type::text, 0, 0, "", true,
        "A file of loctypes, locations and hierarchy in the older CSV form; it replaces those of the TOML files.",
        [](settings& s) -> field { return &s.topology.declarations; }},
    key{"region", "policy", key_type::text, 0, 0, "", false,
        "Policy of regions that say `runtime`: static, flatten, any, auto, percentage:[...] or "
        "range:[...].",
        [](settings& s) -> field { return &s.region.policy; }},
};

}  // namespace

std::string_view description_of(key_type type) noexcept {
  switch (type) {
    case key_type::boolean:
      return "true or false";
    case key_type::integer:
      return "an integer";
    case key_type::size:
      return "a size such as \"64 MiB\", or a number of bytes";
    case key_type::duration:
      return "a duration such as \"50 us\"";
    case key_type::text:
      return "text in quotes";
    case key_type::text_list:
      return "a list of texts such as [\"host\", \"sim\"]";
  }
  return "a value";
}

std::vector<std::string> key::words() const {
  std::vector<std::string> all;
  for (std::string_view rest = choices; !rest.empty();) {
    const auto end = std::min(rest.find('|'), rest.size());
    all.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

std::string key::full_name() const { return fmt::format("{}.{}", section, name); }

std::string key::environment_variable() const {
  std::string text = fmt::format("TESSERA_{}_{}", section, name);
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::span<const key> schema() noexcept { return keys; }

std::vector<std::string> sections() {
  std::vector<std::string> names;
  for (const key& k : keys)
    if (names.empty() || names.back() != k.section) names.emplace_back(k.section);
  return names;
}

const key* find_key(std::string_view section, std::string_view name) noexcept {
  for (const key& k : keys)
    if (k.section == section && k.name == name) return &k;
  return nullptr;
}

}  // namespace tessera::config
