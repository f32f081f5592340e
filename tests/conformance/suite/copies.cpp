// Copies between every pair of spaces, in one, two and three dimensions, with odd sizes.
#include <optional>

#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {
namespace {

/// One end of copies: a space of a device, or plain host memory (device null).
struct end {
  const device* owner;
  std::uint32_t space;
  std::string name;
};

std::vector<end> ends_of(const opened& all) {
  std::vector<end> ends{{nullptr, 0, "host memory"}};
  for (const auto& device : all.devices)
    for (std::uint32_t i = 0; i < device->spaces().size(); ++i)
      ends.push_back({device.get(), i, device->spaces()[i].name});
  return ends;
}

/// Memory at one end, and a way to read and write it from the test.
class region {
 public:
  region(const end& where, std::uint64_t bytes) : m_where(where), m_plain(where.owner == nullptr ? bytes : 0) {
    if (where.owner != nullptr) m_memory.emplace(*where.owner, where.space, bytes);
  }
  /// By a stream that lives no longer: a device may have only one.
  void set(const std::vector<unsigned char>& bytes) {
    if (m_memory)
      upload(queue(*m_where.owner), *m_memory, bytes.data(), bytes.size());
    else
      m_plain = bytes;
  }
  std::vector<unsigned char> get(std::size_t count) {
    return m_memory ? downloaded<unsigned char>(queue(*m_where.owner), *m_memory, count) : m_plain;
  }
  tsr_space_ref where() const { return m_memory ? m_memory->where() : host_space; }
  tsr_address at(std::uint64_t offset) const {
    return m_memory ? m_memory->at(offset) : host_address(m_plain.data() + offset);
  }

