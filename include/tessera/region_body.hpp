#pragma once
// How the body of a region becomes tasks: the templates behind location_model::region.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/location_model.hpp"
#include "tessera/region_code.hpp"
#include "tessera/region_result.hpp"
#include "tessera/region_use.hpp"
#include "tessera/with_kernel.hpp"

namespace tessera {

namespace detail {

template <class T>
inline constexpr bool is_region_use = false;
template <class T>
inline constexpr bool is_region_use<region_use<T>> = true;
template <class T>
inline constexpr bool is_region_reduction = false;
template <class T, class Join>
inline constexpr bool is_region_reduction<region_reduction<T, Join>> = true;

template <class T>
region_demand demand_of(const region_use<T>& u) {
  return {u.array.get(), nullptr, u.intent, u.pattern, reduction_kind::none};
}
template <class T, class Join>
region_demand demand_of(const region_reduction<T, Join>& r) {
  return {nullptr, r.result.get(), intent::write, {}, Join::kind};
}

template <class Body>
inline constexpr bool has_kernel = false;
template <class Host, std::size_t Inner, class... Values>
inline constexpr bool has_kernel<region_body<Host, Inner, Values...>> = true;

template <class T>
kernel_value kernel_value_of(T given) noexcept {
  kernel_value made{element_type_of<T>(), {}};
  std::memcpy(made.bytes.data(), &given, sizeof given);
  return made;
}
template <class Host, std::size_t Inner, class... Values>
std::array<kernel_value, sizeof...(Values)> values_of(const region_body<Host, Inner, Values...>& body) noexcept {
  return std::apply(
      [](auto... given) { return std::array<kernel_value, sizeof...(Values)>{kernel_value_of(given)...}; },
      body.values);
}
template <class Host, std::size_t Inner, class... Values>
std::array<element_type, sizeof...(Values)> value_types(
    std::type_identity<region_body<Host, Inner, Values...>>) noexcept {
  return {element_type_of<Values>()...};
}
/// The loops of a body's text: those inside the region's split one, then its own.
template <std::size_t Depth, class Host, std::size_t Inner, class... Values>
std::array<loop_bounds, Depth - 1 + Inner> loops_of(const iteration_space<Depth>& over,
                                                    const region_body<Host, Inner, Values...>& body) noexcept {
  static_assert(Depth + Inner <= 3, "the loops of a region and those of its body's text are at most three together");
  std::array<loop_bounds, Depth - 1 + Inner> all{};
  std::copy(over.inner.begin(), over.inner.end(), all.begin());
  std::copy(body.loops.loops.begin(), body.loops.loops.end(), all.begin() + static_cast<std::ptrdiff_t>(Depth - 1));
  return all;
}

/// Partial results that a loop fills in turn, so that its additions do not wait for each other.
inline constexpr std::int64_t reduction_ways = 8;

/// An array as one task sees it: rows that lie one after the other. Where they do not, in the memory of a host that is
/// not their home or in the copies of validation, they are gathered first, and what is written is spread again.
template <class T>
class piece_argument {
 public:
  piece_argument(task_blocks& blocks, const region_operand& operand, const row_extents& extents)
      : m_view(find(blocks, operand), operand.row, extents) {}
  region_view<T> get(std::int64_t) noexcept { return m_view; }
  void end() noexcept {
    if constexpr (!std::is_const_v<T>) {
      auto from = m_gathered.cbegin();
      for (const view<T>& part : m_parts) {
        std::copy_n(from, part.size(), part.begin());
        from += part.size();
      }
    }
  }

 private:
  T* find(task_blocks& blocks, const region_operand& operand) {
    if (operand.count == 0) return nullptr;
    const view<T> first = blocks.get<T>(operand.first);
    T* after = first.data() + first.size();
    bool together = true;
    std::int64_t elements = first.size();
    for (std::uint32_t k = 1; k < operand.count; ++k) {
      const view<T> next = blocks.get<T>(operand.first + k);
      together = together && next.data() == after;
      after = next.data() + next.size();
      elements += next.size();
    }
    if (together) return first.data();
    m_gathered.reserve(static_cast<std::size_t>(elements));
    for (std::uint32_t k = 0; k < operand.count; ++k) {
      const view<T> part = blocks.get<T>(operand.first + k);
      m_gathered.insert(m_gathered.end(), part.begin(), part.end());
      if constexpr (!std::is_const_v<T>) m_parts.push_back(part);
    }
    return m_gathered.data();
  }
  std::vector<std::remove_const_t<T>> m_gathered;
  std::vector<view<T>> m_parts;  // of what is written, when it is gathered
  region_view<T> m_view;
};

/// A reduction as one task sees it.
template <class T, class Join>
class piece_reduction {
 public:
  piece_reduction(task_blocks& blocks, const region_operand& operand, const row_extents&)
      : m_result(blocks.get<T>(operand.first)) {
    m_parts.fill(Join::template identity<T>());
  }
  T& get(std::int64_t way) noexcept { return m_parts[static_cast<std::size_t>(way)]; }
  void end() noexcept {
    for (std::size_t k = 1; k < m_parts.size(); ++k) Join::join(m_parts[0], m_parts[k]);
    std::fill(m_result.begin(), m_result.end(), Join::template identity<T>());
    m_result[0] = m_parts[0];
  }

