#include "core/runtime/runtime.hpp"

#include <fmt/format.h>

#include <atomic>

#include "core/base/keep.hpp"
#include "core/base/nearest.hpp"
#include "core/base/units.hpp"
#include "core/operation/blas.hpp"
#include "core/operation/device_forms.hpp"
#include "core/operation/from_plugin.hpp"
#include "core/operation/tensor.hpp"
#include "core/runtime/learnt_times.hpp"
#include "core/validate/validator.hpp"

namespace tessera {
namespace {

std::atomic<std::uint64_t> next_serial{1};

}  // namespace

runtime::runtime(machine m) : m_machine(std::move(m)), m_serial(next_serial.fetch_add(1)) {
  const config::runtime_settings& settings = m_machine.settings;
  const auto& devices = m_machine.plugins->devices();
  if (settings.trace)
    m_recorder = std::make_unique<trace::recorder>(settings.trace_limit,
                                                   m_machine.simulated ? m_machine.simulated->clock.source() : nullptr);
  if (settings.validate) m_validator = std::make_unique<validate::validator>();
  if (settings.validate) m_blocks.keep_destroyed(std::size_t{1} << 16);  // so that old handles are recognised

  // One space per memory of the tree; host memories first, so that they have the low numbers.
  std::vector<location::node_id> places;
  for (const bool host : {true, false})
    for (const location::node_id node : m_machine.tree.subtree(m_machine.tree.root())) {
      const auto& is = m_machine.tree.at(node).is;
      if (!is.space || is.space->device >= devices.size()) continue;
      const auto& description = devices[is.space->device]->spaces()[is.space->space].description;
      if (((description.capabilities & TSR_SPACE_HOST_VISIBLE) != 0 && description.kind == TSR_SPACE_HOST) == host)
        places.push_back(node);
    }
  std::vector<const plugin::device*> wants_registration;
  for (const auto& d : devices)
    if (d->table().host_register != nullptr && d->table().host_unregister != nullptr && !d->has(TSR_DEVICE_INLINE))
      wants_registration.push_back(d.get());
  m_registrations = std::make_unique<memory::registration_cache>(wants_registration, settings.registration_limit);
  for (const location::node_id node : places) {
    const auto& is = m_machine.tree.at(node).is;
    const plugin::device& device = *devices[is.space->device];
    const bool host = device.spaces()[is.space->space].description.kind == TSR_SPACE_HOST;
    memory::space_setup setup;
    setup.number = static_cast<memory::space_number>(m_spaces.size());
    setup.device = &device;
    setup.device_space = is.space->space;
    setup.where = node;
    setup.limit = is.memory_bytes;
    if (host && settings.host_limit != 0)
      setup.limit = setup.limit == 0 ? settings.host_limit : std::min(setup.limit, settings.host_limit);
    setup.slab_bytes = settings.slab_bytes;
    if (host) setup.register_with = wants_registration;
    if (host) setup.registrations = m_registrations.get();
    m_spaces.push_back(std::make_unique<memory::space>(setup));
    if (m_recorder) m_spaces.back()->record_to(*m_recorder);
  }
  if (m_spaces.size() > block::space_set::most)
    throw error(
        error_kind::configuration,
        fmt::format("this machine has {} memories and a runtime takes {}", m_spaces.size(), block::space_set::most), {},
        "open fewer devices: the options of their plugins, or runtime.plugins");
  if (m_spaces.empty())
    throw error(error_kind::configuration, "no memory space: the location tree names none that a plugin offers", {},
                "open the host plugin: runtime.plugins = [\"host\"]");

  if (settings.low_watermark > settings.high_watermark)
    throw error(error_kind::configuration,
                fmt::format("memory.low_watermark = {} is above memory.high_watermark = {}", settings.low_watermark,
                            settings.high_watermark),
                {}, "blocks leave a full memory above the high one, until it is down to the low one: set both");
  std::vector<memory::space_number> parents;
  m_largest_limit = 0;
  for (const auto& s : m_spaces) {
    m_largest_limit = std::max(m_largest_limit, s->limit());
    memory::space_number parent = memory::no_space;
    const location::node_id above = m_machine.tree.parent_memory(s->where());
    for (const auto& other : m_spaces)
      if (other->where() == above && other != s) parent = other->number();
    // Storage is behind the outermost memories, wherever it hangs in the tree.
    const auto is_storage = [](const memory::space& it) {
      return it.device().description().device_class == TSR_DEVICE_STORAGE;
    };
    if (is_storage(*s))
      parent = memory::no_space;
    else if (parent == memory::no_space)
      for (const auto& other : m_spaces)
        if (parent == memory::no_space && is_storage(*other)) parent = other->number();
    parents.push_back(parent);
  }
  m_coherence = std::make_unique<transfer::coherence>(
      m_spaces, std::move(parents), m_streams, settings.staging_bytes,
      transfer::eviction_settings{transfer::parse_eviction(settings.eviction), double(settings.high_watermark) / 100,
                                  double(settings.low_watermark) / 100, double(settings.write_ahead) / 100},
      settings.copy_retries);

  if (m_recorder) m_coherence->record_to(*m_recorder);

  auto kernels = std::make_shared<operation::kernel_store>(operation::image_cache_folder(settings.kernel_cache),
                                                           settings.kernel_cache_limit, m_machine.log);
  for (const auto& p : m_machine.plugins->plugins()) kernels->versions[p.name] = p.version;
  m_operations.keep_kernels_in(std::move(kernels));
  m_builtin = {.gemm = &m_operations.add(operation::gemm()),
               .syrk = &m_operations.add(operation::syrk()),
               .trsm = &m_operations.add(operation::trsm()),
               .potrf = &m_operations.add(operation::potrf()),
               .axpy = &m_operations.add(operation::axpy()),
               .scal = &m_operations.add(operation::scal()),
               .permute = &m_operations.add(operation::permute()),
               .contract = &m_operations.add(operation::contract()),
               .fill = &m_operations.add(operation::fill()),
               .reduce = &m_operations.add(operation::reduce_add())};

  for (const auto& plugin : m_machine.plugins->operations_tables())
    for (const tsr_operation& offered : plugin.operations) {
      if (m_operations.find(offered.name) != nullptr)
        throw error(error_kind::configuration,
                    fmt::format("plugin \"{}\" brings an operation '{}', and there is one of that name already",
                                plugin.name, offered.name),
                    "runtime.plugins", "take one of the two plugins out; a built-in operation cannot be replaced");
      m_operations.add(operation::from_plugin(plugin, offered));
    }

  schedule::scheduler_setup setup;
  setup.settings = &m_machine.settings;
  setup.tree = &m_machine.tree;
  setup.coherence = m_coherence.get();
  setup.blocks = &m_blocks;
  setup.operations = &m_operations;
  setup.recorder = m_recorder.get();
  setup.validator = m_validator.get();
  setup.policy = placement::find_policy(settings.placement, *m_machine.plugins);
  setup.simulated = m_machine.simulated.get();
  m_scheduler = std::make_unique<schedule::scheduler>(std::move(setup));
  if (const std::string& why = m_scheduler->workers_binding().trouble(); !why.empty()) say(m_machine.log, 2, why);
  if (m_scheduler->placement().model() != nullptr)
    m_history = history_keeper::open(m_machine, *m_scheduler->placement().model());
}

runtime::~runtime() {
  if (!m_scheduler->views_are_mine())
    say(m_machine.log, 2, "the runtime ends while other threads hold host views; it waits until they are given back");
  m_scheduler->close();
  if (m_history) m_history->keep(*m_scheduler->placement().model());
  const bool hung = m_scheduler->hung();
  m_scheduler.reset();
  if (m_validator) m_validator->end();
  if (hung) {  // something of a device may go on for ever: what it uses is not given back
    for (const auto& s : m_spaces) s->abandon();
    m_operations.abandon();
    m_machine.plugins->abandon();
    keep_for_ever(std::move(m_registrations));
  }
  // Blocks of arrays that outlived their tasks' failure may still hold memory; spaces free their slabs whole.
  m_coherence.reset();
}

void runtime::submit_operation(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
                               std::span<const block::access> accesses, task_options options,
                               std::source_location site) {
  if (!what.signature.empty()) {
    bool fits = what.signature.size() == accesses.size();
    for (std::size_t k = 0; fits && k < accesses.size(); ++k) fits = what.signature[k] == accesses[k].how;
    if (!fits)
      throw error(error_kind::usage,
                  fmt::format("operation '{}' was given blocks that its signature does not allow", what.name),
                  fmt::format("{}:{}", site.file_name(), site.line()),
                  fmt::format("it takes {} blocks with the intents of its definition", what.signature.size()));
  }
  check_working_set(what.name, accesses);
  schedule::lane* mine = nullptr;
  task::record& t = m_scheduler->begin(what, site, mine);
  detail::begun_task begun{*mine, t};
  t.priority = options.priority;
  t.hint = options.at;
  if (options.from != nullptr) t.need_more().from = options.from;
  t.access_count = static_cast<std::uint8_t>(std::min<std::size_t>(accesses.size(), 255));
  if (accesses.size() > t.accesses.size()) {
    t.need_more().accesses.assign(accesses.begin(), accesses.end());
    t.flags |= task::flag_many_accesses;
  } else {
    std::copy(accesses.begin(), accesses.end(), t.accesses.begin());
  }
  if (argument_bytes > task::record::inline_arguments) {
    t.need_more().arguments.resize(argument_bytes);
    t.flags |= task::flag_large_arguments;
  }
  t.argument_size = static_cast<std::uint32_t>(argument_bytes);
  if (argument_bytes > 0) std::memcpy(t.argument_bytes(), arguments, argument_bytes);
  if (options.to != nullptr) m_scheduler->send_to(*options.to, t);
  begun.complete = true;
  m_scheduler->commit(*mine, t);
}

void runtime::check_working_set_slowly(std::string_view name, std::span<const block::access> accesses) const {
  std::uint64_t bytes = 0;
  std::string names;
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    bool again = false;
    for (std::size_t j = 0; j < k; ++j) again = again || accesses[j].block == accesses[k].block;
    if (again) continue;
    bytes += accesses[k].block->bytes;
  }
  if (bytes <= m_largest_limit) return;
  for (const block::access& a : accesses)
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", block::name_of(*a.block),
                         format_bytes(static_cast<double>(a.block->bytes)));
  throw error(error_kind::memory,
              fmt::format("the blocks of task '{}' need {} together and no memory holds more than {}", name,
                          format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(m_largest_limit))),
              names, "use smaller blocks or raise memory.host_limit");
}

