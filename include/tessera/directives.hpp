#pragma once
/// @file
/// What `#pragma gecko` and `#pragma pointerchain` become (docs/directives.md): tessera-translate writes calls of these
/// functions, of <tessera/region.hpp> and <tessera/deep_copy.hpp>, and of nothing else. They keep what a program with
/// directives has no variable for: one runtime with one location_model, and its arrays by their addresses. A program
/// may call them itself, too.
///
/// All directives of a program belong to one thread, the one of the first array or region; others throw (usage).
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/detail/chain.hpp"
#include "tessera/detail/loop_head.hpp"
#include "tessera/region.hpp"

namespace tessera::directives {

// ---- the machine ----------------------------------------------------------------------------------------------------

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
/// the older form. When the runtime has started, the tree becomes that of the file (location_model::arrange), which is
/// in TOML then; throws as that. Errors of this function and of the others name the `site`.
void config(std::string_view file, std::source_location site = std::source_location::current());
/// `gecko loctype`. This and the next one throw tessera::error (usage) when the runtime has started.
void declare_type(const location_type& type, std::source_location site = std::source_location::current());
/// `gecko location`
void declare_locations(std::initializer_list<std::string_view> names, std::string_view type,
                       const numbering& which = {}, std::source_location site = std::source_location::current());
/// `gecko hierarchy`: before the runtime has started a part of its description, afterwards an edit of the tree that
/// regions see, in the order of the children; each is attached below the parent, moved there from another one, or
/// detached from it. Throws tessera::error (usage) for another sign, then for children to detach that are not below the
/// parent, and as location_model::attach, reparent and detach. @param sign  "+": attach, "-": detach
void edit_hierarchy(std::string_view sign, std::initializer_list<std::string_view> children, std::string_view parent,
                    const numbering& which = {}, std::source_location site = std::source_location::current());

/// The model that regions are submitted to. The first call starts the runtime, on what was declared, else on what
/// TESSERA_CONFIG names; `stop` ends it. Throws as the runtime does.
location_model& model();

/// `gecko draw`: the tree below a location (empty: all of it) as a picture, SVG or, where the name ends in .dot, for
/// Graphviz. Throws tessera::error: usage for an unknown location, output.
void draw(std::string_view root, std::string_view file, std::source_location site = std::source_location::current());

/// A number of a directive: where a range begins, how long it is. It does not compile for one that may have a fraction,
/// which would be cut off.
template <class T>
constexpr std::int64_t whole_number(T written) {
  static_assert(!std::is_floating_point_v<T>, "the range of a directive is of whole numbers");
  return static_cast<std::int64_t>(written);
}
/// The same for `distance(far:n)`. Throws tessera::error (usage) below 0.
template <class T>
std::uint32_t levels(T written, std::source_location site = std::source_location::current());

// ---- arrays ---------------------------------------------------------------------------------------------------------

/// Where an array is.
struct placement {
  std::string_view location = {};               ///< its name; empty: the root
  std::optional<array_distance> distance = {};  ///< instead: where regions that use it execute, or above
  std::string_view file = {};                   ///< not empty: its elements are those of a file, and stay there
};

namespace detail {

/// An array of the program. It belongs either to the program, which then reads and writes it through its address, or to
/// regions.
class program_array {
 public:
  /// @param adopted  it was memory of the program before
  program_array(tessera::detail::array_handle handle, element_type type, bool adopted);
  virtual ~program_array() = default;
  program_array(const program_array&) = delete;
  program_array& operator=(const program_array&) = delete;

