// Limits that a device states (since ABI 1.1): what is within them works, and what is not is refused with the status of
// the header.
#include <algorithm>
#include <numeric>

#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {
namespace {

constexpr std::uint64_t max_tried = std::uint64_t{256} << 20;

/// Runs on every device whose description has the limit; skips the check where none has.
void where_stated(const subject& what, const char* name, std::uint64_t most,
                  std::uint64_t (*limit)(const tsr_device_desc&),
                  const std::function<void(const device&, std::uint64_t)>& function) {
  const opened all(what);
  bool stated = false, tried = false;
  for_each_device(all, [&](const device& device) {
    const std::uint64_t value = limit(device.description());
    stated = stated || value != 0;
    if (value == 0 || value > most) return;
    tried = true;
    function(device, value);
  });
  if (!stated) skip(fmt::format("no device states {}", name));
  if (!tried) skip(fmt::format("{} is too large to be tried", name));
}

void allocations(const subject& what) {
  where_stated(
      what, "max_allocation", max_tried, [](const tsr_device_desc& d) { return d.max_allocation; },
      [](const device& device, std::uint64_t most) {
        const std::uint32_t space = compute_space(device);
        const std::uint64_t capacity = device.spaces()[space].description.bytes;
        if (capacity == 0 || most <= capacity / 2) const buffer largest(device, space, most);
        tsr_memory* memory = nullptr;
        const tsr_status status = device.table().mem_alloc(device.handle(), space, most + 1, &memory);
        if (status == TSR_OK) device.table().mem_free(device.handle(), memory);
        expect_status(status, TSR_RESOURCE_EXHAUSTED,
                      fmt::format("mem_alloc of {} bytes where max_allocation is {}", most + 1, most));
        const buffer after(device, space, std::min<std::uint64_t>(most, 64));
      });
}

/// What is wrongly accepted ends before what it works on.
void expect_refusal(const queue& stream, tsr_status got, tsr_status wanted, const std::string& call) {
  if (got == TSR_OK) stream.finish();
  expect_status(got, wanted, call);
}

void copies(const subject& what) {
  where_stated(
      what, "max_copy", max_tried, [](const tsr_device_desc& d) { return d.max_copy; },
      [&](const device& device, std::uint64_t most) {
        const queue stream(device);
        const std::uint32_t space = compute_space(device);
        std::vector<unsigned char> bytes(most + 2), back(most);
        std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(what.seed));
        const std::uint64_t at_once = device.description().max_allocation;
        if (at_once != 0 && at_once < bytes.size()) skip("a copy of max_copy does not fit into max_allocation");
        const buffer memory(device, space, bytes.size());
        upload(stream, memory, bytes.data(), most);
        download(stream, back.data(), memory, most);
        expect(std::equal(back.begin(), back.end(), bytes.begin()),
               "a copy of max_copy bytes ({}) is not what was copied", most);
        const tsr_copy longer =
            plain_copy(memory.where(), memory.at(0), host_space, host_address(bytes.data()), most + 1);
        expect_refusal(stream, device.table().copy(device.handle(), stream.handle(), &longer), TSR_OUT_OF_RANGE,
                       fmt::format("a copy of {} bytes where max_copy is {}", most + 1, most));
        tsr_copy rows = plain_copy(memory.where(), memory.at(0), host_space, host_address(bytes.data()), most / 2 + 1);
        rows.rows[0] = 2;
        rows.destination_stride[0] = rows.source_stride[0] = rows.bytes;
        expect_refusal(stream, device.table().copy(device.handle(), stream.handle(), &rows), TSR_OUT_OF_RANGE,
                       fmt::format("a copy of two rows of {} bytes where max_copy is {}", rows.bytes, most));
        stream.finish();
      });
}