const operation::definition& runtime::define_or_find(operation::definition what, bool one_of_many) {
  if (one_of_many && m_operations.size() >= operation::catalog::most_with_own_names &&
      m_operations.find(what.name) == nullptr)
    what.name = "other functions";
  // Two call sites may use one name, and a function template one call site for several types.
  const std::string name = what.name;
  for (int suffix = 2;; ++suffix) {
    if (const operation::definition* known = m_operations.find(what.name)) {
      if (known->host == what.host) return *known;
      what.name = fmt::format("{}#{}", name, suffix);
      continue;
    }
    try {
      return m_operations.add(what);
    } catch (const error&) {  // another thread was faster: look again
      if (m_operations.find(what.name) == nullptr) throw;
    }
  }
}

void runtime::adopt_blocks(std::span<block::record* const> blocks, void* memory) {
  m_coherence->adopted().adopt(blocks, memory, m_scheduler->places().front()->space);  // where views are, too
}

void runtime::replay(recording& what, std::source_location site) { what.play(site); }

std::vector<validate::finding> runtime::findings() const {
  return m_validator ? m_validator->findings() : std::vector<validate::finding>();
}

void runtime::order_before(order_point& point) {
  if (!m_validator) return;
  const std::lock_guard guard(point.m_mutex);
  m_validator->order_before(point.m_known);
}

