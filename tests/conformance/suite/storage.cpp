// What storage has beside other devices, and what it has not: it computes nothing, and bytes that share a block of the
// disk must not know of each other.
#include <atomic>
#include <thread>

#include "core/base/units.hpp"
#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {
namespace {

void computes_nothing(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    const tsr_device_desc& d = device.description();
    expect(d.device_class == TSR_DEVICE_STORAGE, "a storage plugin has a device of class {}", d.device_class);
    expect(d.compute_units == 0 && d.peak_f32 == 0 && d.peak_f64 == 0, "storage claims to compute");
    expect(device.blas() == nullptr && device.tensor() == nullptr, "storage offers BLAS or TENSOR operations");
    const tsr_device_table& table = device.table();
    expect(table.launch == nullptr && table.module_load == nullptr && table.host_task == nullptr,
           "storage offers to run kernels or host tasks");
  });
}

void spaces_are_disks(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    for (std::uint32_t i = 0; i < device.spaces().size(); ++i) {
      const tsr_space_desc& space = device.spaces()[i].description;
      expect(space.kind == TSR_SPACE_STORAGE, "space {} of a storage device is of kind {}", i, space.kind);
      expect((space.capabilities & (TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE)) == 0,
             "space {} of a storage device has addresses", i);
      expect(space.bytes > 0, "space {} of a storage device does not know its capacity", i);
      const tsr_space_ref here{device.handle(), i};
      for (const auto& [from, to] : {std::pair{host_space, here}, std::pair{here, host_space}}) {
        tsr_link_desc link{};
        link.struct_size = sizeof link;
        expect_ok(device.table().link(device.handle(), from, to, &link), "link between host memory and storage");
        expect(link.link_class == TSR_LINK_STORAGE || link.link_class == TSR_LINK_NETWORK,
               "the link between host memory and storage is of class {}", link.link_class);
      }
    }
  });
}

void large_contents(const subject& what) {
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    const std::uint64_t capacity = device.spaces()[0].description.bytes, bytes = (24ull << 20) + 4099;
    if (capacity < 2 * bytes)
      throw beyond_limits(fmt::format("it takes a capacity of {} bytes, and the space has {}", 2 * bytes, capacity));
    auto random = what.generator();
    const auto given = random_bytes(random, bytes);
    std::vector<unsigned char> back(bytes);
    const buffer memory(device, 0, bytes + 100);
    upload(queue(device), memory, given.data(), bytes, 77);
    download(queue(device), back.data(), memory, bytes, 77);
    expect(back == given, "{} at an odd offset do not come back as they were (seed {})",
           format_bytes(static_cast<double>(bytes)), what.seed);
  });
}

/// Threads with a stream each write neighbouring bytes: what is stored in whole blocks is read, changed and written
/// back, and whoever does that without care loses what a neighbour wrote in between.
void neighbours_are_kept(const subject& what) {
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    constexpr std::size_t pieces = 200, length = 137;
    const std::size_t threads = streams_of(device, 4);
    need_copyable(device, length);
    const buffer memory(device, 0, threads * pieces * length);
    std::vector<std::vector<unsigned char>> given;
    auto random = what.generator();
    for (std::size_t t = 0; t < threads; ++t) given.push_back(random_bytes(random, pieces * length));
    std::atomic<int> refused{0};
    std::vector<std::thread> writers;
    for (std::size_t t = 0; t < threads; ++t)
      writers.emplace_back([&, t] {
        try {
          const queue stream(device);
          for (std::size_t i = 0; i < pieces; ++i) {
            const tsr_copy copy = plain_copy(memory.where(), memory.at((i * threads + t) * length), host_space,
                                             host_address(given[t].data() + i * length), length);
            if (device.table().copy(device.handle(), stream.handle(), &copy) != TSR_OK) ++refused;
          }
          stream.finish();
        } catch (const std::exception&) {
          ++refused;
        }
      });
    for (auto& writer : writers) writer.join();
    expect(refused == 0, "copies of several streams into neighbouring bytes fail");
    const queue stream(device);
    const auto back = downloaded<unsigned char>(stream, memory, threads * pieces * length);
    for (std::size_t i = 0; i < pieces; ++i)
      for (std::size_t t = 0; t < threads; ++t)
        expect(std::equal(given[t].begin() + static_cast<std::ptrdiff_t>(i * length),
                          given[t].begin() + static_cast<std::ptrdiff_t>((i + 1) * length),
                          back.begin() + static_cast<std::ptrdiff_t>((i * threads + t) * length)),
               "what stream {} wrote was lost to a neighbour's write (piece {}, seed {})", t, i, what.seed);
  });
}

}  // namespace

std::vector<check> storage_checks() {
  constexpr kind_set storage = set_of(TSR_PLUGIN_STORAGE);
  return {{"storage.computes_nothing", computes_nothing, storage},
          {"storage.spaces_are_disks", spaces_are_disks, storage},
          {"storage.large_contents", large_contents, storage},
          {"storage.neighbours_are_kept", neighbours_are_kept, storage}};
}

}  // namespace tessera::conformance