void streams(const subject& what) {
  where_stated(
      what, "max_streams", 4096, [](const tsr_device_desc& d) { return std::uint64_t{d.max_streams}; },
      [](const device& device, std::uint64_t most) {
        std::vector<queue> live;
        for (std::uint64_t k = 0; k < most; ++k)
          live.emplace_back(device, k % 2 == 0 ? TSR_STREAM_COMPUTE : TSR_STREAM_COPY);
        for (const queue& one : live) one.finish();
        tsr_stream* beyond = nullptr;
        const tsr_status status = device.table().stream_create(device.handle(), TSR_STREAM_COMPUTE, &beyond);
        if (status == TSR_OK) device.table().stream_destroy(device.handle(), beyond);
        expect_status(status, TSR_RESOURCE_EXHAUSTED, fmt::format("stream_create where max_streams ({}) live", most));
        live.pop_back();
        const queue again(device);
        again.finish();
      });
}

/// host_work maps what it says, in the stream's order, and looks at lengths.
void host_work(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    const auto entry = device.table().host_work;
    if (entry == nullptr) return;
    tried = true;
    const queue stream(device);
    const buffer memory(device, compute_space(device), 4096);
    std::vector<std::uint32_t> values(1024);
    std::iota(values.begin(), values.end(), 0u);
    upload(stream, memory, values.data(), 4096);
    tsr_address ranges[] = {memory.at(0), memory.at(2048)};
    std::uint64_t lengths[] = {2048, 2048};
    tsr_host_work work{};
    work.struct_size = sizeof work;
    work.range_count = 2;
    work.function = [](void* factor, void* const* bases) -> tsr_status {
      for (int j = 0; j < 512; ++j)
        static_cast<std::uint32_t*>(bases[0])[j] +=
            static_cast<std::uint32_t*>(bases[1])[j] * *static_cast<std::uint32_t*>(factor);
      return TSR_OK;
    };
    std::uint32_t factor = 3;
    work.argument = &factor;
    work.ranges = ranges;
    work.range_bytes = lengths;
    for (int k = 0; k < 3; ++k) expect_ok(entry(device.handle(), stream.handle(), &work), "host_work");
    const tsr_host_work given = work;
    ranges[0] = ranges[1] = {nullptr, 1};  // the arrays were copied
    lengths[0] = lengths[1] = 0;
    work = {};
    const auto back = downloaded<std::uint32_t>(stream, memory, 512);
    for (std::uint32_t j = 0; j < 512; ++j)
      expect(back[j] == j + 9 * (j + 512), "element {} is {} after three host_works", j, back[j]);

    work = given;
    ranges[0] = memory.at(0), ranges[1] = memory.at(2048);
    lengths[0] = 2048, lengths[1] = 2049;
    expect_refusal(stream, entry(device.handle(), stream.handle(), &work), TSR_OUT_OF_RANGE,
                   "host_work with a range that ends behind its allocation");
    lengths[1] = ~std::uint64_t{0};
    expect_refusal(stream, entry(device.handle(), stream.handle(), &work), TSR_OUT_OF_RANGE,
                   "host_work with a range as long as numbers go");
    work.range_bytes = nullptr;
    expect_refusal(stream, entry(device.handle(), stream.handle(), &work), TSR_INVALID_ARGUMENT,
                   "host_work with ranges and without lengths");
    work.range_count = 0;
    work.function = nullptr;
    expect_refusal(stream, entry(device.handle(), stream.handle(), &work), TSR_INVALID_ARGUMENT,
                   "host_work without a function");
    stream.finish();

    work.function = [](void*, void* const*) -> tsr_status { return TSR_DATA_LOSS; };
    expect_ok(entry(device.handle(), stream.handle(), &work), "host_work without ranges");
    const tsr_ticket failing = stream.signal();
    tsr_status status = TSR_OK;
    wait_until([&] { return stream.reached(failing, &status) && status != TSR_OK; },
               "the failure of host_work, which stream_progress tells at the point behind it,");
    expect_status(status, TSR_DATA_LOSS, "stream_progress after a host_work that answered DATA_LOSS");
  });
  if (!tried) skip("host_work is not offered");
}

}  // namespace

std::vector<check> limit_checks() {
  return {{"limits.allocations", allocations},
          {"limits.copies", copies},
          {"limits.streams", streams},
          {"ordering.host_work", host_work}};
}

}  // namespace tessera::conformance
