#pragma once
/// @file
/// Regions: parallel loops over arrays at locations, split over what executes there by a policy.
/// @code
/// tessera::runtime rt;
/// tessera::location_model model(rt);
/// auto x = model.make_array<double>("x", {1'000'000}), y = model.make_array<double>("y", {1'000'000});
/// model.region("fill", tessera::iterate(0, 1'000'000), out(y), [](auto i, auto y) { y[i] = double(i); });
/// model.region("twice", tessera::iterate(0, 1'000'000), in(y), out(x), [](auto i, auto y, auto x) { x[i] = 2 * y[i];
/// }); model.pause();
/// @endcode
#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/region_array.hpp"
#include "tessera/runtime.hpp"

namespace tessera {

namespace operation {
struct context;
struct definition;
class kernel_launch;
}  // namespace operation

// ---- the loop -------------------------------------------------------------------------------------------------------

/// One loop: index = begin, begin + step, ... while before end (step > 0) or after it (step < 0).
struct loop_bounds {
  std::int64_t begin = 0;  ///< the first index
  std::int64_t end = 0;    ///< not reached
  std::int64_t step = 1;   ///< not 0
};

/// The iterations of a region: a loop over rows, which is split, around up to two more. Plain data.
/// @tparam Depth  loops, 1 to 3
template <std::size_t Depth>
struct iteration_space {
  loop_bounds rows;                            ///< split over the leaves
  std::array<loop_bounds, Depth - 1> inner{};  ///< steps of 1; the last one is innermost
};

/// A loop over [begin, end) in steps of `step`, which may be negative.
constexpr iteration_space<1> iterate(std::int64_t begin, std::int64_t end, std::int64_t step = 1) noexcept {
  return {{begin, end, step}, {}};
}
/// Two loops, [begin, end) each; the first is split.
constexpr iteration_space<2> iterate(std::array<std::int64_t, 2> rows, std::array<std::int64_t, 2> second) noexcept {
  return {{rows[0], rows[1], 1}, {loop_bounds{second[0], second[1], 1}}};
}
/// Three loops, [begin, end) each; the first is split.
constexpr iteration_space<3> iterate(std::array<std::int64_t, 2> rows, std::array<std::int64_t, 2> second,
                                     std::array<std::int64_t, 2> third) noexcept {
  return {{rows[0], rows[1], 1}, {loop_bounds{second[0], second[1], 1}, loop_bounds{third[0], third[1], 1}}};
}

// ---- how arrays are used --------------------------------------------------------------------------------------------

/// Which rows of an array one iteration i uses.
struct access_pattern {
  /// The forms that it has.
  enum class kind : std::uint8_t {
    chunk,  ///< row i
    halo,   ///< rows i - first to i + last, as far as there are any
    whole,  ///< any row
    rows    ///< the same rows in each iteration
  };
  kind which = kind::chunk;  ///< one of them
  std::int64_t first = 0;    ///< of rows: the first one; of halo: how many before row i
  std::int64_t last = 0;     ///< of rows: the one after the last; of halo: how many behind row i
};
/// Row i, and no other.
inline constexpr access_pattern chunk{access_pattern::kind::chunk, 0, 0};
/// Any row.
inline constexpr access_pattern whole{access_pattern::kind::whole, 0, 0};
/// Row i and `width` more on each side, as far as there are any: the body looks where the array ends.
constexpr access_pattern halo(std::int64_t width) noexcept { return {access_pattern::kind::halo, width, width}; }
/// Rows i - before to i + behind, as far as there are any. One of them may be negative, where row i is not used itself:
/// `halo(-1, 2)` are the two rows behind row i.
constexpr access_pattern halo(std::int64_t before, std::int64_t behind) noexcept {
  return {access_pattern::kind::halo, before, behind};
}
/// Row i + `distance`, if there is one.
constexpr access_pattern offset(std::int64_t distance) noexcept {
  return {access_pattern::kind::halo, -distance, distance};
}
/// Rows [first, last) in each iteration.
constexpr access_pattern rows(std::int64_t first, std::int64_t last) noexcept {
  return {access_pattern::kind::rows, first, last};
}

/// An array and how a region uses it.
/// @tparam T  element type; const where it is only read
template <class T>
struct region_use {
  using argument = region_view<T>;                  ///< what the body gets for it
  std::shared_ptr<hierarchy::array_storage> array;  ///< the array
  tessera::intent intent;                           ///< read, write or update
  access_pattern pattern;                           ///< which rows
};

/// The body reads it.
template <class T>
region_use<const T> in(const region_array<T>& a, access_pattern pattern = chunk) {
  return {a.handle().storage(), intent::read, pattern};
}
/// The body writes every element of the rows that the loop goes over, and reads none.
template <class T>
region_use<T> out(const region_array<T>& a, access_pattern pattern = chunk) {
  return {a.handle().storage(), intent::write, pattern};
}
/// The body reads and writes it.
template <class T>
region_use<T> inout(const region_array<T>& a, access_pattern pattern = chunk) {
  return {a.handle().storage(), intent::update, pattern};
}

// ---- reductions -----------------------------------------------------------------------------------------------------

namespace hierarchy {
struct leaf_work;
class reduction_storage;
struct region_leaf_times;
}  // namespace hierarchy

namespace detail {

class region_result_handle {
 public:
  region_result_handle(runtime& of, std::string name, element_type type);
  held_block hold(std::source_location site) const;
  const std::shared_ptr<hierarchy::reduction_storage>& storage() const noexcept { return m_storage; }

