#include <fmt/format.h>

#include <cstring>

#include "core/block/element_type.hpp"
#include "core/runtime/inside.hpp"
#include "hierarchy/region/engine.hpp"
#include "hierarchy/region/paused_memory.hpp"
#include "tessera/front_end.hpp"
#include "tessera/region.hpp"

namespace tessera {

location_model::location_model(runtime& of)
    : m_runtime(&of),
      m_engine(std::make_unique<hierarchy::region_engine>(of)),
      m_memory(std::make_unique<hierarchy::paused_memory>()) {
  if (!of.inside().scheduler->in_program())
    throw error(error_kind::usage, "a location model inside a task", {},
                "its end would wait for the task that it is in: make it in a thread of the program; regions of it may "
                "be submitted inside tasks");
}

location_model::~location_model() {
  runtime_inside& inside = m_runtime->inside();
  const std::uint32_t views = inside.scheduler->views_here();
  if (inside.scheduler->in_program() && views == 0) {
    inside.scheduler->settle();
    return;
  }
  say(inside.machine.log, 2,
      views != 0 ? fmt::format("a location model ends while its thread holds {} host views, for which regions may "
                               "wait; it does not wait for regions",
                               views)
                 : "a location model ends inside a task; it does not wait for regions");
}

namespace {

/// Bytes of the elements. Throws usage for extents that are negative or too large.
std::uint64_t bytes_of(const std::string& name, element_type type, const row_extents& e) {
  std::int64_t bytes = 0;
  if (e.rows < 0 || e.second < 1 || e.third < 1 || __builtin_mul_overflow(e.second, e.third, &bytes) ||
      __builtin_mul_overflow(bytes, e.rows, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<std::int64_t>(size_of(type)), &bytes) ||
      bytes > (std::int64_t{1} << 46))
    throw error(error_kind::usage, fmt::format("array '{}' has extents {} x {} x {}", name, e.rows, e.second, e.third),
                {}, "rows may be 0, the others at least 1, and all elements together at most 2^46 bytes");
  return static_cast<std::uint64_t>(bytes);
}

location::node_id node_of(const runtime& rt, const array_options& options) {
  return options.at.empty() ? rt.tree().root() : rt.at(options.at);
}

}  // namespace

detail::region_array_handle location_model::make(std::string name, element_type type, const row_extents& extents,
                                                 const array_options& options, std::source_location site) {
  const location::node_id at = node_of(*m_runtime, options);
  auto memory = hierarchy::array_memory::fresh(bytes_of(name, type, extents), name);
  void* const data = memory->data();
  return detail::region_array_handle(std::make_shared<hierarchy::array_storage>(*m_runtime, std::move(name), type, data,
                                                                                std::move(memory), extents, at, site));
}

detail::region_array_handle location_model::adopt_memory(std::string name, element_type type, void* memory,
                                                         std::size_t elements, const row_extents& extents,
                                                         const array_options& options, std::source_location site) {
  const location::node_id at = node_of(*m_runtime, options);
  if (bytes_of(name, type, extents) != elements * size_of(type))
    throw error(error_kind::usage, fmt::format("array '{}' of {} x {} x {} elements adopts memory of {}", name,
                                               extents.rows, extents.second, extents.third, elements));
  return detail::region_array_handle(std::make_shared<hierarchy::array_storage>(*m_runtime, std::move(name), type,
                                                                                memory, nullptr, extents, at, site));
}

detail::region_array_handle location_model::map(std::string name, element_type type, const std::filesystem::path& file,
                                                const row_extents& extents, const array_options& options,
                                                std::source_location site) {
  const location::node_id at = node_of(*m_runtime, options);
  const std::uint64_t bytes = bytes_of(name, type, extents);
  schedule::scheduler& scheduler = *m_runtime->inside().scheduler;
  // An array of it that has ended may still have tasks.
  if (hierarchy::array_memory::is_mapped(file) && scheduler.in_program() && scheduler.views_here() == 0)
    scheduler.settle();
  const auto memory = hierarchy::array_memory::of_file(file, bytes, name);
  detail::region_array_handle made(std::make_shared<hierarchy::array_storage>(
      *m_runtime, std::move(name), type, memory->data(), memory, extents, at, site));
  m_engine->keep_file(memory);
  memory->keep_file();
  return made;
}

detail::region_array_handle location_model::memory_until_pause(std::string name, element_type type, void* memory,
                                                               std::size_t elements, std::source_location site) {
  const row_extents extents{static_cast<std::int64_t>(elements)};
  const std::uint64_t bytes = bytes_of(name, type, extents);
  return detail::region_array_handle(m_memory->array_over({memory, bytes, type}, name, [&] {
    return std::make_shared<hierarchy::array_storage>(*m_runtime, name, type, memory, nullptr, extents,
                                                      m_runtime->tree().root(), site);
  }));
}

detail::region_array_handle location_model::copy_of_memory(std::string name, element_type type, void* memory,
                                                           std::size_t elements, std::source_location site) {
  const row_extents extents{static_cast<std::int64_t>(elements)};
  const std::uint64_t bytes = bytes_of(name, type, extents);
  if (auto known = m_memory->find({memory, bytes, type})) return detail::region_array_handle(std::move(known));
  auto copy = hierarchy::array_memory::fresh(bytes, name);
  void* const data = copy->data();
  if (bytes != 0) std::memcpy(data, memory, bytes);
  return detail::region_array_handle(std::make_shared<hierarchy::array_storage>(
      *m_runtime, std::move(name), type, data, std::move(copy), extents, m_runtime->tree().root(), site));
}

void location_model::launch(const task_name& name, const region_options& options, const loop_bounds& over,
                            std::span<const detail::region_demand> demands, const detail::region_code& code) {
  m_engine->launch(name, options, over, demands, code);
}

void location_model::pause(std::source_location site) {
  if (const std::uint32_t views = m_runtime->inside().scheduler->views_here(); views != 0)
    throw error(error_kind::usage, fmt::format("pause while this thread holds {} host views", views),
                fmt::format("{}:{}", site.file_name(), site.line()),
                "let views end before waiting for regions, which may need their arrays");
  const bool has_memory = m_memory->end_arrays();
  if (has_memory || m_engine->has_files())
    m_runtime->fence(site);  // also brings home what devices hold
  else
    front_end(*m_runtime).wait_idle(site);
  m_engine->flush_files();
}

std::vector<region_row> location_model::regions() const { return m_engine->rows(); }

}  // namespace tessera
