#pragma once
// The runtime as a program sees it.
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "tessera/detail/task.hpp"
#include "tessera/detail/task_group.hpp"
#include "tessera/detail/use.hpp"

// What this header names and does not show is in <tessera/machine.hpp> (settings, plugins, locations),
// <tessera/front_end.hpp> (operations, placement), <tessera/trace.hpp> and <tessera/validation.hpp>.
namespace tessera::block {
class space_set;
}
namespace tessera::config {
struct runtime_settings;
}
namespace tessera::location {
class tree;
}
namespace tessera::operation {
class catalog;
}
namespace tessera::plugin {
class registry;
}
namespace tessera::trace {
struct timeline;
}
namespace tessera::validate {
struct finding;
}

namespace tessera {

template <class T, std::size_t Rank, index_order Order>
class array;
template <class T, std::size_t Rank>
struct region_use;
template <class T, intent How, std::size_t Rank>
struct rows_use;
template <class T, std::size_t Rank>
struct combined_rows_use;
struct builtin_operations;
class lifetime;
struct machine;
class order_point;
class recording;

/// How runtime::record makes a recording.
struct record_options {
  static constexpr std::size_t max_under_way = 64;  ///< what replays_under_way can be
  /// How many of its replays may be under way; the next one waits for the oldest of them. 1 to max_under_way; each
  /// takes 4 bytes for each task and 16 for each block.
  std::size_t replays_under_way = 2;
};
struct statistics;

/// What a fence waits for, and what it does with failures.
struct fence_options {
  task_group* group = nullptr;  ///< its tasks only; null: everything
  /// False: throws nothing, and leaves failures, findings and adopted memory to the next fence. It waits for views of
  /// other threads too; inside a task it does not wait. For the ends of objects that tasks refer to.
  bool reports = true;
};

/// What a program says of the machine that its runtime is to run on. Later members win over earlier ones, and the
/// environment (docs/configuration.md) stands between `text` and `settings`.
struct start_options {
  std::string file = {};                   ///< a TOML file; "": the one that TESSERA_CONFIG names, if any
  std::string text = {};                   ///< TOML in the program itself
  std::vector<std::string> settings = {};  ///< "runtime.placement=cost", as --set takes them
  std::uint32_t workers = 0;               ///< threads that run host tasks; 0: as configured, else one per core
};

/// Owns everything between a machine and its tasks. Several may exist, one after the other or at the same time. All
/// functions may be called from any thread; the destructor waits for everything that was submitted.
class runtime {
 public:
  /// Finds the machine, opens its plugins and starts threads: `runtime rt;` on what is there and configured,
  /// `runtime rt({.file = "node.toml"})`, `runtime rt({.settings = {"runtime.trace=true"}, .workers = 4})`. Throws
  /// tessera::error (configuration, plugin, device, memory).
  explicit runtime(const start_options& start = {});
  /// Takes over a machine that was found before (<tessera/machine.hpp>). Throws the same.
  explicit runtime(machine&& found);
  /// Waits for everything that was submitted and stops all threads. Failures that no fence reported are lost.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// An array of `extents` elements cut into blocks of `block_extents` (the last block of a dimension may be smaller):
  /// `rt.make_array<double>("u", {1000, 1000}, {250, 1000})`. The last index is fastest, unless Order is column_major.
  /// Nothing is allocated before a task writes a block. Throws tessera::error (usage) when an extent is negative or a
  /// block has no elements. @param name  for messages, as is `site`
  template <class T, index_order Order = row_major, std::size_t Rank>
  array<T, Rank, Order> make_array(std::string name, const std::int64_t (&extents)[Rank],
                                   const std::int64_t (&block_extents)[Rank],
                                   std::source_location site = std::source_location::current());
  /// The same with a rank that is known at run time only. Throws usage also when the ranks differ.
  template <class T, index_order Order = row_major>
  array<T, any_rank, Order> make_array(std::string name, std::span<const std::int64_t> extents,
                                       std::span<const std::int64_t> block_extents,
                                       std::source_location site = std::source_location::current());
  /// The same without blocks, of one to three dimensions: `rt.make_array<double>("u", {1000, 1000})`. Its rows are cut
  /// as the regions and tasks that use it need them. The memory is one piece, of which nothing is touched before
  /// something writes it; elements begin as zero. location_model::make_array places it at a location. Throws
  /// tessera::error: usage (extents), memory (no address space, or more than the machine's description has).
  template <class T, std::size_t Rank>
  array<T, Rank, row_major> make_array(std::string name, const std::int64_t (&extents)[Rank],
                                       std::source_location site = std::source_location::current());
  /// A matrix for linear algebra, cut into tiles: make_array with the first index fastest.
  template <class T>
  array<T, 2, column_major> make_matrix(std::string name, const std::int64_t (&extents)[2],
                                        const std::int64_t (&tile_extents)[2],
                                        std::source_location site = std::source_location::current());