 private:
  std::shared_ptr<hierarchy::reduction_storage> m_storage;
};

}  // namespace detail

/// The result of a region's reduction: a number that each region which names it makes anew. A handle; copies are the
/// same number.
/// @tparam T  an arithmetic element type
template <class T>
class region_result {
 public:
  /// Of no region yet. @param name  for messages
  region_result(runtime& of, std::string name) : m_handle(of, std::move(name), element_type_of<T>()) {}
  /// Waits for the last region that was submitted with it. Throws that region's failure; usage inside a task, and task
  /// when there was none.
  T get(std::source_location site = std::source_location::current()) const {
    return *static_cast<const T*>(m_handle.hold(site).data());
  }
  const detail::region_result_handle& handle() const noexcept { return m_handle; }  ///< for the runtime

 private:
  detail::region_result_handle m_handle;
};

/// A result and how the parts of it are joined. The body gets a reference to a T that begins as the identity.
/// @tparam Join  has identity<T>() and operator()(T&, T)
template <class T, class Join>
struct region_reduction {
  using argument = T&;                                   ///< what the body gets for it
  std::shared_ptr<hierarchy::reduction_storage> result;  ///< the result
};

namespace detail {
/// How the parts of a result are joined.
enum class reduction_kind : std::uint8_t {
  none,
  sum,
  product,
  minimum,
  maximum,
  all,
  any
};
struct join_sum {
  static constexpr reduction_kind kind = reduction_kind::sum;
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = static_cast<T>(to + part);
  }
};
struct join_product {
  static constexpr reduction_kind kind = reduction_kind::product;
  template <class T>
  static constexpr T identity() {
    return T{1};
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = static_cast<T>(to * part);
  }
};
struct join_minimum {
  static constexpr reduction_kind kind = reduction_kind::minimum;
  template <class T>
  static constexpr T identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = std::min(to, part);
  }
};
struct join_maximum {
  static constexpr reduction_kind kind = reduction_kind::maximum;
  template <class T>
  static constexpr T identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = std::max(to, part);
  }
};
struct join_and {
  static constexpr reduction_kind kind = reduction_kind::all;
  template <class T>
  static constexpr T identity() {
    return T{1};
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = static_cast<T>(to != T{} && part != T{});
  }
};
struct join_or {
  static constexpr reduction_kind kind = reduction_kind::any;
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = static_cast<T>(to != T{} || part != T{});
  }
};
}  // namespace detail

