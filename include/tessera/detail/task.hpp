#pragma once
// What a task's function sees, and what a submission says beside the function.
#include <cstdint>
#include <cstring>
#include <new>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "core/base/error.hpp"
#include "core/block/element_type.hpp"
#include "core/operation/context.hpp"
#include "tessera/detail/use.hpp"

namespace tessera::operation {
struct definition;
}
namespace tessera::placement {
struct device_choice;
}
namespace tessera::schedule {
class scheduler;
struct thread_context;
}  // namespace tessera::schedule
namespace tessera::task {
struct record;
struct source;
}  // namespace tessera::task

namespace tessera {

struct runtime_inside;

class task_group;

/// task_options::at where the task may run anywhere.
inline constexpr std::uint32_t anywhere = ~std::uint32_t{0};

/// What a submission may say beside what the task does and its blocks: `{.priority = 2, .at = rt.at("gpu0")}`.
struct task_options {
  std::int16_t priority = 0;  ///< higher runs earlier among ready tasks; below 0: last
  /// Workers that are reserved while it runs on the host, 1 to runtime::workers(): for a function that starts threads
  /// of its own, whose CPUs are those of these workers. See docs/scheduling.md.
  std::uint16_t cores = 1;
  /// Run at or below this location, if possible (runtime::at gives the number of a name).
  std::uint32_t at = anywhere;
  task_group* group = nullptr;  ///< that the program waits for it with; of the same runtime

  // For front ends.
  task::source* from = nullptr;  ///< the statement of a front end's language that it comes from; outlives the task
  const placement::device_choice* to = nullptr;  ///< what choose_device said; `at` is then not looked at

  /// Whether only `priority` and `at` may be other than they are by default.
  bool is_short() const noexcept { return cores == 1 && group == nullptr && from == nullptr && to == nullptr; }
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

/// What runtime::replay can be given: plain bytes, 16 at most.
template <class Value>
inline constexpr bool is_replay_value = std::is_trivially_copyable_v<Value>&& std::is_default_constructible_v<Value> &&
                                        sizeof(Value) <= operation::replay_value::capacity;

/// Where a task runs. A submitted function that takes one before its views gets it.
/// @code rt.submit("sum", [&](tessera::task_context here, tessera::view<const double> x) {
///   for (const double v : x) partial_sums[here.worker()] += v;  // rt.workers() of them
/// }, tessera::read(x(0)));
/// @endcode
class task_context {
 public:
  /// Made by the runtime.
  explicit task_context(const operation::context& of) noexcept : m_of(&of) {}
  /// Number of the worker that runs the task, below runtime::workers(). No two tasks have the same at the same time, so
  /// that each may have something of its own by this number. (A task that ends a recording waits for its replays,
  /// and may run others meanwhile.)
  std::uint32_t worker() const noexcept { return m_of->worker; }
  std::string_view name() const noexcept { return m_of->task_name; }  ///< of the task; for messages
  /// Workers that are reserved for the task: task_options::cores. The calling thread may run on the CPUs of all of
  /// them, as may threads that it starts.
  std::uint32_t cores() const noexcept { return m_of->cores; }
  /// What runtime::replay was given for the replay that the task belongs to.
  /// @code rt.replay(step, 0.5 * k);  // in the task: here.replay_value<double>()
  /// @endcode
  /// @tparam Value  the type that was given. Throws tessera::error (usage), which fails the task, when another one was
  /// given or none, and outside of a replay.
  template <class Value>
  Value replay_value() const {
    static_assert(is_replay_value<Value>, "a replay is given a value of plain bytes, 16 at most");
    const operation::replay_value* const held = m_of->replayed_with;
    if (held == nullptr || held->type == nullptr || *held->type != typeid(Value)) refuse_value(typeid(Value));
    Value value;
    std::memcpy(&value, held->bytes.data(), sizeof value);
    return value;
  }

