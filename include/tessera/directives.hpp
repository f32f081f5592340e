#pragma once
/// @file
/// What `#pragma gecko` and `#pragma pointerchain` become (docs/directives.md): tessera-translate writes calls of these
/// functions, of <tessera/region.hpp>, and of nothing else. They keep what a program with directives has no variable
/// for: one runtime with one location_model, and its arrays by their addresses. A program may call them itself, too.
///
/// All directives of a program belong to one thread, the one of the first array or region; others throw (usage).
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/region.hpp"

namespace tessera::directives {

// ---- the machine: before the first array or region ------------------------------------------------------------------

/// A type of location, as in [[loctype]] of a configuration. Texts that are empty, and 0, are left out.
struct location_type {
  std::string_view name;            ///< for `location`
  std::string_view kind;            ///< cpu, gpu, accelerator, unified, storage or virtual
  std::int64_t cores = 0;           ///< of each
  std::string_view memory = {};     ///< "16 GiB"
  std::string_view bandwidth = {};  ///< to the parent: "12 GB/s"
  std::string_view plugin = {};     ///< of its devices
  std::string_view match = {};      ///< conditions on a device
  std::string_view path = {};       ///< of a store
};

/// Which of several numbered locations are meant: NAME[start] to NAME[start + count - 1], or all.
struct numbering {
  bool all = false;         ///< every device of the type
  std::int64_t start = -1;  ///< -1: not given
  std::int64_t count = -1;  ///< -1: not given
};

/// `gecko config file(...)`: a TOML file with the machine's settings, or, where its name ends in .csv, declarations in
/// the older form. These and the next three throw tessera::error (usage) when the runtime has started.
void config(std::string_view file);
/// `gecko loctype`
void declare_type(const location_type& type);
/// `gecko location`
void declare_locations(std::initializer_list<std::string_view> names, std::string_view type,
                       const numbering& which = {});
/// `gecko hierarchy`. @param sign  "+": the children are attached, "-": they are detached
void declare_hierarchy(std::string_view sign, std::initializer_list<std::string_view> children, std::string_view parent,
                       const numbering& which = {});

/// The model that regions are submitted to. The first call starts the runtime, on what was declared, else on what
/// TESSERA_CONFIG names; `stop` ends it. Throws as the runtime does.
location_model& model();

/// `gecko draw`: the tree below a location (empty: all of it) as a picture, SVG or, where the name ends in .dot, for
/// Graphviz. Throws tessera::error: usage for an unknown location, output.
void draw(std::string_view root, std::string_view file);

// ---- arrays ---------------------------------------------------------------------------------------------------------

/// Where an array is.
struct placement {
  std::string_view location = {};  ///< its name; empty: the root
  std::int64_t ancestor = -1;      ///< 0: where the region that is about to run executes; n: the n-th location above;
                                   ///< -1: at `location`
  std::string_view file = {};      ///< not empty: its elements are those of a file, and stay there
};

namespace detail {

/// An array of the program. It belongs either to the program, which then reads and writes it through its address, or to
/// regions.
class program_array {
 public:
  /// @param adopted  it was memory of the program before @param ancestor  as of placement
  program_array(std::string name, tessera::detail::region_array_handle handle, element_type type, bool adopted,
                std::int64_t ancestor);
  virtual ~program_array() = default;
  program_array(const program_array&) = delete;
  program_array& operator=(const program_array&) = delete;

  const std::string& name() const noexcept { return m_name; }                   ///< of its variable
  element_type type() const noexcept { return m_type; }                         ///< of its elements
  const row_extents& extents() const noexcept { return m_handle.extents(); }    ///< as it was made
  void* address() const noexcept { return m_address; }                          ///< of the first element
  bool adopted() const noexcept { return m_adopted; }                           ///< it was registered
  std::int64_t ancestor() const noexcept { return m_ancestor; }                 ///< as of placement
  tessera::detail::region_array_handle& handle() noexcept { return m_handle; }  ///< for the runtime
  virtual void lend() = 0;  ///< waits for the regions that use it; then it belongs to the program
  virtual void take() = 0;  ///< it belongs to regions

 private:
  std::string m_name;
  tessera::detail::region_array_handle m_handle;
  element_type m_type;
  void* m_address;
  bool m_adopted;
  std::int64_t m_ancestor;
};

/// The same with its element type.
template <class T>
class program_array_of final : public program_array {
 public:
  /// As program_array.
  program_array_of(region_array<T> array, bool adopted, std::int64_t ancestor)
      : program_array(array.name(), array.handle(), element_type_of<T>(), adopted, ancestor),
        m_array(std::move(array)) {}
  const region_array<T>& array() const noexcept { return m_array; }  ///< for regions
  void lend() override {
    if (m_lent) return;
    m_lent.emplace(m_array.update_host());
    // Validation shows copies; the program's pointer is the home of the elements.
    if (m_lent->begin() != address()) std::copy(m_lent->begin(), m_lent->end(), static_cast<T*>(address()));
  }
  void take() override {
    if (!m_lent) return;
    if (m_lent->begin() != address())
      std::copy_n(static_cast<const T*>(address()), m_lent->elements().size(), m_lent->begin());
    m_lent.reset();
  }

