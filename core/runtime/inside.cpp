#include "core/runtime/inside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/leak_on_purpose.hpp"
#include "core/base/units.hpp"
#include "core/operation/blas.hpp"
#include "core/operation/import_operation.hpp"
#include "core/operation/kernel_loader.hpp"
#include "core/operation/tensor.hpp"
#include "core/placement/policy.hpp"
#include "core/runtime/device_role.hpp"
#include "core/runtime/memory_plan.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera {
namespace {

std::vector<std::vector<memory_facts>> facts_of(const plugin::registry& plugins) {
  std::vector<std::vector<memory_facts>> all;
  for (const auto& device : plugins.devices()) {
    const bool storage = device->description().device_class == TSR_DEVICE_STORAGE;
    auto& of_device = all.emplace_back();
    for (const auto& space : device->spaces())
      of_device.push_back({.is_host = is_host_memory(space), .is_storage = storage});
  }
  return all;
}

/// Not the host itself, and no disk: to these all host memory is as fast.
std::vector<const plugin::device*> devices_that_register_memory(const plugin::registry& plugins) {
  std::vector<const plugin::device*> some;
  for (const auto& d : plugins.devices())
    if (d->table().host_register != nullptr && d->table().host_unregister != nullptr && !d->has(TSR_DEVICE_INLINE) &&
        d->description().device_class != TSR_DEVICE_STORAGE)
      some.push_back(d.get());
  return some;
}

std::unique_ptr<memory::space> make_space(runtime_inside& of, const planned_memory& planned,
                                          memory::space_number number,
                                          const std::vector<const plugin::device*>& registering) {
  memory::space_setup setup;
  setup.number = number;
  setup.device = of.machine.plugins->devices()[planned.space.device].get();
  setup.device_space = planned.space.space;
  setup.location = planned.location;
  setup.limit = planned.limit;
  setup.slab_bytes = of.machine.settings.slab_bytes;
  if (setup.device->spaces()[planned.space.space].description.kind == TSR_SPACE_HOST) {
    setup.register_with = registering;
    setup.registrations = of.registrations.get();
  }
  // A slab of a disk is a file: small ones, as a host may have, would be too many.
  constexpr std::uint64_t max_slabs = 1024, usual = std::uint64_t{64} << 20;
  const std::uint64_t reported = setup.device->spaces()[planned.space.space].description.bytes;
  if (setup.device->description().device_class == TSR_DEVICE_STORAGE)
    setup.slab_bytes =
        std::max(setup.slab_bytes, std::min(usual, (setup.limit != 0 ? setup.limit : reported) / max_slabs));
  auto space = std::make_unique<memory::space>(setup);
  if (of.tracer) space->record_to(*of.tracer);
  return space;
}

transfer::eviction_settings eviction_of(const config::runtime_settings& settings) {
  if (settings.low_watermark > settings.high_watermark)
    throw error(error_kind::configuration,
                fmt::format("memory.low_watermark = {} is above memory.high_watermark = {}", settings.low_watermark,
                            settings.high_watermark),
                {}, "blocks leave a full memory above the high one, until it is down to the low one: set both");
  return {transfer::parse_eviction(settings.eviction), double(settings.high_watermark) / 100,
          double(settings.low_watermark) / 100, double(settings.write_ahead) / 100};
}

void make_memories(runtime_inside& of) {
  const config::runtime_settings& settings = of.machine.settings;
  const plugin::registry& plugins = *of.machine.plugins;
  const std::vector<planned_memory> plan = plan_memories(of.machine.tree, facts_of(plugins), settings.host_limit);
  const auto registering = devices_that_register_memory(plugins);
  of.registrations = std::make_unique<memory::registration_cache>(registering, settings.registration_limit);
  std::vector<memory::space_number> parents;
  for (const planned_memory& planned : plan) {
    of.spaces.push_back(make_space(of, planned, static_cast<memory::space_number>(of.spaces.size()), registering));
    parents.push_back(planned.parent);
  }
  of.coherence = std::make_unique<transfer::coherence>(
      of.spaces, std::move(parents), of.streams, settings.staging_bytes, eviction_of(settings), settings.copy_retries);
  if (of.tracer) of.coherence->record_to(*of.tracer);
}

void keep_kernels(runtime_inside& of) {
  const config::runtime_settings& settings = of.machine.settings;
  auto kernels = std::make_shared<operation::kernel_store>(operation::image_cache_folder(settings.kernel_cache),
                                                           settings.kernel_cache_limit, of.machine.log);
  for (const auto& p : of.machine.plugins->plugins()) kernels->versions[p.name] = p.version;
  of.operations.keep_kernels_in(std::move(kernels));
}

builtin_operations add_builtin(operation::catalog& to) {
  return {.gemm = &to.add(operation::gemm()),
          .syrk = &to.add(operation::syrk()),
          .trsm = &to.add(operation::trsm()),
          .potrf = &to.add(operation::potrf()),
          .axpy = &to.add(operation::axpy()),
          .scal = &to.add(operation::scal()),
          .permute = &to.add(operation::permute()),
          .contract = &to.add(operation::contract()),
          .fill = &to.add(operation::fill()),
          .reduce = &to.add(operation::reduce_add())};
}

void add_those_of_plugins(operation::catalog& to, const plugin::registry& plugins) {
  for (const auto& plugin : plugins.operations_tables())
    for (const tsr_operation& offered : plugin.operations) {
      if (to.find(offered.name) != nullptr)
        throw error(error_kind::configuration,
                    fmt::format("plugin \"{}\" brings an operation '{}', and there is one of that name already",
                                plugin.name, offered.name),
                    "runtime.plugins", "take one of the two plugins out; a built-in operation cannot be replaced");
      to.add(operation::import_operation(plugin, offered));
    }
}

std::unique_ptr<schedule::scheduler> start_scheduler(runtime_inside& of) {
  schedule::scheduler_setup setup;
  setup.settings = &of.machine.settings;
  setup.tree = &of.machine.tree;
  setup.coherence = of.coherence.get();
  setup.blocks = &of.blocks;
  setup.operations = &of.operations;
  setup.tracer = of.tracer.get();
  setup.validator = of.validator.get();
  setup.policy = placement::find_policy(of.machine.settings.placement, *of.machine.plugins);
  setup.simulated = of.machine.simulated.get();
  return std::make_unique<schedule::scheduler>(std::move(setup));
}

}  // namespace