 private:
  [[noreturn]] void refuse_value(const std::type_info& asked) const;
  const operation::context* m_of;
};

/// The blocks of a task whose number was known at run time only, in the order of the submission.
class task_blocks {
 public:
  /// Made by the runtime.
  explicit task_blocks(std::span<const operation::operand> blocks) noexcept : m_blocks(blocks) {}
  std::size_t size() const noexcept { return m_blocks.size(); }  ///< blocks
  /// The k-th one: `get<double>(0)[7]` by position, `get<double, 2, column_major>(0)(3, 4)` by indices.
  /// @tparam T  its element type; const for a block that is only read  @tparam Rank, Order  those of its array. Throws
  /// tessera::error (usage), which fails the task, when there is no such block or it is of another type, rank or
  /// intent.
  template <class T, std::size_t Rank = any_rank, index_order Order = row_major>
  view<T, Rank, Order> get(std::size_t k) const {
    constexpr element_type asked = stored_type_of<T>();
    if (k >= m_blocks.size() || m_blocks[k].type != asked ||
        (m_blocks[k].intent == intent::read && !std::is_const_v<T>) ||
        (Rank != any_rank && m_blocks[k].extents->rank() != Rank) ||
        (!is_number<T> && m_blocks[k].extents->count() % stored_per_element<T> != 0))
      refuse(k, asked, std::is_const_v<T>, Rank);
    return {static_cast<T*>(m_blocks[k].host), *m_blocks[k].extents};
  }
  /// The bytes of the k-th one, for the runtime. Throws as get. @param per_element  how many of `asked` an element is
  std::span<std::byte> bytes(std::size_t k, element_type asked, std::int64_t per_element, bool to_read) const;
  /// The same without checks, for the runtime.
  template <class View>
  View as(std::size_t k) const {
    return View(static_cast<decltype(std::declval<View&>().data())>(m_blocks[k].host), *m_blocks[k].extents);
  }

 private:
  [[noreturn]] void refuse(std::size_t k, element_type asked, bool to_read, std::size_t rank) const;
  std::span<const operation::operand> m_blocks;
};

/// A loop of TESSERA_BODY (tessera/detail/body.hpp).
template <std::size_t Depth, class Function, class... Values>
struct task_loop;

namespace detail {

template <class Function>
inline constexpr bool is_task_loop = false;
template <std::size_t Depth, class Function, class... Values>
inline constexpr bool is_task_loop<task_loop<Depth, Function, Values...>> = true;

/// A task between the choice of its record and its submission. What throws in between takes it back. Its function, or
/// its arguments, are made in `arguments()`. By one thread; it may have several.
class submission {
 public:
  /// @param name  the task's own; "": that of its operation. Throws tessera::error (memory) when no memory can hold the
  /// blocks together.
  submission(runtime_inside& of, const operation::definition& what, std::string_view name, std::source_location site,
             const task_options& options, std::span<const block_access> blocks, std::size_t argument_bytes);
  ~submission() {
    if (m_task != nullptr) take_back();
  }
  submission(submission&& other) noexcept
      : m_scheduler(other.m_scheduler),
        m_thread(other.m_thread),
        m_task(std::exchange(other.m_task, nullptr)),
        m_arguments(other.m_arguments),
        m_has_function(other.m_has_function) {}
  submission& operator=(submission&&) = delete;
  /// As many bytes as were asked for, aligned to 16.
  void* arguments() const noexcept { return m_arguments; }
  /// The function is there: taking the task back destroys it.
  void note_function() noexcept { m_has_function = true; }
  /// Instead of those that the constructor was given.
  void name_blocks(std::span<const block_access> blocks);
  /// The task is the runtime's from now on.
  void commit();

