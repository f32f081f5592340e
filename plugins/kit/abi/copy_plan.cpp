#include "plugins/kit/abi/copy_plan.hpp"

#include <algorithm>
#include <cstring>

#include "core/bytes/copy.hpp"

namespace tessera::kit {
namespace {

/// bytes + (rows - 1) * stride0 + (planes - 1) * stride1; false on overflow.
bool span_of(const copy_plan& plan, const std::uint64_t stride[2], std::uint64_t& out) {
  std::uint64_t rows = 0, planes = 0;
  return !__builtin_mul_overflow(plan.rows - 1, stride[0], &rows) &&
         !__builtin_mul_overflow(plan.planes - 1, stride[1], &planes) && !__builtin_add_overflow(rows, planes, &out) &&
         !__builtin_add_overflow(out, plan.bytes, &out);
}

}  // namespace

tsr_status plan_copy(const reporter& report, const tsr_copy* copy, copy_plan& out_plan) {
  if (copy == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "copy: the description is NULL");
  if (!TSR_HAS(tsr_copy, copy, source_stride))
    return report.fail(TSR_INVALID_ARGUMENT, "copy: struct_size is %u, expected at least %zu", copy->struct_size,
                       sizeof(tsr_copy));
  copy_plan plan;
  plan.bytes = copy->bytes;
  plan.rows = std::max<std::uint64_t>(copy->rows[0], 1);
  plan.planes = std::max<std::uint64_t>(copy->rows[1], 1);
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(plan.bytes, plan.rows, &total) || __builtin_mul_overflow(total, plan.planes, &total))
    return report.fail(TSR_OUT_OF_RANGE, "copy: bytes x rows x planes exceeds 64 bits");
  const auto check = [&](const char* side, const std::uint64_t(&given)[2], std::uint64_t(&stride)[2],
                         std::uint64_t& span) -> tsr_status {
    stride[0] = plan.rows > 1 ? given[0] : plan.bytes;
    if (stride[0] < plan.bytes)
      return report.fail(TSR_INVALID_ARGUMENT, "copy: the %s row stride %llu is shorter than a row of %llu bytes", side,
                         static_cast<unsigned long long>(stride[0]), static_cast<unsigned long long>(plan.bytes));
    std::uint64_t plane = 0;
    if (__builtin_mul_overflow(plan.rows - 1, stride[0], &plane) || __builtin_add_overflow(plane, plan.bytes, &plane))
      return report.fail(TSR_OUT_OF_RANGE, "copy: a %s plane exceeds 64 bits", side);
    stride[1] = plan.planes > 1 ? given[1] : plane;
    if (stride[1] < plane)
      return report.fail(TSR_INVALID_ARGUMENT, "copy: the %s plane stride %llu is shorter than a plane of %llu bytes",
                         side, static_cast<unsigned long long>(stride[1]), static_cast<unsigned long long>(plane));
    if (!span_of(plan, stride, span)) return report.fail(TSR_OUT_OF_RANGE, "copy: the %s exceeds 64 bits", side);
    if (total == 0) span = 0;
    return TSR_OK;
  };
  if (const auto status =
          check("destination", copy->destination_stride, plan.destination_stride, plan.destination_span))
    return status;
  if (const auto status = check("source", copy->source_stride, plan.source_stride, plan.source_span)) return status;
  out_plan = plan;
  return TSR_OK;
}

void run_copy(const copy_plan& plan, void* destination, const void* source) noexcept {
  if (plan.total() == 0) return;
  auto* to = static_cast<unsigned char*>(destination);
  const auto* from = static_cast<const unsigned char*>(source);
  const std::uint64_t plane = plan.bytes * plan.rows;
  const bool dense_rows =
      plan.rows == 1 || (plan.destination_stride[0] == plan.bytes && plan.source_stride[0] == plan.bytes);
  if (dense_rows && (plan.planes == 1 || (plan.destination_stride[1] == plane && plan.source_stride[1] == plane))) {
    move_bytes(to, from, plan.total());
    return;
  }
  for (std::uint64_t p = 0; p < plan.planes; ++p, to += plan.destination_stride[1], from += plan.source_stride[1]) {
    if (dense_rows) {
      copy_bytes(to, from, plane);
      continue;
    }
    auto* row_to = to;
    const auto* row_from = from;
    for (std::uint64_t r = 0; r < plan.rows;
         ++r, row_to += plan.destination_stride[0], row_from += plan.source_stride[0])
      copy_bytes(row_to, row_from, plan.bytes);
  }
}

tsr_status check_fill(const reporter& report, const void* pattern, std::uint32_t pattern_bytes, std::uint64_t count,
                      std::uint64_t& out_bytes) {
  const bool known =
      pattern_bytes == 1 || pattern_bytes == 2 || pattern_bytes == 4 || pattern_bytes == 8 || pattern_bytes == 16;
  if (!known || pattern == nullptr)
    return report.fail(TSR_INVALID_ARGUMENT, "fill: a pattern of %u bytes", pattern_bytes);
  if (__builtin_mul_overflow(count, std::uint64_t{pattern_bytes}, &out_bytes))
    return report.fail(TSR_OUT_OF_RANGE, "fill: more bytes than 64 bits count");
  return TSR_OK;
}

tsr_status check_bounds(const reporter& report, const char* name, std::uint64_t allocated, const tsr_address& address,
                        std::uint64_t bytes) {
  if (address.offset <= allocated && bytes <= allocated - address.offset) return TSR_OK;
  return report.fail(TSR_OUT_OF_RANGE, "%s: %llu bytes from offset %llu leave an allocation of %llu bytes", name,
                     static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address.offset),
                     static_cast<unsigned long long>(allocated));
}

void fill_pattern(void* destination, const void* pattern, std::uint32_t pattern_bytes, std::uint64_t count) noexcept {
  if (count == 0) return;
  auto* to = static_cast<unsigned char*>(destination);
  const std::uint64_t total = count * pattern_bytes;
  if (pattern_bytes == 1) {
    std::memset(to, *static_cast<const unsigned char*>(pattern), total);
    return;
  }
  // Doubling what is already written keeps every step a plain memcpy; 4 KiB steps keep the source in the first cache.
  std::memcpy(to, pattern, pattern_bytes);
  std::uint64_t done = pattern_bytes;
  while (done < total) {
    const std::uint64_t step = std::min({done, total - done, std::uint64_t{4096}});
    std::memcpy(to + done, to, step);
    done += step;
  }
}

}  // namespace tessera::kit
