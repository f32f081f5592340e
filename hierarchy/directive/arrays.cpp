// Directives of arrays, and pauses: whose each array is.
#include <fmt/format.h>

#include <algorithm>

#include "hierarchy/directive/program.hpp"
#include "hierarchy/region/array_memory.hpp"
#include "hierarchy/region/storage.hpp"

namespace tessera::directives {
namespace {

using detail::program_array;

std::uint64_t bytes_of(const program_array& array) {
  return static_cast<std::uint64_t>(array.extents().count()) * size_of(array.type());
}

/// The array that a pointer points into; null: none.
program_array* find(running& in, const void* pointer) {
  auto behind = in.arrays.upper_bound(pointer);
  if (behind == in.arrays.begin()) return nullptr;
  program_array& before = *std::prev(behind)->second;
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(pointer) -
                                                 static_cast<const std::byte*>(before.address()));
  return offset < std::max<std::uint64_t>(bytes_of(before), 1) ? &before : nullptr;
}

program_array& needed(running& in, const void* pointer, std::string_view name, const std::string& where) {
  program_array* const found = find(in, pointer);
  if (found == nullptr)
    refuse(name.empty()
               ? "there is no array at this address"
               : fmt::format("'{}' {}", name,
                             pointer == nullptr ? "is null: there is no array at this address" : "points to no array"),
           where,
           "'gecko memory allocate' or 'gecko memory register' makes one; a const array of 64 numbers or fewer "
           "with one index needs neither");
  return *found;
}

/// One that begins at the address.
program_array& needed_whole(running& in, const void* first, std::string_view name, const std::string& where) {
  program_array& found = needed(in, first, name, where);
  if (found.address() != first)
    refuse(fmt::format("the address is inside of array '{}'", found.name()), where, "use that of its first element");
  return found;
}

void check_type(const program_array& array, element_type type, const std::string& where) {
  if (array.type() != type)
    refuse(
        fmt::format("array '{}' has elements of type {}, not {}", array.name(), name_of(array.type()), name_of(type)),
        where, "the pointer has the type of the array");
}

}  // namespace