  /// The program's own memory as an array of one dimension in blocks of `block_elements`; its contents are the first
  /// version. It must stay valid until the array is gone, and must not be touched but through tasks and views. After a
  /// fence it holds the last version of every block, wherever that was made, and may be read until the next task that
  /// uses the array is submitted; so it does after the array is destroyed and a fence. Blocks that a failed task should
  /// have written are as they were. Where the last version is elsewhere, the fence waits for views of the block that
  /// other threads hold. Throws tessera::error (memory) when too much is adopted already; then nothing is adopted.
  template <class T>
  array<T, 1, row_major> adopt(std::string name, std::span<T> memory, std::int64_t block_elements,
                               std::source_location site = std::source_location::current());

  /// Makes memory of the program fast for the copies of discrete devices, for as long as it is registered: arrays that
  /// adopt parts of it find it ready. Unregister before freeing it; throws tessera::error (usage) while it is adopted.
  void register_memory(void* pointer, std::uint64_t bytes);
  /// Ends what register_memory began; `pointer` as it was given there.
  void unregister_memory(void* pointer);

  /// While it exists, submissions of the thread that made it neither wait nor run tasks, however many are unfinished.
  /// Use it to submit while holding a mutex that tasks also lock: a submission above the window otherwise runs other
  /// tasks on the calling thread, which would wait for that mutex without end. On the stack of the thread; scopes nest.
  /// When the runtime has ended, its end does nothing.
  class no_waiting {
   public:
    /// Begins with the calling thread.
    explicit no_waiting(runtime& of);
    ~no_waiting();
    no_waiting(const no_waiting&) = delete;
    no_waiting& operator=(const no_waiting&) = delete;

   private:
    schedule::scheduler& m_of;
    const std::shared_ptr<lifetime> m_alive;  // of the scheduler
  };

  /// Make one while the calling thread waits outside the runtime, at a barrier or in a join, for another thread that
  /// uses this runtime; it must not call the runtime meanwhile. Threads that wait for room in a full memory then do not
  /// expect that this thread makes some: when no other thread could, a task is given up at once instead of after
  /// `memory.patience`. On the stack of the thread. When the runtime has ended, its end does nothing.
  class waiting_elsewhere {
   public:
    /// Begins with the calling thread.
    explicit waiting_elsewhere(runtime& of);
    ~waiting_elsewhere() { end(); }
    waiting_elsewhere(const waiting_elsewhere&) = delete;
    waiting_elsewhere& operator=(const waiting_elsewhere&) = delete;
    /// By the thread that makes this one go on, before it does so: what comes next may make room.
    void end() noexcept;

   private:
    const std::shared_ptr<lifetime> m_alive;  // of the scheduler
    std::atomic<bool>& m_waits;
  };