/// The body adds to a number; the parts are added in the order of the iterations, so that the same split of the same
/// loop gives the same bits.
template <class T>
region_reduction<T, detail::join_sum> sum(const region_result<T>& r) {
  return {r.handle().storage()};
}
/// The body multiplies a number.
template <class T>
region_reduction<T, detail::join_product> product(const region_result<T>& r) {
  return {r.handle().storage()};
}
/// The body keeps the smallest: `m = std::min(m, x[i])`.
template <class T>
region_reduction<T, detail::join_minimum> minimum(const region_result<T>& r) {
  return {r.handle().storage()};
}
/// The body keeps the largest.
template <class T>
region_reduction<T, detail::join_maximum> maximum(const region_result<T>& r) {
  return {r.handle().storage()};
}
/// The body clears a flag that begins as 1.
template <class T>
requires std::integral<T> region_reduction<T, detail::join_and> all_of(const region_result<T>& r) {
  return {r.handle().storage()};
}
/// The body sets a flag that begins as 0.
template <class T>
requires std::integral<T> region_reduction<T, detail::join_or> any_of(const region_result<T>& r) {
  return {r.handle().storage()};
}

// ---- bodies that devices run too ------------------------------------------------------------------------------------

/// Loops that the text of a body has inside those of the region: one work item of a device for each of their indices.
/// Made by inner.
/// @tparam Depth  loops, 0 to 2
template <std::size_t Depth>
struct inner_loops {
  std::array<loop_bounds, Depth> loops{};  ///< steps of 1; the last one is innermost
};
/// One more index, 0 to count - 1.
constexpr inner_loops<1> inner(std::int64_t count) noexcept { return {{loop_bounds{0, count, 1}}}; }
/// One more index, [begin, end).
constexpr inner_loops<1> inner(std::array<std::int64_t, 2> range) noexcept {
  return {{loop_bounds{range[0], range[1], 1}}};
}
/// Two more indices, [begin, end) each.
constexpr inner_loops<2> inner(std::array<std::int64_t, 2> second, std::array<std::int64_t, 2> third) noexcept {
  return {{loop_bounds{second[0], second[1], 1}, loop_bounds{third[0], third[1], 1}}};
}

/// The body of a region in two forms: a function of the host, and the same as text for devices. Made by with_kernel.
/// @tparam Host    the function @tparam Inner  loops that the text alone has @tparam Values  numbers that it sees
template <class Host, std::size_t Inner, class... Values>
struct region_body {
  Host host;                     ///< runs on the host
  std::string_view kernel;       ///< the text
  inner_loops<Inner> loops;      ///< of the text
  std::tuple<Values...> values;  ///< behind the uses among the text's parameters
  /// Calls the function of the host.
  template <class... Arguments>
  requires std::is_invocable_v<Host&, Arguments...>
  void operator()(Arguments&&... arguments) { host(std::forward<Arguments>(arguments)...); }
};

/// A body that devices run too, for those that compile kernels (docs/kernels.md):
/// @code
/// model.region("triad", iterate(0, n), in(b), in(c), out(a),
///              with_kernel([s](auto i, auto b, auto c, auto a) { a[i] = b[i] + s * c[i]; },
///                          "(i, b, c, a, s) { a[i] = b[i] + s * c[i]; }", s));
/// @endcode
/// The text names the indices, one parameter per use and one per value, in this order; indices are `long`. Arrays are
/// used as x[position], x(row), x(row, second) or x(row, second, third), as on the host; the type of x's elements is
/// x_element. Both forms must do the same.
/// @param kernel  stays valid until the region is submitted; a literal
/// @param values  numbers of types float, double, int, std::int64_t or std::uint8_t
template <class Host, class... Values>
requires(std::is_arithmetic_v<Values>&&...) region_body<Host, 0, Values...> with_kernel(Host host,
                                                                                        std::string_view kernel,
                                                                                        Values... values) {
  return {std::move(host), kernel, {}, {values...}};
}

/// The same where the function goes over a row, and the text does one element of it, so that a device has enough to do
/// side by side:
/// @code
/// model.region("scale", iterate(0, rows), in(x), out(y),
///              with_kernel([n](auto i, auto x, auto y) { scale_row(&x(i), &y(i), n); },
///                          inner(n), "(i, j, x, y) { y(i, j) = 2 * x(i, j); }"));
/// @endcode
/// The indices of `loops` follow those of the region; with them there are up to three. No two pairs (i, j) may write
/// the same element, and none may read what another one writes.
template <class Host, std::size_t Inner, class... Values>
requires(std::is_arithmetic_v<Values>&&...) region_body<Host, Inner, Values...> with_kernel(
    Host host, const inner_loops<Inner>& loops, std::string_view kernel, Values... values) {
  return {std::move(host), kernel, loops, {values...}};
}

