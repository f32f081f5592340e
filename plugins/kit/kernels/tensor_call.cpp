#include "plugins/kit/kernels/tensor_call.hpp"

#include <algorithm>
#include <cstring>

#include "plugins/kit/abi/copy_plan.hpp"
#include "plugins/kit/kernels/matrix_reduce.hpp"

namespace tessera::kit {
namespace {

bool is_one(const scalar& value, tsr_type type) {
  scalar one;
  const auto store = [&](auto number) { std::memcpy(one.bytes, &number, sizeof number); };
  switch (type) {
    case TSR_F32:
    case TSR_C64:
      store(1.0f);
      break;
    case TSR_F64:
    case TSR_C128:
      store(1.0);
      break;
    case TSR_I32:
      store(std::int32_t{1});
      break;
    default:
      store(std::int64_t{1});
      break;
  }
  return std::memcmp(one.bytes, value.bytes, element_bytes(type)) == 0;
}

tsr_status check_count(const reporter& report, const char* call, tsr_type type, std::int64_t count,
                       std::uint64_t& bytes) {
  if (count < 0) return report.fail(TSR_INVALID_ARGUMENT, "%s: count is %lld", call, static_cast<long long>(count));
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), std::uint64_t{element_bytes(type)}, &bytes))
    return report.fail(TSR_OUT_OF_RANGE, "%s: %lld elements exceed 64 bits of bytes", call,
                       static_cast<long long>(count));
  return TSR_OK;
}

/// d += s, in pieces that leave the destination in the first cache while all sources pass.
template <class Number>
void add_all(void* destination, const std::vector<void*>& sources, std::int64_t count) {
  auto* d = static_cast<Number*>(destination);
  constexpr std::int64_t piece = 16384 / sizeof(Number);
  for (std::int64_t begin = 0; begin < count; begin += piece) {
    const auto n = std::min(piece, count - begin);
    auto* to = d + begin;
    for (const void* source : sources) {
      const auto* from = static_cast<const Number*>(source) + begin;
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<Number>(to[i] + from[i]);
    }
  }
}

}  // namespace

bool tensor_supports(tsr_tensor_operation operation, tsr_type type) noexcept {
  if (operation == TSR_TENSOR_FILL) return element_bytes(type) != 0;
  if (operation == TSR_TENSOR_REDUCE) return reduce_supports(type);
  if (operation == TSR_TENSOR_CONTRACT) return type >= TSR_F32 && type <= TSR_C128;
  return (operation == TSR_TENSOR_PERMUTE || operation == TSR_TENSOR_REDUCE_ADD) && type >= TSR_F32 && type <= TSR_I64;
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_permute* arguments,
                   permute_call& out) {
  if (!TSR_HAS(tsr_permute, arguments, workspace))
    return report.fail(TSR_INVALID_ARGUMENT, "permute: NULL arguments or a struct_size that is not set");
  const auto& p = *arguments;
  if (!tensor_supports(TSR_TENSOR_PERMUTE, p.type))
    return report.fail(TSR_UNIMPLEMENTED, "permute: no kernel for element type %u; ask supports first", p.type);
  if (p.rank > TSR_MAX_RANK) return report.fail(TSR_INVALID_ARGUMENT, "permute: rank %u", p.rank);
  std::uint32_t seen = 0;
  bool empty = false;
  std::uint64_t bytes = element_bytes(p.type);
  for (std::uint32_t d = 0; d < p.rank; ++d) {
    if (p.extents[d] < 0)
      return report.fail(TSR_INVALID_ARGUMENT, "permute: extent %u is %lld", d, static_cast<long long>(p.extents[d]));
    if (p.permutation[d] >= p.rank || ((seen >> p.permutation[d]) & 1) != 0)
      return report.fail(TSR_INVALID_ARGUMENT, "permute: entry %u of the permutation is %u", d, p.permutation[d]);
    seen |= 1u << p.permutation[d];
    empty = empty || p.extents[d] == 0;
  }
  for (std::uint32_t d = 0; d < p.rank && !empty; ++d)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(p.extents[d]), &bytes) || bytes > INT64_MAX)
      return report.fail(TSR_OUT_OF_RANGE, "permute: more bytes than 63 bits count");
  if (empty) bytes = 0;
  if (p.alpha == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "permute: alpha is NULL");
  std::memcpy(out.alpha.bytes, p.alpha, element_bytes(p.type));
  out.beta = {};
  if (p.beta != nullptr) std::memcpy(out.beta.bytes, p.beta, element_bytes(p.type));
  out.type = p.type;
  out.pure_move = is_one(out.alpha, p.type) && is_zero(out.beta, p.type);
  if (const auto status = operands.resolve("the source", p.source, bytes, &out.source)) return status;
  if (const auto status = operands.resolve("the destination", p.destination, bytes, &out.destination)) return status;
  if (overlap(out.source, bytes, out.destination, bytes))
    return report.fail(TSR_INVALID_ARGUMENT, "permute: source and destination overlap");
  out.plan = {};
  out.plan.elements = 0;
  if (!empty) out.plan = plan_permute(p.type, p.rank, p.extents, p.permutation, out.pure_move);
  return TSR_OK;
}