void runtime::order_after(const order_point& point) {
  if (!m_validator) return;
  const std::lock_guard guard(point.m_mutex);
  m_validator->order_after(point.m_known);
}

void runtime::note_array(std::span<block::record* const> blocks, bool adopted, std::source_location site) {
  if (!m_validator) return;
  if (adopted)
    for (block::record* b : blocks)
      m_validator->adopted(*b, m_spaces[b->replicas[0].space]->host_pointer(b->replicas[0].where), site);
  m_validator->made(blocks, adopted, site);
}

void runtime::note_kept(std::span<block::record* const> blocks, std::source_location site) {
  if (m_validator) m_validator->kept(blocks, site);
}

trace::timeline runtime::timeline(std::string title) const {
  if (!m_recorder) throw error(error_kind::usage, "nothing was recorded", {}, "set runtime.trace = true");
  trace::recording all = m_recorder->take();
  all.title = std::move(title);
  all.machine = topology_line() + "; " + plugin_line();
  for (std::size_t k = 0; k < m_operations.size(); ++k) {
    const operation::definition& what = m_operations.at(static_cast<std::uint32_t>(k));
    all.operations.push_back(what.name == "hold" ? "view" : what.name);
  }
  for (const auto& e : m_scheduler->places()) all.places.push_back({e->name, e->is_host, e->parallelism});
  for (const auto& from : m_spaces) {
    all.spaces.push_back({from->name(), from->limit()});
    for (const auto& to : m_spaces) {
      const transfer::route& way = m_coherence->links().between(from->number(), to->number());
      if (from != to && way.how != transfer::route_kind::none)
        all.links.push_back({from->number(), to->number(), way.bandwidth});
    }
  }
  all.streams = m_scheduler->compute_streams();
  return trace::build(all);
}

