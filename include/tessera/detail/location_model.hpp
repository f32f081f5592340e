#pragma once
// The location model: arrays at locations, and regions over them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/detail/array.hpp"
#include "tessera/detail/editable_tree.hpp"
#include "tessera/detail/region_code.hpp"
#include "tessera/detail/region_loop.hpp"
#include "tessera/detail/region_policy.hpp"
#include "tessera/detail/region_use.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera {

/// What a region says beside its loop and its arrays.
struct region_options {
  region_policy policy = {};  ///< how the loop is split: `policy::any`, `policy::percentage({60, 40})`
  /// The location that it runs at; "": the deepest of those of its arrays.
  std::string_view at = {};
  /// Rows [first, last) that are split, of which the loop, in steps of 1, is a part; {0, 0}: the loop's own. So that
  /// loops over fewer and fewer rows leave each row at its leaf, and the arrays in their tiles.
  std::array<std::int64_t, 2> split_over = {0, 0};
  /// Where the program has the policy's text from, for messages of mistakes in it: "--policy"; "": the call itself.
  std::string_view policy_source = {};
};

/// What a fence waits for.
struct region_fence_options {
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

namespace hierarchy {
class array_maker;
class fenced_memory;
class region_engine;
struct memory_claim;
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
class location_model : public editable_tree {
 public:
  /// On the tree of a runtime. Throws tessera::error (usage) inside a task: it would wait there for the task itself.
  explicit location_model(runtime& of);
  /// Waits for what was submitted, but for tasks that wait for views of other threads no longer than those are held.
  /// Where the calling thread holds views, and inside a task, it does not wait, since that might never end; the log
  /// says so, and what was submitted runs all the same.
  ~location_model();
  location_model(const location_model&) = delete;
  location_model& operator=(const location_model&) = delete;

  /// An array without blocks, of `extents` {rows}, {rows, second} or {rows, second, third}. Nothing is touched before a
  /// region writes it, so its pages are near the workers that write them first; they begin as zero. At a storage
  /// location it is the file NAME.array in the location's directory, as map_file would make it. Throws tessera::error:
  /// usage (extents, an unknown location), memory (also where the location, or one above it, declares less memory than
  /// its arrays would have), and for files what map_file throws.
  template <class T, std::size_t Rank>
  array<T, Rank> make_array(std::string name, const std::int64_t (&extents)[Rank], const array_options& options = {},
                            std::source_location site = std::source_location::current()) {
    detail::require_rows<Rank, row_major>();
    return array<T, Rank>(make(std::move(name), kind_of<T>(), extents, options, site));
  }
  /// The same with a rank that is known at run time only, 1 to 3.
  template <class T>
  array<T, any_rank> make_array(std::string name, std::span<const std::int64_t> extents,
                                const array_options& options = {},
                                std::source_location site = std::source_location::current()) {
    return array<T, any_rank>(make(std::move(name), kind_of<T>(), extents, options, site));
  }
  /// The program's own memory as an array; its contents are the first version. It must stay valid until the array is
  /// gone and a fence. Between a fence and the next region that uses it, it holds the elements and may be read; it may
  /// be written through write and its like only. Where an array that has ended still has
  /// tasks that use some of it, waits for them first. Throws tessera::error (usage): memory that another array has,
  /// also of another runtime, and that of one which has ended where the thread may not wait: inside a task, and while
  /// it holds views.
  template <class T, std::size_t Rank>
  array<T, Rank> adopt(std::string name, std::span<T> memory, const std::int64_t (&extents)[Rank],
                       const array_options& options = {}, std::source_location site = std::source_location::current()) {
    detail::require_rows<Rank, row_major>();
    return array<T, Rank>(
        adopt_memory(std::move(name), kind_of<T>(), memory.data(), memory.size(), extents, options, site));
  }
  /// The same with a rank that is known at run time only.
  template <class T>
  array<T, any_rank> adopt(std::string name, std::span<T> memory, std::span<const std::int64_t> extents,
                           const array_options& options = {},
                           std::source_location site = std::source_location::current()) {
    return array<T, any_rank>(
        adopt_memory(std::move(name), kind_of<T>(), memory.data(), memory.size(), extents, options, site));
  }
  /// A file as an array: its bytes are the elements. A file that is missing is made, and one that is empty gets its
  /// size; another size is an error (input), and so is a file that another array of the process is (usage). Where it
  /// throws, a file that was missing is missing still. What regions write is in the file after a fence, and after the
  /// array has ended.
  template <class T, std::size_t Rank>
  array<T, Rank> map_file(std::string name, const std::string& file, const std::int64_t (&extents)[Rank],
                          const array_options& options = {},
                          std::source_location site = std::source_location::current()) {
    detail::require_rows<Rank, row_major>();
    return array<T, Rank>(map(std::move(name), kind_of<T>(), file, extents, options, site));
  }
  /// The same with a rank that is known at run time only.
  template <class T>
  array<T, any_rank> map_file(std::string name, const std::string& file, std::span<const std::int64_t> extents,
                              const array_options& options = {},
                              std::source_location site = std::source_location::current()) {
    return array<T, any_rank>(map(std::move(name), kind_of<T>(), file, extents, options, site));
  }

