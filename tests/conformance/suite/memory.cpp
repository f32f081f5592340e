// Allocations: alignment, contents, exhaustion.
#include <algorithm>
#include <bit>

#include "core/base/units.hpp"
#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {
namespace {

void for_each_space(const opened& all,
                    const std::function<void(const device&, std::uint32_t, const tsr_space_desc&)>& use) {
  for_each_device(all, [&](const device& device) {
    for (std::uint32_t i = 0; i < device.spaces().size(); ++i) use(device, i, device.spaces()[i].description);
  });
}

void spaces_are_described(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    expect(!device.spaces().empty(), "the device has no memory space");
    for (std::uint32_t i = 0; i < device.spaces().size(); ++i) {
      tsr_space_desc s{};
      s.struct_size = sizeof s;
      expect_ok(device.table().spaces(device.handle(), i, &s), "spaces");
      expect(s.kind >= TSR_SPACE_HOST && s.kind <= TSR_SPACE_STORAGE, "space {} is of kind {}", i, s.kind);
      expect(std::has_single_bit(s.alignment), "space {} has alignment {}, which is no power of two", i, s.alignment);
      expect(s.granularity > 0, "space {} has granularity 0", i);
      expect(s.name != nullptr && *s.name != '\0', "space {} has no name", i);
      expect((s.capabilities & TSR_SPACE_HOST_VISIBLE) == 0 || (s.capabilities & TSR_SPACE_ADDRESSABLE) != 0,
             "space {} is host-visible but not addressable", i);
    }
  });
}

void alignment_is_kept(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_space(all, [&](const device& device, std::uint32_t space, const tsr_space_desc& description) {
    std::vector<buffer> kept;
    for (const std::uint64_t bytes : {1u, 3u, 64u, 100u, 4096u, 4097u, 65537u}) {
      if (allocatable(device, bytes) < bytes) continue;
      kept.emplace_back(device, space, bytes);
      if ((description.capabilities & TSR_SPACE_ADDRESSABLE) == 0) continue;
      tried = true;
      expect(device.table().mem_base != nullptr, "the space is addressable but mem_base is missing");
      void* base = nullptr;
      expect_ok(device.table().mem_base(device.handle(), kept.back().memory(), &base), "mem_base");
      expect(reinterpret_cast<std::uintptr_t>(base) % description.alignment == 0,
             "an allocation of {} bytes begins at {}, not at "
             "a multiple of {}",
             bytes, base, description.alignment);
    }
  });
  if (!tried) skip("no space is addressable, so nobody sees where an allocation begins");
}

void allocations_do_not_overlap(const subject& what) {
  const opened all(what);
  for_each_space(all, [&](const device& device, std::uint32_t space, const tsr_space_desc&) {
    auto random = what.generator();
    const queue stream(device);
    std::vector<buffer> memory;
    std::vector<std::vector<unsigned char>> contents;
    for (int i = 0; i < 24; ++i) {
      const std::size_t bytes = 1 + random() % 9000;
      memory.emplace_back(device, space, bytes);
      contents.push_back(random_bytes(random, bytes));
      upload(stream, memory.back(), contents.back().data(), bytes);
    }
    for (std::size_t i = 0; i < memory.size(); ++i)
      expect(downloaded<unsigned char>(stream, memory[i], contents[i].size()) == contents[i],
             "allocation {} of {} lost its contents when others were written (seed {})", i, memory.size(), what.seed);
  });
}

/// Frees what was allocated for exhaustion, whatever happens.
struct hoard {
  const device& from;
  std::vector<tsr_memory*> all;
  ~hoard() {
    for (tsr_memory* memory : all) from.table().mem_free(from.handle(), memory);
  }
};

/// A device that allocates small pieces alone is not filled by more of them.
constexpr std::uint64_t max_pieces = 4096;

void exhaustion_answers_and_recovers(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_space(all, [&](const device& device, std::uint32_t space, const tsr_space_desc& description) {
    // Others use host memory too: only spaces with a small capacity of their own are filled.
    if (description.bytes == 0 || description.bytes > (4ull << 30)) return;
    tried = true;
    const std::uint64_t piece = allocatable(device, std::max<std::uint64_t>(description.bytes / 8, 1)),
                        most = description.bytes / piece;
    if (most > max_pieces)
      throw beyond_limits(fmt::format("it takes {} allocations to fill space {}, of max_allocation bytes ({}) each",
                                      most, space, device.description().max_allocation));
    {
      hoard taken{device, {}};
      tsr_status status = TSR_OK;
      while (status == TSR_OK) {
        tsr_memory* memory = nullptr;
        status = device.table().mem_alloc(device.handle(), space, piece, &memory);
        if (status == TSR_OK) taken.all.push_back(memory);
        expect(taken.all.size() <= most, "{} allocations of {} succeed, which is more than the capacity ({})",
               taken.all.size(), format_bytes(static_cast<double>(piece)),
               format_bytes(static_cast<double>(description.bytes)));
      }
      expect_status(status, TSR_RESOURCE_EXHAUSTED, "mem_alloc in a full space");
      expect(taken.all.size() >= most / 2,
             "only {} allocations of {} succeed, which is less than half of the capacity ({})", taken.all.size(),
             format_bytes(static_cast<double>(piece)), format_bytes(static_cast<double>(description.bytes)));
    }
    const queue stream(device);
    const buffer again(device, space, piece);
    const std::vector<unsigned char> bytes(std::min<std::uint64_t>(piece, 1000), 7);
    upload(stream, again, bytes.data(), bytes.size());
    expect(downloaded<unsigned char>(stream, again, bytes.size()) == bytes, "after exhaustion copies go wrong");
  });
  if (!tried) skip("no space has a known capacity of at most 4 GiB");
}