 private:
  view<T> m_result;  // of a part that a device may fill, more than one element
  std::array<T, static_cast<std::size_t>(reduction_ways)> m_parts;
};

template <class Use>
struct piece_argument_of;
template <class T>
struct piece_argument_of<region_use<T>> {
  using type = piece_argument<T>;
};
template <class T, class Join>
struct piece_argument_of<region_reduction<T, Join>> {
  using type = piece_reduction<T, Join>;
};

/// Notes what a task took, where somebody wants to know.
class piece_clock {
 public:
  piece_clock(hierarchy::region_leaf_times* to, std::uint64_t iterations) noexcept
      : m_to(to), m_iterations(iterations) {
    if (m_to != nullptr) m_began = std::chrono::steady_clock::now();
  }
  ~piece_clock() {
    if (m_to == nullptr) return;
    note_piece(*m_to, m_iterations, std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count());
  }
  piece_clock(const piece_clock&) = delete;
  piece_clock& operator=(const piece_clock&) = delete;

 private:
  hierarchy::region_leaf_times* m_to;
  std::uint64_t m_iterations;
  std::chrono::steady_clock::time_point m_began{};
};

/// The function of a task of a region.
template <class Body, std::size_t Depth, class... Uses>
struct region_task {
  static constexpr bool reduces = (is_region_reduction<Uses> || ...);

  Body body;
  iteration_space<Depth> over;
  region_piece piece;
  std::array<region_operand, sizeof...(Uses)> operands;
  std::array<row_extents, sizeof...(Uses)> extents;

  /// Its kernel, on a device.
  void launch(const operation::context& c, operation::kernel_launch& how) const requires has_kernel<Body> {
    const auto loops = loops_of(over, body);
    const auto values = values_of(body);
    launch_region(c, how, {piece, over.rows, loops, operands, extents, values});
  }

  void operator()(task_blocks blocks) { run(blocks, std::index_sequence_for<Uses...>{}); }

 private:
  template <std::size_t... K>
  void run(task_blocks& blocks, std::index_sequence<K...>) {
    std::tuple<typename piece_argument_of<Uses>::type...> given{
        typename piece_argument_of<Uses>::type(blocks, operands[K], extents[K])...};
    Body& function = body;
    const auto call = [&](std::int64_t way, auto... indices) { function(indices..., std::get<K>(given).get(way)...); };
    if constexpr (reduces)
      loop(call);
    else
      loop_independent([&, views = std::make_tuple(std::get<K>(given).get(0)...)](auto... indices) {
        function(indices..., std::get<K>(views)...);
      });
    (std::get<K>(given).end(), ...);
  }

  /// Unsigned in between: ordinals times steps may be beyond the indices.
  std::int64_t index(std::uint64_t ordinal) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(over.rows.begin) +
                                     ordinal * static_cast<std::uint64_t>(over.rows.step));
  }

  template <class Call>
  void loop_independent(const Call& call) {
    const auto rows = [&](const auto& row) {
      if (over.rows.step == 1) {
        const std::int64_t last = index(piece.end);
#pragma GCC ivdep
        for (std::int64_t i = index(piece.begin); i < last; ++i) row(i);
      } else {
        for (std::uint64_t o = piece.begin; o < piece.end; ++o) row(index(o));
      }
    };
    if constexpr (Depth == 1) {
      rows(call);
    } else if constexpr (Depth == 2) {
      const loop_bounds inner = over.inner[0];
      rows([&](std::int64_t i) {
#pragma GCC ivdep
        for (std::int64_t j = inner.begin; j < inner.end; ++j) call(i, j);
      });
    } else {
      const loop_bounds second = over.inner[0], third = over.inner[1];
      rows([&](std::int64_t i) {
        for (std::int64_t j = second.begin; j < second.end; ++j) {
#pragma GCC ivdep
          for (std::int64_t k = third.begin; k < third.end; ++k) call(i, j, k);
        }
      });
    }
  }

