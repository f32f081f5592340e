#include "plugins/kit/kernels/contract/call.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace tessera::kit {
namespace {

/// What both entries have in common, once the plan is known.
tsr_status prepare_scalars(const reporter& report, const contract_costs& costs, const void* alpha, const void* beta,
                           contract_call& out) {
  const contract_plan& plan = *out.plan;
  if (alpha == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "contract: alpha is NULL");
  out.type = plan.shape.type;
  std::memcpy(out.alpha.bytes, alpha, element_bytes(out.type));
  out.beta = {};
  if (beta != nullptr) std::memcpy(out.beta.bytes, beta, element_bytes(out.type));
  out.adds = !is_zero(out.beta, out.type);
  out.together = costs.together;
  for (const std::int64_t size : {plan.m, plan.n, plan.k, plan.ld[0], plan.ld[1], plan.ld[2]})
    if (size > INT_MAX)
      return report.fail(TSR_OUT_OF_RANGE, "contract: a product has %lld rows or columns; BLAS counts to %d",
                         static_cast<long long>(size), INT_MAX);
  return TSR_OK;
}

tsr_status resolve(const reporter& report, operand_resolver& operands, const contract_plan& plan, const tsr_address& a,
                   const tsr_address& b, const tsr_address& c, contract_call::blocks& out) {
  if (const auto status = operands.resolve("A", a, plan.bytes[operand_a], &out[operand_a])) return status;
  if (const auto status = operands.resolve("B", b, plan.bytes[operand_b], &out[operand_b])) return status;
  if (const auto status = operands.resolve("C", c, plan.bytes[operand_c], &out[operand_c])) return status;
  for (const contract_operand input : {operand_a, operand_b})
    if (overlap(out[input], plan.bytes[input], out[operand_c], plan.bytes[operand_c]))
      return report.fail(TSR_INVALID_ARGUMENT, "contract: %c and C overlap", input == operand_a ? 'A' : 'B');
  return TSR_OK;
}

tsr_status resolve_workspace(const reporter& report, operand_resolver& operands, std::uint64_t wanted,
                             const tsr_workspace& given, contract_call& out) {
  out.workspace = nullptr;
  if (wanted == 0) return TSR_OK;
  if (given.bytes < wanted)
    return report.fail(TSR_INVALID_ARGUMENT,
                       "contract: the workspace has %llu bytes and %llu are wanted; ask workspace first",
                       static_cast<unsigned long long>(given.bytes), static_cast<unsigned long long>(wanted));
  return operands.resolve("the workspace", given.address, wanted, &out.workspace);
}

std::uint64_t wanted_bytes(const contract_plan& plan, const contract_costs& costs, std::int64_t batch) {
  return plan.workspace * static_cast<std::uint64_t>(costs.together ? batch : std::min<std::int64_t>(batch, 1));
}

/// The shape in a struct of arguments, and its batch.
tsr_status read_shape(const reporter& report, const tsr_contract* arguments, contract_shape& out) {
  if (!TSR_HAS(tsr_contract, arguments, workspace))
    return report.fail(TSR_INVALID_ARGUMENT, "contract: NULL arguments or a struct_size that is not set");
  const auto& c = *arguments;
  if (c.batch < 0) return report.fail(TSR_INVALID_ARGUMENT, "contract: batch is %lld", static_cast<long long>(c.batch));
  return read_shape(report, c.type, c.rank_a, c.extents_a, c.modes_a, c.rank_b, c.extents_b, c.modes_b, c.rank_c,
                    c.modes_c, out);
}

}  // namespace