/// Half of what a device says that it has, or that is free of it, can be allocated and used.
void capacity_is_there(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_space(all, [&](const device& device, std::uint32_t space, const tsr_space_desc& description) {
    if (description.kind != TSR_SPACE_DEVICE || description.bytes == 0) return;
    std::uint64_t free_bytes = 0;
    const bool known = device.table().query != nullptr &&
                       device.table().query(device.handle(), TSR_QUERY_FREE_BYTES, space, &free_bytes) == TSR_OK;
    expect(!known || free_bytes <= description.bytes, "space {} has {} and {} of it are free", space,
           format_bytes(static_cast<double>(description.bytes)), format_bytes(static_cast<double>(free_bytes)));
    const std::uint64_t half = (known ? free_bytes : description.bytes) / 2, piece = allocatable(device, half / 8);
    if (piece < 64) return;
    const std::uint64_t wanted = std::min(half / piece, max_pieces) * piece;
    tried = true;
    const queue stream(device);
    hoard taken{device, {}};
    for (std::uint64_t got = 0; got < wanted; got += piece) {
      tsr_memory* memory = nullptr;
      const tsr_status status = device.table().mem_alloc(device.handle(), space, piece, &memory);
      expect(status == TSR_OK, "space {} says that it has {}{}, but after {} no more {} can be allocated ({})", space,
             format_bytes(static_cast<double>(description.bytes)),
             known ? fmt::format(", {} of it free", format_bytes(static_cast<double>(free_bytes))) : "",
             format_bytes(static_cast<double>(got)), format_bytes(static_cast<double>(piece)), plugin::name_of(status));
      taken.all.push_back(memory);
      const unsigned char mark = static_cast<unsigned char>(taken.all.size());
      const tsr_copy last =
          plain_copy({device.handle(), space}, {memory, piece - 1}, host_space, host_address(&mark), 1);
      expect_ok(device.table().copy(device.handle(), stream.handle(), &last), "copy to the last byte of an allocation");
      stream.finish();
    }
    for (std::size_t i = 0; i < taken.all.size(); ++i) {
      unsigned char mark = 0;
      const tsr_copy back =
          plain_copy(host_space, host_address(&mark), {device.handle(), space}, {taken.all[i], piece - 1}, 1);
      expect_ok(device.table().copy(device.handle(), stream.handle(), &back),
                "copy from the last byte of an allocation");
      stream.finish();
      expect(mark == static_cast<unsigned char>(i + 1),
             "the last byte of allocation {} of {} has been overwritten by another", i + 1, taken.all.size());
    }
  });
  if (!tried) skip("no device memory has a known capacity, of which at least 1 KiB is free");
}

void absurd_sizes_are_exhaustion(const subject& what) {
  const opened all(what);
  for_each_space(all, [](const device& device, std::uint32_t space, const tsr_space_desc&) {
    for (const std::uint64_t bytes : {1ull << 62, ~0ull, ~0ull - 4095}) {
      auto* const untouched = reinterpret_cast<tsr_memory*>(std::uintptr_t{64});
      tsr_memory* memory = untouched;
      expect_status(device.table().mem_alloc(device.handle(), space, bytes, &memory), TSR_RESOURCE_EXHAUSTED,
                    fmt::format("mem_alloc of {} bytes", bytes));
      expect(memory == untouched, "a failed mem_alloc wrote its out_ argument");
    }
  });
}