 private:
  region_array<T> m_array;
  std::optional<region_host_view<T>> m_lent;
};

/// From now on the program has it. Returns its address; throws where it overlaps another one.
void* enter(std::unique_ptr<program_array> array);
/// The array that begins there; throws usage as `array` does.
program_array& array_at(const void* first, element_type type, std::int64_t row_elements);
/// [first, first + count) of an array, by a pointer into it; lends it to the program.
void* elements_at(const void* pointer, element_type type, std::int64_t first, std::int64_t count, std::size_t size);

}  // namespace detail

/// `gecko memory allocate`: an array of zeros, or the elements of a file; the program has it, to read and to write,
/// until a region uses it. Returns the address of its first element. Throws as location_model::make_array and map_file.
template <class T>
T* allocate(std::string name, const row_extents& extents, const placement& where = {},
            std::source_location site = std::source_location::current()) {
  const array_options at{where.location};
  return static_cast<T*>(detail::enter(std::make_unique<detail::program_array_of<T>>(
      where.file.empty() ? model().make_array<T>(std::move(name), extents, at, site)
                         : model().map_file<T>(std::move(name), where.file, extents, at, site),
      false, where.ancestor)));
}

/// The address of the first number of an array of arrays: double (*)[30] -> double*.
template <class T>
auto* first_element(T* rows) {
  if constexpr (std::is_array_v<T>)
    return first_element(&(*rows)[0]);
  else
    return rows;
}

/// `gecko memory register`: memory of the program becomes an array, in place; it may be a part of a larger allocation.
/// The program has it until a region uses it. Throws as location_model::adopt, and usage where it overlaps an array.
template <class T>
void register_memory(std::string name, T* first, const row_extents& extents, const placement& where = {},
                     std::source_location site = std::source_location::current()) {
  (void)detail::enter(std::make_unique<detail::program_array_of<T>>(
      model().adopt<T>(std::move(name), std::span(first, static_cast<std::size_t>(extents.count())), extents,
                       {where.location}, site),
      true, where.ancestor));
}

/// `gecko memory free`: regions that were submitted before end first. The pointer must not be used any more. Throws
/// tessera::error (usage) for what was not allocated.
void free(const void* first);
/// `gecko memory unregister`: waits for the regions that use it; then the memory is the program's, with what they
/// wrote. Throws tessera::error (usage) for what was not registered.
void unregister_memory(const void* first);
/// `gecko memory move`: from now on the array is at another location. Throws as region_array::move.
void move(const void* first, std::string_view location);

/// `gecko memory copy`: `count` elements, behind the regions that make them. Both pointers may point into an array. The
/// program has both arrays then. Throws tessera::error (usage) for ranges that are not in an array; of two types it
/// does not compile.
template <class T>
void copy(const T* from, std::int64_t from_first, std::int64_t from_count, T* to, std::int64_t to_first,
          std::int64_t to_count);

/// An array for a region, from now on the region's: `in(array(x))`. Throws tessera::error (usage) when there is no
/// array of this type at the address, and when its rows have another length than the region's subscripts say.
/// @param row_elements  elements of a row; 1: of one dimension; 0: any
template <class T>
const region_array<std::remove_const_t<T>>& array(T* first, std::int64_t row_elements = 1) {
  using element = std::remove_const_t<T>;
  detail::program_array& found = detail::array_at(first, element_type_of<element>(), row_elements);
  found.take();
  return static_cast<detail::program_array_of<element>&>(found).array();
}

/// Places those of the arrays that were allocated by distance where a region is about to run. Others stay.
/// @param at  of the region; empty: the deepest location of the other arrays
void place_by_distance(std::string_view at, std::initializer_list<const void*> arrays);

/// `gecko pause`: waits for everything; then the program has all arrays. Throws the first failure of a region.
void pause(std::source_location site = std::source_location::current());
/// The same for the arrays at a location and below: waits for the regions that use those.
void pause(std::string_view at);

/// Ends the runtime, behind everything that was submitted. Pointers to arrays that were not freed must not be used any
/// more. A later directive starts another one, and the machine may be declared again before.
void stop();
/// Calls `stop` at its end: a translated main begins with one. A program whose main is not translated calls `stop`, or
/// loses at its end what is not done.
class session {
 public:
  session() = default;  ///< nothing starts yet
  ~session() { stop(); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
};

template <class T>
void copy(const T* from, std::int64_t from_first, std::int64_t from_count, T* to, std::int64_t to_first,
          std::int64_t to_count) {
  if (from_count != to_count)
    throw error(error_kind::usage,
                "a copy from " + std::to_string(from_count) + " elements to " + std::to_string(to_count), "memory copy",
                "the counts of both ranges are the same");
  constexpr element_type type = element_type_of<T>();
  const T* const source = static_cast<const T*>(detail::elements_at(from, type, from_first, from_count, sizeof(T)));
  T* const target = static_cast<T*>(detail::elements_at(to, type, to_first, to_count, sizeof(T)));
  if (source < target)
    std::copy_backward(source, source + from_count, target + from_count);
  else
    std::copy(source, source + from_count, target);
}

}  // namespace tessera::directives