runtime_inside::runtime_inside(tessera::machine&& found) : machine(std::move(found)) {
  output = run_output::begin(machine);
  const config::runtime_settings& settings = machine.settings;
  if (settings.trace)
    tracer = std::make_unique<trace::tracer>(settings.trace_limit,
                                             machine.simulated ? machine.simulated->clock.source() : nullptr);
  if (settings.validate) {
    validator = std::make_unique<validate::validator>();
    blocks.keep_destroyed(std::size_t{1} << 16);  // so that old handles are recognised
  }
  if (tracer) blocks.record_to(*tracer);
  make_memories(*this);
  keep_kernels(*this);
  builtin = add_builtin(operations);
  add_those_of_plugins(operations, *machine.plugins);
  scheduler = start_scheduler(*this);
  side.emplace(program_side{.waits = scheduler->waits(),
                            .views = scheduler->views(),
                            .recordings = scheduler->recordings(),
                            .replays = scheduler->replays(),
                            .failures = scheduler->failures(),
                            .places = scheduler->facts().places,
                            .memories = spaces,
                            .alive = scheduler->alive(),
                            .machine = machine,
                            .validator = validator.get()});
  largest_limit = 0;  // of the memories where tasks run: a disk is none
  for (const auto& place : scheduler->facts().places)
    largest_limit = std::max(largest_limit, spaces[place->space]->limit());
  if (const std::string& why = scheduler->facts().workers.trouble(); !why.empty()) say(machine.log, 2, why);
  if (settings.stats) scheduler->facts().host.time_tasks(true);
  if (scheduler->facts().placement.model() != nullptr)
    history = history_keeper::open(machine, *scheduler->facts().placement.model());
}