  /// Iterations begin .. end - 1 of the innermost loop, those of one way apart from each other.
  template <class Index, class One>
  static void in_ways(Index begin, Index end, const One& one) {
    constexpr auto ways = static_cast<std::uint64_t>(reduction_ways);
    Index at = begin;
    for (; at < end && static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(at) >= ways;
         at += static_cast<Index>(ways))
      for (std::int64_t way = 0; way < reduction_ways; ++way) one(way, at + static_cast<Index>(way));
    for (std::int64_t way = 0; at < end; ++at, ++way) one(way, at);
  }

  template <class Call>
  void loop(const Call& call) {
    if constexpr (Depth == 1) {
      in_ways(piece.begin, piece.end, [&](std::int64_t way, std::uint64_t o) { call(way, index(o)); });
    } else if constexpr (Depth == 2) {
      for (std::uint64_t o = piece.begin; o < piece.end; ++o)
        in_ways(over.inner[0].begin, over.inner[0].end,
                [&](std::int64_t way, std::int64_t j) { call(way, index(o), j); });
    } else {
      for (std::uint64_t o = piece.begin; o < piece.end; ++o)
        for (std::int64_t j = over.inner[0].begin; j < over.inner[0].end; ++j)
          in_ways(over.inner[1].begin, over.inner[1].end,
                  [&](std::int64_t way, std::int64_t k) { call(way, index(o), j, k); });
    }
  }
};

/// The function of one that is counted. Of its own type, so that those of recordings stay plain bytes where the body
/// is: they are replayed faster.
template <class Task>
struct counted_task {
  Task task;
  piece_count counted;

  void operator()(task_blocks blocks) {
    const piece_clock timed(counted.times(), task.piece.end - task.piece.begin);  // also where the body throws
    task(blocks);
  }
};

/// The function of one that a device may run instead, as a kernel. There it is timed from its launch to its end.
template <class Task>
struct kernel_task {
  Task task;
  piece_count counted;
  mutable std::chrono::steady_clock::time_point launched{};

  kernel_task(Task made, piece_count count) : task(std::move(made)), counted(std::move(count)) {}
  kernel_task(kernel_task&&) = delete;
  ~kernel_task() {
    if (counted.times() != nullptr && launched != std::chrono::steady_clock::time_point())
      note_kernel(*counted.times(), iterations(), launched);
  }
  static void launch(const operation::context& c, operation::kernel_launch& how) {
    const auto& mine = *static_cast<const kernel_task*>(arguments_of(c));
    // Without a count several replays may run it at once.
    if (mine.counted.times() != nullptr) mine.launched = std::chrono::steady_clock::now();
    mine.task.launch(c, how);
  }
  static region_uses uses(const void* arguments) {
    const Task& mine = static_cast<const kernel_task*>(arguments)->task;
    return {mine.operands, mine.extents};
  }
  void operator()(task_blocks blocks) {
    if (counted.times() == nullptr) return task(blocks);
    launched = {};  // of an attempt on a device, or of a comparison
    const piece_clock timed(counted.times(), iterations());
    task(blocks);
  }
  std::uint64_t iterations() const noexcept { return task.piece.end - task.piece.begin; }
};

/// A task of a function that `make` puts in its place. Its blocks are named later.
template <class Function, class Make>
submission make_task(runtime& of, const task_options& options, std::string_view name, std::source_location site,
                     const Make& make) {
  const function_operation what = operation_of<Function, task_blocks>(of.inside(), of.serial(), name);
  submission made(of.inside(), *what.definition, what.name, site, options, {}, sizeof(Function));
  make(made.arguments());
  made.note_function();
  return made;
}

/// The function of the task that joins the parts of a reduction, in the order of the iterations: its block, then the
/// parts.
template <class T, class Join>
struct join_parts {
  void operator()(task_blocks b) const {
    T joined = Join::template identity<T>();
    for (std::size_t k = 1; k < b.size(); ++k)
      for (const T part : b.get<const T>(k)) Join::join(joined, part);  // of a device: one for each of its groups
    b.get<T>(0)[0] = joined;
  }
};
template <class T, class Join>
submission make_join_of(runtime& of, std::string_view name, std::source_location site) {
  return make_task<join_parts<T, Join>>(of, {}, name, site, [](void* to) { new (to) join_parts<T, Join>; });
}

