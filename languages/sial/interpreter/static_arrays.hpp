#pragma once
// Static arrays: one worker's copy of each.
#include <cstdint>
#include <utility>
#include <vector>

#include "languages/sial/data/init_data.hpp"
#include "languages/sial/interpreter/elementwise.hpp"
#include "languages/sial/interpreter/geometry.hpp"

namespace tessera::sial {

/// All elements of each static array, first dimension fastest. One thread.
class static_arrays {
 public:
  /// Predefined ones begin with what the data have, all others with zeros. Throws run_error when the data have another
  /// number of elements. The sizes outlive it.
  static_arrays(const code& program, const geometry& sizes, const init_data& data);

  std::vector<double>& values(std::uint32_t array) noexcept { return m_values[array]; }
  /// Where a block's elements are.
  box part_of(std::uint32_t array, const segment_numbers& at) const noexcept;
  /// By array, empty for arrays that are not static; afterwards there are none.
  std::vector<std::vector<double>> take() noexcept { return std::move(m_values); }

 private:
  const geometry& m_sizes;
  std::vector<std::vector<double>> m_values;  // by array
};

}  // namespace tessera::sial