  const std::string& name() const noexcept { return m_handle.name(); }     ///< of its variable
  element_type type() const noexcept { return m_type; }                    ///< of its elements
  std::size_t rank() const noexcept { return m_handle.extents().rank(); }  ///< as it was made
  const row_extents& extents() const noexcept { return m_extents; }        ///< likewise
  /// Of the first element. Where regions make its memory again, of memory that only stands for it.
  void* address() const noexcept { return m_address; }
  bool adopted() const noexcept { return m_adopted; }                 ///< it was registered
  bool has_elements() const noexcept { return extents().rows != 0; }  ///< whether there is anything to look at
  bool made_again() const noexcept { return m_stand_in != nullptr && has_elements(); }  ///< its memory, for each region
  const tessera::detail::array_handle& handle() const noexcept { return m_handle; }     ///< for the runtime
  /// Waits for the regions that use it; then it belongs to the program. One that is made again never does.
  virtual void lend() = 0;
  virtual void take() = 0;        ///< it belongs to regions
  virtual bool lent() const = 0;  ///< whether it belongs to the program

 private:
  tessera::detail::array_handle m_handle;
  row_extents m_extents;
  element_type m_type;
  std::shared_ptr<const void> m_stand_in;  // has its address; null: the array's own memory does, and stays
  void* m_address;
  bool m_adopted;
};

/// The same with its element type.
template <class T>
class program_array_of final : public program_array {
 public:
  /// As program_array.
  program_array_of(tessera::array<T, any_rank> array, bool adopted)
      : program_array(array.handle(), element_type_of<T>(), adopted), m_array(std::move(array)) {}
  const tessera::array<T, any_rank>& array() const noexcept { return m_array; }  ///< for regions
  void lend() override {
    if (m_lent || made_again() || !has_elements()) return;
    m_lent.emplace(m_array.update());
    // Validation shows copies; the program's pointer is the home of the elements.
    if (m_lent->begin() != address()) std::copy(m_lent->begin(), m_lent->end(), static_cast<T*>(address()));
  }
  void take() override {
    if (!m_lent) return;
    if (m_lent->begin() != address())
      std::copy_n(static_cast<const T*>(address()), m_lent->elements().size(), m_lent->begin());
    m_lent.reset();
  }
  bool lent() const override { return m_lent.has_value(); }

