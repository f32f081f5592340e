#pragma once
// Tasks that name rows of arrays, or whole arrays, beside blocks.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <source_location>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/detail/array.hpp"
#include "tessera/detail/region_use.hpp"
#include "tessera/detail/task.hpp"
#include "tessera/detail/use.hpp"

namespace tessera::detail {

/// Where a use's blocks are among those of a task.
struct region_operand {
  std::uint32_t first = 0, count = 0;  ///< blocks
  std::int64_t row = 0;                ///< the first row in them
  std::int64_t begin = 0, end = 0;     ///< rows that the task has declared, which may be fewer
};

/// Blocks that do not lie one after the other, gathered in one piece of memory that is aligned as blocks are. What is
/// written there is spread again.
class gathered_blocks {
 public:
  /// What the blocks have, as task_blocks::bytes takes it.
  struct elements {
    element_type type;
    std::int64_t per_element;
    bool are_read;
  };
  /// The first byte of the blocks: of a copy, unless they lie one after the other. Throws as task_blocks::get.
  /// @param guard  bytes on both sides of a copy that is written, for stayed_inside
  void* gather(const task_blocks& blocks, const region_operand& operand, const elements& of, std::size_t guard);
  /// See gathered_rows::stayed_inside.
  bool stayed_inside(const void* first, std::size_t bytes) const noexcept;
  void spread() noexcept;  ///< of a copy that is written, else nothing

 private:
  struct deleter {
    void operator()(std::byte* memory) const noexcept;
  };
  std::size_t m_guard = 0;
  std::unique_ptr<std::byte[], deleter> m_copy;
  std::vector<std::span<std::byte>> m_parts;  // of what is written, when it is gathered
};

/// The blocks of a use as rows that lie one after the other. Where they do not, in the memory of a host that is not
/// their home or in the copies of validation, they are gathered first, and what is written is spread again.
template <class T>
class gathered_rows {
 public:
  /// @param guard  elements on both sides of what is gathered to be written, for stayed_inside
  gathered_rows(task_blocks& blocks, const region_operand& operand, std::size_t guard = 0) {
    if (operand.count == 1)
      m_data = blocks.get<T>(operand.first).data();
    else if (operand.count > 1)
      m_data = static_cast<T*>(m_gathered.gather(
          blocks, operand, {stored_type_of<T>(), stored_per_element<T>, std::is_const_v<T>}, guard * sizeof(T)));
  }
  T* data() const noexcept { return m_data; }  ///< of row `region_operand::row`
  /// Whether of rows that were gathered only the elements [first, first + count) were written, as far as can be seen:
  /// the others, and some memory around all of them, are what they were. Of others nothing is known.
  bool stayed_inside(const T* first, std::int64_t count) const noexcept {
    return m_gathered.stayed_inside(first, static_cast<std::size_t>(count) * sizeof(T));
  }
  /// The task has done its work.
  void end() noexcept { m_gathered.spread(); }

 private:
  gathered_blocks m_gathered;
  T* m_data = nullptr;
};

/// A use of a task without its types: a block, or rows.
struct task_demand {
  block_access block = {};
  bool is_rows = false;
  hierarchy::array_storage* array = nullptr;  ///< null, of rows: it was moved from
  tessera::intent how = intent::read;         ///< of rows
  std::int64_t first = 0, last = 0;           ///< likewise
  block::combination_number combination = 0;  ///< of rows that are accumulated
};
/// Of an array as a region names it: all rows, or those of the pattern `rows`. Throws usage for a halo.
task_demand demand_of(const std::shared_ptr<hierarchy::array_storage>& array, intent how, const access_pattern& pattern,
                      std::source_location site);
/// Names the blocks of a task, which hold the rows that it names, and submits it. Throws tessera::error (usage), and
/// nothing was submitted: rows that there are not, rows that are written and named twice, arrays that were moved from
/// or are of another runtime.
void commit_with_rows(runtime& of, submission& pending, const task_name& name, std::span<const task_demand> uses,
                      std::span<region_operand> operands, std::span<row_extents> extents);

/// What an operation over elements goes over: an array, or rows of one.
struct elements {
  const array_handle* array;
  intent how;                        ///< of the operation
  bool whole = true;                 ///< all rows, in whatever blocks
  std::int64_t first = 0, last = 0;  ///< rows, else
};
template <class T, std::size_t Rank, index_order Order>
elements elements_of(const array<T, Rank, Order>& a, intent how) noexcept {
  return {&a.handle(), how};
}
template <class T, std::size_t Rank>
elements elements_of(const array_rows<T, Rank>& r, intent how) noexcept {
  return {&r.array().handle(), how, false, r.first(), r.last()};
}
/// A reference to a function that submits one task of an operation: its blocks are those of the uses, in their order.
class per_block {
 public:
  /// Of a function that outlives this.
  template <class Function>
  requires(!std::is_same_v<Function, per_block>) per_block(const Function& function)
  noexcept  // NOLINT: converts
      : m_function(&function), m_call([](const void* called, std::span<block::record* const> blocks) {
          (*static_cast<const Function*>(called))(blocks);
        }) {}
  void operator()(std::span<block::record* const> blocks) const { m_call(m_function, blocks); }