 private:
  end m_where;
  std::vector<unsigned char> m_plain;
  std::optional<buffer> m_memory;
};

struct shape {
  std::uint64_t bytes, rows[2], gap_to, gap_from, offset_to, offset_from;
};

const std::vector<shape>& shapes() {
  static const std::vector<shape> all{
      {1, {1, 1}, 0, 0, 0, 0}, {3, {1, 1}, 0, 0, 5, 1},  {4099, {1, 1}, 0, 0, 0, 0},  {70001, {1, 1}, 0, 0, 7, 3},
      {8, {5, 1}, 0, 0, 0, 0}, {7, {13, 1}, 3, 0, 1, 2}, {129, {31, 1}, 0, 17, 0, 0}, {1000, {9, 1}, 24, 8, 16, 0},
      {1, {2, 3}, 0, 0, 0, 0}, {17, {5, 7}, 1, 2, 3, 4}, {64, {4, 4}, 0, 64, 0, 0},   {333, {3, 5}, 11, 13, 0, 9},
      {0, {1, 1}, 0, 0, 0, 0}, {16, {0, 1}, 0, 0, 0, 0}, {16, {2, 0}, 0, 0, 0, 0},    {16, {0, 0}, 0, 0, 0, 0},
  };
  return all;
}

void check_pair(const device& device, const end& to, const end& from, random_source& random) {
  for (const shape& s : shapes()) {
    if (const std::uint64_t all =
            s.bytes * std::max<std::uint64_t>(s.rows[0], 1) * std::max<std::uint64_t>(s.rows[1], 1);
        copyable(device, all) < all)
      continue;
    const std::uint64_t step_to = s.bytes + s.gap_to, step_from = s.bytes + s.gap_from;
    const std::uint64_t rows = std::max<std::uint64_t>(s.rows[0], 1), planes = std::max<std::uint64_t>(s.rows[1], 1);
    const std::uint64_t plane_to = step_to * rows + s.gap_to, plane_from = step_from * rows + s.gap_from;
    const std::uint64_t size_to = s.offset_to + plane_to * planes + 64;
    const std::uint64_t size_from = s.offset_from + plane_from * planes + 64;
    region target(to, size_to), source(from, size_from);
    auto expected = random_bytes(random, size_to);
    const auto given = random_bytes(random, size_from);
    target.set(expected);
    source.set(given);

    tsr_copy copy =
        plain_copy(target.where(), target.at(s.offset_to), source.where(), source.at(s.offset_from), s.bytes);
    copy.rows[0] = s.rows[0], copy.rows[1] = s.rows[1];
    // Where a stride is not needed it may be anything.
    copy.destination_stride[0] = s.rows[0] > 1 ? step_to : random() % 2,
    copy.destination_stride[1] = s.rows[1] > 1 ? plane_to : random() % 2;
    copy.source_stride[0] = s.rows[0] > 1 ? step_from : random() % 2,
    copy.source_stride[1] = s.rows[1] > 1 ? plane_from : random() % 2;
    const std::string call =
        fmt::format("copy of {} x {} x {} bytes from {} to {}", s.bytes, s.rows[0], s.rows[1], from.name, to.name);
    {
      const queue stream(device);
      expect_ok(device.table().copy(device.handle(), stream.handle(), &copy), call);
      stream.finish();
    }

    for (std::uint64_t plane = 0; plane < planes; ++plane)
      for (std::uint64_t row = 0; row < rows; ++row)
        for (std::uint64_t i = 0; i < s.bytes; ++i)
          expected[s.offset_to + plane * plane_to + row * step_to + i] =
              given[s.offset_from + plane * plane_from + row * step_from + i];
    const auto result = target.get(size_to);
    for (std::uint64_t i = 0; i < size_to; ++i)
      expect(result[i] == expected[i], "{}: byte {} is {}, expected {} (a gap between rows counts too)", call, i,
             result[i], expected[i]);
  }
}

/// The tsr_space_ref of an end.
tsr_space_ref ref_of(const end& e) { return {e.owner != nullptr ? e.owner->handle() : nullptr, e.space}; }

void every_pair(const subject& what) {
  const opened all(what);
  auto random = what.generator();
  const auto ends = ends_of(all);
  for_each_device(all, [&](const device& device) {
    for (const end& to : ends)
      for (const end& from : ends) {
        if (to.owner != &device && from.owner != &device) continue;
        tsr_link_desc link{};
        link.struct_size = sizeof link;
        const tsr_status status = device.table().link(device.handle(), ref_of(from), ref_of(to), &link);
        if (status == TSR_UNIMPLEMENTED) continue;
        expect_ok(status, fmt::format("link from {} to {}", from.name, to.name));
        check_pair(device, to, from, random);
      }
  });
}

void links_are_honest(const subject& what) {
  const opened all(what);
  const auto ends = ends_of(all);
  for_each_device(all, [&](const device& device) {
    const queue stream(device);
    for (const end& to : ends)
      for (const end& from : ends) {
        if (to.owner != &device && from.owner != &device) continue;
        tsr_link_desc link{};
        link.struct_size = sizeof link;
        const std::string pair = fmt::format("from {} to {}", from.name, to.name);
        const tsr_status status = device.table().link(device.handle(), ref_of(from), ref_of(to), &link);
        if (to.owner == nullptr || from.owner == nullptr)
          expect_status(status, TSR_OK, "link " + pair + " (plain host memory must work)");
        if (status == TSR_OK) {
          expect(link.bandwidth > 0 && link.latency >= 0, "link {}: bandwidth {}, latency {}", pair, link.bandwidth,
                 link.latency);
          expect(link.link_class >= TSR_LINK_SAME && link.link_class <= TSR_LINK_STORAGE, "link {} is of class {}",
                 pair, link.link_class);
          continue;
        }
        expect_status(status, TSR_UNIMPLEMENTED, "link " + pair);
        region target(to, 64), source(from, 64);
        const tsr_copy copy = plain_copy(target.where(), target.at(0), source.where(), source.at(0), 64);
        expect_status(device.table().copy(device.handle(), stream.handle(), &copy), TSR_UNIMPLEMENTED,
                      "copy " + pair + ", whose link is refused,");
      }
  });
}

void fills(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().fill == nullptr) return;
    tried = true;
    auto random = what.generator();
    for (std::uint32_t space = 0; space < device.spaces().size(); ++space) {
      const queue stream(device);
      for (const std::uint32_t width : {1u, 2u, 4u, 8u, 16u})
        for (const std::uint64_t count : {0ull, 1ull, 3ull, 1000ull}) {
          const auto pattern = random_bytes(random, width);
          auto expected = random_bytes(random, 64 + width * count + 64);
          const buffer memory(device, space, expected.size());
          upload(stream, memory, expected.data(), expected.size());
          const std::string call = fmt::format("fill of {} x {} bytes", count, width);
          expect_ok(device.table().fill(device.handle(), stream.handle(), memory.at(64), pattern.data(), width, count),
                    call);
          stream.finish();
          for (std::uint64_t i = 0; i < width * count; ++i) expected[64 + i] = pattern[i % width];
          expect(downloaded<unsigned char>(stream, memory, expected.size()) == expected, "{}: wrong bytes", call);
        }
      const buffer memory(device, space, 64);
      const unsigned char pattern[16] = {};
      expect_status(device.table().fill(device.handle(), stream.handle(), memory.at(0), pattern, 3, 1),
                    TSR_INVALID_ARGUMENT, "fill with a pattern of 3 bytes");
      expect_status(device.table().fill(device.handle(), stream.handle(), memory.at(0), pattern, 16, 1u << 20),
                    TSR_OUT_OF_RANGE, "fill beyond the allocation");
    }
  });
  if (!tried) skip("fill is not offered");
}

void registered_host_memory(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_device_table& table = device.table();
    if (table.host_register == nullptr) return;
    tried = true;
    expect(table.host_unregister != nullptr, "host_register is there, host_unregister is not");
    auto random = what.generator();
    std::vector<unsigned char> host = random_bytes(random, 3 * 4096 + 5), back(host.size());
    expect_ok(table.host_register(device.handle(), host.data(), host.size()), "host_register");
    expect_status(table.host_register(device.handle(), host.data() + 100, 50), TSR_ALREADY_EXISTS,
                  "host_register of a range inside a registered one");
    const queue stream(device);
    const buffer memory(device, compute_space(device), host.size());
    upload(stream, memory, host.data(), host.size());
    download(stream, back.data(), memory, back.size());
    expect(back == host, "copies from registered memory go wrong");
    expect_ok(table.host_unregister(device.handle(), host.data()), "host_unregister");
    expect_ok(table.host_register(device.handle(), host.data(), host.size()),
              "host_register again after host_unregister");
    expect_ok(table.host_unregister(device.handle(), host.data()), "host_unregister");
  });
  if (!tried) skip("host_register is not offered");
}

}  // namespace

std::vector<check> copy_checks() {
  return {{"copies.every_pair", every_pair},
          {"copies.links_are_honest", links_are_honest},
          {"copies.fills", fills},
          {"copies.registered_host_memory", registered_host_memory}};
}

}  // namespace tessera::conformance
