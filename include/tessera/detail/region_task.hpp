#pragma once
// A task of a region: a copy of the body, and the iterations that it goes over.
#include <array>
#include <cstring>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tessera/detail/region_arguments.hpp"
#include "tessera/detail/region_code.hpp"
#include "tessera/detail/region_loop.hpp"
#include "tessera/detail/region_result.hpp"
#include "tessera/detail/with_kernel.hpp"

#if defined(__clang__)  // has no ivdep
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-pragmas"
#endif

namespace tessera::detail {

template <class Body>
inline constexpr bool has_kernel = false;
template <class Host, std::size_t Inner, class... Values>
inline constexpr bool has_kernel<region_body<Host, Inner, Values...>> = true;

/// What TESSERA_BODY makes (tessera/detail/body.hpp).
template <class Function, class... Values>
struct one_body;
template <class Body>
inline constexpr bool is_one_body = false;
template <class Function, class... Values>
inline constexpr bool is_one_body<one_body<Function, Values...>> = true;

template <class T>
kernel_value kernel_value_of(T scalar) noexcept {
  kernel_value value{element_type_of<T>(), {}};
  std::memcpy(value.bytes.data(), &scalar, sizeof scalar);
  return value;
}
template <class Host, std::size_t Inner, class... Values>
std::array<kernel_value, sizeof...(Values)> values_of(const region_body<Host, Inner, Values...>& body) noexcept {
  return std::apply(
      [](auto... numbers) { return std::array<kernel_value, sizeof...(Values)>{kernel_value_of(numbers)...}; },
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
  std::size_t next = 0;
  for (const loop_bounds& one : over.inner) all[next++] = one;
  for (const loop_bounds& one : body.loops.loops) all[next++] = one;
  return all;
}

/// Notes what a task took, where somebody wants to know.
class piece_clock {
 public:
  piece_clock(const piece_count& of, std::uint64_t iterations) noexcept : m_of(of), m_iterations(iterations) {
    if (m_of.times() != nullptr) m_began = steady_now();
  }
  ~piece_clock() {
    if (m_of.times() != nullptr) note_piece(m_of, m_iterations, m_began);
  }
  piece_clock(const piece_clock&) = delete;
  piece_clock& operator=(const piece_clock&) = delete;

 private:
  const piece_count& m_of;
  std::uint64_t m_iterations;
  std::int64_t m_began = 0;
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
    std::tuple<typename piece_argument_of<Uses>::type...> arguments{
        typename piece_argument_of<Uses>::type(blocks, operands[K], extents[K])...};
    Body& function = body;
    const auto call = [&](std::int64_t way, auto... indices) {
      function(indices..., std::get<K>(arguments).get(way)...);
    };
    if constexpr (reduces)
      loop(call);
    else
      loop_independent([&, views = std::make_tuple(std::get<K>(arguments).get(0)...)](auto... indices) {
        function(indices..., std::get<K>(views)...);
      });
    (std::get<K>(arguments).end(), ...);
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

  /// Iterations begin .. end - 1 of the innermost loop, those of one way apart from each other, so that compilers can
  /// put several ways into one vector.
  template <class Index, class One>
  static void in_ways(Index begin, Index end, const One& one) {
    constexpr auto ways = static_cast<std::uint64_t>(reduction_ways);
    Index at = begin;
    for (; at < end && static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(at) >= ways;
         at += static_cast<Index>(ways))
#pragma GCC ivdep
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

  static region_uses uses(const void* arguments) {
    const Task& of_piece = static_cast<const counted_task*>(arguments)->task;
    return {of_piece.operands, of_piece.extents};
  }
  void operator()(task_blocks blocks) {
    const piece_clock timed(counted, task.piece.end - task.piece.begin);  // also where the body throws
    task(blocks);
  }
};

/// The function of one that a device may run instead, as a kernel. There it is timed from its launch to its end.
template <class Task>
struct kernel_task {
  Task task;
  piece_count counted;
  mutable std::int64_t launched = 0;  // steady_now

  kernel_task(Task function, piece_count count) : task(std::move(function)), counted(std::move(count)) {}
  kernel_task(kernel_task&&) = delete;
  ~kernel_task() {
    if (counted.times() != nullptr && launched != 0) note_kernel(counted, iterations(), launched);
  }
  static void launch(const operation::context& c, operation::kernel_launch& how) {
    const auto& of_piece = *static_cast<const kernel_task*>(arguments_of(c));
    // Without a count several replays may run it at once.
    if (of_piece.counted.times() != nullptr) of_piece.launched = steady_now();
    of_piece.task.launch(c, how);
  }
  static region_uses uses(const void* arguments) {
    const Task& of_piece = static_cast<const kernel_task*>(arguments)->task;
    return {of_piece.operands, of_piece.extents};
  }
  void operator()(task_blocks blocks) {
    if (counted.times() == nullptr) return task(blocks);
    launched = 0;  // of an attempt on a device, or of a comparison
    const piece_clock timed(counted, iterations());
    task(blocks);
  }
  std::uint64_t iterations() const noexcept { return task.piece.end - task.piece.begin; }
};

/// A task of a function that `make` puts in its place. Its blocks are named later.
template <class Function, class Make>
submission make_task(runtime& of, const task_options& options, std::string_view name, std::source_location site,
                     const Make& make) {
  const function_operation what = operation_of<Function, task_blocks>(of.inside(), of.serial(), name);
  submission pending(of.inside(), *what.definition, what.name, site, options, {}, sizeof(Function));
  make(pending.arguments());
  pending.note_function();
  return pending;
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

}  // namespace tessera::detail

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