 private:
  const void* m_function;
  void (*m_call)(const void*, std::span<block::record* const>);
};
/// Goes over the blocks of arrays that have the same ones, else over those of their rows, which are cut alike where
/// they have none of their own. Throws tessera::error (usage), and nothing was submitted: blocks of their own that
/// differ, or are only partly named; rows of other numbers or lengths. @param operation  for messages
void over_blocks(runtime& of, const task_name& operation, std::span<const elements> uses, const per_block& submit);

template <class T, intent How, std::size_t Rank>
task_demand task_demand_of(const rows_use<T, How, Rank>& u, std::source_location) {
  return {{}, true, u.array.get(), How, u.first, u.last};
}
template <class T, std::size_t Rank>
task_demand task_demand_of(const combined_rows_use<T, Rank>& u, std::source_location) {
  return {{}, true, u.array.get(), intent::accumulate, u.first, u.last, u.combination};
}
template <class T, std::size_t Rank>
task_demand task_demand_of(const region_use<T, Rank>& u, std::source_location site) {
  return demand_of(u.array, u.intent, u.pattern, site);
}
template <block_use Use>
task_demand task_demand_of(const Use& u, std::source_location) {
  return {.block = block_access(u)};
}

/// Throws usage: a task that writes rows [first, last) has written beside them.
[[noreturn]] void refuse_writes_outside(std::int64_t first, std::int64_t last);

/// What a task's function gets for a block.
template <class Use>
class task_argument {
 public:
  task_argument(task_blocks& blocks, const region_operand& operand, const row_extents&)
      : m_view(blocks.as<typename Use::view_type>(operand.first)) {}
  typename Use::view_type get() noexcept { return std::move(m_view); }
  void end() noexcept {}

 private:
  typename Use::view_type m_view;
};
/// The same for rows.
template <class T, std::size_t Rank>
class task_rows_argument {
 public:
  task_rows_argument(task_blocks& blocks, const region_operand& operand, const row_extents& extents)
      : m_rows(blocks, operand, guard), m_view(m_rows.data(), operand.row, operand.begin, operand.end, extents) {}
  named_rows_view<T, Rank> get() noexcept { return m_view; }
  /// Throws tessera::error (usage) where the function has written beside rows that it was given a copy of.
  void end() {
    if (!m_rows.stayed_inside(m_view.data(), m_view.size())) refuse_writes_outside(m_view.first(), m_view.last());
    m_rows.end();
  }

 private:
  static constexpr std::size_t guard = 64;  // elements
  gathered_rows<T> m_rows;
  named_rows_view<T, Rank> m_view;
};
template <class T, intent How, std::size_t Rank>
class task_argument<rows_use<T, How, Rank>>
    : public task_rows_argument<typename rows_use<T, How, Rank>::element, Rank> {
 public:
  using task_rows_argument<typename rows_use<T, How, Rank>::element, Rank>::task_rows_argument;
};
template <class T, std::size_t Rank>
class task_argument<combined_rows_use<T, Rank>> : public task_rows_argument<T, Rank> {
 public:
  using task_rows_argument<T, Rank>::task_rows_argument;
};
template <class T, std::size_t Rank>
class task_argument<region_use<T, Rank>> : public task_rows_argument<T, Rank> {
 public:
  using task_rows_argument<T, Rank>::task_rows_argument;
};

/// The function of a task that names rows.
template <class Function, class... Uses>
struct rows_task {
  Function function;
  std::array<region_operand, sizeof...(Uses)> operands{};
  std::array<row_extents, sizeof...(Uses)> extents{};

  void operator()(task_context here, task_blocks blocks) { run(here, blocks, std::index_sequence_for<Uses...>()); }

 private:
  template <std::size_t... K>
  void run(task_context here, task_blocks& blocks, std::index_sequence<K...>) {
    std::tuple<task_argument<Uses>...> arguments{task_argument<Uses>(blocks, operands[K], extents[K])...};
    if constexpr (std::is_invocable_v<Function&, decltype(std::get<K>(arguments).get())...>)
      function(std::get<K>(arguments).get()...);
    else
      function(here, std::get<K>(arguments).get()...);
    (std::get<K>(arguments).end(), ...);
  }
};
template <class Function, class... Uses>
inline constexpr bool is_shared_type<rows_task<Function, Uses...>> = is_shared_type<Function>;

/// As runtime::submit, where some use names rows. Throws as commit_with_rows.
template <class Function, class... Uses>
void submit_with_rows(runtime& of, const task_name& name, const task_options& options, Function& function,
                      const Uses&... uses) {
  using task = rows_task<Function, Uses...>;
  const std::array<task_demand, sizeof...(Uses)> demands{task_demand_of(uses, name.site)...};
  const function_operation what = operation_of<task, task_blocks>(of.inside(), of.serial(), name.text);
  submission pending(of.inside(), *what.definition, what.name, name.site, options, {}, sizeof(task));
  auto* const there = new (pending.arguments()) task{std::move(function)};
  pending.note_function();
  commit_with_rows(of, pending, name, demands, there->operands, there->extents);
}

}  // namespace tessera::detail