// ---- the model ------------------------------------------------------------------------------------------------------

/// What a region says beside its loop and its arrays.
struct region_options {
  /// "static", "flatten", "percentage:60,40", "range:1000,24", "any", "auto"; "runtime": what the configuration says
  /// (region.policy). docs/regions.md
  std::string_view policy = "runtime";
  /// The location that it runs at; "": the deepest of those of its arrays.
  std::string_view at = {};
  /// Rows [first, last) that are split, of which the loop, in steps of 1, is a part; {0, 0}: the loop's own. So that
  /// loops over fewer and fewer rows leave each row at its leaf, and the arrays in their tiles.
  std::array<std::int64_t, 2> split_over = {0, 0};
};

/// What a pause waits for.
struct pause_options {
  std::string_view at = {};  ///< what regions do at this location and below; "": everything
};

/// What a leaf got of a region.
struct region_share {
  std::string leaf;              ///< name of the location
  std::uint64_t iterations = 0;  ///< of the split loop
  std::uint64_t tasks = 0;       ///< that they were
};

/// The last submission of a region, by its name and place in the program.
struct region_row {
  std::string name;                    ///< as given
  std::string location;                ///< where it ran
  std::string policy;                  ///< resolved
  std::uint64_t launches = 0;          ///< so far
  std::uint64_t iterations = 0;        ///< of the split loop
  std::vector<region_share> shares{};  ///< in the order of the leaves; those that got nothing are left out
};

namespace detail {

/// A task of a region: iterations [begin, end) of the split loop, counted from 0.
struct region_piece {
  std::uint64_t begin = 0, end = 0;
};
/// Where a use's blocks are among those of a task.
struct region_operand {
  std::uint32_t first = 0, count = 0;  ///< blocks
  std::int64_t row = 0;                ///< the first row in them
};
/// The same without types.
struct region_demand {
  hierarchy::array_storage* array = nullptr;  ///< null: a reduction
  hierarchy::reduction_storage* result = nullptr;
  intent how = intent::read;
  access_pattern pattern{};
  reduction_kind join = reduction_kind::none;  ///< of a reduction
};
/// A number for a kernel.
struct kernel_value {
  element_type type;
  alignas(8) std::array<std::byte, 8> bytes;
};
/// What the launch of a kernel needs beside its blocks.
struct region_launch {
  region_piece piece;
  loop_bounds rows;
  std::span<const loop_bounds> inner;
  std::span<const region_operand> operands;
  std::span<const row_extents> extents;  ///< of results: {0, 0, 0}
  std::span<const kernel_value> values;
};
const void* arguments_of(const operation::context& c) noexcept;
void launch_region(const operation::context& c, operation::kernel_launch& how, const region_launch& with);

/// What a task names, one entry per use.
struct region_uses {
  std::span<const region_operand> operands;
  std::span<const row_extents> extents;
};
using find_uses = region_uses (*)(const void* arguments);

/// The form of a body for devices.
struct region_kernel {
  std::string_view text;
  std::size_t depth = 1;
  std::uint64_t inside = 1;  ///< work items of an iteration of the split loop
  std::span<const element_type> values;
  function_form host;  ///< of the task
  void (*launch)(const operation::context&, operation::kernel_launch&) = nullptr;
  find_uses uses = nullptr;  ///< of the task's arguments
};
/// A task that is not submitted yet, and where the places of its uses among its blocks are to be written, one per use.
struct made_piece {
  submission task;
  region_operand* operands;
};
/// A task that was planned counts among those under way on its leaf, as long as it exists; and what it takes is noted,
/// where somebody wants to know.
class piece_count {
 public:
  piece_count() noexcept = default;  ///< is counted nowhere
  /// @param times  null: nobody wants to know
  piece_count(std::shared_ptr<hierarchy::leaf_work> on, std::shared_ptr<hierarchy::region_leaf_times> times) noexcept;
  piece_count(piece_count&&) noexcept = default;
  piece_count& operator=(piece_count&&) = delete;
  ~piece_count() {
    if (m_on != nullptr) end();
  }
  bool counts() const noexcept { return m_on != nullptr; }                        ///< anywhere
  hierarchy::region_leaf_times* times() const noexcept { return m_times.get(); }  ///< null: nobody wants to know

