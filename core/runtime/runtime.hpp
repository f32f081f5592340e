#pragma once
// The runtime as a program sees it.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/operation/catalog.hpp"
#include "core/runtime/machine.hpp"
#include "core/runtime/statistics.hpp"
#include "core/runtime/use.hpp"
#include "core/schedule/scheduler.hpp"
#include "core/trace/timeline.hpp"
#include "core/validate/finding.hpp"

namespace tessera {

template <class T>
class array;
template <class T>
class block_group;
class history_keeper;
class order_point;
class recording;
namespace validate {
class validator;
}

/// What a submission may say beside operation, arguments and blocks.
struct task_options {
  std::int16_t priority = 0;                 ///< higher runs earlier among ready tasks; below 0: last
  location::node_id at = location::no_node;  ///< run at or below this location, if possible (see placement)
  task::source* from = nullptr;  ///< the statement of a front end's language that it comes from; outlives the task
  const placement::device_choice* to = nullptr;  ///< what choose_device said; `at` is then not looked at
};

/// A task's name together with the place of the submission: a string literal converts to it where submit is called.
struct task_name {
  /// Implicit, so that the site is the place of the call of submit.
  template <class Text>
  requires std::is_convertible_v<const Text&, std::string_view> task_name(
      const Text& name, std::source_location where = std::source_location::current())  // NOLINT: meant to convert
      : text(name), site(where) {}
  std::string_view text;      ///< must live until submit returns
  std::source_location site;  ///< for messages
};

/// The operations that every runtime has; see operation/blas.hpp and operation/tensor.hpp.
struct builtin_operations {
  const operation::definition* gemm;     ///< C = alpha op(A) op(B) + beta C; blocks A read, B read, C update or write
  const operation::definition* syrk;     ///< lower triangle of C = alpha A A^T + beta C; A read, C update
  const operation::definition* trsm;     ///< B = alpha B L^-T; A read, B update
  const operation::definition* potrf;    ///< Cholesky factor of the lower triangle; A update, info write
  const operation::definition* axpy;     ///< y += alpha x; x read, y update or accumulate
  const operation::definition* scal;     ///< x *= alpha; x update
  const operation::definition* permute;  ///< dimensions reordered; source read, destination update or write
  const operation::definition*
      contract;  ///< C = alpha A B + beta C over labelled dimensions; A read, B read, C update or write
  const operation::definition* fill;    ///< every element one value; destination write
  const operation::definition* reduce;  ///< destination plus all sources; destination update or write, sources read
};

/// Owns everything between a machine and its tasks. Several may exist, one after the other or at the same time. All
/// functions may be called from any thread; the destructor waits for everything that was submitted.
class runtime {
 public:
  /// Takes over the machine and starts its threads. Throws tessera::error (configuration, device, memory).
  explicit runtime(machine m);
  /// Waits for everything that was submitted and stops all threads. Failures that no fence reported are lost.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// An array of `extents` elements cut into blocks of `block_extents` (the last block of a dimension may be smaller).
  /// Nothing is allocated before a task writes a block. Throws tessera::error (usage) when the ranks differ, an extent
  /// is negative or a block has no elements. @param name for messages, as is `site`
  template <class T>
  array<T> make_array(std::string name, std::span<const std::int64_t> extents,
                      std::span<const std::int64_t> block_extents,
                      std::source_location site = std::source_location::current());
  /// The same with the extents written out: `rt.make_array<double>("A", {1000, 1000}, {250, 250})`.
  template <class T>
  array<T> make_array(std::string name, std::initializer_list<std::int64_t> extents,
                      std::initializer_list<std::int64_t> block_extents,
                      std::source_location site = std::source_location::current()) {
    return make_array<T>(std::move(name), std::span(extents.begin(), extents.size()),
                         std::span(block_extents.begin(), block_extents.size()), site);
  }

  /// The program's own memory as an array of one dimension in blocks of `block_elements`; its contents are the first
  /// version. It must stay valid until the array is gone, and must not be touched but through tasks and views. After a
  /// fence it holds the last version of every block, wherever that was made, and may be read until the next task that
  /// uses the array is submitted; so it does after the array is destroyed and a fence. Blocks that a failed task should
  /// have written are as they were. Where the last version is elsewhere, the fence waits for views of the block that
  /// other threads hold. Throws tessera::error (memory) when too much is adopted already; then nothing is adopted.
  template <class T>
  array<T> adopt(std::string name, std::span<T> memory, std::int64_t block_elements,
                 std::source_location site = std::source_location::current());

