#include "apps/simulate/command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "apps/common/interrupt.hpp"
#include "apps/common/process_memory.hpp"
#include "apps/common/report.hpp"
#include "apps/common/session.hpp"
#include "apps/simulate/job.hpp"
#include "core/base/units.hpp"
#include "core/runtime/learnt_times.hpp"
#include "core/trace/chrome.hpp"
#include "core/trace/report.hpp"
#include "hierarchy/machine/assemble.hpp"
#include "hierarchy/simulation/simulated_machine.hpp"
#include "libraries/progress/progress.hpp"

namespace tessera::apps {
namespace {

struct simulate_options : command_options {
  std::string machine;
  std::string from;                  ///< a recorded run, instead of a machine and a job
  std::vector<std::uint32_t> cores;  ///< for it
  job workload;
  std::string placement, eviction;
  bool learnt = false;
};

std::int64_t default_tile(std::int64_t n) {
  return n <= 512 ? 64 : n <= 2048 ? 128 : n <= 8192 ? 256 : n <= 32768 ? 512 : 1024;
}

/// Measured times of this machine's host operations.
std::vector<placement::history_cell> learnt_on_the_host(const config::document& configuration, bool quiet) {
  const learnt_times all = read_learnt_times(hierarchy::assemble(configuration, log_to_stderr(quiet)));
  std::vector<placement::history_cell> host;
  for (const auto& cell : all.sizes)
    if (cell.place == "cpu") host.push_back(cell);
  if (host.empty())
    throw error(error_kind::input, "nothing was learnt about this machine's host", all.file,
                "run the real command first with --set runtime.placement=cost, and with the same --config");
  return host;
}

/// Real time, and what of it the model of devices and links took.
class stopwatch {
 public:
  explicit stopwatch(const schedule::virtual_clock& clock) : m_clock(clock) {
    // What looking at the time costs is in both parts: it is measured, and taken off the model's.
    const std::uint64_t began = clock.tick();
    std::uint64_t last = began;
    for (int k = 0; k < 10000; ++k) last = clock.tick();
    m_ticks_per_look = static_cast<double>(last - began) / 10000;
  }
  void start() {
    m_tick = m_clock.tick();
    m_model = m_clock.model_ticks();
    m_meters = m_clock.metered();
    m_events = m_clock.events();
    m_processor = processor_seconds();
    m_began = std::chrono::steady_clock::now();
  }
  void stop() {
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
    processor = processor_seconds() - m_processor;
    // Parts of the real time, but of the processor's: on a busy machine the thread also waits for it, in all parts
    // alike.
    const double rate = processor / static_cast<double>(m_clock.tick() - m_tick);
    const auto meters = static_cast<double>(m_clock.metered() - m_meters);
    // A meter looks twice; about one look of the two falls inside it. Neither belongs to the runtime.
    looking_seconds = 2 * meters * m_ticks_per_look * rate;
    model_seconds = static_cast<double>(m_clock.model_ticks() - m_model) * rate - looking_seconds / 2;
    events = m_clock.events() - m_events;
  }
  double runtime_seconds() const { return processor - model_seconds - looking_seconds; }
  double seconds = 0, processor = 0, model_seconds = 0, looking_seconds = 0;
  std::uint64_t events = 0;