 private:
  void end() noexcept;
  std::shared_ptr<hierarchy::leaf_work> m_on;
  std::shared_ptr<hierarchy::region_leaf_times> m_times;
};

/// Makes one task, with a copy of the body; `call` is the region's call on the caller's stack. Its blocks are named
/// later. `kernel` is an operation with a kernel, or null: the body's function.
using make_piece = made_piece (*)(void* call, const region_piece& piece, piece_count counted,
                                  const operation::definition* kernel, const task_options& options);
/// Makes the task that joins the parts of a reduction. Its blocks are named later.
using make_join = submission (*)(runtime& of, std::string_view name, std::source_location site);

/// What a region runs: its tasks, and the tasks that join its reductions, one entry per reduction in their order.
struct region_code {
  make_piece piece = nullptr;
  void* call = nullptr;  ///< for `piece`
  std::span<const make_join> joins{};
  const region_kernel* kernel = nullptr;  ///< null: the host alone runs it
  bool copies = false;                    ///< runs where the array that it writes is, wherever the others are
};

const row_extents& extents_of(const hierarchy::array_storage& array) noexcept;
/// Throws usage where rows cannot be copied to others. @param site  for messages
void check_copy(const region_array_handle& from, std::int64_t first, std::int64_t last, const region_array_handle& to,
                std::int64_t to_first, std::int64_t to_last, std::source_location site);
// What a task took.
void note_piece(hierarchy::region_leaf_times& on, std::uint64_t iterations, double seconds) noexcept;
/// Of a task that a device has run: from its launch, or from the end of the one before it there, to now.
void note_kernel(hierarchy::region_leaf_times& on, std::uint64_t iterations,
                 std::chrono::steady_clock::time_point launched) noexcept;

}  // namespace detail

namespace hierarchy {
class paused_memory;
class region_engine;
class tree_edits;
}  // namespace hierarchy

/// Forms of a picture of the tree: for a terminal, a browser, Graphviz and programs.
enum class tree_form : std::uint8_t {
  text,
  svg,
  dot,
  json
};

/// Arrays at locations, and regions over them. All functions from any thread; regions also inside tasks. Several may
/// exist on one runtime; none must outlive it.
class location_model {
 public:
  /// On the tree of a runtime. Throws tessera::error (usage) inside a task: it would wait there for the task itself.
  explicit location_model(runtime& of);
  /// Waits for what was submitted, but for tasks that wait for views of other threads no longer than those are held.
  /// Where the calling thread holds views, and inside a task, it does not wait, since that might never end; the log
  /// says so, and what was submitted runs all the same.
  ~location_model();
  location_model(const location_model&) = delete;
  location_model& operator=(const location_model&) = delete;

  /// An array of `extents`: {rows}, {rows, second} or {rows, second, third}. Nothing is touched before a region writes
  /// it, so its pages are near the workers that write them first; they begin as zero. Throws tessera::error: usage
  /// (extents, an unknown location), memory.
  template <class T>
  region_array<T> make_array(std::string name, const row_extents& extents, const array_options& options = {},
                             std::source_location site = std::source_location::current()) {
    return region_array<T>(make(std::move(name), element_type_of<T>(), extents, options, site));
  }
  /// The program's own memory as an array; its contents are the first version. It must stay valid until the array is
  /// gone and a pause, and be looked at through read_host and its like only.
  template <class T>
  region_array<T> adopt(std::string name, std::span<T> memory, const row_extents& extents,
                        const array_options& options = {},
                        std::source_location site = std::source_location::current()) {
    return region_array<T>(
        adopt_memory(std::move(name), element_type_of<T>(), memory.data(), memory.size(), extents, options, site));
  }
  /// A file as an array: its bytes are the elements. A file that is missing is made, and one that is empty gets its
  /// size; another size is an error (input), and so is a file that another array of the process is (usage). Where it
  /// throws, a file that was missing is missing still. What regions write is in the file after a pause, and after the
  /// array has ended.
  template <class T>
  region_array<T> map_file(std::string name, const std::filesystem::path& file, const row_extents& extents,
                           const array_options& options = {},
                           std::source_location site = std::source_location::current()) {
    return region_array<T>(map(std::move(name), element_type_of<T>(), file, extents, options, site));
  }

