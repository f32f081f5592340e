#pragma once
// The numbers that a worker computes with: ints, indices, scalars.
#include <cstdint>
#include <string>
#include <vector>

#include "languages/sial/interpreter/geometry.hpp"

namespace tessera::sial {

/// Int registers (ints, indices, constants, temporaries) and scalar registers by their numbers in the code, and what
/// references and regions mean with their values. A copy is independent. The sizes outlive it. One thread.
class registers {
 public:
  /// With the values that a program begins with.
  explicit registers(const geometry& sizes)
      : m_sizes(&sizes), m_ints(sizes.int_start()), m_scalars(sizes.scalar_start()) {}

  std::int64_t* ints() noexcept { return m_ints.data(); }  ///< stays where it is
  const std::int64_t* ints() const noexcept { return m_ints.data(); }
  double* scalars() noexcept { return m_scalars.data(); }  ///< likewise
  const double* scalars() const noexcept { return m_scalars.data(); }
  std::int64_t& integer(std::uint32_t number) noexcept { return m_ints[number]; }
  std::int64_t integer(std::uint32_t number) const noexcept { return m_ints[number]; }
  double& scalar(std::uint32_t number) noexcept { return m_scalars[number]; }
  double scalar(std::uint32_t number) const noexcept { return m_scalars[number]; }

  /// Sets the indices of a pardo to its `candidate`-th combination; the first index is the fastest.
  void set_candidate(const pardo& p, std::int64_t candidate) noexcept;
  /// To the combination after that.
  void next_candidate(const pardo& p) noexcept {
    for (std::size_t d = 0; d < p.indices.size(); ++d) {
      std::int64_t& value = m_ints[p.indices[d]];
      if (++value <= m_ints[p.high[d]]) return;
      value = m_ints[p.low[d]];
    }
  }

  /// The ordinal of the block that a reference means, and its segments in `at`. Throws run_error when an index has no
  /// value, or one outside of the array.
  std::int64_t ordinal_of(const reference& r, segment_numbers& at) const {
    const array_geometry& a = m_sizes->array(r.array);
    std::int64_t ordinal = 0;
    for (std::size_t d = 0; d < r.rank; ++d) {
      const std::int64_t value = m_ints[r.at[d]];
      if (value < a.dims[d].low || value > a.dims[d].high) refuse(a, d, value);
      at[d] = value;
      ordinal += (value - a.dims[d].low) * a.stride[d];
    }
    return ordinal;
  }
  std::string name_of(const reference& r) const;  ///< "a[1,2]"
  std::string name_of(const region& r) const;     ///< "a[1,2:3]"
  /// Elements of a region per dimension. Throws run_error when it is not inside of the array.
  shape extents_of(const region& r) const;

 private:
  [[noreturn]] static void refuse(const array_geometry& a, std::size_t dimension, std::int64_t value);

  const geometry* m_sizes;
  std::vector<std::int64_t> m_ints;
  std::vector<double> m_scalars;
};

}  // namespace tessera::sial