  /// Submits a task that runs host code: `function(views...)`, one view per use, in the order given. The function is
  /// moved into the task; it runs on any worker, once, and may throw (see fence). The tasks of one lambda are counted
  /// under the name of its first submission by a thread; those of a std::function or a function pointer under the name
  /// given, as long as there are fewer than about 2000 names, then together as "other functions". Messages have the
  /// name given, and the place of the call.
  /// @code rt.submit("scale", [s](tessera::view<double> x) { for (double& v : x) v *= s; }, tessera::update(a(0)));
  /// @endcode
  /// For a number of blocks that is known at run time only, give one list: the function takes task_blocks.
  /// @code
  /// std::vector<tessera::block_access> uses{tessera::update(sum(0))};
  /// for (std::size_t k = 0; k < x.size(); ++k) uses.push_back(tessera::read(x.block(k)));
  /// rt.submit("sum", [](tessera::task_blocks b) {
  ///   for (std::size_t k = 1; k < b.size(); ++k) b.get<double>(0)[0] += b.get<const double>(k)[0];
  /// }, uses);
  /// @endcode
  /// Returns at once, unless more tasks are unfinished than the window allows: then the calling thread runs tasks until
  /// half of the window is left, so it must not hold a lock that tasks take (see no_waiting). A thread that holds views
  /// does not wait, and neither does a task. Throws tessera::error (memory) when no memory can hold the task's blocks
  /// together, tessera::error (usage) for blocks that it may not name, and what moving the function throws; then
  /// nothing was submitted.
  template <class Function, class... Uses>
  requires(!std::same_as<Function, task_options>) void submit(task_name name, Function function, const Uses&... uses) {
    submit(name, detail::default_options, std::move(function), uses...);
  }
  /// The same with options: `rt.submit("factor", {.priority = 2, .at = rt.at("numa0")}, f, tessera::update(a(0, 0)))`.
  /// Throws also tessera::error (usage) for options that do not fit.
  template <class Function, class... Uses>
  void submit(task_name name, const task_options& options, Function function, const Uses&... uses);

  /// Submits a task of a named operation. `arguments` are copied; `accesses` must match the operation's signature.
  void submit_operation(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
                        std::span<const block_access> accesses, const task_options& options = {},
                        std::source_location site = std::source_location::current());

  /// The same with the arguments as a value, which is copied as bytes: `rt.submit_operation(axpby, arguments,
  /// {read(x(0)), update(y(0))})`.
  template <class Arguments>
  void submit_operation(const operation::definition& what, const Arguments& arguments,
                        std::initializer_list<block_access> blocks, const task_options& options = {},
                        std::source_location site = std::source_location::current()) {
    static_assert(std::is_trivially_copyable_v<Arguments>,
                  "arguments are copied as bytes: no std::string, no std::vector; what is large belongs into a block");
    submit_operation(what, &arguments, sizeof arguments, std::span(blocks.begin(), blocks.size()), options, site);
  }

  /// Whether anything beside the host's workers runs tasks.
  bool has_devices() const noexcept;
  /// Whether the calling thread runs one of the runtime's tasks now, where what waits for all of them must not be
  /// called.
  bool in_task() const noexcept;

  /// Waits for everything submitted so far. Throws the first failure since the last fence (tessera::error with the
  /// kind of the cause, the task's name and site); what depended on it was given up. One that a view or a group's fence
  /// has thrown to this thread is not thrown again; by a fence of another thread it is. Blocks that a failed task
  /// should have written cannot be read until they are written anew. Adopted memory holds the last versions then. While
  /// validating, throws the first finding (kind validation) since the last fence instead, if there is one. Throws
  /// tessera::error (usage) inside a task or a recording, and while the thread holds views. @param site  for messages
  void fence(std::source_location site = std::source_location::current());
  /// The same for the tasks of a group: see task_group::fence.
  void fence(task_group& group, std::source_location site = std::source_location::current());
  /// The same as its options say.
  void fence(const fence_options& options, std::source_location site = std::source_location::current());

  /// Takes down the tasks that `function()` submits instead of running them; see recording.hpp. Their order, and where
  /// they run, are settled once; each replay runs them in program order with the tasks around it. Inside, host views,
  /// fences and the destruction of arrays that are used are errors (usage). Accumulates are summed in a fixed order.
  template <class Function>
  recording record(Function&& function, const record_options& options = {},
                   std::source_location site = std::source_location::current());
  /// Submits the recorded tasks again and returns; waits only when record_options::replays_under_way of them are under
  /// way already. Throws tessera::error (usage) for a recording of another runtime, one that uses an array which has
  /// ended, and where it would wait for a view that the calling thread holds.
  void replay(recording& what, std::source_location site = std::source_location::current());
  /// The same, and gives the replay a value of plain bytes, 16 at most, that host functions see as
  /// task_context::replay_value: the number of the iteration, a step in time. Operations on devices do not see it.
  template <class Value>
  requires(!std::is_same_v<Value, std::source_location>) void replay(
      recording& what, const Value& value, std::source_location site = std::source_location::current()) {
    static_assert(is_replay_value<Value>, "a replay is given a value of plain bytes, 16 at most; keep more in a block");
    operation::replay_value stored;
    std::memcpy(stored.bytes.data(), &value, sizeof value);
    stored.type = &typeid(Value);
    replay_with(what, stored, site);
  }