  /// Makes memory of the program fast for the copies of discrete devices, for as long as it is registered: arrays that
  /// adopt parts of it find it ready. Unregister before freeing it; throws tessera::error (usage) while it is adopted.
  void register_memory(void* pointer, std::uint64_t bytes) { m_registrations->keep(pointer, bytes); }
  /// Ends what register_memory began; `pointer` as it was given there.
  void unregister_memory(void* pointer) { m_registrations->forget(pointer); }

  /// While it exists, submissions of the thread that made it neither wait nor run tasks, however many are unfinished:
  /// for submitting with a lock in the hand that tasks take too. Without it a submission above the window runs other
  /// tasks on the calling thread, which would wait for that lock without end. On the stack of the thread; scopes nest.
  class no_waiting {
   public:
    /// Begins with the calling thread.
    explicit no_waiting(runtime& of) : m_of(of.scheduler()) { m_of.begin_no_waiting(); }
    ~no_waiting() { m_of.end_no_waiting(); }
    no_waiting(const no_waiting&) = delete;
    no_waiting& operator=(const no_waiting&) = delete;

   private:
    schedule::scheduler& m_of;
  };

  /// While it exists, the thread that made it waits by means of its own (a barrier, a join) until another thread that
  /// uses this runtime goes on, and does nothing in the runtime meanwhile. Then whoever waits for room in a full memory
  /// does not hope that this thread makes some: when nobody else could, a task is given up at once instead of after
  /// `memory.patience`. On the stack of the thread; not longer than the runtime.
  class waiting_elsewhere {
   public:
    /// Begins with the calling thread.
    explicit waiting_elsewhere(runtime& of) : m_waits(of.scheduler().wait_elsewhere()) {}
    ~waiting_elsewhere() { end(); }
    waiting_elsewhere(const waiting_elsewhere&) = delete;
    waiting_elsewhere& operator=(const waiting_elsewhere&) = delete;
    /// By the thread that makes this one go on, before it does so: what comes next may make room.
    void end() noexcept { m_waits.store(false); }

   private:
    std::atomic<bool>& m_waits;
  };

  /// Submits a task that runs host code: `function(views...)`, one view per use, in the order given. The function is
  /// moved into the task; it runs on any worker, once, and may throw (see fence). The tasks of one lambda are counted
  /// under the name of its first submission by a thread; those of a std::function or a function pointer under the name
  /// given, as long as there are fewer than about 2000 names, then together as "other functions". Messages have the
  /// name given.
  /// @code rt.submit("scale", [s](tessera::view<double> x) { for (double& v : x) v *= s; }, tessera::update(a(0)));
  /// @endcode
  template <class Function, class... Uses>
  void submit(task_name name, Function function, Uses... uses) {
    submit_at(name.site, {}, name.text, std::move(function), uses...);
  }
  /// The same with a priority, a location and the place for messages. Both return at once, unless more tasks are
  /// unfinished than the window allows: then the calling thread runs tasks until half of the window is left, so it must
  /// not hold a lock that tasks take (see no_waiting). A thread that holds views does not wait, and neither does a
  /// task. Both throw tessera::error (memory) when no memory can hold the task's blocks together, and what moving the
  /// function throws; then nothing was submitted.
  template <class Function, class... Uses>
  void submit_at(std::source_location site, task_options options, std::string_view name, Function function,
                 Uses... uses);

  /// Submits a task of a named operation. `arguments` are copied; `accesses` must match the operation's signature.
  void submit_operation(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
                        std::span<const block::access> accesses, task_options options = {},
                        std::source_location site = std::source_location::current());

  /// Runs a named operation at once on the calling thread, on host memory that the program has in its hands (views, or
  /// its own): no task, no order with other tasks. For front ends whose computations are too short to be tasks: they
  /// keep `facts` for the next call with the same arguments on blocks of the same types, intents and extents. Throws
  /// what the operation throws, and tessera::error (usage) when it has no form for the host.
  void run_in_place(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
                    std::span<const operation::operand> operands, operation::in_place_facts* facts = nullptr) {
    m_scheduler->run_in_place(what, arguments, argument_bytes, operands, facts);
  }