/// A call of location_model::region, on the stack of the caller.
template <class Body, std::size_t Depth, class... Uses>
class region_call {
 public:
  using task = region_task<Body, Depth, Uses...>;

  region_call(runtime& of, const task_name& name, const iteration_space<Depth>& over, const Body& body,
              const Uses&... uses)
      : demands{demand_of(uses)...}, m_runtime(of), m_name(name), m_over(over), m_body(body) {
    std::size_t k = 0;
    ((m_extents[k++] = extents_in(uses)), ...);
  }

  static made_piece make(void* call, const region_piece& piece, piece_count counted,
                         const operation::definition* kernel, const task_options& options) {
    auto& mine = *static_cast<region_call*>(call);
    if constexpr (has_kernel<Body>)
      if (kernel != nullptr) return mine.make_with(*kernel, piece, std::move(counted), options);
    if (!counted.counts())
      return mine.template make_as<task>(options, [&](void* to) {
        return new (to) task{mine.m_body, mine.m_over, piece, {}, mine.m_extents};
      });
    return mine.template make_as<counted_task<task>>(options, [&](void* to) {
      return &(new (to) counted_task<task>{{mine.m_body, mine.m_over, piece, {}, mine.m_extents}, std::move(counted)})
                  ->task;
    });
  }

  /// Its form for devices; the text must stay where it is.
  region_kernel kernel_form() const noexcept requires has_kernel<Body> {
    static const auto types = value_types(std::type_identity<Body>{});
    const auto loops = loops_of(m_over, m_body);
    std::uint64_t inside = 1;
    for (const loop_bounds& one : loops)
      inside *= static_cast<std::uint64_t>(std::max<std::int64_t>(one.end - one.begin, 0));
    return {m_body.kernel.text,
            1 + loops.size(),
            inside,
            types,
            form_of<kernel_task<task>, task_blocks>,
            &kernel_task<task>::launch,
            &kernel_task<task>::uses,
            m_body.kernel.site,
            m_body.rounding};
  }

  std::array<region_demand, sizeof...(Uses)> demands;

 private:
  made_piece make_with(const operation::definition& kernel, const region_piece& piece, piece_count counted,
                       const task_options& options) {
    using function = kernel_task<task>;
    submission made(m_runtime.inside(), kernel, m_name.text, m_name.site, options, {}, sizeof(function));
    auto* const there = new (made.arguments()) function(task{m_body, m_over, piece, {}, m_extents}, std::move(counted));
    made.note_function();
    return {std::move(made), there->task.operands.data()};
  }
  template <class Function, class Make>
  made_piece make_as(const task_options& options, const Make& make) {
    region_operand* operands = nullptr;
    const auto put = [&](void* to) { operands = make(to)->operands.data(); };
    return {make_task<Function>(m_runtime, options, m_name.text, m_name.site, put), operands};
  }
  template <class T>
  static row_extents extents_in(const region_use<T>& u) {
    return extents_of(*u.array);
  }
  template <class T, class Join>
  static row_extents extents_in(const region_reduction<T, Join>&) {
    return {};
  }

  runtime& m_runtime;
  const task_name& m_name;
  const iteration_space<Depth>& m_over;
  const Body& m_body;
  std::array<row_extents, sizeof...(Uses)> m_extents{};
};

template <class Use>
struct join_of;
template <class T, class Join>
struct join_of<region_reduction<T, Join>> {
  static constexpr make_join value = &make_join_of<T, Join>;
};

/// The tasks that join the reductions among the uses.
template <class... Uses>
std::vector<make_join> joins_of() {
  std::vector<make_join> joins;
  const auto add = [&]<class Use>(std::type_identity<Use>) {
    if constexpr (!is_region_use<Use>) joins.push_back(join_of<Use>::value);
  };
  if constexpr (!(is_region_use<Uses> && ...)) (add(std::type_identity<Uses>{}), ...);
  return joins;
}

template <class Body, std::size_t Depth, class... Arguments>
inline constexpr bool is_region_body = [] {
  if constexpr (Depth == 1)
    return std::is_invocable_v<Body&, std::int64_t, Arguments...>;
  else if constexpr (Depth == 2)
    return std::is_invocable_v<Body&, std::int64_t, std::int64_t, Arguments...>;
  else
    return std::is_invocable_v<Body&, std::int64_t, std::int64_t, std::int64_t, Arguments...>;
}();

