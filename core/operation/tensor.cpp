#include "core/operation/tensor.hpp"

#include <fmt/format.h>

#include <array>

#include <boost/container/small_vector.hpp>
#include <cstring>

#include "core/base/error.hpp"
#include "core/operation/device_call.hpp"
#include "core/operation/scalar.hpp"

namespace tessera::operation {
namespace {

template <tsr_tensor_operation Operation>
bool supported_by_tensor(const plugin::device& device, element_type type) {
  return device.tensor() != nullptr && plugin::affirmed("supports", [&] {
           return device.tensor()->supports(device.handle(), Operation, static_cast<tsr_type>(type));
         });
}

void enqueue_permute(const context& c) {
  const auto& given = c.arguments_as<permute_arguments>();
  const operand &source = c.operands[0], &destination = c.operands[1];
  if (destination.type != source.type || destination.extents->rank() != source.extents->rank())
    throw error(
        error_kind::usage,
        fmt::format("permute: a source of type {} and rank {} does not fit a destination of type {} and rank {}",
                    name_of(source.type), source.extents->rank(), name_of(destination.type),
                    destination.extents->rank()));
  tsr_permute p{};
  p.struct_size = sizeof p;
  p.type = static_cast<tsr_type>(source.type);
  p.rank = static_cast<std::uint32_t>(source.extents->rank());
  std::uint32_t seen = 0;
  for (std::uint32_t d = 0; d < p.rank; ++d) {
    if (given.permutation[d] >= p.rank || (seen >> given.permutation[d] & 1) != 0)
      throw error(error_kind::usage, fmt::format("permute: entry {} is {}: not a permutation of {} dimensions", d,
                                                 given.permutation[d], p.rank));
    seen |= 1u << given.permutation[d];
    p.extents[d] = source.extent(d);
    p.permutation[d] = given.permutation[d];
    if (destination.extent(d) != source.extent(given.permutation[d]))
      throw error(error_kind::usage, fmt::format("permute: dimension {} of the destination does not fit", d));
  }
  const scalar alpha(source.type, given.alpha), beta(source.type, given.beta);
  p.alpha = alpha.data();
  p.beta = beta.data();
  p.source = source.address;
  p.destination = destination.address;
  check(c, c.device->tensor()->permute(c.device->handle(), c.stream, &p), "permute", source.type,
        supported_by_tensor<TSR_TENSOR_PERMUTE>);
}

void enqueue_fill(const context& c) {
  const operand& to = c.operands[0];
  const auto& given = c.arguments_as<fill_arguments>();
  const scalar value =
      given.is_integer != 0 ? scalar::of_integer(to.type, given.integer) : scalar(to.type, given.value);
  check(c,
        c.device->tensor()->fill(c.device->handle(), c.stream, static_cast<tsr_type>(to.type), to.extents->count(),
                                 to.address, value.data()),
        "fill");
}

void enqueue_reduce(const context& c) {
  const operand& to = c.operands[0];
  if (to.intent == intent::write) enqueue_zero(*c.device, c.stream, to);
  boost::container::small_vector<tsr_address, 16> sources;
  for (const operand& from : c.operands.subspan(1)) sources.push_back(from.address);
  if (sources.empty()) return;
  check(
      c,
      c.device->tensor()->reduce_add(c.device->handle(), c.stream, static_cast<tsr_type>(to.type), to.extents->count(),
                                     to.address, sources.data(), static_cast<std::uint32_t>(sources.size())),
      "reduce_add");
}

/// Each element of the block becomes this one.
void enqueue_element(const plugin::device& device, tsr_stream* stream, const operand& block, const void* element,
                     const char* doing) {
  const std::int64_t count = block.extents->count();
  if (supported_by_tensor<TSR_TENSOR_FILL>(device, block.type)) {
    device.check(device.tensor()->fill(device.handle(), stream, static_cast<tsr_type>(block.type), count, block.address,
                                       element),
                 doing);
    return;
  }
  if (device.table().fill == nullptr)
    throw error(error_kind::usage, "device " + device.name() + " can set no memory to a value", {},
                "its plugin offers neither fill nor the TENSOR extension's");
  device.check(device.table().fill(device.handle(), stream, block.address, element,
                                   static_cast<std::uint32_t>(size_of(block.type)), static_cast<std::uint64_t>(count)),
               doing);
}

/// The first block becomes what all of them make together, the others in their order.
void run_combine(const context& c) {
  const auto& how = c.arguments_as<block::combination>();
  const operand& to = c.operands[0];
  std::span<const operand> parts = c.operands.subspan(1);
  if (to.intent == intent::write && !parts.empty()) {  // nothing was there
    std::memcpy(to.host, parts.front().host, to.bytes);
    parts = parts.subspan(1);
  }
  for (const operand& part : parts) how.combine(to.host, part.host, to.extents->count());
}

double elements(const void*, std::span<const block::access> b) {
  return static_cast<double>(b[0].block->extents->count()) * static_cast<double>(b.size());
}

}  // namespace

bool can_zero(const plugin::device& device, element_type type) {
  return supported_by_tensor<TSR_TENSOR_FILL>(device, type) || device.table().fill != nullptr;
}

void enqueue_zero(const plugin::device& device, tsr_stream* stream, const operand& block) {
  static constexpr std::array<std::byte, 16> zero{};  // of every type
  enqueue_element(device, stream, block, zero.data(), "fill with zero");
}

void enqueue_identity(const plugin::device& device, tsr_stream* stream, const operand& copy,
                      block::combination_number how) {
  if (how == block::addition) return enqueue_zero(device, stream, copy);
  enqueue_element(device, stream, copy, block::combination_at(how).identity.data(), "fill with the identity");
}

bool can_reduce(const plugin::device& device, element_type type) {
  return supported_by_tensor<TSR_TENSOR_REDUCE_ADD>(device, type) && supported_by_tensor<TSR_TENSOR_FILL>(device, type);
}

definition permute() {
  return {.name = "permute",
          .enqueue = enqueue_permute,
          .available = supported_by_tensor<TSR_TENSOR_PERMUTE>,
          .work = elements,
          .is_arithmetic = false};
}
definition fill() {
  return {.name = "fill",
          .signature = {intent::write},
          .enqueue = enqueue_fill,
          .available = supported_by_tensor<TSR_TENSOR_FILL>,
          .work = elements,
          .is_arithmetic = false};
}
definition combine() { return {.name = "combine", .host = run_combine, .work = elements, .is_arithmetic = false}; }
definition reduce_add() {
  return {
      .name = "reduce", .enqueue = enqueue_reduce, .available = can_reduce, .work = elements, .is_arithmetic = false};
}

}  // namespace tessera::operation