 private:
  static double processor_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  const schedule::virtual_clock& m_clock;
  double m_ticks_per_look = 0, m_processor = 0;
  std::uint64_t m_tick = 0, m_model = 0, m_meters = 0, m_events = 0;
  std::chrono::steady_clock::time_point m_began;
};

void add_places(report& r, runtime& rt, hierarchy::device_model& w, double seconds, double host_busy,
                std::uint64_t host_tasks) {
  auto& devices = w.devices();
  auto rows = nlohmann::ordered_json::array();
  const auto row = [&](const std::string& name, std::uint64_t tasks, double busy_seconds, double parallelism) {
    const double share = seconds > 0 ? busy_seconds / (seconds * parallelism) : 0;
    r.add("", rows.empty() ? "places" : "",
          fmt::format("{:<10} {:>10} tasks, busy {:5.1f} %", name, tasks, 100 * share), nullptr);
    rows.push_back({{"name", name},
                    {"tasks", tasks},
                    {"busy_seconds", busy_seconds},
                    {"parallelism", parallelism},
                    {"busy_share", share}});
  };
  row(fmt::format("{} core{}", rt.workers(), rt.workers() == 1 ? "" : "s"), host_tasks, host_busy, rt.workers());
  for (std::size_t k = 1; k < devices.size(); ++k)
    row(devices[k]->name, devices[k]->tasks, static_cast<double>(devices[k]->busy_ns) * 1e-9,
        devices[k]->kernels.capacity);
  r.note("places", rows);
}

void add_links(report& r, hierarchy::device_model& w, double seconds) {
  auto& devices = w.devices();
  auto rows = nlohmann::ordered_json::array();
  std::vector<hierarchy::link_use> uses = w.links();
  std::erase_if(uses, [](const auto& u) { return u.copies == 0; });
  std::ranges::sort(uses,
                    [](const auto& a, const auto& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  std::uint64_t bytes = 0, copies = 0;
  for (const hierarchy::link_use& u : uses) bytes += u.bytes, copies += u.copies;
  r.add("bytes_transferred", "transfers", fmt::format("{}, {}", copies, format_bytes(static_cast<double>(bytes))),
        bytes);
  // People see one line per pair of kinds when there are many: the pairs are in the JSON.
  const bool few = uses.size() <= 16;
  struct sum {
    std::string name;
    std::uint64_t bytes = 0, count = 0;
    double busy = 0, most = 0;
  };
  std::vector<sum> kinds;
  const auto kind_of = [&](std::uint32_t device) {
    std::string name = devices[device]->name;
    while (device != 0 && !name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
    return name;
  };
  for (const hierarchy::link_use& u : uses) {
    const double busy = static_cast<double>(u.busy_ns) * 1e-9, share = seconds > 0 ? busy / seconds : 0;
    rows.push_back({{"from", devices[u.from]->name},
                    {"to", devices[u.to]->name},
                    {"copies", u.copies},
                    {"bytes", u.bytes},
                    {"busy_seconds", busy},
                    {"busy_share", share}});
    const std::string name =
        few ? devices[u.from]->name + " -> " + devices[u.to]->name : kind_of(u.from) + " -> " + kind_of(u.to);
    auto known = std::ranges::find(kinds, name, &sum::name);
    if (known == kinds.end()) known = kinds.insert(kinds.end(), sum{name});
    known->bytes += u.bytes;
    known->busy += share;
    known->most = std::max(known->most, share);
    ++known->count;
  }
  for (const sum& k : kinds)
    r.add("", "",
          k.count == 1
              ? fmt::format("{}: {}, busy {:.1f} %", k.name, format_bytes(static_cast<double>(k.bytes)), 100 * k.busy)
              : fmt::format("{} ({} pairs): {}, busy {:.1f} % each, at most {:.1f} %", k.name, k.count,
                            format_bytes(static_cast<double>(k.bytes)), 100 * k.busy / static_cast<double>(k.count),
                            100 * k.most),
          nullptr);
  r.note("links", rows);
}

void add_trace(std::vector<result_file>& to, const simulate_options& o, runtime& rt) {
  const auto recorded = std::make_shared<trace::timeline>(
      rt.timeline(fmt::format("tessera simulate {}, {} {}, tile {}, on {}", o.workload.name, o.workload.type,
                              o.workload.n, o.workload.tile, o.machine)));
  to.push_back({o.trace, [recorded] {
                  std::ostringstream text;
                  trace::write_chrome(text, *recorded);
                  return std::move(text).str();
                }});
  to.push_back({o.report, [recorded] {
                  std::ostringstream text;
                  trace::write_report(text, *recorded, trace::summarize(*recorded));
                  return std::move(text).str();
                }});
}

int run(simulate_options o) {
  if (!o.json.empty()) require_writable(o.json);
  for (const std::string* file : {&o.trace, &o.report}) {
    if (*file == "-")
      throw error(error_kind::usage, "a trace and its page go to a file, not to standard output", "the command line",
                  "name a FILE");
    if (!file->empty()) require_writable(*file);
  }
  check_tiles(o.workload.n, o.workload.tile);
  const hierarchy::machine_description described = hierarchy::read_machine(o.machine);
  const config::document configuration = o.load();
  config::runtime_settings settings = configuration.runtime();
  if (!o.placement.empty()) settings.placement = o.placement;
  if (!o.eviction.empty()) settings.eviction = o.eviction;
  o.take_files(settings);
  if (settings.placement.starts_with("plugin:"))
    throw error(error_kind::usage, "a simulated machine has no plugins that place tasks", "runtime.placement",
                "one of eager, locality, pinned, cost");

  const double before = memory_of_this_process().now;
  auto made = hierarchy::build_machine(
      described, settings,
      o.learnt ? learnt_on_the_host(configuration, o.quiet) : std::vector<placement::history_cell>{});
  const std::shared_ptr<hierarchy::device_model> world = made.model;
  runtime rt(std::move(made.machine));
  double room = 0;
  for (const auto& s : rt.statistics().spaces)
    room += s.statistics.limit_bytes == ~std::uint64_t{0} ? 1e30 : static_cast<double>(s.statistics.limit_bytes);
  if (o.workload.bytes() > room)
    throw error(error_kind::memory,
                fmt::format("the tiles take {}, and all memories of '{}' together hold {}",
                            format_bytes(o.workload.bytes()), described.name, format_bytes(room)),
                {}, "choose a smaller problem");
  // A second Ctrl-C ends the process; the first one gives up the tasks, and fence then throws `interrupted`.
  const interrupt_watch watch([&rt] { rt.cancel("stopped by Ctrl-C before it was done"); });

  stopwatch real(world->clock);
  std::uint64_t began = 0, ended = 0;
  statistics at_begin, at_end;
  double host_busy = 0;
  std::uint64_t host_tasks = 0;
  {
    const progress shown(rt, "simulate", o.workload.tasks(), o.quiet);
    run_job(
        o.workload, rt,
        [&] {
          at_begin = rt.statistics();
          began = world->clock.now();
          world->forget_use();
          real.start();
        },
        [&] {
          real.stop();
          ended = world->clock.now();
          at_end = rt.statistics();
          host_busy = static_cast<double>(world->devices().front()->busy_ns) * 1e-9;
          host_tasks = world->devices().front()->tasks;
        });
  }
  const double seconds = static_cast<double>(ended - began) * 1e-9;
  const double flops = o.workload.flops();
  const lower_bounds bounds = bounds_of(o.workload, *world, rt.workers());
  double peak = (o.workload.type == "f32" ? described.host.core.peak_f32 : described.host.core.peak_f64) * rt.workers();
  for (const auto& d : described.devices)
    peak += d.count * (o.workload.type == "f32" ? d.speed.peak_f32 : d.speed.peak_f64);
  const auto tasks = static_cast<double>(o.workload.tasks());
  const double blocks =
      o.workload.bytes() / (static_cast<double>(o.workload.tile) * static_cast<double>(o.workload.tile) *
                            (o.workload.type == "f32" ? 4 : 8));

  tessera::apps::report r;
  r.add("machine", "machine", fmt::format("{} (imagined: {})", described.name, o.machine), described.name);
  r.add("topology", "", rt.topology_line());
  r.add("job", "job", fmt::format("{} {}", o.workload.name, o.workload.type), o.workload.name);
  r.note("type", o.workload.type);
  r.add_integer("n", "n", o.workload.n);
  r.add("tile", "tile", fmt::format("{} ({} x {} tiles)", o.workload.tile, o.workload.tiles(), o.workload.tiles()),
        o.workload.tile);
  r.add_integer("tasks", "tasks", static_cast<std::int64_t>(o.workload.tasks()));
  r.add("placement", "placement", settings.placement);
  r.add("eviction", "eviction",
        fmt::format("{}: {} dropped, {} written back", settings.eviction,
                    at_end.coherence.dropped - at_begin.coherence.dropped,
                    at_end.coherence.written_back - at_begin.coherence.written_back),
        settings.eviction);
  r.note("evicted_dropped", at_end.coherence.dropped - at_begin.coherence.dropped);
  r.note("evicted_written_back", at_end.coherence.written_back - at_begin.coherence.written_back);
  r.note("workers", rt.workers());
  r.note("learnt_times", o.learnt);
  r.add("seconds", "predicted",
        fmt::format("{}{}", format_seconds(seconds), o.learnt ? ", host operations as measured here" : ""), seconds);
  r.add(
      "gflops", "GFLOP/s",
      fmt::format("{:.2f} ({:.1f} % of the peak of all places)", flops / seconds * 1e-9, 100 * flops / seconds / peak),
      flops / seconds * 1e-9);
  r.note("peak_share", flops / seconds / peak);
  r.add("bound_seconds", "at least",
        fmt::format("{} (work {}, longest path {})", format_seconds(std::max(bounds.work_seconds, bounds.path_seconds)),
                    format_seconds(bounds.work_seconds), format_seconds(bounds.path_seconds)),
        std::max(bounds.work_seconds, bounds.path_seconds));
  r.note("work_seconds", bounds.work_seconds);
  r.note("path_seconds", bounds.path_seconds);
  add_places(r, rt, *world, seconds, host_busy, host_tasks);
  add_links(r, *world, seconds);
  r.add("wall_seconds", "simulation",
        fmt::format("{} of real time on one thread, {} events", format_seconds(real.seconds), real.events),
        real.seconds);
  r.note("processor_seconds", real.processor);
  r.note("events", real.events);
  r.note("model_seconds", real.model_seconds);
  r.note("metering_seconds", real.looking_seconds);
  r.add("overhead_seconds_per_task", "runtime",
        fmt::format("{} per task of its own; the model of devices and links takes {} more",
                    format_seconds(real.runtime_seconds() / tasks), format_seconds(real.model_seconds / tasks)),
        real.runtime_seconds() / tasks);
  const double grown = std::max(memory_of_this_process().peak - before, 0.0);
  r.add("peak_resident_bytes", "memory",
        fmt::format("{} of this process, {} per block", format_bytes(memory_of_this_process().peak),
                    format_bytes(grown / blocks)),
        memory_of_this_process().peak);
  r.note("bytes_per_block", grown / blocks);
  if (o.stats && o.json == "-") fmt::print(stderr, "\n{}", to_text(at_end));
  const std::string printed = unless_json(o.json);
  std::vector<result_file> results{{o.quiet ? "" : printed, [&] { return r.to_text(); }},
                                   {o.stats ? printed : "", [&] { return "\n" + to_text(at_end); }},
                                   {o.json, [&] { return r.to_json(); }}};
  if (!o.trace.empty() || !o.report.empty()) add_trace(results, o, rt);
  write_results(results);
  return 0;
}

void require(bool given, const char* what) {
  if (!given)
    throw error(error_kind::usage, fmt::format("{} is required", what), "the command line",
                "`tessera simulate --help` lists the options; --from needs none of MACHINE, --job and --n");
}

/// What a recorded run has decided already. Each of these would be ignored, as if its answer were that of the model.
void refuse_beside_recording(const command_table& sub) {
  for (const char* const name : {"--config", "--set", "--placement", "--eviction", "--workers", "--learnt", "--tile",
                                 "--type", "--trace", "--report", "--stats"})
    if (sub.is_given(name))
      throw error(error_kind::usage, fmt::format("{} has no meaning beside --from", name), "the command line",
                  "a recorded run keeps its places, blocks, transfers and devices; --cores alone changes. For another "
                  "configuration record a run with it, or describe a MACHINE");
}

/// A recorded program on other numbers of cores: its tasks, with the times and dependencies that they had.
int predict_recorded(const simulate_options& o) {
  if (!o.json.empty()) require_writable(o.json);
  const trace::timeline recorded = trace::read_chrome(o.from);
  const trace::summary figures = trace::summarize(recorded);
  if (figures.tasks == 0)
    throw error(error_kind::input, "no task ran in the recorded run", o.from, "record a run that submits tasks");
  std::uint32_t measured = 0;
  for (const auto& p : recorded.places)
    if (p.is_host) measured = std::max(measured, p.parallelism);
  const auto seconds = [](trace::nanoseconds ns) { return static_cast<double>(ns) * 1e-9; };
  const double as_recorded = seconds(trace::replay(recorded, {})), real = seconds(figures.length);
  tessera::apps::report r;
  r.add("run", "run", recorded.title);
  r.add("machine", "machine", recorded.machine);
  r.add_integer("tasks", "tasks", static_cast<std::int64_t>(figures.tasks));
  r.add("measured_seconds", "measured",
        fmt::format("{} with {} core{}", format_seconds(real), measured, measured == 1 ? "" : "s"), real);
  r.note("measured_cores", measured);
  r.add("model_error", "model",
        fmt::format("{} as recorded, an error of {:.1f} %", format_seconds(as_recorded),
                    100 * std::abs(as_recorded - real) / real),
        std::abs(as_recorded - real) / real);
  if (figures.transfers > 0)
    r.add("transfers", "transfers",
          fmt::format("{} of {}: devices and links stay as recorded, and so do waits for data", figures.transfers,
                      format_bytes(static_cast<double>(figures.bytes))),
          figures.transfers);
  r.add("path_seconds", "at least", fmt::format("{} (critical path)", format_seconds(seconds(figures.critical_time))),
        seconds(figures.critical_time));
  auto rows = nlohmann::ordered_json::array();
  for (const std::uint32_t cores : o.cores) {
    const double predicted = seconds(trace::replay(recorded, {.cores = cores}));
    r.add("", rows.empty() ? "cores" : "",
          fmt::format("{:>6}  {:>12}  {:>6.2f} times as fast as recorded", cores, format_seconds(predicted),
                      as_recorded / predicted),
          nullptr);
    rows.push_back({{"cores", cores}, {"seconds", predicted}, {"speedup", as_recorded / predicted}});
  }
  r.note("predictions", rows);
  write_results(
      {{o.quiet ? "" : unless_json(o.json), [&] { return r.to_text(); }}, {o.json, [&] { return r.to_json(); }}});
  return 0;
}

}  // namespace

void add_simulate(command_table& to) {
  auto options = std::make_shared<simulate_options>();
  command_table& sub = to.add_command(
      "simulate", "Predict a run on a machine that a TOML file describes, and what the runtime itself costs");
  options->command = sub.name;
  sub.add({{"MACHINE", &options->machine, "FILE",
            "TOML file that describes the machine; see docs/simulation.md and configs/machines"},
           {"--from",
            &options->from,
            "FILE",
            "instead of a machine and a job: a run that --trace has written",
            {.excludes = {"MACHINE"}}},
           {"--cores",
            &options->cores,
            "N,N,...",
            "with --from: numbers of cores that run tasks at each host memory",
            {.range = between(1, 65535), .by_commas = true, .needs = {"--from"}}},
           {"--job",
            &options->workload.name,
            "",
            "cholesky or gemm: the tasks of these commands, without data",
            {.choices = {"cholesky", "gemm"}, .excludes = {"--from"}}},
           {"--n",
            &options->workload.n,
            "N",
            "rows and columns of each matrix",
            {.range = between(1, std::int64_t{1} << 20), .excludes = {"--from"}}},
           {"--tile",
            &options->workload.tile,
            "N",
            "rows and columns of a tile; by default 64 to 1024, growing with n",
            {.range = between(1, std::int64_t{1} << 16)}}});
  options->workload.type = "f64";
  sub.add({{"--type",
            &options->workload.type,
            "",
            "element type: f64 or f32",
            {.choices = {"f64", "f32"}, .shows_default = true}},
           {"--placement",
            &options->placement,
            "",
            "as runtime.placement: eager, locality, pinned or cost",
            {.choices = {"eager", "locality", "pinned", "cost"}}},
           {"--eviction",
            &options->eviction,
            "",
            "as memory.eviction: next_use, lru or fifo",
            {.choices = {"next_use", "lru", "fifo"}}},
           {"--workers",
            &options->workers,
            "N",
            "cores that run tasks, the submitting one included; 0: all described cores",
            {.range = between(0, 65535)}},
           {"--learnt", &options->learnt, "",
            "host operations take the times learnt on this machine (`tessera history`)"}});
  options->add_machine_options(sub);
  sub.add(
      {{"--json", &options->json, "FILE", "write all figures as JSON; - is standard output"},
       {"--trace", &options->trace, "FILE", "write the run, in virtual time, for Perfetto and `tessera trace summary`"},
       {"--report", &options->report, "FILE", "write the run, in virtual time, as an HTML page"},
       {"--stats", &options->stats, "", "print what the runtime did: tasks, transfers, memory"},
       {"--quiet", &options->quiet, "", "print no progress and no report (errors are still printed)"}});
  sub.footer =
      "Of --config and --set, [runtime] and [memory] are used. Nothing is computed and no tile has bytes: n = 131072 "
      "fits anywhere.\n"
      "Example:\n  tessera simulate configs/machines/node_8gpu.toml --job cholesky --n 131072 --tile 2048 --placement "
      "cost\n  tessera simulate --from run.json --cores 1,2,4,8";
  sub.check = [options, &sub] {
    if (!options->from.empty()) refuse_beside_recording(sub);
  };
  sub.run = [options] {
    if (!options->from.empty()) {
      if (options->cores.empty()) options->cores = {1, 2, 4, 8, 16, 32};
      return predict_recorded(*options);
    }
    require(!options->machine.empty(), "MACHINE");
    require(!options->workload.name.empty(), "--job");
    require(options->workload.n != 0, "--n");
    if (options->workload.tile == 0) options->workload.tile = default_tile(options->workload.n);
    options->workload.tile = std::min(options->workload.tile, options->workload.n);
    return run(*options);
  };
}

}  // namespace tessera::apps