void runtime_inside::close() noexcept {
  if (!scheduler->views().all_held_here())
    say(machine.log, 2, "the runtime ends while other threads hold host views; it waits until they are given back");
  scheduler->close();
  // Where an exception ends the runtime, its cause is told with that.
  if (const auto failed = scheduler->failures().take();
      failed.first != nullptr && !scheduler->failures().cancelled() && std::uncaught_exceptions() == 0)
    say(machine.log, 2,
        fmt::format("the runtime ends with a failure that no fence has reported: {} ({})", failed.first->text,
                    failed.first->where));
}

runtime_inside::~runtime_inside() {
  if (history) history->keep(*scheduler->facts().placement.model());
  const bool hung = scheduler->failures().hung();
  scheduler.reset();
  if (validator) validator->end();
  if (hung) {  // work of a device may never end: what it uses is not given back
    for (const auto& s : spaces) s->abandon();
    operations.abandon();
    machine.plugins->abandon();
    leak_on_purpose(std::move(registrations));
  }
  // Blocks of arrays that outlived their tasks' failure may still hold memory; spaces free their slabs whole.
  coherence.reset();
}

void runtime_inside::stay_for_ever(const std::string& why) noexcept try {
  const std::string all = why + ": it stays until the process ends";
  say(machine.log, 1, all + ". End it in a thread of the program, behind a fence");
  scheduler->failures().note({.text = all, .where = {}, .kind = error_kind::usage});
  scheduler->abandon();
} catch (...) {  // no memory for the words
  scheduler->abandon();
}

void runtime_inside::check_working_set_slowly(std::string_view name, std::span<const block::access> accesses) const {
  std::uint64_t most = 0;  // with blocks that it has twice
  for (const block::access& a : accesses) most += a.block->bytes;
  if (most <= largest_limit) return;
  std::uint64_t own = 0, adopted = 0;
  std::string names;
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    const auto before = accesses.first(k);
    const bool named_before =
        std::ranges::any_of(before, [&](const block::access& a) { return a.block == accesses[k].block; });
    if (!named_before) (accesses[k].block->foreign ? adopted : own) += accesses[k].block->bytes;
  }
  const std::uint64_t bytes = own + adopted;
  // At home, adopted blocks take nothing from the limit.
  if (bytes <= largest_limit || own <= spaces[scheduler->facts().places.front()->space]->limit()) return;
  for (const block::access& a : accesses)
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", block::name_of(*a.block),
                         format_bytes(static_cast<double>(a.block->bytes)));
  throw error(error_kind::memory,
              fmt::format("the blocks of task '{}' need {} together and no memory holds more than {}", name,
                          format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(largest_limit))),
              names,
              machine.host_bound.empty()
                  ? "use smaller blocks or raise memory.host_limit"
                  : fmt::format("use smaller blocks; the host's memory is bounded by {}", machine.host_bound));
}

const program_side& program_side_of(runtime& of) { return *of.inside().side; }
std::uint32_t views_held_here(runtime& of) { return of.inside().side->views.held_here(); }

void fail_next_fence(runtime& of, block::failure what) { of.inside().scheduler->failures().note(std::move(what)); }

void check_blocks(runtime& of, std::string_view task, std::span<const block::access> accesses,
                  std::source_location site) {
  of.inside().check_blocks(task, accesses, site);
}

void runtime_inside::note_array(std::span<block::record* const> created, bool adopted, std::source_location site) {
  if (!validator) return;
  if (adopted)
    for (block::record* b : created)
      validator->adopted(*b, spaces[b->replicas[0].space]->host_pointer(b->replicas[0].where), site);
  validator->made(created, adopted, site);
}

void runtime_inside::note_kept(std::span<block::record* const> kept, std::source_location site) {
  if (validator) validator->kept(kept, site);
}

}  // namespace tessera