  /// Memory of the program as an array until the next pause: the same array each time that the same memory is asked
  /// for, so that regions which name it are in order. It is the regions' until then, and holds what they made of it
  /// after the pause. What chains (tessera/chain.hpp) become. Throws tessera::error (usage) where it overlaps other
  /// memory that regions use so.
  template <class T>
  region_array<T> array_over(std::string name, std::span<T> memory,
                             std::source_location site = std::source_location::current()) {
    return array_over(std::move(name), memory, row_extents{static_cast<std::int64_t>(memory.size())}, site);
  }
  /// The same with rows of several elements; until the pause the extents are the same each time.
  template <class T>
  region_array<T> array_over(std::string name, std::span<T> memory, const row_extents& extents,
                             std::source_location site = std::source_location::current()) {
    return region_array<T>(
        memory_until_pause(std::move(name), element_type_of<T>(), memory.data(), memory.size(), extents, site));
  }
  /// A copy of the values that the memory has now, as an array; where array_over has made it an array already, that
  /// one.
  template <class T>
  region_array<T> value_of(std::string name, std::span<T> memory,
                           std::source_location site = std::source_location::current()) {
    return region_array<T>(copy_of_memory(std::move(name), element_type_of<T>(), memory.data(), memory.size(), site));
  }

  /// Submits a loop: `region("name", iterate(0, n), uses..., body)`. The body is called as body(i, arguments...), with
  /// one argument per use in their order, and body(i, j, ...) for two loops; iterations must not depend on each other.
  /// It is copied, runs on workers of the host and may throw (see pause). Returns when its tasks are submitted; regions
  /// are ordered by the arrays that they use. Throws tessera::error (usage, configuration) and what copying the body
  /// throws, and nothing was submitted then.
  template <std::size_t Depth, class... UsesAndBody>
  void region(const task_name& name, const iteration_space<Depth>& over, UsesAndBody&&... uses_and_body) {
    region(name, region_options{}, over, std::forward<UsesAndBody>(uses_and_body)...);
  }
  /// The same with options: `region("name", {.policy = "any", .at = "LocA"}, iterate(0, n), ...)`.
  template <std::size_t Depth, class... UsesAndBody>
  void region(const task_name& name, const region_options& options, const iteration_space<Depth>& over,
              UsesAndBody&&... uses_and_body);

  /// Copies rows of an array to as many of another one, or of the same where they do not overlap: a region named "copy"
  /// that runs where the destination is. The arrays may be at any locations and split in any way. Returns at once.
  /// Throws tessera::error (usage): rows that are not there, as many of one as of the other, rows of different lengths.
  template <class From, class To>
  void copy(const region_part<From>& from, const region_part<To>& to,
            std::source_location site = std::source_location::current());
  /// The same of all rows.
  template <class From, class To>
  void copy(const region_array<From>& from, const region_array<To>& to,
            std::source_location site = std::source_location::current()) {
    copy(from.part(0, from.extents().rows), to.part(0, to.extents().rows), site);
  }

  /// Waits for everything submitted to the runtime so far, and flushes files. Throws the first failure since the last
  /// pause or fence; usage inside a task, and when the calling thread holds views (regions may wait for those).
  /// Elements stay where they are, read_host shows them; but memory of array_over holds its elements then.
  void pause(std::source_location site = std::source_location::current()) { pause(pause_options{}, site); }
  /// The same for a part of the tree, `pause({.at = "LocB"})`: waits for the tasks that regions have at a location and
  /// below, those that other threads submit meanwhile included, and no longer for those elsewhere, unless those must
  /// come first. Where a recording has tasks there, waits for everything. It throws no failure of a region, which the
  /// next pause of everything does; and flushes no file.
  void pause(const pause_options& options, std::source_location site = std::source_location::current());

