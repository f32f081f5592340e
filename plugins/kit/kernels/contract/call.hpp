#pragma once
// Contractions on resolved pointers: checked when they are enqueued, run later. The pattern of blas_call.hpp.
#include <array>
#include <memory>
#include <vector>

#include "plugins/kit/abi/operand.hpp"
#include "plugins/kit/kernels/blas_call.hpp"
#include "plugins/kit/kernels/contract/cache.hpp"
#include "plugins/kit/kernels/tensor_call.hpp"

namespace tessera::kit {

/// What the host's processors do.
extern const contract_costs host_contract_costs;

struct contract_call {
  tsr_type type;
  scalar alpha, beta;
  bool adds;                                  ///< beta is not 0
  std::shared_ptr<const contract_plan> plan;  ///< null: no blocks
  using blocks = std::array<void*, 3>;        ///< A, B, C
  std::vector<blocks> many;                   ///< of contract_batched
  blocks one;                                 ///< when there are not many
  bool together;  ///< all steps of one kind for all blocks, each with its part of the workspace
  void* workspace;
};

/// The two entries. Fail as plugin.h says.
tsr_status prepare(const reporter& report, operand_resolver& operands, const contract_costs& costs,
                   const contract_shape& shape, const void* alpha, const void* beta, const tsr_address& a,
                   const tsr_address& b, const tsr_address& c, const tsr_workspace& workspace, contract_call& out);
tsr_status prepare(const reporter& report, operand_resolver& operands, const contract_costs& costs,
                   const tsr_contract* arguments, contract_call& out);
/// The shape that the long parameter list gives. Fails: INVALID_ARGUMENT (a rank above 8, a NULL list where the rank is
/// not 0).
tsr_status read_shape(const reporter& report, tsr_type type, std::uint32_t rank_a, const std::int64_t* extents_a,
                      const std::int32_t* modes_a, std::uint32_t rank_b, const std::int64_t* extents_b,
                      const std::int32_t* modes_b, std::uint32_t rank_c, const std::int32_t* modes_c,
                      contract_shape& out);
/// Bytes that the call wants.
tsr_status contract_workspace(const reporter& report, const contract_costs& costs, const tsr_contract* arguments,
                              std::uint64_t* out_bytes);

/// Works the plan off in order: permute(permute_call) copies, multiply(gemm_call) multiplies. Both return a status; the
/// first that is not TSR_OK ends it.
template <class Permute, class Multiply>
tsr_status for_each_step(const contract_call& call, Permute&& permute, Multiply&& multiply);

tsr_status run(const contract_call& call);
double flops(const contract_call& call);

namespace detail {
permute_call copy_of(const contract_call& call, contract_operand which, void* from, void* to);
gemm_call product_of(const contract_call& call);
/// The indices of loops, and how far they have come in each operand.
struct loop_state {
  std::int64_t at[contract_layout::max_labels] = {}, offset[3] = {};
  bool adds_up = false;  ///< C has what is summed so far
  bool next(const contract_plan& plan) noexcept;
};
void set_one(scalar& value, tsr_type type) noexcept;

/// All steps for `count` blocks.
template <class Permute, class Multiply>
tsr_status steps(const contract_call& call, const contract_call::blocks* blocks, std::size_t count, Permute& permute,
                 Multiply& multiply) {
  const contract_plan& plan = *call.plan;
  const auto place = [&](std::size_t item, contract_operand which) -> void* {
    return plan.copied[which] ? static_cast<char*>(call.workspace) + item * plan.workspace + plan.place[which]
                              : blocks[item][which];
  };
  for (std::size_t item = 0; item < count; ++item)
    for (const contract_operand which : {operand_a, operand_b})
      if (plan.copied[which])
        if (const auto status = permute(copy_of(call, which, blocks[item][which], place(item, which)))) return status;

  gemm_call product = product_of(call);
  const contract_operand first = plan.swapped ? operand_b : operand_a, second = plan.swapped ? operand_a : operand_b;
  loop_state state;
  const auto part = [&](std::size_t item, contract_operand which, std::int64_t number) -> void* {
    return static_cast<char*>(place(item, which)) + state.offset[which] + number * plan.batch.step[which];
  };
  do {
    if (state.adds_up) set_one(product.beta, call.type);
    if (count == 1) {
      product.a = part(0, first, 0);
      product.b = part(0, second, 0);
      product.c = part(0, operand_c, 0);
    } else {
      product.pointers.clear();
      for (std::size_t item = 0; item < count; ++item)
        for (std::int64_t i = 0; i < plan.batch.extent; ++i)
          product.pointers.push_back({part(item, first, i), part(item, second, i), part(item, operand_c, i)});
      product.batch = static_cast<std::int64_t>(product.pointers.size());
    }
    if (const auto status = multiply(product)) return status;
  } while (state.next(plan));

  for (std::size_t item = 0; item < count; ++item)
    if (plan.copied[operand_c])
      if (const auto status = permute(copy_of(call, operand_c, place(item, operand_c), blocks[item][operand_c])))
        return status;
  return TSR_OK;
}
}  // namespace detail

template <class Permute, class Multiply>
tsr_status for_each_step(const contract_call& call, Permute&& permute, Multiply&& multiply) {
  if (call.plan == nullptr || call.plan->nothing_to_do) return TSR_OK;
  if (call.many.empty()) return detail::steps(call, &call.one, 1, permute, multiply);
  if (call.together) return detail::steps(call, call.many.data(), call.many.size(), permute, multiply);
  for (const auto& blocks : call.many)
    if (const auto status = detail::steps(call, &blocks, 1, permute, multiply)) return status;
  return TSR_OK;
}

}  // namespace tessera::kit
