#include "tessera/detail/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/base/call_site.hpp"
#include "core/base/leak_on_purpose.hpp"
#include "core/base/suggest.hpp"
#include "core/runtime/inside.hpp"
#include "core/trace/timeline.hpp"
#include "tessera/detail/order_point.hpp"

namespace tessera {
namespace {

std::atomic<std::uint64_t> next_serial{1};

/// What takes locks that a fork may have left taken, as no thread of the child will give them back: asked for by a
/// child it is an error. Submissions, fences and views find that out by themselves.
runtime_inside& here(const std::unique_ptr<runtime_inside>& of) {
  of->scheduler->require_this_process();
  return *of;
}

}  // namespace

runtime::runtime(machine&& found)
    : m_inside(std::make_unique<runtime_inside>(std::move(found))), m_serial(next_serial.fetch_add(1)) {
  if (m_inside->output) m_inside->output->watch(*this);
}

runtime::~runtime() {
  if (m_inside->output) m_inside->output->leave();
  if (m_inside->scheduler->alive()->left_behind()) {
    leak_on_purpose(std::move(m_inside));  // it is the parent's
  } else if (in_task()) {
    // The task would wait for itself, and what runs it needs what would end here.
    m_inside->stay_for_ever("the runtime was ended inside one of its own tasks");
    leak_on_purpose(std::move(m_inside));
  } else {
    m_inside->close();
    if (m_inside->output) m_inside->output->write(*this);
  }
}

void runtime::register_memory(void* pointer, std::uint64_t bytes) {
  if (pointer == nullptr ||
      bytes > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(pointer))
    throw error(error_kind::usage, fmt::format("{} bytes from {} on are no memory of a program", bytes, pointer),
                "register_memory", "give the first byte, and how many there are");
  here(m_inside).registrations->keep(pointer, bytes);
}
void runtime::unregister_memory(void* pointer) { here(m_inside).registrations->forget(pointer); }

runtime::no_waiting::no_waiting(runtime& of) : m_of(*of.inside().scheduler), m_alive(m_of.alive()) {
  m_of.waits().begin_no_waiting();
}
runtime::no_waiting::~no_waiting() {
  if (!m_alive->ended()) m_of.waits().end_no_waiting();
}

runtime::waiting_elsewhere::waiting_elsewhere(runtime& of)
    : m_alive(of.inside().scheduler->alive()), m_waits(of.inside().scheduler->waits().begin_elsewhere()) {}
void runtime::waiting_elsewhere::end() noexcept {
  if (const lifetime::visit here = enter(m_alive)) m_waits.store(false);
}

bool runtime::has_devices() const noexcept { return m_inside->scheduler->facts().mode.has_devices; }
bool runtime::in_task() const noexcept { return !m_inside->scheduler->waits().in_program(); }

void runtime::fence(std::source_location site) { m_inside->scheduler->fence(site); }
void runtime::fence(task_group& group, std::source_location site) {
  if (&group.scheduler() != m_inside->scheduler.get())
    throw error(error_kind::usage, "fence of a group of another runtime", file_and_line(site),
                "task_group::fence waits for the tasks of its own runtime");
  m_inside->scheduler->waits().fence(group.tasks(), site);
}
void runtime::fence(const fence_options& options, std::source_location site) {
  if (options.group != nullptr && !options.reports)
    throw error(error_kind::usage, "fence of a group that does not report", file_and_line(site),
                "the end of a task_group waits and throws nothing");
  if (options.group != nullptr) return fence(*options.group, site);
  if (options.reports) return fence(site);
  if (m_inside->scheduler->alive()->left_behind() || in_task()) return;  // a forked child has no tasks
  m_inside->scheduler->waits().wait(schedule::wait_request::quietly(schedule::wait_request::end::tasks_and_views));
}
void runtime::cancel(std::string reason) { here(m_inside).scheduler->cancel(std::move(reason)); }
bool runtime::cancelled() const noexcept { return m_inside->scheduler->failures().cancelled(); }

void runtime::detach(std::uint32_t location) { here(m_inside).scheduler->devices().detach(location); }
void runtime::attach(std::uint32_t location) { here(m_inside).scheduler->devices().attach(location); }
bool runtime::attached(std::uint32_t location) const { return m_inside->scheduler->devices().attached(location); }

operation::catalog& runtime::operations() noexcept { return m_inside->operations; }
const builtin_operations& runtime::builtin() const noexcept { return m_inside->builtin; }
const operation::definition& runtime::define(operation::definition what) {
  return here(m_inside).operations.add(std::move(what));
}

const location::tree& runtime::tree() const noexcept { return m_inside->machine.tree; }
const config::runtime_settings& runtime::settings() const noexcept { return m_inside->machine.settings; }
const plugin::registry& runtime::plugins() const noexcept { return *m_inside->machine.plugins; }

std::vector<std::string> runtime::places() const {
  std::vector<std::string> names;
  for (const auto& place : m_inside->scheduler->facts().places) names.push_back(place->name);
  return names;
}
std::uint32_t runtime::workers() const noexcept { return m_inside->scheduler->facts().mode.workers; }
std::uint64_t runtime::tasks_submitted() const noexcept { return m_inside->scheduler->facts().threads.submitted(); }
std::uint64_t runtime::tasks_retired() const noexcept { return m_inside->scheduler->facts().threads.retired(); }
void runtime::time_tasks(bool on) noexcept { m_inside->scheduler->facts().host.time_tasks(on); }

bool runtime::traced() const noexcept { return m_inside->tracer != nullptr; }
bool runtime::validates() const noexcept { return m_inside->validator != nullptr; }
std::vector<validate::finding> runtime::findings() const {
  return m_inside->validator ? m_inside->validator->findings() : std::vector<validate::finding>();
}

struct order_point::inside {
  std::mutex mutex;
  validate::clock known;
};
order_point::order_point() : m_inside(std::make_unique<inside>()) {}
order_point::~order_point() = default;

void runtime::order_before(order_point& point) {
  if (!m_inside->validator) return;
  const std::lock_guard guard(point.m_inside->mutex);
  m_inside->validator->order_before(point.m_inside->known);
}

void runtime::order_after(const order_point& point) {
  if (!m_inside->validator) return;
  const std::lock_guard guard(point.m_inside->mutex);
  m_inside->validator->order_after(point.m_inside->known);
}

trace::timeline runtime::timeline(std::string title) const {
  if (!m_inside->tracer) throw error(error_kind::usage, "nothing was recorded", {}, "set runtime.trace = true");
  trace::recording all = here(m_inside).tracer->take();
  all.title = std::move(title);
  all.machine = topology_line() + "; " + plugin_line();
  for (std::size_t k = 0; k < m_inside->operations.size(); ++k) {
    const operation::definition& operation = m_inside->operations.at(static_cast<std::uint32_t>(k));
    all.operations.push_back(operation.name);
  }
  for (const auto& e : m_inside->scheduler->facts().places) all.places.push_back({e->name, e->is_host, e->parallelism});
  for (const auto& from : m_inside->spaces) {
    all.spaces.push_back({from->name(), from->limit()});
    for (const auto& to : m_inside->spaces) {
      const transfer::route& way = m_inside->coherence->links().between(from->number(), to->number());
      if (from != to && way.kind != transfer::route_kind::none)
        all.links.push_back({from->number(), to->number(), way.bandwidth});
    }
  }
  all.streams = m_inside->scheduler->facts().drivers.compute_streams();
  return trace::build(all);
}

std::uint32_t runtime::at(std::string_view name) const {
  if (const auto found = m_inside->machine.tree.find(name); found && m_inside->machine.tree.attached(*found))
    return *found;
  std::vector<std::string> names;
  for (const location::node_id node : m_inside->machine.tree.subtree(m_inside->machine.tree.root()))
    names.push_back(m_inside->machine.tree.at(node).properties.name);
  const std::string near = suggest(name, names);
  throw error(error_kind::usage, fmt::format("there is no location '{}'", name), {},
              near.empty() ? "`tessera topology` lists them" : fmt::format("did you mean '{}'?", near));
}

std::string runtime::topology_line() const {
  std::size_t cores = 0, memories = 0, devices = 0;
  for (const location::node_id node : m_inside->machine.tree.subtree(m_inside->machine.tree.root())) {
    const auto& properties = m_inside->machine.tree.at(node).properties;
    if (properties.kind == location::kind::worker && !properties.cpus.empty()) ++cores;
    if (properties.kind == location::kind::memory && properties.space) ++memories;
    if (properties.kind == location::kind::worker && properties.space) ++devices;
  }
  std::string line =
      fmt::format("{} core{}, {} host memor{}", cores, cores == 1 ? "" : "s", memories, memories == 1 ? "y" : "ies");
  if (devices > 0) line += fmt::format(", {} device{}", devices, devices == 1 ? "" : "s");
  return line + fmt::format(", {} worker{}", workers(), workers() == 1 ? "" : "s");
}

std::string runtime::plugin_line() const {
  std::string line;
  for (const auto& p : m_inside->machine.plugins->plugins()) {
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", p.name, p.version);
    for (const auto& d : m_inside->machine.plugins->devices())
      if (d->plugin_name() == p.name && d->blas() != nullptr && d->blas()->library != nullptr) {
        line += fmt::format(" ({})", d->blas()->library);
        break;
      }
  }
  return line;
}

}  // namespace tessera