tsr_status run(const permute_call& call) {
  run_permute(call.plan, call.type, call.pure_move ? nullptr : call.alpha.bytes, call.beta.bytes, call.source,
              call.destination);
  return TSR_OK;
}

double bytes_moved(const permute_call& call) {
  return 2.0 * static_cast<double>(call.plan.elements) * call.plan.element_bytes;
}

tsr_status prepare(const reporter& report, operand_resolver& operands, tsr_type type, std::int64_t count,
                   const tsr_address& destination, const tsr_address* sources, std::uint32_t source_count,
                   reduce_call& out) {
  if (!tensor_supports(TSR_TENSOR_REDUCE_ADD, type))
    return report.fail(TSR_UNIMPLEMENTED, "reduce_add: no kernel for element type %u; ask supports first", type);
  if (sources == nullptr && source_count > 0) return report.fail(TSR_INVALID_ARGUMENT, "reduce_add: sources is NULL");
  std::uint64_t bytes = 0;
  if (const auto status = check_count(report, "reduce_add", type, count, bytes)) return status;
  if (const auto status = operands.resolve("the destination", destination, bytes, &out.destination)) return status;
  out.sources.resize(source_count);
  for (std::uint32_t s = 0; s < source_count; ++s)
    if (const auto status = operands.resolve("a source", sources[s], bytes, &out.sources[s])) return status;
  out.type = type;
  out.count = count;
  return TSR_OK;
}

tsr_status run(const reduce_call& call) {
  switch (call.type) {
    case TSR_F32:
      add_all<float>(call.destination, call.sources, call.count);
      break;
    case TSR_F64:
      add_all<double>(call.destination, call.sources, call.count);
      break;
    case TSR_C64:
      add_all<float>(call.destination, call.sources, 2 * call.count);
      break;
    case TSR_C128:
      add_all<double>(call.destination, call.sources, 2 * call.count);
      break;
    case TSR_I32:
      add_all<std::uint32_t>(call.destination, call.sources, call.count);
      break;  // wraps around
    default:
      add_all<std::uint64_t>(call.destination, call.sources, call.count);
      break;
  }
  return TSR_OK;
}

double bytes_moved(const reduce_call& call) {
  return static_cast<double>(call.sources.size() + 2) * static_cast<double>(call.count) *
         static_cast<double>(element_bytes(call.type));
}

tsr_status prepare(const reporter& report, operand_resolver& operands, tsr_type type, std::int64_t count,
                   const tsr_address& destination, const void* value, fill_call& out) {
  if (!tensor_supports(TSR_TENSOR_FILL, type))
    return report.fail(TSR_UNIMPLEMENTED, "fill: element type %u is unknown", type);
  if (value == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "fill: value is NULL");
  std::uint64_t bytes = 0;
  if (const auto status = check_count(report, "fill", type, count, bytes)) return status;
  if (const auto status = operands.resolve("the destination", destination, bytes, &out.destination)) return status;
  std::memcpy(out.value.bytes, value, element_bytes(type));
  out.type = type;
  out.count = count;
  return TSR_OK;
}

tsr_status run(const fill_call& call) {
  fill_pattern(call.destination, call.value.bytes, static_cast<std::uint32_t>(element_bytes(call.type)),
               static_cast<std::uint64_t>(call.count));
  return TSR_OK;
}

double bytes_moved(const fill_call& call) {
  return static_cast<double>(call.count) * static_cast<double>(element_bytes(call.type));
}

}  // namespace tessera::kit