/// A use of something that becomes an array when a region names it (tessera/chain.hpp).
template <class Use>
concept unresolved_use = requires(const Use& u, location_model& model, std::source_location site) {
  u.resolve(model, site);
};
/// The use as a region takes it.
template <class Use>
decltype(auto) resolved(location_model& model, const Use& use, std::source_location site) {
  if constexpr (unresolved_use<Use>)
    return use.resolve(model, site);
  else
    return use;
}

}  // namespace detail

template <std::size_t Depth, class... UsesAndBody>
void location_model::region(const task_name& name, const region_options& options, const iteration_space<Depth>& over,
                            UsesAndBody&&... uses_and_body) {
  submit(name, options, false, over, std::forward<UsesAndBody>(uses_and_body)...);
}

template <class From, class To>
void location_model::copy(const region_part<From>& from, const region_part<To>& to, std::source_location site) {
  static_assert(std::is_same_v<From, To>,
                "a copy is between arrays of one element type; a region converts: to[i] = static_cast<float>(from[i])");
  if constexpr (std::is_same_v<From, To>) {
    const row_extents extents = to.array().extents();
    detail::check_copy(from.array().handle(), from.first(), from.last(), to.array().handle(), to.first(), to.last(),
                       site);
    if (to.first() == to.last()) return;
    const std::int64_t away = from.first() - to.first(), width = extents.row_elements(), shift = away * width;
    const auto copied = [&](const auto& over, const auto& host, std::string_view kernel, auto... values) {
      const auto send = [&](const auto& body) {
        submit(task_name("copy", site), {.policy = "static"}, true, over, in(from.array(), offset(away)),
               out(to.array()), body);
      };
      if constexpr (std::is_arithmetic_v<To>)
        send(with_kernel(host, kernel, values...));
      else
        send(host);  // kernels have no complex numbers
    };
    if (width == 1)
      copied(
          iterate(to.first(), to.last()), [shift](auto i, auto a, auto b) { b[i] = a[i + shift]; },
          "(i, a, b, shift) { b[i] = a[i + shift]; }", shift);
    else
      copied(
          iterate({to.first(), to.last()}, {0, width}),
          [width, shift](auto i, auto j, auto a, auto b) { b[i * width + j] = a[i * width + j + shift]; },
          "(i, j, a, b, width, shift) { b[i * width + j] = a[i * width + j + shift]; }", width, shift);
  }
}

template <std::size_t Depth, class... UsesAndBody>
void location_model::submit(const task_name& name, const region_options& options, bool copies,
                            const iteration_space<Depth>& over, UsesAndBody&&... uses_and_body) {
  static_assert(sizeof...(UsesAndBody) > 0, "a region has a body: a function of the index and one argument per use");
  constexpr std::size_t uses = sizeof...(UsesAndBody) - 1;
  const auto all = std::forward_as_tuple(uses_and_body...);
  const auto start = [&]<class... Uses>(const auto& body, const Uses&... given) {
    using body_type = std::remove_cvref_t<decltype(body)>;
    static_assert(((detail::is_region_use<Uses> || detail::is_region_reduction<Uses>)&&...),
                  "between the loop and the body come arrays and results: in(x), out(x, halo(1)), inout(x), sum(r)");
    if constexpr (((detail::is_region_use<Uses> || detail::is_region_reduction<Uses>)&&...)) {
      constexpr bool fits = detail::is_region_body<body_type, Depth, typename Uses::argument...>;
      static_assert(fits,
                    "the body of a region takes its indices (one per loop), then one argument per use, in their order: "
                    "a region_view by value, and a reference to a number for a reduction");
      if constexpr (fits) {
        detail::region_call<body_type, Depth, Uses...> call(owner(), name, over, body, given...);
        const std::vector<detail::make_join> joins = detail::joins_of<Uses...>();
        if constexpr (detail::has_kernel<body_type>) {
          const detail::region_kernel kernel = call.kernel_form();
          launch(name, options, over.rows, call.demands, {&call.make, &call, joins, &kernel, copies});
        } else {
          launch(name, options, over.rows, call.demands, {&call.make, &call, joins, nullptr, copies});
        }
      }
    }
  };
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    start(std::get<uses>(all), detail::resolved(*this, std::get<K>(all), name.site)...);
  }
  (std::make_index_sequence<uses>{});
}

}  // namespace tessera
