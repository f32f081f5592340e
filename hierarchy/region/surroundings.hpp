#pragma once
// While validating: the rows around what a task of a region has declared, filled with values that tell when they are
// used.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/operation/context.hpp"
#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/kernel_text.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// Rows of a use that a task used and had not declared.
struct undeclared_rows {
  std::size_t use = 0;
  row_interval declared{};              ///< what it may use
  std::int64_t told_apart = 0;          ///< rows on each side; those that are farther away are one
  std::int64_t before = 0, behind = 0;  ///< how far the farthest one is before those, and behind; 0: none there
  std::optional<std::int64_t> row{};    ///< the nearest one; nothing: all are too far away to be told apart
  bool written = false;                 ///< else read
};

/// The arrays of a task in memory of their own: each use's tiles one behind the other, as a task without validation may
/// find them, with more rows around them. What the task has not declared holds drawn values: NaNs with a payload, and
/// integers that are recognised where they are copied. Put back by put_back. One thread.
class surroundings {
 public:
  /// @param c  whose operands are to be seen so; must outlive it  @param uses  of the task
  surroundings(const operation::context& c, const detail::region_uses& uses, std::span<const kernel_use> layout);
  surroundings(const surroundings&) = delete;
  surroundings& operator=(const surroundings&) = delete;

  /// For the function, or the kernel, of the task.
  const operation::context& context() const noexcept { return m_context; }
  /// After it has run: what it has made of the declared rows goes to the operands that it was made of.
  void put_back();
  /// Rows that were written and not declared; else those from which results were computed. Before put_back.
  std::optional<undeclared_rows> find() const;

 private:
  struct surrounded {
    std::size_t use = 0, first_operand = 0, operands = 0;
    row_interval rows{}, declared{};  // in memory; of the task
    std::int64_t tiles_from = 0;      // the first row of the tiles
    std::uint64_t row_bytes = 0;
    std::vector<std::byte> memory;  // 64 bytes more, for alignment
    std::byte* at(std::int64_t row) noexcept {
      return begin + static_cast<std::uint64_t>(row - rows.begin) * row_bytes;
    }
    const std::byte* at(std::int64_t row) const noexcept { return const_cast<surrounded*>(this)->at(row); }
    std::byte* begin = nullptr;
    element_type type = element_type::none;
    bool written = false;
  };
  std::int64_t told_apart() const noexcept { return m_per_side - 1; }
  /// Calls `on(tile, its rows in memory, those that are declared)` for the tiles of a use.
  template <class On>
  void for_tiles(surrounded& s, const On& on) const;
  void surround(std::size_t use, const detail::region_operand& operand, const row_extents& extents, bool written);
  std::uint32_t code_of(const surrounded& s, std::int64_t row) const noexcept;
  void draw(std::byte* to, element_type type, std::uint32_t code) const noexcept;
  std::optional<std::uint32_t> code_in(const std::byte* element, element_type type) const noexcept;
  std::optional<undeclared_rows> written_elsewhere() const;
  void note(std::optional<undeclared_rows>& all, std::uint32_t code) const;

  const operation::context& m_outer;
  operation::context m_context;
  std::vector<operation::operand> m_operands;
  std::vector<surrounded> m_uses;
  std::vector<std::size_t> m_results;                       // operands of parts of results
  std::uint64_t m_seed;                                     // of this task
  std::uint32_t m_per_side;                                 // codes of a side of a use
  std::unordered_map<std::int32_t, std::uint32_t> m_short;  // what rows of int32 were filled with, and its code
};

}  // namespace tessera::hierarchy