  /// Gives up all tasks that have not started, now and later; fence then throws `interrupted`. Any thread; not a signal
  /// handler.
  void cancel(std::string reason);
  /// Whether the run is given up: by cancel, for a stream that hangs, for a lost device with runtime.survive_loss =
  /// false.
  bool cancelled() const noexcept;

  /// Takes the devices at or below a location out of the run while it goes on: no task is placed there any more, queued
  /// ones are placed again, what has begun ends, sole copies of blocks are written back to the host's memory (and on to
  /// a disk when that is full), and the device's memory is given back. Returns when the devices hold nothing; meanwhile
  /// the calling thread may run tasks. The host's own memories and workers stay, also where the location has them. Any
  /// thread of the program; not inside a task or a recording, and not while it holds views (usage). Throws
  /// tessera::error, and all devices stay as they were: usage when there is no device, it is detached already, or a
  /// queued task can run nowhere else (named); memory when no other memory can hold what only it holds; device when
  /// copies from it fail. Blocks that had left by then are in the host's memory until a task wants them on the device
  /// again.
  void detach(std::uint32_t location);
  void detach(std::string_view name) { detach(at(name)); }  ///< the same, by name
  /// The detached devices at or below a location take tasks again: those that become ready from now on, and with
  /// placement cost also queued ones. Recordings whose tasks went elsewhere meanwhile stay there until
  /// recording::place_again. Throws usage when there is no device, none is detached, or one is lost.
  void attach(std::uint32_t location);
  void attach(std::string_view name) { attach(at(name)); }  ///< the same, by name
  /// Whether all devices at or below a location take tasks. Throws usage when there is none.
  bool attached(std::uint32_t location) const;

  /// Operations by name: the built-in ones, those of OPERATIONS plugins and those added here (see
  /// operation/definition.hpp).
  operation::catalog& operations() noexcept;
  /// The operations that every runtime has, for submit_operation; linear_algebra.hpp has them as functions.
  const builtin_operations& builtin() const noexcept;
  /// Adds an operation. Throws tessera::error (usage) when the name exists.
  const operation::definition& define(operation::definition what);

  /// Finds a location by name for task_options::at. Throws tessera::error (usage) with the nearest name.
  std::uint32_t at(std::string_view name) const;

  const location::tree& tree() const noexcept;                ///< where memory and workers are
  const config::runtime_settings& settings() const noexcept;  ///< as the runtime was started
  const plugin::registry& plugins() const noexcept;           ///< opened plugins and devices
  /// Names of the places that run tasks, as statistics::operations has them: host memories first, then devices.
  std::vector<std::string> places() const;
  /// Threads that run host tasks, the waiting one included.
  std::uint32_t workers() const noexcept;
  /// For progress displays; cheap, any thread.
  std::uint64_t tasks_submitted() const noexcept;
  std::uint64_t tasks_retired() const noexcept;  ///< likewise
  /// Measure the time of every task from now on (off by default: it costs about 50 ns per task).
  void time_tasks(bool on) noexcept;
  /// What has been done since the start. Any thread, at any time; consistent when nothing runs.
  tessera::statistics statistics() const;
  /// For the head of a report: "2 cores, 1 host memory, 1 device, 2 workers".
  std::string topology_line() const;
  /// The opened plugins with their BLAS libraries: "host 0.1 (OpenBLAS 0.3.21 Zen)".
  std::string plugin_line() const;

  /// Whether what happens is written down (runtime.trace), for timeline.
  bool traced() const noexcept;
  /// What has been recorded so far, for trace/summary.hpp, chrome.hpp and report.hpp; best behind a fence. `title`: one
  /// line that says what ran. Throws tessera::error (usage) when nothing is recorded. Any thread.
  trace::timeline timeline(std::string title) const;

