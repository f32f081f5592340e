#pragma once
// The shapes of a contraction C(modes_c) = alpha A(modes_a) B(modes_b) + beta C, checked and reduced to what matters.
#include <tessera/plugin.h>

#include <array>
#include <cstdint>

#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// What a contraction is planned by. Entries beyond the ranks are 0, and nothing lies between the fields, so that equal
/// shapes are equal bytes.
struct contract_shape {
  tsr_type type = TSR_TYPE_NONE;
  std::uint32_t rank_a = 0, rank_b = 0, rank_c = 0;
  std::int64_t extents_a[TSR_MAX_RANK] = {}, extents_b[TSR_MAX_RANK] = {};
  std::int32_t modes_a[TSR_MAX_RANK] = {}, modes_b[TSR_MAX_RANK] = {}, modes_c[TSR_MAX_RANK] = {};
};
static_assert(sizeof(contract_shape) == 16 + (2 * 8 + 3 * 4) * TSR_MAX_RANK);

/// Places of the operands in arrays.
enum contract_operand : std::uint8_t {
  operand_a = 0,
  operand_b = 1,
  operand_c = 2
};

/// The operands that have a label, as bits; by that a label is one of these kinds.
enum label_kind : std::uint8_t {
  label_summed = 1 | 2,  ///< in A and B
  label_of_a = 1 | 4,    ///< in A and C: a row of the product
  label_of_b = 2 | 4,    ///< in B and C: a column of the product
  label_batch = 1 | 2 | 4
};

/// The operands as lists of labels, first index fastest, without those of extent 1.
struct contract_layout {
  static constexpr std::uint32_t max_labels = 3 * TSR_MAX_RANK / 2;  ///< each is in two operands at least
  std::uint32_t labels = 0;
  std::int64_t extents[max_labels] = {};
  label_kind kinds[max_labels] = {};
  std::uint32_t rank[3] = {};                ///< by contract_operand, as below
  std::uint8_t order[3][TSR_MAX_RANK] = {};  ///< numbers of labels
  std::uint64_t bytes[3] = {};               ///< of the operands
  bool nothing_to_do = false;                ///< C is empty
  bool empty_sum = false;                    ///< the sum has no terms
};

/// Checks a shape and lays it out. Fails, with a record: INVALID_ARGUMENT (a rank above 8, a negative extent, a label
/// that stands twice in an operand, that is in C alone or in one input alone, or whose extents differ), UNIMPLEMENTED
/// (a type that is not F32, F64, C64 or C128), OUT_OF_RANGE (more than 63 bits of bytes).
tsr_status lay_out(const reporter& report, const contract_shape& shape, contract_layout& out);

/// Labels that follow each other in the same way in all operands that have them, as one.
struct contract_axis {
  std::int64_t extent = 1;
  std::int64_t step[3] = {};  ///< in elements, by contract_operand; 0 where the operand has it not
  label_kind kind = label_batch;
};
struct contract_axes {
  std::uint32_t count = 0;
  contract_axis all[contract_layout::max_labels] = {};
};
contract_axes fuse(const contract_layout& layout);

}  // namespace tessera::kit
