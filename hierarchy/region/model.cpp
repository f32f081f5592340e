#include <fmt/format.h>

#include "core/base/call_site.hpp"
#include "core/block/element_type.hpp"
#include "core/bytes/copy.hpp"
#include "core/runtime/machine.hpp"
#include "core/runtime/program_side.hpp"
#include "core/schedule/failures.hpp"
#include "core/schedule/recordings.hpp"
#include "core/schedule/view_requests.hpp"
#include "core/schedule/waits.hpp"
#include "core/validate/validator.hpp"
#include "hierarchy/region/adopted_ranges.hpp"
#include "hierarchy/region/engine.hpp"
#include "hierarchy/region/fenced_memory.hpp"
#include "hierarchy/region/made_arrays.hpp"
#include "hierarchy/region/picture.hpp"
#include "hierarchy/region/tree_edits.hpp"
#include "tessera/front_end.hpp"
#include "tessera/region.hpp"

namespace tessera {

location_model::location_model(runtime& of)
    : editable_tree(of),
      m_engine(std::make_unique<hierarchy::region_engine>(of)),
      m_memory(std::make_unique<hierarchy::fenced_memory>()) {
  if (!program_side_of(of).waits.in_program())
    throw error(error_kind::usage, "a location model inside a task", {},
                "its end would wait for the task that it is in: make it in a thread of the program; regions of it may "
                "be submitted inside tasks");
}

namespace {

/// The program's memory holds what regions have made of the array. A failure stays for the next fence.
void bring_home(const std::shared_ptr<hierarchy::array_storage>& array) noexcept {
  try {
    (void)array->hold(intent::read, {0, array->extents().rows}, std::source_location::current());
  } catch (const std::exception&) {  // of the region that should have made it
  }
}

}  // namespace

location_model::~location_model() {
  const lifetime::visit here = enter(alive());  // the runtime may end in another thread
  if (!here) return;  // what regions have made went home with the runtime's end, where it was adopted
  const program_side& side = program_side_of(owner());
  const std::uint32_t views = side.views.held_here();
  if (side.waits.in_program() && views == 0) {
    side.waits.wait(schedule::wait_request::quietly());
    auto untold = side.failures.take();  // to bring an array home that has failed would count as telling it
    for (const auto& array : m_memory->let_go()) bring_home(array);  // to memory that the program may free now
    side.failures.put_back(std::move(untold));
    return;
  }
  say(side.machine.log, 2,
      views != 0 ? "a location model ends while its thread holds host views, for which regions may wait; it does not "
                   "wait for regions"
                 : "a location model ends inside a task; it does not wait for regions");
}

namespace {

/// Throws usage where memory of so many elements of the program's type is not that of the extents. @returns its bytes
std::uint64_t bytes_over(const void* memory, const std::string& name, element_type type, std::int64_t per_element,
                         std::size_t elements, const row_extents& e, const std::source_location& site) {
  const std::uint64_t bytes = hierarchy::bytes_of(name, type, e, site);
  if (bytes != elements * static_cast<std::size_t>(per_element) * size_of(type))
    throw error(error_kind::usage,
                fmt::format("array '{}' of {} x {} x {} elements adopts memory of {}", name, e.rows, e.second,
                            e.third / per_element, elements),
                file_and_line(site), "the memory has as many elements as the extents say");
  if (memory == nullptr && bytes != 0)
    throw error(error_kind::usage, fmt::format("array '{}' adopts {} elements at no address", name, elements),
                file_and_line(site));
  return bytes;
}

/// @param fresh  make_array makes its memory
void check_distance(const std::string& name, const array_options& options, bool fresh,
                    const std::source_location& site) {
  if (!options.distance) return;
  if (!options.at.empty())
    throw error(error_kind::usage, fmt::format("array '{}' is placed at '{}' and by distance", name, options.at),
                file_and_line(site), "a distance stands instead of a location");
  if (!fresh && options.distance->keeps == array_distance::form::realloc)
    throw error(error_kind::usage,
                fmt::format("array '{}' would be made again for each region, and has memory of its own", name),
                file_and_line(site),
                "'realloc' is for arrays that make_array makes; the automatic form keeps the elements");
}

/// Throws usage where elements that are in memory of the program would be placed at a storage location.
void check_in_memory(const hierarchy::array_maker& makes, const std::string& name, const array_options& options,
                     const std::source_location& site) {
  if (makes.tree().now()->at(makes.placed_at(name, options)).properties.kind == location::kind::storage)
    throw error(
        error_kind::usage,
        fmt::format("array '{}' in memory of the program is placed at the storage location '{}'", name, options.at),
        file_and_line(site), "make_array makes a file there, which the elements can be copied to");
}

/// The file of an array at a storage location. Throws usage where there is none.
std::filesystem::path file_in(const location::properties& storage, const std::string& name,
                              const std::source_location& site) {
  if (storage.folder.empty())
    throw error(
        error_kind::usage,
        fmt::format("array '{}' would be a file at storage location '{}', whose directory is not known", name,
                    storage.name),
        file_and_line(site),
        "set the option path of its plugin ([plugin.disk]), without which it keeps blocks in a temporary directory; "
        "or use map_file with the path of a file");
  if (name.empty() || name.find('/') != name.npos || name.find('\0') != name.npos)
    throw error(error_kind::usage,
                fmt::format("array '{}' would be a file at storage location '{}', and its name is that of no file",
                            name, storage.name),
                file_and_line(site), "give it a name without a slash, or use map_file with the path of a file");
  return std::filesystem::path(storage.folder) / (name + ".array");
}

}  // namespace

hierarchy::array_maker location_model::makes(std::source_location site) const { return {owner(site), live(), site}; }

detail::array_handle location_model::handle_to(std::shared_ptr<hierarchy::array_storage> rows, const element_kind& kind,
                                               std::span<const std::int64_t> extents) {
  runtime& of = rows->owner();
  std::string name = rows->name();
  return detail::array_handle(std::make_shared<detail::array_state>(of, std::move(name), kind.type, kind.per_element,
                                                                    shape(extents), std::move(rows)));
}

detail::array_handle location_model::make(std::string name, const element_kind& kind,
                                          std::span<const std::int64_t> extents, const array_options& options,
                                          std::source_location site) {
  check_distance(name, options, true, site);
  const row_extents stored = hierarchy::stored_extents(name, extents, kind.per_element, site);
  const std::uint64_t bytes = hierarchy::bytes_of(name, kind.type, stored, site);
  const location::node_id at = makes(site).placed_at(name, options);
  const std::shared_ptr<const location::tree> now = live()->now();
  const bool in_file = now->at(at).properties.kind == location::kind::storage;
  const std::filesystem::path file = in_file ? file_in(now->at(at).properties, name, site) : std::filesystem::path();
  if (in_file && hierarchy::array_memory::is_mapped(file)) hierarchy::finish_ended_arrays(owner(site));
  const std::shared_ptr<hierarchy::memory_claim> claimed = makes(site).claim(name, bytes, at, in_file);
  if (in_file)
    return handle_to(map_claimed(std::move(name), kind.type, file, stored, options, claimed, site), kind, extents);
  return handle_to(makes(site).fresh(std::move(name), kind.type, stored, claimed, options), kind, extents);
}

std::shared_ptr<hierarchy::array_storage> location_model::map_claimed(
    std::string name, element_type type, const std::string& file, const row_extents& extents,
    const array_options& options, const std::shared_ptr<hierarchy::memory_claim>& claimed, std::source_location site) {
  const auto memory = hierarchy::array_memory::of_file(file, hierarchy::bytes_of(name, type, extents, site), name);
  memory->keep(claimed);
  auto storage = makes(site).add(std::move(name), type, memory->data(), memory, extents, options);
  if (claimed != nullptr) live()->give(claimed, *storage);
  m_engine->keep_file(memory);
  memory->keep_file();
  return storage;
}

detail::array_handle location_model::adopt_memory(std::string name, const element_kind& kind, void* memory,
                                                  std::size_t elements, std::span<const std::int64_t> extents,
                                                  const array_options& options, std::source_location site) {
  check_distance(name, options, false, site);
  check_in_memory(makes(site), name, options, site);
  const row_extents stored = hierarchy::stored_extents(name, extents, kind.per_element, site);
  finish_ended(memory, bytes_over(memory, name, kind.type, kind.per_element, elements, stored, site), site);
  return handle_to(makes(site).add(std::move(name), kind.type, memory, nullptr, stored, options), kind, extents);
}

void location_model::finish_ended(const void* memory, std::uint64_t bytes, std::source_location site) {
  if (hierarchy::adopted_ranges::of(owner(site))->used_by_ended(memory, bytes))
    hierarchy::finish_ended_arrays(owner(site));
}

detail::array_handle location_model::map(std::string name, const element_kind& kind, const std::string& file,
                                         std::span<const std::int64_t> extents, const array_options& options,
                                         std::source_location site) {
  check_distance(name, options, false, site);
  const row_extents stored = hierarchy::stored_extents(name, extents, kind.per_element, site);
  (void)hierarchy::bytes_of(name, kind.type, stored, site);
  (void)makes(site).placed_at(name, options);  // before the file gets its size
  if (hierarchy::array_memory::is_mapped(file)) hierarchy::finish_ended_arrays(owner(site));
  return handle_to(map_claimed(std::move(name), kind.type, file, stored, options, nullptr, site), kind, extents);
}

detail::array_handle location_model::memory_until_fence(std::string name, const element_kind& kind, void* memory,
                                                        std::size_t elements, std::span<const std::int64_t> extents,
                                                        std::source_location site) {
  const row_extents stored = hierarchy::stored_extents(name, extents, kind.per_element, site);
  const std::uint64_t bytes = bytes_over(memory, name, kind.type, kind.per_element, elements, stored, site);
  for (std::uint64_t waited_for = 0;;) try {
      finish_ended(memory, bytes, site);  // before the lock below, since it may run tasks
      auto over = m_memory->array_over({memory, bytes, kind.type, stored}, name, [&] {
        auto storage = makes(site).add(name, kind.type, memory, nullptr, stored, {});
        storage->set_of_fenced_memory();
        return storage;
      });
      return handle_to(std::move(over), kind, extents);
    } catch (const hierarchy::adopted_ranges::still_used& e) {  // a fence of another thread has just ended it
      if (e.claim == std::exchange(waited_for, e.claim)) throw;
    }
}

detail::array_handle location_model::copy_of_memory(std::string name, element_type type, void* memory,
                                                    std::size_t elements, std::source_location site) {
  const std::int64_t extents[] = {static_cast<std::int64_t>(elements)};
  const element_kind kind{type, 1};
  const row_extents stored{extents[0]};
  const std::uint64_t bytes = hierarchy::bytes_of(name, type, stored, site);
  if (auto known = m_memory->find({memory, bytes, type, stored})) return handle_to(std::move(known), kind, extents);
  if (program_side_of(owner(site)).recordings.current() != nullptr)
    throw error(error_kind::usage, fmt::format("'{}' is read inside a recording", name), file_and_line(site),
                "its value of now would be that of all replays: use an array of one row, which a region or a host view "
                "writes before a replay");
  auto copy = hierarchy::array_memory::fresh(bytes, name);
  void* const data = copy->data();
  copy_bytes(data, memory, bytes);
  return handle_to(makes(site).add(std::move(name), type, data, std::move(copy), stored, {}), kind, extents);
}

void location_model::launch(const task_name& name, const region_options& options, const loop_bounds& over,
                            std::span<const detail::region_demand> demands, const detail::region_code& code) {
  (void)owner(name.site);
  m_engine->launch(name, options, over, demands, code);
  for (const detail::region_demand& d : demands)
    if (d.array != nullptr && d.array->is_of_fenced_memory()) m_memory->keep(*d.array);
}

void location_model::fence(const region_fence_options& options, std::source_location site) {
  if (!options.at.empty() && tree()->find(options.at) != tree()->root()) {
    edits(site).wait_below(options.at, site);
    if (validate::validator* const by = program_side_of(owner(site)).validator) by->waited(site);
    return;
  }
  edits(site).require_may_wait("fence", site);
  const bool has_memory = m_memory->has_arrays(), has_files = m_engine->has_files();
  if (has_memory) {
    // Regions that other threads submit meanwhile over the same memory find its arrays, and so follow those before.
    const std::vector<std::shared_ptr<hierarchy::array_storage>> ending = m_memory->let_go();
    program_side_of(owner(site)).waits.wait(schedule::wait_request::quietly());
  }
  if (has_memory || has_files)
    owner(site).fence(site);  // also brings home what devices hold
  else if (const auto adopted = hierarchy::adopted_ranges::of(owner(site)); adopted->any())
    program_side_of(owner(site))
        .waits.wait(schedule::wait_request::reporting_home([&](const void* memory) { return adopted->has(memory); }),
                    site);
  else
    front_end(owner(site)).fence(site);
  if (has_files) m_engine->flush_files();
}

std::vector<region_row> location_model::regions() const { return m_engine->rows(); }

std::string location_model::draw(tree_form form) const {
  const std::vector<region_row> rows = regions();
  return hierarchy::picture(*tree(), live()->arrays(), rows, form);
}

}  // namespace tessera