location::node_id runtime::at(std::string_view name) const {
  if (const auto found = m_machine.tree.find(name); found && m_machine.tree.attached(*found)) return *found;
  std::vector<std::string> names;
  for (const location::node_id node : m_machine.tree.subtree(m_machine.tree.root()))
    names.push_back(m_machine.tree.at(node).is.name);
  const std::string near = nearest_name(name, names);
  throw error(error_kind::usage, fmt::format("there is no location '{}'", name), {},
              near.empty() ? "`tessera topology` lists them" : fmt::format("did you mean '{}'?", near));
}

tessera::statistics runtime::statistics() const {
  tessera::statistics s;
  s.tasks_retired = m_scheduler->retired();
  s.tasks_submitted = m_scheduler->submitted();
  s.steals = m_scheduler->steals();
  s.operations = m_scheduler->operation_table();
  s.graphs = m_scheduler->graphs();
  for (const auto& e : m_scheduler->places())
    if (!e->is_host)
      for (const auto& row : s.operations)
        if (row.place == e->name && row.operation != "graph") s.device_launches += row.tasks;
  s.batches = m_scheduler->batches();
  s.device_launches += s.graphs.launched - s.graphs.tasks;
  s.device_launches += s.batches.launched - s.batches.tasks;
  s.coherence = m_coherence->statistics();
  s.coherence.versions += m_scheduler->fast_versions();
  transfer::link_map& links = m_coherence->links();
  for (const auto& from : m_spaces) {
    s.spaces.push_back({from->name(), from->statistics()});
    for (const auto& to : m_spaces) {
      const auto& c = links.counters(from->number(), to->number());
      if (c.transfers.load() > 0) s.links.push_back({from->name(), to->name(), c.transfers.load(), c.bytes.load()});
    }
  }
  if (const placement::history* model = m_scheduler->placement().model();
      model != nullptr && m_machine.settings.placement == "cost" && m_scheduler->places().size() > 1) {
    const std::vector<placement::history_cell> cells = model->cells();
    s.placement = {.trials = model->trials(),
                   .trial_seconds = model->trial_seconds(),
                   .revisions = m_scheduler->placement().estimate_changes(),
                   .moved = m_scheduler->placement().moved(),
                   .sizes = cells.size(),
                   .crossovers = placement::crossovers_of(cells, model->kinds())};
  }
  for (const auto& e : m_scheduler->places())
    if (e->state.load() == placement::place_state::detached) s.devices.detached.push_back(e->name);
  s.devices.placed_elsewhere = m_scheduler->placed_elsewhere();
  s.trouble = m_coherence->failed_copies().statistics();
  s.losses = m_coherence->losses().statistics();
  const memory::registration_statistics r = m_registrations->statistics();
  s.registered_bytes = r.bytes;
  s.registration_hits = r.hits;
  s.registration_misses = r.misses;
  return s;
}

std::string runtime::topology_line() const {
  std::size_t cores = 0, memories = 0, devices = 0;
  for (const location::node_id node : m_machine.tree.subtree(m_machine.tree.root())) {
    const auto& is = m_machine.tree.at(node).is;
    if (is.what == location::kind::worker && !is.cpus.empty()) ++cores;
    if (is.what == location::kind::memory && is.space) ++memories;
    if (is.what == location::kind::worker && is.space) ++devices;
  }
  std::string line =
      fmt::format("{} core{}, {} host memor{}", cores, cores == 1 ? "" : "s", memories, memories == 1 ? "y" : "ies");
  if (devices > 0) line += fmt::format(", {} device{}", devices, devices == 1 ? "" : "s");
  return line + fmt::format(", {} worker{}", workers(), workers() == 1 ? "" : "s");
}

std::string runtime::plugin_line() const {
  std::string line;
  for (const auto& p : m_machine.plugins->plugins()) {
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", p.name, p.version);
    for (const auto& d : m_machine.plugins->devices())
      if (d->plugin_name() == p.name && d->blas() != nullptr && d->blas()->library != nullptr) {
        line += fmt::format(" ({})", d->blas()->library);
        break;
      }
  }
  return line;
}

}  // namespace tessera