  /// Memory of the program as an array until the next fence: the same array each time that the same memory is asked
  /// for, so that regions which name it are in order. From the first of them on it is the regions' until the fence, and
  /// holds what they made of it then; before that, and where that region is refused, it is so as long as there are
  /// handles. What chains (tessera::chain) become. Throws tessera::error (usage) where it overlaps other memory that
  /// regions use so, is one with other extents already, or has not as many elements as the extents say.
  template <class T, std::size_t Rank>
  array<T, Rank> array_over(std::string name, std::span<T> memory, const std::int64_t (&extents)[Rank],
                            std::source_location site = std::source_location::current()) {
    detail::require_rows<Rank, row_major>();
    return array<T, Rank>(
        memory_until_fence(std::move(name), kind_of<T>(), memory.data(), memory.size(), extents, site));
  }
  /// The same with one element per row.
  template <class T>
  array<T> array_over(std::string name, std::span<T> memory,
                      std::source_location site = std::source_location::current()) {
    return array_over(std::move(name), memory, {static_cast<std::int64_t>(memory.size())}, site);
  }
  /// A copy of the values that the memory has now, as an array; where array_over has made it an array already, that
  /// one.
  template <class T>
  array<T> value_of(std::string name, std::span<T> memory,
                    std::source_location site = std::source_location::current()) {
    return array<T>(copy_of_memory(std::move(name), element_type_of<T>(), memory.data(), memory.size(), site));
  }

  /// Submits a loop: `region("name", iterate(0, n), uses..., body)`. The body is called as body(i, arguments...), with
  /// one argument per use in their order, and body(i, j, ...) for two loops; iterations must not depend on each other.
  /// It is copied, runs on workers of the host and may throw (see fence). Returns when its tasks are submitted; regions
  /// are ordered by the arrays that they use. Throws tessera::error (usage, configuration) and what copying the body
  /// throws, and nothing was submitted then.
  template <std::size_t Depth, class... UsesAndBody>
  void region(const task_name& name, const iteration_space<Depth>& over, UsesAndBody&&... uses_and_body) {
    region(name, region_options{}, over, std::forward<UsesAndBody>(uses_and_body)...);
  }
  /// The same with options: `region("name", {.policy = policy::any, .at = "LocA"}, iterate(0, n), ...)`.
  template <std::size_t Depth, class... UsesAndBody>
  void region(const task_name& name, const region_options& options, const iteration_space<Depth>& over,
              UsesAndBody&&... uses_and_body);