 private:
  tessera::array<T, any_rank> m_array;
  std::optional<host_rows_view<T, any_rank>> m_lent;
};

/// A file as an array. Errors of the file name the place, too.
template <class Map>
decltype(auto) mapped(const Map& map, const std::source_location& site);
/// From now on the program has it. Returns its address; throws where it overlaps another one.
void* enter(std::unique_ptr<program_array> array);
/// Where a directive stands: "memory free at main.cpp:12".
std::string place_of(std::string_view directive, const std::source_location& site);
/// The array that begins there; throws usage as `array` does.
program_array& array_at(const void* first, element_type type, std::size_t rank, std::int64_t row_elements,
                        std::string_view name, const std::source_location& site);
/// Throws as `elements`.
void check_chain(const void* first, std::span<const std::int64_t> extents, std::size_t size, std::int64_t row_elements,
                 const std::source_location& site);
/// Elements [first, first + count) of an array.
struct array_range {
  program_array* array;    ///< whose they are
  std::int64_t first = 0;  ///< position of the first one
  std::int64_t count = 0;  ///< so many
};
/// The elements from the `first` behind a pointer into an array on. Throws usage where it has none there.
array_range range_at(const void* pointer, element_type type, std::int64_t first, std::int64_t count, std::size_t size,
                     std::string_view clause, const std::source_location& site);
/// Whether a copy is one of rows that a region does: not where the program has both arrays, where they overlap, and
/// where rows are cut.
bool is_region(const array_range& from, const array_range& to);

}  // namespace detail

/// `gecko memory allocate`: an array of zeros, or the elements of a file; the program has it, to read and to write,
/// until a region uses it. Returns the address of its first element. Throws as location_model::make_array and map_file.
template <class T>
T* allocate(std::string name, std::initializer_list<std::int64_t> extents, const placement& where = {},
            std::source_location site = std::source_location::current()) {
  const array_options at{where.location, where.distance};
  return static_cast<T*>(detail::enter(std::make_unique<detail::program_array_of<T>>(
      where.file.empty() ? model().make_array<T>(std::move(name), std::span(extents), at, site)
                         : detail::mapped(
                               [&] {
                                 return model().map_file<T>(std::move(name), std::string(where.file),
                                                            std::span(extents), at, site);
                               },
                               site),
      false)));
}

template <class Map>
decltype(auto) detail::mapped(const Map& map, const std::source_location& site) {
  const std::string place = place_of("memory allocate", site);
  try {
    return map();
  } catch (const error& e) {
    const bool placed = e.where().find(place.substr(place.rfind(' ') + 1)) != std::string::npos;
    throw error(e.kind(), e.message(), placed ? e.where() : e.where() + ", " + place, e.hint());
  }
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
void register_memory(std::string name, T* first, std::initializer_list<std::int64_t> extents,
                     const placement& where = {}, std::source_location site = std::source_location::current()) {
  (void)detail::enter(std::make_unique<detail::program_array_of<T>>(
      model().adopt<T>(std::move(name), std::span(first, tessera::detail::elements_in(extents)), std::span(extents),
                       {where.location, where.distance}, site),
      true));
}

/// `gecko memory free`: regions that were submitted before end first. The pointer must not be used any more. Throws
/// tessera::error (usage) for what was not allocated. @param name  of the pointer, for messages; here and below
void free(const void* first, std::string_view name = {}, std::source_location site = std::source_location::current());
/// `gecko memory unregister`: waits for the regions that use it; then the memory is the program's, with what they
/// wrote. Throws tessera::error (usage) for what was not registered.
void unregister_memory(const void* first, std::string_view name = {},
                       std::source_location site = std::source_location::current());
/// `gecko memory move`: from now on the array is at another location. Throws as array::move.
void move(const void* first, std::string_view location, std::string_view name = {},
          std::source_location site = std::source_location::current());

/// `gecko memory copy`: `count` elements. Both pointers may point into an array. Where the program has both arrays, it
/// is done at the end and the program keeps them. Else it is a region, behind those that make the elements, and the
/// arrays are the regions' as after any; parts of rows, and ranges that overlap, are waited for and copied at once, and
/// are the program's then. Throws tessera::error (usage) for ranges that are not in an array, and arrays that are made
/// again; of two types it does not compile.
template <class T>
void copy(const T* from, std::int64_t from_first, std::int64_t from_count, T* to, std::int64_t to_first,
          std::int64_t to_count, std::source_location site = std::source_location::current());

/// An array for a region, from now on the region's: `read(array(x))`. Throws tessera::error (usage) when there is no
/// array of this type at the address, and when its dimensions, or the length of its rows, are others than the region's
/// subscripts say. @param row_elements  elements of a row; 1: of one dimension; 0: any
/// @tparam Rank  subscripts; any_rank: the region goes by positions alone
template <std::size_t Rank = any_rank, class T>
tessera::array<std::remove_const_t<T>, Rank> array(T* first, std::int64_t row_elements = 1, std::string_view name = {},
                                                   std::source_location site = std::source_location::current()) {
  using element = std::remove_const_t<T>;
  detail::program_array& found = detail::array_at(first, element_type_of<element>(), Rank, row_elements, name, site);
  found.take();
  return tessera::array<element, Rank>(found.handle());
}

/// Elements at the end of a chain for a region: `read(elements(chain(sim, &simulation::x)[n]))`. Throws tessera::error
/// (usage) where an array of the program has them, which regions name as that, and when rows have another length than
/// the region's subscripts say. @param row_elements  as of array
template <class T, std::size_t Rank>
const chained_elements<T, Rank>& elements(const chained_elements<T, Rank>& of, std::int64_t row_elements = 1,
                                          std::source_location site = std::source_location::current()) {
  detail::check_chain(of.data(), of.extents(), sizeof(T), row_elements, site);
  return of;
}

/// What `follow` finds at the end of a chain. Its errors name the chain and the place.
template <class Follow>
decltype(auto) followed(std::string_view chain, const Follow& follow,
                        std::source_location site = std::source_location::current()) {
  try {
    return follow();
  } catch (const error& e) {
    if (!e.where().empty()) throw;
    throw error(e.kind(), e.message(), detail::place_of("chain '" + std::string(chain) + "'", site), e.hint());
  }
}

/// A truth value that iterations join, and whether one of them has: where none took a step, the program's variable
/// stays as it is, whatever number it has. In a region's body it is what stands for the variable of `reduction(&&:v)`
/// and `reduction(||:v)`. The number of type T behind it is `no` or `yes` behind a step, and else what `minimum` (for
/// &&) or `maximum` (for ||) begins with.
/// @tparam All  joined with &&: it begins as true. Else with ||, and begins as false
template <class T, bool All>
class joined_truth {
 public:
  static constexpr T no = 2;   ///< behind a step: false. No reduction begins with it
  static constexpr T yes = 3;  ///< the same: true
  /// @param part  of the iterations so far; must outlive it
  explicit joined_truth(T& part) noexcept : m_part(part) {}
  explicit operator bool() const noexcept { return All ? m_part != no : m_part == yes; }  ///< as far as it is joined
  /// A step: `v = v && e`.
  joined_truth& operator=(bool value) noexcept {
    m_part = value ? yes : no;
    return *this;
  }
  joined_truth& operator&=(bool value) noexcept { return *this = bool(*this) && value; }  ///< a step
  joined_truth& operator|=(bool value) noexcept { return *this = bool(*this) || value; }  ///< a step
  joined_truth(const joined_truth&) = delete;
  joined_truth& operator=(const joined_truth&) = delete;

  /// The same for all iterations: `to` becomes what the loop would have made of it. @param bits  the steps are `&=` or
  /// `|=`, which keep a number's last bit, or its others
  static void join(T& to, T all, bool bits) {
    if (all != no && all != yes) return;
    const bool value = all == yes;
    if (!bits)
      to = static_cast<T>(All ? to != T{} && value : to != T{} || value);
    else if constexpr (std::is_integral_v<T>)
      to = static_cast<T>(All ? to & T{value} : to | T{value});
  }

 private:
  T& m_part;
};

/// `gecko pause`: waits for everything; then the program has all arrays. Throws the first failure of a region.
void pause(std::source_location site = std::source_location::current());
/// The same for the arrays at a location and below: waits for the regions that use those. At the root it is `pause()`.
void pause(std::string_view at, std::source_location site = std::source_location::current());

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
std::uint32_t levels(T written, std::source_location site) {
  const std::int64_t above = whole_number(written);
  if (above < 0 || above > std::numeric_limits<std::uint32_t>::max())
    throw error(error_kind::usage, "distance(far:" + std::to_string(above) + ")", detail::place_of("memory", site),
                "it is a whole number from 0 on: so many levels above");
  return static_cast<std::uint32_t>(above);
}

template <class T>
void copy(const T* from, std::int64_t from_first, std::int64_t from_count, T* to, std::int64_t to_first,
          std::int64_t to_count, std::source_location site) {
  if (from_count != to_count)
    throw error(error_kind::usage,
                "a copy from " + std::to_string(from_count) + " elements to " + std::to_string(to_count),
                detail::place_of("memory copy", site), "the counts of both ranges are the same");
  constexpr element_type type = element_type_of<T>();
  const detail::array_range source = detail::range_at(from, type, from_first, from_count, sizeof(T), "from", site),
                            target = detail::range_at(to, type, to_first, to_count, sizeof(T), "to", site);
  if (detail::is_region(source, target)) {
    const auto rows_of = [](const detail::array_range& range) {
      range.array->take();
      const std::int64_t row = range.array->extents().row_elements();
      return static_cast<detail::program_array_of<T>&>(*range.array)
          .array()
          .rows(range.first / row, (range.first + range.count) / row);
    };
    return model().copy(rows_of(source), rows_of(target), site);
  }
  source.array->lend();
  target.array->lend();
  const T* const begin = static_cast<const T*>(source.array->address()) + source.first;
  T* const there = static_cast<T*>(target.array->address()) + target.first;
  if (begin < there)
    std::copy_backward(begin, begin + source.count, there + source.count);
  else
    std::copy(begin, begin + source.count, there);
}

}  // namespace tessera::directives
