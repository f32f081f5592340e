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
#include "hierarchy/region/adopted_ranges.hpp"
#include "hierarchy/region/engine.hpp"
#include "hierarchy/region/fenced_memory.hpp"
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
void bring_home(std::shared_ptr<hierarchy::array_storage> array) noexcept {
  const detail::region_array_handle handle(std::move(array));
  try {
    (void)handle.hold(intent::read, 0, handle.extents().rows, std::source_location::current());
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

/// Bytes of the elements. Throws usage for extents that are negative or too large.
std::uint64_t bytes_of(const std::string& name, element_type type, const row_extents& e,
                       const std::source_location& site) {
  std::int64_t bytes = 0;
  if (e.rows < 0 || e.second < 1 || e.third < 1 || __builtin_mul_overflow(e.second, e.third, &bytes) ||
      __builtin_mul_overflow(bytes, e.rows, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<std::int64_t>(size_of(type)), &bytes) ||
      bytes > (std::int64_t{1} << 46))
    throw error(error_kind::usage, fmt::format("array '{}' has extents {} x {} x {}", name, e.rows, e.second, e.third),
                file_and_line(site),
                "rows may be 0, the others at least 1, and all elements together at most 2^46 bytes");
  return static_cast<std::uint64_t>(bytes);
}

/// Throws usage where memory of so many elements is not that of the extents. @returns its bytes
std::uint64_t bytes_over(const void* memory, const std::string& name, element_type type, std::size_t elements,
                         const row_extents& e, const std::source_location& site) {
  const std::uint64_t bytes = bytes_of(name, type, e, site);
  if (bytes != elements * size_of(type))
    throw error(error_kind::usage,
                fmt::format("array '{}' of {} x {} x {} elements adopts memory of {}", name, e.rows, e.second, e.third,
                            elements),
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

/// Throws usage for a location that there is not.
location::node_id placed_at(const hierarchy::live_tree& tree, const std::string& name, const array_options& options,
                            const std::source_location& site) {
  return options.at.empty() ? tree.now()->root()
                            : tree.at(options.at, fmt::format("array '{}' at {}", name, file_and_line(site)));
}

/// Throws usage where elements that are in memory of the program would be placed at a storage location.
void check_in_memory(const hierarchy::live_tree& tree, const std::string& name, const array_options& options,
                     const std::source_location& site) {
  if (tree.now()->at(placed_at(tree, name, options, site)).properties.kind == location::kind::storage)
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

std::shared_ptr<hierarchy::array_storage> location_model::add(std::string name, element_type type, void* data,
                                                              std::shared_ptr<const void> memory,
                                                              const row_extents& extents, const array_options& options,
                                                              std::source_location site) {
  const std::shared_ptr<hierarchy::live_tree>& tree = live();
  const location::node_id at = placed_at(*tree, name, options, site);
  const bool foreign = memory == nullptr;
  const auto ranges = hierarchy::adopted_ranges::of(owner(site));
  std::shared_ptr<hierarchy::adopted_ranges::claim> claimed;
  if (foreign && extents.rows != 0)
    memory = claimed = ranges->take(data, bytes_of(name, type, extents, site), name, file_and_line(site));
  const auto made = [&] {
    try {
      return std::make_shared<hierarchy::array_storage>(owner(), name, type, data, std::move(memory), extents, tree, at,
                                                        site);
    } catch (const error& e) {  // the memory takes no more arrays
      if (e.kind() != error_kind::memory || !e.where().empty()) throw;
      throw error(e.kind(), fmt::format("array '{}' cannot be made: {}", name, e.message()), file_and_line(site),
                  e.hint());
    }
  }();
  if (claimed != nullptr) ranges->hold(*claimed, made);
  if (options.distance) made->set_distance(*options.distance);
  tree->enter(*made, foreign, site);
  return made;
}

detail::region_array_handle location_model::make(std::string name, element_type type, const row_extents& extents,
                                                 const array_options& options, std::source_location site) {
  check_distance(name, options, true, site);
  const std::uint64_t bytes = bytes_of(name, type, extents, site);
  const location::node_id at = placed_at(*live(), name, options, site);
  const std::shared_ptr<const location::tree> now = live()->now();
  const bool in_file = now->at(at).properties.kind == location::kind::storage;
  const std::filesystem::path file = in_file ? file_in(now->at(at).properties, name, site) : std::filesystem::path();
  if (in_file && hierarchy::array_memory::is_mapped(file)) hierarchy::finish_ended_arrays(owner(site));
  const std::shared_ptr<hierarchy::memory_claim> claimed = claim(name, bytes, at, in_file, site);
  if (in_file) return map_claimed(std::move(name), type, file, extents, options, claimed, site);
  auto memory = hierarchy::array_memory::fresh(bytes, name);
  memory->keep(claimed);
  void* const data = memory->data();
  auto made = add(std::move(name), type, data, std::move(memory), extents, options, site);
  live()->give(claimed, *made);
  return detail::region_array_handle(std::move(made));
}

std::shared_ptr<hierarchy::memory_claim> location_model::claim(const std::string& name, std::uint64_t bytes,
                                                               std::uint32_t at, bool of_file,
                                                               std::source_location site) {
  try {
    return live()->claim(name, bytes, at, of_file, site);
  } catch (const error&) {  // arrays that have ended give their memory back with their last tasks
    hierarchy::finish_ended_arrays(owner(site));
    return live()->claim(name, bytes, at, of_file, site);
  }
}

detail::region_array_handle location_model::map_claimed(std::string name, element_type type,
                                                        const std::filesystem::path& file, const row_extents& extents,
                                                        const array_options& options,
                                                        const std::shared_ptr<hierarchy::memory_claim>& claimed,
                                                        std::source_location site) {
  const auto memory = hierarchy::array_memory::of_file(file, bytes_of(name, type, extents, site), name);
  memory->keep(claimed);
  auto made = add(std::move(name), type, memory->data(), memory, extents, options, site);
  if (claimed != nullptr) live()->give(claimed, *made);
  m_engine->keep_file(memory);
  memory->keep_file();
  return detail::region_array_handle(std::move(made));
}

detail::region_array_handle location_model::adopt_memory(std::string name, element_type type, void* memory,
                                                         std::size_t elements, const row_extents& extents,
                                                         const array_options& options, std::source_location site) {
  check_distance(name, options, false, site);
  check_in_memory(*live(), name, options, site);
  finish_ended(memory, bytes_over(memory, name, type, elements, extents, site), site);
  return detail::region_array_handle(add(std::move(name), type, memory, nullptr, extents, options, site));
}

void location_model::finish_ended(const void* memory, std::uint64_t bytes, std::source_location site) {
  if (hierarchy::adopted_ranges::of(owner(site))->used_by_ended(memory, bytes))
    hierarchy::finish_ended_arrays(owner(site));
}

detail::region_array_handle location_model::map(std::string name, element_type type, const std::filesystem::path& file,
                                                const row_extents& extents, const array_options& options,
                                                std::source_location site) {
  check_distance(name, options, false, site);
  (void)bytes_of(name, type, extents, site);
  (void)placed_at(*live(), name, options, site);  // before the file gets its size
  if (hierarchy::array_memory::is_mapped(file)) hierarchy::finish_ended_arrays(owner(site));
  return map_claimed(std::move(name), type, file, extents, options, nullptr, site);
}

detail::region_array_handle location_model::memory_until_fence(std::string name, element_type type, void* memory,
                                                               std::size_t elements, const row_extents& extents,
                                                               std::source_location site) {
  const std::uint64_t bytes = bytes_over(memory, name, type, elements, extents, site);
  for (std::uint64_t waited_for = 0;;) try {
      finish_ended(memory, bytes, site);  // before the lock below, since it may run tasks
      return detail::region_array_handle(m_memory->array_over({memory, bytes, type, extents}, name, [&] {
        auto made = add(name, type, memory, nullptr, extents, {}, site);
        made->set_of_fenced_memory();
        return made;
      }));
    } catch (const hierarchy::adopted_ranges::still_used& e) {  // a fence of another thread has just ended it
      if (e.claim == std::exchange(waited_for, e.claim)) throw;
    }
}

detail::region_array_handle location_model::copy_of_memory(std::string name, element_type type, void* memory,
                                                           std::size_t elements, std::source_location site) {
  const row_extents extents{static_cast<std::int64_t>(elements)};
  const std::uint64_t bytes = bytes_of(name, type, extents, site);
  if (auto known = m_memory->find({memory, bytes, type, extents})) return detail::region_array_handle(std::move(known));
  if (program_side_of(owner(site)).recordings.current() != nullptr)
    throw error(error_kind::usage, fmt::format("'{}' is read inside a recording", name), file_and_line(site),
                "its value of now would be that of all replays: use an array of one row, which a region or a host view "
                "writes before a replay");
  auto copy = hierarchy::array_memory::fresh(bytes, name);
  void* const data = copy->data();
  copy_bytes(data, memory, bytes);
  return detail::region_array_handle(add(std::move(name), type, data, std::move(copy), extents, {}, site));
}

void location_model::launch(const task_name& name, const region_options& options, const loop_bounds& over,
                            std::span<const detail::region_demand> demands, const detail::region_code& code) {
  (void)owner(name.site);
  m_engine->launch(name, options, over, demands, code);
  for (const detail::region_demand& d : demands)
    if (d.array != nullptr && d.array->is_of_fenced_memory()) m_memory->keep(*d.array);
}

void location_model::fence(const region_fence_options& options, std::source_location site) {
  if (!options.at.empty() && tree()->find(options.at) != tree()->root())
    return edits(site).wait_below(options.at, site);
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