  /// Copies rows of an array to as many of another one, or of the same where they do not overlap: a region named "copy"
  /// that runs where the destination is. The arrays may be at any locations and split in any way. Returns at once.
  /// Throws tessera::error (usage): rows that are not there, as many of one as of the other, rows of different lengths.
  template <class From, std::size_t RankFrom, class To, std::size_t RankTo>
  void copy(const array_rows<From, RankFrom>& from, const array_rows<To, RankTo>& to,
            std::source_location site = std::source_location::current());
  /// The same of all rows.
  template <class From, std::size_t RankFrom, class To, std::size_t RankTo>
  void copy(const array<From, RankFrom>& from, const array<To, RankTo>& to,
            std::source_location site = std::source_location::current()) {
    copy(from.rows(0, from.extents()[0]), to.rows(0, to.extents()[0]), site);
  }

  /// Waits for everything submitted to the runtime so far, and flushes files. Throws the first failure since the last
  /// fence; usage inside a task or a recording, and while the thread holds views (regions may wait for them).
  /// Elements stay where they are, read shows them; but memory of adopt and array_over holds its elements then.
  void fence(std::source_location site = std::source_location::current()) { fence(region_fence_options{}, site); }
  /// The same for a part of the tree, `fence({.at = "LocB"})`, unless it is the root: waits for the tasks that regions
  /// have at a location and below, those that other threads submit meanwhile included, and no longer for those
  /// elsewhere, unless those must come first. Where a recording has tasks there, waits for everything. It throws no
  /// failure of a region, which the next fence of everything does; and flushes no file.
  void fence(const region_fence_options& options, std::source_location site = std::source_location::current());

  /// The tree as it is now in one of its forms: each location with the arrays that are placed there, and with its
  /// shares of the last launches of regions.
  std::string draw(tree_form form = tree_form::text) const;

  /// The regions so far, one row per name, in the order of their first submissions. Of many thousands of names, those
  /// that were submitted last.
  std::vector<region_row> regions() const;

 private:
  /// What an array is made of, of extents in elements.
  struct element_kind {
    element_type type;
    std::int64_t per_element;  ///< how many of `type` an element is
  };
  template <class T>
  static constexpr element_kind kind_of() noexcept {
    return {stored_type_of<T>(), stored_per_element<T>};
  }
  /// @param copies  see region_code
  template <std::size_t Depth, class... UsesAndBody>
  void submit(const task_name& name, const region_options& options, bool copies, const iteration_space<Depth>& over,
              UsesAndBody&&... uses_and_body);
  hierarchy::array_maker makes(std::source_location site) const;
  void finish_ended(const void* memory, std::uint64_t bytes, std::source_location site);
  static detail::array_handle handle_to(std::shared_ptr<hierarchy::array_storage> rows, const element_kind& kind,
                                        std::span<const std::int64_t> extents);
  detail::array_handle make(std::string name, const element_kind& kind, std::span<const std::int64_t> extents,
                            const array_options& options, std::source_location site);
  detail::array_handle adopt_memory(std::string name, const element_kind& kind, void* memory, std::size_t elements,
                                    std::span<const std::int64_t> extents, const array_options& options,
                                    std::source_location site);
  detail::array_handle map(std::string name, const element_kind& kind, const std::string& file,
                           std::span<const std::int64_t> extents, const array_options& options,
                           std::source_location site);
  std::shared_ptr<hierarchy::array_storage> map_claimed(std::string name, element_type type, const std::string& file,
                                                        const row_extents& extents, const array_options& options,
                                                        const std::shared_ptr<hierarchy::memory_claim>& claimed,
                                                        std::source_location site);
  detail::array_handle memory_until_fence(std::string name, const element_kind& kind, void* memory,
                                          std::size_t elements, std::span<const std::int64_t> extents,
                                          std::source_location site);
  detail::array_handle copy_of_memory(std::string name, element_type type, void* memory, std::size_t elements,
                                      std::source_location site);
  void launch(const task_name& name, const region_options& options, const loop_bounds& over,
              std::span<const detail::region_demand> demands, const detail::region_code& code);

  std::unique_ptr<hierarchy::region_engine> m_engine;
  std::unique_ptr<hierarchy::fenced_memory> m_memory;  // of array_over
};

}  // namespace tessera