namespace detail {

program_array::program_array(tessera::detail::array_handle handle, element_type type, bool adopted)
    : m_handle(std::move(handle)), m_type(type), m_adopted(adopted) {
  hierarchy::array_storage& rows = *m_handle.rows(std::source_location::current());
  m_extents = rows.extents();
  m_address = rows.tiles().memory();
  const bool has_address = m_adopted || m_address != nullptr;  // one without elements has no memory
  if (has_address && !rows.is_remade()) return;
  const auto pages = hierarchy::array_memory::fresh(std::max<std::uint64_t>(bytes_of(*this), 1),
                                                    name());  // never touched: an address alone
  m_address = pages->data();
  m_stand_in = pages;
}

void* enter(std::unique_ptr<program_array> array) {
  running& in = program::the().run();
  void* const address = array->address();
  if (const auto other = in.arrays.find(address);
      other != in.arrays.end())  // both without elements; else regions refuse
    refuse(fmt::format("memory '{}' is in array '{}' already", array->name(), other->second->name()), "memory register",
           "unregister that first");
  array->lend();
  in.arrays.emplace(address, std::move(array));
  return address;
}

std::string place_of(std::string_view directive, const std::source_location& site) {
  return fmt::format("{} at {}:{}", directive, site.file_name(), site.line());
}

void check_chain(const void* first, std::span<const std::int64_t> extents, std::size_t size, std::int64_t row_elements,
                 const std::source_location& site) {
  running& in = program::the().run();
  const std::size_t elements = tessera::detail::elements_in(extents),
                    has = tessera::detail::elements_in(extents.subspan(1));
  const auto* const begin = static_cast<const std::byte*>(first);
  const auto* const end = begin + elements * size;
  for (auto at = in.arrays.lower_bound(end); at != in.arrays.begin();) {
    const program_array& before = *(--at)->second;
    if (static_cast<const std::byte*>(before.address()) + bytes_of(before) <= begin) break;
    refuse(fmt::format("the chain leads to {} elements, of which array '{}' has some", elements, before.name()),
           place_of("pointerchain", site), "leave the chain's range out: it is an array of the program");
  }
  if (row_elements != 0 && has != static_cast<std::size_t>(row_elements))
    refuse(fmt::format("rows of the chain have {} elements, and the region's subscripts mean rows of {}", has,
                       row_elements),
           place_of("region", site), "give the chain its rows: x[0:rows][0:columns]{double*}");
}

program_array& array_at(const void* first, element_type type, std::size_t rank, std::int64_t row_elements,
                        std::string_view name, const std::source_location& site) {
  running& in = program::the().run();
  program_array* const known = find(in, first);
  const bool fits = known != nullptr && known->address() == first && known->type() == type &&
                    (rank == any_rank || known->rank() == rank) &&
                    (row_elements == 0 || known->extents().row_elements() == row_elements);
  if (fits) return *known;
  const std::string where = place_of("region", site);
  const program_array& found = needed_whole(in, first, name, where);
  check_type(found, type, where);
  const std::int64_t has = found.extents().row_elements();
  if (row_elements == 0 || row_elements == has)
    refuse(fmt::format("array '{}' has {} dimension{}, and the region has {} subscripts of it", found.name(),
                       found.rank(), found.rank() == 1 ? "" : "s", rank),
           where, "give the array as many ranges where it is made as its type has: x[0:rows][0:columns]");
  if (row_elements == 1)  // by the loop's index alone
    refuse(
        fmt::format("rows of array '{}' have {} elements, and the region's subscripts mean single elements",
                    found.name(), has),
        where,
        fmt::format("let the loop count rows, with one inside for the elements: {0}[i * {1} + j] for j from 0 to less "
                    "than {1}; or give the array one range: {0}[0:{2}]",
                    found.name(), has, found.extents().count()));
  refuse(fmt::format("rows of array '{}' have {} elements, and the region's subscripts mean rows of {}", found.name(),
                     has, row_elements),
         where,
         fmt::format("give the array these rows where it is made: {}[0:rows][0:{}]", found.name(), row_elements));
}

array_range range_at(const void* pointer, element_type type, std::int64_t first, std::int64_t count, std::size_t size,
                     std::string_view clause, const std::source_location& site) {
  const std::string where = place_of("memory copy", site);
  program_array& found = needed(program::the().run(), pointer, clause, where);
  check_type(found, type, where);
  if (found.made_again())
    refuse(fmt::format("array '{}' is made again for each region, and has nothing to copy between them", found.name()),
           where, "allocate it without 'realloc' to keep its elements");
  const auto* const base = static_cast<const std::byte*>(found.address());
  const std::int64_t offset = (static_cast<const std::byte*>(pointer) - base) / static_cast<std::int64_t>(size) + first,
                     all = found.extents().count();
  if (first < 0 || count < 0 || offset > all || count > all - offset)
    refuse(fmt::format("elements {} to {} of array '{}', which has {}", offset, offset + count, found.name(), all),
           where, "a range is [first:count]");
  return {&found, offset, count};
}

bool is_region(const array_range& from, const array_range& to) {
  if (from.array->lent() && to.array->lent()) return false;
  const std::int64_t row = from.array->extents().row_elements();
  const bool whole_rows = row == to.array->extents().row_elements() && from.first % row == 0 && to.first % row == 0 &&
                          from.count % row == 0;
  const bool overlap = from.array == to.array && from.first < to.first + to.count && to.first < from.first + from.count;
  return whole_rows && !overlap;
}

}  // namespace detail

void free(const void* first, std::string_view name, std::source_location site) {
  running& in = program::the().run();
  const std::string where = detail::place_of("memory free", site);
  program_array& found = needed_whole(in, first, name, where);
  if (found.adopted())
    refuse(fmt::format("array '{}' was registered, not allocated", found.name()), where,
           "use 'gecko memory unregister'");
  found.take();
  in.arrays.erase(first);
}

void unregister_memory(const void* first, std::string_view name, std::source_location site) {
  running& in = program::the().run();
  const std::string where = detail::place_of("memory unregister", site);
  program_array& found = needed_whole(in, first, name, where);
  if (!found.adopted())
    refuse(fmt::format("array '{}' was allocated, not registered", found.name()), where, "use 'gecko memory free'");
  found.lend();  // its last version is at home now, and nothing uses it
  found.take();
  in.arrays.erase(first);
}

void move(const void* first, std::string_view location, std::string_view name, std::source_location site) {
  needed_whole(program::the().run(), first, name, detail::place_of("memory move", site)).handle().move(location, site);
}

void pause(std::source_location site) {
  running& in = program::the().run();
  for (const auto& [address, array] : in.arrays) array->take();
  in.model->fence(site);
  for (const auto& [address, array] : in.arrays) array->lend();
}

void pause(std::string_view at, std::source_location site) {
  running& in = program::the().run();
  const auto tree = in.model->tree();
  const location::node_id top = attached_location(*tree, at, detail::place_of("pause", site));
  if (top == tree->root()) return pause(site);
  for (const auto& [address, array] : in.arrays)
    if (const auto where = tree->find(array->handle().location(site)); where && tree->is_ancestor(top, *where))
      array->lend();
}

}  // namespace tessera::directives