tsr_status read_shape(const reporter& report, tsr_type type, std::uint32_t rank_a, const std::int64_t* extents_a,
                      const std::int32_t* modes_a, std::uint32_t rank_b, const std::int64_t* extents_b,
                      const std::int32_t* modes_b, std::uint32_t rank_c, const std::int32_t* modes_c,
                      contract_shape& out) {
  const auto check = [&](char name, std::uint32_t rank, const void* list) {
    if (rank > TSR_MAX_RANK)
      return report.fail(TSR_INVALID_ARGUMENT, "contract: %c has rank %u; the most is %u", name, rank,
                         unsigned{TSR_MAX_RANK});
    if (rank > 0 && list == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "contract: a list of %c is NULL", name);
    return tsr_status{TSR_OK};
  };
  if (const auto status = check('A', rank_a, extents_a)) return status;
  if (const auto status = check('A', rank_a, modes_a)) return status;
  if (const auto status = check('B', rank_b, extents_b)) return status;
  if (const auto status = check('B', rank_b, modes_b)) return status;
  if (const auto status = check('C', rank_c, modes_c)) return status;
  out = {};
  out.type = type;
  out.rank_a = rank_a, out.rank_b = rank_b, out.rank_c = rank_c;
  std::copy_n(extents_a, rank_a, out.extents_a);
  std::copy_n(extents_b, rank_b, out.extents_b);
  std::copy_n(modes_a, rank_a, out.modes_a);
  std::copy_n(modes_b, rank_b, out.modes_b);
  std::copy_n(modes_c, rank_c, out.modes_c);
  return TSR_OK;
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const contract_costs& costs,
                   const contract_shape& shape, const void* alpha, const void* beta, const tsr_address& a,
                   const tsr_address& b, const tsr_address& c, const tsr_workspace& workspace, contract_call& out) {
  if (const auto status = find_plan(report, shape, costs, out.plan)) return status;
  if (const auto status = prepare_scalars(report, costs, alpha, beta, out)) return status;
  if (const auto status = resolve(report, operands, *out.plan, a, b, c, out.one)) return status;
  return resolve_workspace(report, operands, wanted_bytes(*out.plan, costs, 1), workspace, out);
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const contract_costs& costs,
                   const tsr_contract* arguments, contract_call& out) {
  contract_shape shape;
  if (const auto status = read_shape(report, arguments, shape)) return status;
  if (const auto status = find_plan(report, shape, costs, out.plan)) return status;
  const auto& g = *arguments;
  if (const auto status = prepare_scalars(report, costs, g.alpha, g.beta, out)) return status;
  if (g.batch > 0 && (g.a_array == nullptr || g.b_array == nullptr || g.c_array == nullptr))
    return report.fail(TSR_INVALID_ARGUMENT, "contract: an array of addresses is NULL");
  out.many.resize(static_cast<std::size_t>(g.batch));
  for (std::size_t i = 0; i < out.many.size(); ++i)
    if (const auto status = resolve(report, operands, *out.plan, g.a_array[i], g.b_array[i], g.c_array[i], out.many[i]))
      return status;
  const std::uint64_t wanted = wanted_bytes(*out.plan, costs, g.batch);
  if (g.batch == 0) out.plan = nullptr;
  return resolve_workspace(report, operands, wanted, g.workspace, out);
}

tsr_status contract_workspace(const reporter& report, const contract_costs& costs, const tsr_contract* arguments,
                              std::uint64_t* out_bytes) {
  contract_shape shape;
  if (const auto status = read_shape(report, arguments, shape)) return status;
  std::shared_ptr<const contract_plan> plan;
  if (const auto status = find_plan(report, shape, costs, plan)) return status;
  *out_bytes = wanted_bytes(*plan, costs, std::max<std::int64_t>(arguments->batch, 1));
  return TSR_OK;
}

double flops(const contract_call& call) {
  return call.plan == nullptr ? 0 : call.plan->flops * static_cast<double>(std::max<std::size_t>(call.many.size(), 1));
}

namespace detail {

void set_one(scalar& value, tsr_type type) noexcept {
  value = {};
  const float single = 1;
  const double full = 1;
  if (type == TSR_F32 || type == TSR_C64)
    std::memcpy(value.bytes, &single, sizeof single);
  else
    std::memcpy(value.bytes, &full, sizeof full);
}

permute_call copy_of(const contract_call& call, contract_operand which, void* from, void* to) {
  const contract_plan& plan = *call.plan;
  const bool adds = which == operand_c && call.adds;
  permute_call made{which != operand_c ? plan.copy[which] : adds ? plan.add_back : plan.move_back,
                    call.type,
                    !adds,
                    {},
                    {},
                    from,
                    to};
  set_one(made.alpha, call.type);
  if (adds) made.beta = call.beta;
  return made;
}

gemm_call product_of(const contract_call& call) {
  const contract_plan& plan = *call.plan;
  gemm_call made{};
  made.type = call.type;
  made.transpose_a = plan.transposed[0] ? TSR_TRANSPOSE : TSR_NO_TRANSPOSE;
  made.transpose_b = plan.transposed[1] ? TSR_TRANSPOSE : TSR_NO_TRANSPOSE;
  made.m = static_cast<int>(plan.m), made.n = static_cast<int>(plan.n), made.k = static_cast<int>(plan.k);
  made.lda = static_cast<int>(plan.ld[0]), made.ldb = static_cast<int>(plan.ld[1]),
  made.ldc = static_cast<int>(plan.ld[2]);
  made.alpha = call.alpha;
  if (!plan.copied[operand_c]) made.beta = call.beta;
  made.batch = plan.batch.extent;
  made.stride_a = plan.batch.step[plan.swapped ? operand_b : operand_a];
  made.stride_b = plan.batch.step[plan.swapped ? operand_a : operand_b];
  made.stride_c = plan.batch.step[operand_c];
  return made;
}

bool loop_state::next(const contract_plan& plan) noexcept {
  for (std::uint32_t d = 0; d < plan.loop_count; ++d) {
    const contract_loop& loop = plan.loops[d];
    for (int which = 0; which < 3; ++which) offset[which] += loop.step[which];
    adds_up = adds_up || loop.sums;  // those that sum are the slowest: from the first turn of one on, C has something
    if (++at[d] < loop.extent) return true;
    for (int which = 0; which < 3; ++which) offset[which] -= loop.step[which] * loop.extent;
    at[d] = 0;
  }
  return false;
}

}  // namespace detail
}  // namespace tessera::kit