 private:
  void fill(std::string_view name, const task_options& options, std::span<const block_access> blocks,
            std::size_t argument_bytes);
  void fill_rare(const task_options& options);
  void take_back() noexcept;
  schedule::scheduler& m_scheduler;
  schedule::thread_context* m_thread = nullptr;
  task::record* m_task = nullptr;
  void* m_arguments = nullptr;
  bool m_has_function = false;
};

/// How a function of a certain type is run as a task.
struct function_form {
  void (*run)(const operation::context&);
  void (*destroy)(void*);  ///< null: nothing to do
  bool plain;              ///< may be copied as bytes
  bool is_shared_type;     ///< many functions have this type
};
/// The operation of functions of this form, made where there is none yet. The name gets a number where another form has
/// it.
const operation::definition& define_or_find(runtime_inside& of, std::string_view name, const function_form& form);
/// Whether the operation's name is not this one: it counts functions of many names together.
bool counts_many_names(const operation::definition& what, std::string_view name) noexcept;

/// Whether one type is that of many functions: a pointer, or what holds any function of a signature, as std::function.
/// A lambda's is its own.
template <class Function>
inline constexpr bool is_shared_type = std::is_pointer_v<Function>;
template <template <class...> class Holder, class Signature>
requires std::is_function_v<Signature>
inline constexpr bool is_shared_type<Holder<Signature>> = true;

/// What a thread knows of the last submission of a function of this type.
template <class Function>
struct last_definition {
  std::uint64_t serial = 0;  ///< of the runtime
  const operation::definition* definition = nullptr;
  static constexpr bool is_nameless = false;
  bool is(std::uint64_t runtime, std::string_view) const noexcept { return serial == runtime; }
  void set(std::uint64_t runtime, std::string_view, const operation::definition& found) {
    serial = runtime, definition = &found;
  }
};
template <class Function>
requires is_shared_type<Function>
struct last_definition<Function> {  // the name says which function it was
  std::uint64_t serial = 0;
  const operation::definition* definition = nullptr;
  std::string name;          // that of the definition may have a number behind it
  bool is_nameless = false;  // the definition is that of many names
  bool is(std::uint64_t runtime, std::string_view asked) const noexcept { return serial == runtime && name == asked; }
  void set(std::uint64_t runtime, std::string_view asked, const operation::definition& found) {
    name = asked;
    serial = runtime, definition = &found;
    is_nameless = counts_many_names(found, asked);
  }
};

/// Calls a task's function with what it takes: the views of its uses, or all blocks, after the context if it asks.
template <class Function, class... Views>
void call_function(const operation::context& c) {
  auto& function = *static_cast<Function*>(const_cast<void*>(c.arguments));
  const auto call = [&](auto&&... uses) {
    if constexpr (std::is_invocable_v<Function&, decltype(uses)...>)
      function(std::forward<decltype(uses)>(uses)...);
    else
      function(task_context(c), std::forward<decltype(uses)>(uses)...);
  };
  if constexpr (std::is_same_v<void(Views...), void(task_blocks)>) {
    call(task_blocks(c.operands));
  } else {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      call(Views(static_cast<decltype(std::declval<Views&>().data())>(c.operands[K].host), *c.operands[K].extents)...);
    }
    (std::index_sequence_for<Views...>{});
  }
}

template <class Function>
void destroy_function(void* function) {
  static_cast<Function*>(function)->~Function();
}

template <class Function, class... Views>
inline constexpr function_form form_of = {
    &call_function<Function, Views...>,
    std::is_trivially_destructible_v<Function> ? nullptr : &destroy_function<Function>,
    std::is_trivially_copyable_v<Function>, is_shared_type<Function>};

/// The operation of functions of a type, and the name that a task of it has for itself.
struct function_operation {
  const operation::definition* definition;
  std::string_view name;  ///< "": that of the operation
};
template <class Function, class... Views>
function_operation operation_of(runtime_inside& of, std::uint64_t serial, std::string_view name) {
  static_assert(alignof(Function) <= 16, "captures with an alignment above 16 are not supported");
  // A lambda's type is that of one call site: its definition is looked up once per thread and runtime.
  static thread_local last_definition<Function> last;
  if (!last.is(serial, name)) last.set(serial, name, define_or_find(of, name, form_of<Function, Views...>));
  return {last.definition, last.is_nameless ? name : std::string_view()};
}

inline constexpr task_options default_options{};

/// Moves the function into a task and submits it.
template <class Function, class... Views>
void submit_function(runtime_inside& of, std::uint64_t serial, const task_name& name, const task_options& options,
                     Function& function, std::span<const block_access> blocks) {
  const function_operation what = operation_of<Function, Views...>(of, serial, name.text);
  submission pending(of, *what.definition, what.name, name.site, options, blocks, sizeof(Function));
  new (pending.arguments()) Function(std::move(function));
  pending.commit();
}

}  // namespace detail

/// A function that can be the function of a task whose blocks are seen as `Views`: it takes them by value, after a
/// task_context if it wants one.
template <class Function, class... Views>
concept task_function =
    std::is_invocable_v<Function&, Views...> || std::is_invocable_v<Function&, task_context, Views...>;

}  // namespace tessera