  /// For front ends that run short operations in place: whether the placement would send one to a device at this
  /// moment, and to which. Nothing: the calling thread had better run it in place, or no device can. submit_operation
  /// takes the answer in task_options::to.
  std::optional<placement::device_choice> choose_device(const placement::device_question& asked) {
    return m_scheduler->choose_device(asked);
  }
  /// What the calling thread took for such an operation in place; what is learnt from it counts in later choices.
  void learn_in_place(const placement::device_question& asked, double nanoseconds) {
    m_scheduler->learn_in_place(asked, nanoseconds);
  }
  /// Whether blocks stay where they are from their first use to their end, since there is one memory and nothing is
  /// validated on copies. Then what a view has shown may be looked at after its end, as long as nobody writes to the
  /// block.
  bool blocks_stay() const noexcept { return m_scheduler->blocks_stay(); }
  /// Whether anything beside the host's workers runs tasks.
  bool has_devices() const noexcept { return m_scheduler->has_devices(); }
  /// The memories of those, a bit per space in the order of statistics::spaces.
  block::space_set device_spaces() const noexcept { return m_scheduler->device_spaces(); }

  /// As fence, also while threads hold views: waits for everything else, and leaves adopted memory as it is. For points
  /// at which no task waits for a view, such as the barriers of a front end.
  void settle(std::source_location site = std::source_location::current()) { m_scheduler->settle(site); }

  /// Waits for everything submitted so far. Throws the first failure since the last fence (tessera::error with the
  /// kind of the cause, the task's name and site); what depended on it was given up. Blocks that a failed task should
  /// have written cannot be read until they are written anew. Adopted memory holds the last versions then. While
  /// validating, throws the first finding (kind validation) since the last fence instead, if there is one. @param site
  /// for messages
  void fence(std::source_location site = std::source_location::current()) { m_scheduler->fence(site); }

  /// Takes down the tasks that `function()` submits instead of running them; see recording.hpp. Their order, and where
  /// they run, are settled once; each replay runs them in program order with the tasks around it. Inside, host views,
  /// fences and the destruction of arrays that are used are errors (usage). Accumulates are summed in a fixed order.
  template <class Function>
  recording record(Function&& function);
  /// Submits the recorded tasks again and returns; waits only when two replays are under way already.
  void replay(recording& what, std::source_location site = std::source_location::current());

  /// Gives up all tasks that have not started, now and later; fence then throws `interrupted`. Any thread; not a signal
  /// handler.
  void cancel(std::string reason) { m_scheduler->cancel(std::move(reason)); }
  /// Whether the run is given up: by cancel, for a stream that hangs, for a lost device with runtime.survive_loss =
  /// false.
  bool cancelled() const noexcept { return m_scheduler->cancelled(); }

  /// Takes the devices at or below a location out of the run while it goes on: no task is placed there any more, queued
  /// ones are placed again, what has begun ends, sole copies of blocks are written back to the host's memory (and on to
  /// a disk when that is full), and the device's memory is given back. Returns when the devices hold nothing; meanwhile
  /// the calling thread may run tasks. The host's own memories and workers stay, also where the location has them. Any
  /// thread of the program; not inside a task or a recording, and not while it holds views (usage). Throws
  /// tessera::error, and all devices stay as they were: usage when there is no device, it is detached already, or a
  /// queued task can run nowhere else (named); memory when no other memory can hold what only it holds; device when
  /// copies from it fail. Blocks that had left by then are in the host's memory until a task wants them on the device
  /// again.
  void detach(location::node_id where) { m_scheduler->detach(where); }
  void detach(std::string_view name) { m_scheduler->detach(at(name)); }  ///< the same, by name
  /// The detached devices at or below a location take tasks again: those that become ready from now on, and with
  /// placement cost also queued ones. Recordings whose tasks went elsewhere meanwhile stay there until
  /// recording::place_again. Throws usage when there is no device, none is detached, or one is lost.
  void attach(location::node_id where) { m_scheduler->attach(where); }
  void attach(std::string_view name) { m_scheduler->attach(at(name)); }  ///< the same, by name
  /// Whether all devices at or below a location take tasks. Throws usage when there is none.
  bool attached(location::node_id where) const { return m_scheduler->attached(where); }

  /// Operations by name: the built-in ones, those of OPERATIONS plugins and those added here (see
  /// operation/definition.hpp).
  operation::catalog& operations() noexcept { return m_operations; }
  /// The operations that every runtime has, for submit_operation; linear_algebra.hpp has them as functions.
  const builtin_operations& builtin() const noexcept { return m_builtin; }
  /// Adds an operation. Throws tessera::error (usage) when the name exists.
  const operation::definition& define(operation::definition what) { return m_operations.add(std::move(what)); }

  /// Finds a location by name for task_options::at. Throws tessera::error (usage) with the nearest name.
  location::node_id at(std::string_view name) const;