  /// Whether the program is watched for mistakes (runtime.validate).
  bool validates() const noexcept;
  /// What validation has found so far, all of it; see docs/validation.md. Best behind a fence. Any thread.
  std::vector<validate::finding> findings() const;
  /// Everything that the calling thread has submitted so far is known to whoever calls order_after with the same point
  /// later. For programs whose threads wait for each other by means of their own (barriers, locks, queues): the runtime
  /// cannot see those. Costs nothing where nothing is validated. Any thread.
  void order_before(order_point& point);
  /// The calling thread has waited, by means of its own, for the threads that called order_before. Any thread.
  void order_after(const order_point& point);

  runtime_inside& inside() noexcept { return *m_inside; }     ///< for the runtime's own rooms and their tests
  std::uint64_t serial() const noexcept { return m_serial; }  ///< likewise: no two of a process have the same

 private:
  void replay_with(recording& what, const operation::replay_value& value, std::source_location site);
  std::unique_ptr<runtime_inside> m_inside;
  std::uint64_t m_serial;  // no two runtimes of a process have the same
};

// ---------------------------------------------------------------------------------------------------------------------

namespace detail {
template <class Use>
inline constexpr bool names_rows = false;  // what a task names beside blocks: tessera/detail/region_use.hpp
template <class T, std::size_t Rank>
inline constexpr bool names_rows<region_use<T, Rank>> = true;
template <class T, intent How, std::size_t Rank>
inline constexpr bool names_rows<rows_use<T, How, Rank>> = true;
template <class T, std::size_t Rank>
inline constexpr bool names_rows<combined_rows_use<T, Rank>> = true;
template <class Function, class... Uses>
void submit_with_rows(runtime& of, const task_name& name, const task_options& options, Function& function,
                      const Uses&... uses);
}  // namespace detail

template <class Function, class... Uses>
void runtime::submit(task_name name, const task_options& options, Function function, const Uses&... uses) {
  constexpr bool is_list = sizeof...(Uses) == 1 && (block_access_list<Uses> && ...);
  constexpr bool is_uses = ((block_use<Uses> || detail::names_rows<Uses>)&&...);
  constexpr bool is_function = !block_use<Function> && !block_access_list<Function> && !detail::names_rows<Function>;
  static_assert(is_function,
                "what the task does is missing: after the name, and the options in braces where there are any, comes a "
                "function, and behind it its blocks");
  static_assert(
      !is_function || is_list || is_uses,
      "after the function come blocks, rows or arrays with intents: read(b), write(b), update(b), and of blocks and "
      "rows also commute(b), accumulate(b), scratch(b); rows are x.rows(first, last); for a number known at run time "
      "only, one std::vector<tessera::block_access>. Options stand before the function");
  if constexpr (detail::is_task_loop<Function>) {
    constexpr bool is_blocks = (block_use<Uses> && ...);
    static_assert(is_blocks,
                  "a loop of TESSERA_BODY has its blocks one by one: read(b), write(b), update(b), commute(b)");
    if constexpr (is_blocks) function.submit(*this, name, options, uses...);
  } else if constexpr (is_function && is_list) {
    static_assert(task_function<Function, task_blocks>,
                  "with a list of uses the function must take task_blocks, before them a task_context if it wants one");
    if constexpr (task_function<Function, task_blocks>)
      detail::submit_function<Function, task_blocks>(*m_inside, m_serial, name, options, function, uses...);
  } else if constexpr (is_function && is_uses) {
    static_assert(
        task_function<Function, typename Uses::view_type...>,
        "the function must take one view per use, by value: view<const T> for read, view<T> otherwise, of blocks of "
        "rank R view<T, R>, of a matrix matrix_view<T>, of rows rows_view<T, R>; before them a task_context if it "
        "wants one");
    if constexpr (!task_function<Function, typename Uses::view_type...>)
      return;
    else if constexpr ((detail::names_rows<Uses> || ...))
      detail::submit_with_rows(*this, name, options, function, uses...);
    else
      detail::submit_function<Function, typename Uses::view_type...>(
          *m_inside, m_serial, name, options, function,
          std::array<block_access, sizeof...(Uses)>{block_access(uses)...});
  }
}

}  // namespace tessera