  // Edits of the tree, for all models of the runtime, while regions run. The runtime's own tree (runtime::tree), which
  // says where memories are, stays as it is. Each edit is made as a whole, or throws tessera::error and changes
  // nothing; inside a task or a recording, and while the thread holds views, it is an error (usage).

  /// Takes a location, with all below it, out of the tree. Regions submitted later do not run there; devices are
  /// detached as by runtime::detach: what is queued is placed again, what only they have comes home. Arrays that are
  /// placed there move to the nearest location above. Returns when the tasks that regions had there have ended. Throws
  /// usage: the root, an unknown or detached location, the last cores of the host; and what runtime::detach throws.
  void detach(std::string_view location, std::source_location site = std::source_location::current());
  /// Puts a detached location, with what was detached with it, below a parent; "": where it was. Regions submitted
  /// later get its leaves too. Throws usage: an attached or unknown location, a parent that is not attached; and what
  /// runtime::attach throws.
  void attach(std::string_view location, std::string_view parent = {},
              std::source_location site = std::source_location::current());
  /// Moves a location, with all below it, to another parent; it has one. Tasks under way are not affected. Throws
  /// usage: the root, unknown locations, a parent that is at or below it (a cycle), or that executes itself.
  void reparent(std::string_view location, std::string_view parent,
                std::source_location site = std::source_location::current());
  /// Makes the tree another one, by the names of its locations: `read_tree` (<tessera/machine.hpp>) gives that of a
  /// file. What it does not have is detached, what it has is attached where it says, and groups may be new; devices,
  /// cores and disks are those of the runtime, under their names. Throws configuration where they are not; and as
  /// detach and attach.
  void arrange(const location::tree& wanted, std::source_location site = std::source_location::current());
  /// Whether a location is in the tree. Throws usage where there never was one of this name.
  bool attached(std::string_view location) const;
  /// The tree as it is now; what is returned never changes.
  std::shared_ptr<const location::tree> tree() const;

  /// The tree as it is now in one of its forms: each location with the arrays that are placed there, and with its
  /// shares of the last launches of regions.
  std::string draw(tree_form form = tree_form::text) const;

  runtime& owner() const noexcept { return *m_runtime; }  ///< as given
  /// The regions so far, one row per name, in the order of their first submissions. Of many thousands of names, those
  /// that were submitted last.
  std::vector<region_row> regions() const;

 private:
  /// @param copies  see region_code
  template <std::size_t Depth, class... UsesAndBody>
  void submit(const task_name& name, const region_options& options, bool copies, const iteration_space<Depth>& over,
              UsesAndBody&&... uses_and_body);
  hierarchy::tree_edits edits() const;
  std::shared_ptr<hierarchy::array_storage> add(std::string name, element_type type, void* data,
                                                std::shared_ptr<const void> memory, const row_extents& extents,
                                                const array_options& options, std::source_location site);
  detail::region_array_handle make(std::string name, element_type type, const row_extents& extents,
                                   const array_options& options, std::source_location site);
  detail::region_array_handle adopt_memory(std::string name, element_type type, void* memory, std::size_t elements,
                                           const row_extents& extents, const array_options& options,
                                           std::source_location site);
  detail::region_array_handle map(std::string name, element_type type, const std::filesystem::path& file,
                                  const row_extents& extents, const array_options& options, std::source_location site);
  detail::region_array_handle memory_until_pause(std::string name, element_type type, void* memory,
                                                 std::size_t elements, const row_extents& extents,
                                                 std::source_location site);
  detail::region_array_handle copy_of_memory(std::string name, element_type type, void* memory, std::size_t elements,
                                             std::source_location site);
  void launch(const task_name& name, const region_options& options, const loop_bounds& over,
              std::span<const detail::region_demand> demands, const detail::region_code& code);

  runtime* m_runtime;
  std::unique_ptr<hierarchy::region_engine> m_engine;
  std::unique_ptr<hierarchy::paused_memory> m_memory;  // of array_over
};

}  // namespace tessera

#include "tessera/region_body.hpp"  // IWYU pragma: export