void counts_allocations(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().query == nullptr) return;
    const auto ask = [&](tsr_query_key key, std::uint32_t index, std::uint64_t& value) {
      return device.table().query(device.handle(), key, index, &value) == TSR_OK;
    };
    std::uint64_t before = 0, during = 0, after = 0;
    if (ask(TSR_QUERY_LIVE_ALLOCATIONS, 0, before)) {
      tried = true;
      {
        const buffer one(device, 0, 100), two(device, 0, 100);
        ask(TSR_QUERY_LIVE_ALLOCATIONS, 0, during);
      }
      ask(TSR_QUERY_LIVE_ALLOCATIONS, 0, after);
      expect(during == before + 2 && after == before, "live allocations: {} before, {} with two more, {} after", before,
             during, after);
    }
    for (std::uint32_t space = 0; space < device.spaces().size(); ++space) {
      const tsr_space_desc& description = device.spaces()[space].description;
      const bool own = description.kind == TSR_SPACE_DEVICE || description.kind == TSR_SPACE_STORAGE;
      if (!own || !ask(TSR_QUERY_FREE_BYTES, space, before)) continue;
      tried = true;
      const std::uint64_t bytes = allocatable(device, 1 << 20);
      bool counted = false;  // others may give back some of a disk meanwhile, though not each time
      for (int round = 0; round < 5 && !counted; ++round) {
        ask(TSR_QUERY_FREE_BYTES, space, before);
        const buffer one(device, space, bytes);
        ask(TSR_QUERY_FREE_BYTES, space, during);
        counted = during + bytes <= before;
      }
      expect(counted, "{} bytes were allocated, but free bytes went from {} to {}", bytes, before, during);
    }
  });
  if (!tried) skip("the plugin counts neither allocations nor free bytes");
}

void base_is_what_copies_write(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_space(all, [&](const device& device, std::uint32_t space, const tsr_space_desc& description) {
    const buffer memory(device, space, 512);
    if ((description.capabilities & TSR_SPACE_ADDRESSABLE) == 0) {
      void* base = nullptr;
      if (device.table().mem_base != nullptr)
        expect_status(device.table().mem_base(device.handle(), memory.memory(), &base), TSR_UNIMPLEMENTED,
                      "mem_base in a space that is not addressable");
    }
    if ((description.capabilities & TSR_SPACE_HOST_VISIBLE) == 0) return;
    tried = true;
    auto random = what.generator();
    const auto bytes = random_bytes(random, 512);
    const queue stream(device);
    upload(stream, memory, bytes.data(), bytes.size());
    void* base = nullptr;
    expect_ok(device.table().mem_base(device.handle(), memory.memory(), &base), "mem_base");
    expect(std::memcmp(base, bytes.data(), bytes.size()) == 0,
           "the host does not see through mem_base what a copy wrote");
    static_cast<unsigned char*>(base)[17] ^= 0xff;
    expect(downloaded<unsigned char>(stream, memory, 512)[17] == (bytes[17] ^ 0xff),
           "a copy does not read what the host wrote through mem_base");
  });
  if (!tried) skip("no space is visible to the host");
}

void mapping_shows_the_contents(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_space(all, [&](const device& device, std::uint32_t space, const tsr_space_desc& description) {
    if ((description.capabilities & TSR_SPACE_HOST_VISIBLE) != 0 || device.table().mem_map == nullptr) return;
    tried = true;
    expect(device.table().mem_unmap != nullptr, "mem_map is there, mem_unmap is not");
    auto random = what.generator();
    const auto bytes = random_bytes(random, 1000);
    const queue stream(device);
    const buffer memory(device, space, bytes.size());
    upload(stream, memory, bytes.data(), bytes.size());
    void* pointer = nullptr;
    expect_ok(device.table().mem_map(device.handle(), memory.memory(), 100, 200, &pointer), "mem_map");
    expect(std::memcmp(pointer, bytes.data() + 100, 200) == 0, "mem_map shows other bytes than were copied in");
    static_cast<unsigned char*>(pointer)[5] ^= 0xff;
    expect_ok(device.table().mem_unmap(device.handle(), memory.memory(), pointer), "mem_unmap");
    expect(downloaded<unsigned char>(stream, memory, 1000)[105] == (bytes[105] ^ 0xff),
           "what was written through mem_map is lost");
    expect_status(device.table().mem_map(device.handle(), memory.memory(), 1u << 30, 1, &pointer), TSR_OUT_OF_RANGE,
                  "mem_map beyond the allocation");
  });
  if (!tried) skip("every space is visible to the host, or mem_map is not offered");
}

}  // namespace

std::vector<check> memory_checks() {
  return {{"memory.spaces_are_described", spaces_are_described},
          {"memory.alignment_is_kept", alignment_is_kept},
          {"memory.allocations_do_not_overlap", allocations_do_not_overlap},
          {"memory.exhaustion_answers_and_recovers", exhaustion_answers_and_recovers},
          {"memory.capacity_is_there", capacity_is_there},
          {"memory.absurd_sizes_are_exhaustion", absurd_sizes_are_exhaustion},
          {"memory.counts_allocations", counts_allocations},
          {"memory.base_is_what_copies_write", base_is_what_copies_write},
          {"memory.mapping_shows_the_contents", mapping_shows_the_contents}};
}

}  // namespace tessera::conformance