  const location::tree& tree() const noexcept { return m_machine.tree; }  ///< where memory and workers are
  const config::runtime_settings& settings() const noexcept {
    return m_machine.settings;
  }                                                                                ///< as the runtime was started
  const plugin::registry& plugins() const noexcept { return *m_machine.plugins; }  ///< opened plugins and devices
  /// Threads that run host tasks, the waiting one included.
  std::uint32_t workers() const noexcept { return m_scheduler->workers(); }
  /// For progress displays; cheap, any thread.
  std::uint64_t tasks_submitted() const noexcept { return m_scheduler->submitted(); }
  std::uint64_t tasks_retired() const noexcept { return m_scheduler->retired(); }  ///< likewise
  /// Measure the time of every task from now on (off by default: it costs about 50 ns per task).
  void time_tasks(bool on) noexcept { m_scheduler->time_tasks(on); }
  /// What has been done since the start. Any thread, at any time; consistent when nothing runs.
  tessera::statistics statistics() const;
  /// For the head of a report: "2 cores, 1 host memory, 1 device, 2 workers".
  std::string topology_line() const;
  /// The opened plugins with their BLAS libraries: "host 0.1 (OpenBLAS 0.3.21 Zen)".
  std::string plugin_line() const;

  /// Whether what happens is written down (runtime.trace), for timeline.
  bool traced() const noexcept { return m_recorder != nullptr; }
  /// What has been recorded so far, for trace/summary.hpp, chrome.hpp and report.hpp; best behind a fence. `title`: one
  /// line that says what ran. Throws tessera::error (usage) when nothing is recorded. Any thread.
  trace::timeline timeline(std::string title) const;

  /// Whether the program is watched for mistakes (runtime.validate).
  bool validates() const noexcept { return m_validator != nullptr; }
  /// What validation has found so far, all of it; see docs/validation.md. Best behind a fence. Any thread.
  std::vector<validate::finding> findings() const;
  /// Everything that the calling thread has submitted so far is known to whoever calls order_after with the same point
  /// later. For programs whose threads wait for each other by means of their own (barriers, locks, queues): the runtime
  /// cannot see those. Costs nothing where nothing is validated. Any thread.
  void order_before(order_point& point);
  /// The calling thread has waited, by means of its own, for the threads that called order_before. Any thread.
  void order_after(const order_point& point);

  schedule::scheduler& scheduler() noexcept { return *m_scheduler; }  ///< for the runtime's own rooms and its tests
  block::table& blocks() noexcept { return m_blocks; }                ///< likewise

 private:
  template <class T>
  friend class array;
  template <class T>
  friend class block_group;

  /// Throws memory when the blocks of a task can never be in one space together.
  void check_working_set(std::string_view name, std::span<const block::access> accesses) const {
    if (m_largest_limit != ~std::uint64_t{0}) check_working_set_slowly(name, accesses);
  }
  void check_working_set_slowly(std::string_view name, std::span<const block::access> accesses) const;
  const operation::definition& define_or_find(operation::definition what, bool one_of_many);
  void adopt_blocks(std::span<block::record* const> blocks, void* memory);
  // For arrays; nothing where nothing is validated.
  void note_array(std::span<block::record* const> blocks, bool adopted, std::source_location site);
  void note_kept(std::span<block::record* const> blocks, std::source_location site);

