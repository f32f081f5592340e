#pragma once
// Block statements, in place.
#include <cstdint>
#include <vector>

#include "languages/sial/interpreter/block_operands.hpp"
#include "languages/sial/interpreter/worker_state.hpp"
#include "tessera/front_end.hpp"

namespace tessera::sial {

/// Executes statements of block arithmetic on the calling thread. Refers to all that it is made from. One thread.
class block_arithmetic {
 public:
  block_arithmetic(worker_state& state, block_operands& operands);

  /// block_fill, block_add, block_multiply, block_copy, block_sum, block_scale or block_product.
  void execute(const step& at);
  double inner_product(const block_operation& o);
  void slice(const block_operation& o);
  /// The only element of a block.
  double element(std::uint32_t reference_number);

 private:
  target_tile written_by(const block_operation& o);
  void scalar(const step& at);
  void copied(const block_operation& o);
  void sum(const block_operation& o);
  void scaled(const block_operation& o);
  void product(const block_operation& o);
  void permute(const tile& from, const tile& to, const block_operation& o, double alpha, double beta);

  /// A product of blocks, as it was the last time.
  struct contraction {
    shape left, right, to;
    ::tessera::operation::in_place_facts facts;  // of blocks with those extents
    double flops = 0;
  };

  worker_state& m_state;
  const code& m_code;
  block_operands& m_operands;
  std::vector<contraction> m_contractions;  // by block operation
};

}  // namespace tessera::sial
