#include "tests/conformance/suite/host_code.hpp"

#include <vector>

namespace tessera::conformance {

bool runs_host_code(const plugin::device& on) {
  return on.table().host_task != nullptr || on.table().host_work != nullptr;
}

tsr_status enqueue_host_code(const plugin::device& on, tsr_stream* stream, host_function function, void* argument,
                             std::span<const mapped_range> ranges, double flops) {
  std::vector<tsr_address> addresses;
  std::vector<std::uint64_t> bytes;
  for (const mapped_range& one : ranges) addresses.push_back(one.address), bytes.push_back(one.bytes);
  const auto count = static_cast<std::uint32_t>(ranges.size());
  if (on.table().host_task != nullptr)
    return on.table().host_task(on.handle(), stream, function, argument, addresses.data(), count, flops);
  tsr_host_work work{};
  work.struct_size = sizeof work;
  work.function = function;
  work.argument = argument;
  work.range_count = count;
  work.ranges = addresses.data();
  work.range_bytes = bytes.data();
  work.modelled_flops = flops;
  return on.table().host_work(on.handle(), stream, &work);
}

}  // namespace tessera::conformance