  machine m_machine;
  std::unique_ptr<trace::recorder> m_recorder;       // null: nothing is recorded; it outlives all who write
  std::unique_ptr<validate::validator> m_validator;  // null: nothing is validated
  std::uint64_t m_serial;
  operation::catalog m_operations;
  builtin_operations m_builtin{};
  block::table m_blocks;
  transfer::stream_table m_streams;
  std::unique_ptr<memory::registration_cache> m_registrations;
  std::vector<std::unique_ptr<memory::space>> m_spaces;
  std::unique_ptr<transfer::coherence> m_coherence;
  std::unique_ptr<schedule::scheduler> m_scheduler;
  std::unique_ptr<history_keeper> m_history;  ///< null: nothing is learnt, or nothing is kept
  std::uint64_t m_largest_limit = ~std::uint64_t{0};
};

// ---------------------------------------------------------------------------------------------------------------------

namespace detail {

/// The C function behind a submitted lambda.
template <class Function, class... Uses>
void call_function(const operation::context& c) {
  auto& function = *static_cast<Function*>(const_cast<void*>(c.arguments));
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    function(
        typename Uses::view_type(static_cast<typename Uses::element*>(c.operands[K].host), *c.operands[K].extents)...);
  }
  (std::index_sequence_for<Uses...>{});
}

/// A task between begin and commit: what throws in between takes it back. The last thing that is made is its function.
struct begun_task {
  schedule::lane& mine;
  task::record& t;
  bool complete = false;
  ~begun_task() {
    if (!complete) schedule::scheduler::take_back(mine, t);
  }
};

template <class Function>
void destroy_function(void* function) {
  static_cast<Function*>(function)->~Function();
}

/// Whether one type is that of many functions. A lambda's is its own.
template <class Function>
inline constexpr bool is_shared_type = std::is_pointer_v<Function>;
template <class Signature>
inline constexpr bool is_shared_type<std::function<Signature>> = true;

/// What a thread knows of the last submission of a function of this type.
template <class Function>
struct last_definition {
  std::uint64_t serial = 0;  ///< of the runtime
  const operation::definition* what = nullptr;
  bool is(std::uint64_t runtime, std::string_view) const noexcept { return serial == runtime; }
  void set(std::uint64_t runtime, std::string_view, const operation::definition& found) {
    serial = runtime, what = &found;
  }
};
template <class Function>
requires is_shared_type<Function>
struct last_definition<Function> {  // the name says which function it was
  std::uint64_t serial = 0;
  const operation::definition* what = nullptr;
  std::string name;          // what->name may have a number behind it
  bool is_nameless = false;  // the definition is that of many names
  bool is(std::uint64_t runtime, std::string_view asked) const noexcept { return serial == runtime && name == asked; }
  void set(std::uint64_t runtime, std::string_view asked, const operation::definition& found) {
    name = asked;
    serial = runtime, what = &found;
    is_nameless = !found.name.starts_with(asked);
  }
};

}  // namespace detail

template <class Function, class... Uses>
void runtime::submit_at(std::source_location site, task_options options, std::string_view name, Function function,
                        Uses... uses) {
  static_assert(std::is_invocable_v<Function&, typename Uses::view_type...>,
                "the function must take one view per use: view<const T> for read, view<T> otherwise");
  static_assert(alignof(Function) <= 16, "captures with an alignment above 16 are not supported");
  // A lambda's type is that of one call site: its definition is looked up once per thread and runtime.
  static thread_local detail::last_definition<Function> last;
  if (!last.is(m_serial, name)) {
    operation::definition fresh;
    fresh.name = std::string(name);
    fresh.host = &detail::call_function<Function, Uses...>;
    if constexpr (!std::is_trivially_destructible_v<Function>)
      fresh.destroy_arguments = &detail::destroy_function<Function>;
    fresh.plain_arguments = std::is_trivially_copyable_v<Function>;
    last.set(m_serial, name, define_or_find(std::move(fresh), detail::is_shared_type<Function>));
  }
  constexpr std::size_t count = sizeof...(Uses);
  schedule::lane* mine = nullptr;
  task::record& t = m_scheduler->begin(*last.what, site, mine);
  detail::begun_task begun{*mine, t};
  if constexpr (detail::is_shared_type<Function>)
    if (last.is_nameless) t.need_more().name = name;
  t.priority = options.priority;
  t.hint = options.at;
  block::access* to = t.accesses.data();
  if constexpr (count > 4) {
    t.need_more().accesses.resize(count);
    t.flags |= task::flag_many_accesses;
    to = t.more->accesses.data();
  }
  t.access_count = static_cast<std::uint8_t>(count);
  ((*to++ = block::access{.block = uses.block, .version = 0, .how = Uses::how, .flags = 0, .space = 0}), ...);
  if constexpr (count > 0) check_working_set(name, t.all_accesses());
  if constexpr (sizeof(Function) > task::record::inline_arguments) {
    t.need_more().arguments.resize(sizeof(Function));
    t.flags |= task::flag_large_arguments;
  }
  t.argument_size = sizeof(Function);
  new (t.argument_bytes()) Function(std::move(function));
  begun.complete = true;
  m_scheduler->commit(*mine, t);
}

}  // namespace tessera

#include "core/runtime/array.hpp"        // IWYU pragma: export
#include "core/runtime/order_point.hpp"  // IWYU pragma: export
#include "core/runtime/recording.hpp"    // IWYU pragma: export

namespace tessera {

template <class Function>
recording runtime::record(Function&& function) {
  task::recorder taker(m_blocks, *m_builtin.reduce);
  struct session {  // also ends it when the function throws
    schedule::scheduler& of;
    ~session() { of.end_recording(); }
  };
  m_scheduler->begin_recording(taker);
  try {
    {
      const session open{*m_scheduler};
      std::forward<Function>(function)();
    }
    return recording(*m_scheduler, taker.finish());
  } catch (...) {
    m_scheduler->forget(taker.incomplete());
    throw;
  }
}

}  // namespace tessera
