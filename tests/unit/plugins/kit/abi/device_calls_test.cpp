// What every device's table answers of its own: spaces, links, queries, and what is refused before the plugin is asked.
#include "plugins/kit/abi/device_calls.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "plugins/kit/abi/device_list.hpp"

namespace {
constexpr std::uint64_t device_word = 0x6465766963655f5full;
struct small_plugin;
}  // namespace

struct tsr_device_s {
  tessera::kit::magic_word magic;
  tessera::kit::reporter report;
  small_plugin* plugin = nullptr;
  std::uint32_t index = 0;
  std::atomic<std::uint64_t> live_allocations{3};
};

namespace {
struct small_plugin {
  tessera::kit::device_list<tsr_device_s, device_word> devices;
};
}  // namespace

namespace tessera::kit {
namespace {

struct small_device {
  using device = tsr_device_s;
  static constexpr std::uint64_t device_magic = device_word, stream_magic = 1;
  static tsr_status alive(const device*) { return TSR_OK; }
  static std::size_t space_count(const device&) { return 2; }
  static tsr_space_desc describe(const device&, std::uint32_t space) {
    tsr_space_desc desc{};
    desc.bytes = 100 + space;
    return desc;
  }
  static tsr_status find_link(device& of, const tsr_space_ref& source, const tsr_space_ref& destination,
                              tsr_link_desc& out) {
    for (const auto* side : {&source, &destination})
      if (const auto status = device_calls<small_device>::check_side(of, *side)) return status;
    out.latency = 7;
    return TSR_OK;
  }
  static std::uint64_t free_bytes(const device&, std::uint32_t space) { return 10 + space; }
  static std::uint64_t clock_ns(const device&) { return 5; }
};

class device_table_test : public testing::Test {
 protected:
  device_table_test() {
    m_host.struct_size = sizeof m_host;
    m_host.context = this;
    m_host.error = [](void* self, tsr_status, const char* text) { static_cast<device_table_test*>(self)->said = text; };
    const reporter report(&m_host);
    const tsr_device_table* given = nullptr;
    const auto status = m_plugin.devices.open(report, 0, 1, table, &device, &given, [&] {
      auto made = std::make_unique<tsr_device_s>();
      made->report = report;
      made->plugin = &m_plugin;
      return made;
    });
    EXPECT_EQ(status, TSR_OK);
  }

  const tsr_device_table table = make_device_table<small_device>(nullptr, nullptr, nullptr, nullptr, nullptr);
  tsr_device* device = nullptr;
  std::string said;

 private:
  tsr_host m_host{};
  small_plugin m_plugin;
};

TEST_F(device_table_test, tells_its_spaces) {
  tsr_space_desc desc{};
  desc.struct_size = sizeof desc;
  EXPECT_EQ(table.struct_size, sizeof table);
  EXPECT_EQ(table.spaces(device, 1, &desc), TSR_OK);
  EXPECT_EQ(desc.bytes, 101u);
  EXPECT_EQ(desc.struct_size, sizeof desc);
  EXPECT_EQ(table.spaces(device, 2, &desc), TSR_OUT_OF_RANGE);
  EXPECT_EQ(said, "spaces: index 2 of 2");
  EXPECT_EQ(table.spaces(device, 0, nullptr), TSR_INVALID_ARGUMENT);
}

TEST_F(device_table_test, tells_links_between_sides_that_are_there) {
  tsr_link_desc desc{};
  desc.struct_size = sizeof desc;
  EXPECT_EQ(table.link(device, {nullptr, 0}, {device, 1}, &desc), TSR_OK);
  EXPECT_EQ(desc.latency, 7);
  EXPECT_EQ(table.link(device, {nullptr, 0}, {device, 2}, &desc), TSR_OUT_OF_RANGE);
  EXPECT_EQ(said, "space 2 of 2");
  tsr_device_s foreign;
  foreign.magic.set(device_word);
  EXPECT_EQ(table.link(device, {&foreign, 0}, {device, 0}, &desc), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(table.link(device, {nullptr, 0}, {device, 1}, nullptr), TSR_INVALID_ARGUMENT);
}

TEST_F(device_table_test, answers_the_queries_that_it_offers) {
  std::uint64_t value = 0;
  EXPECT_EQ(table.query(device, TSR_QUERY_FREE_BYTES, 1, &value), TSR_OK);
  EXPECT_EQ(value, 11u);
  EXPECT_EQ(table.query(device, TSR_QUERY_FREE_BYTES, 2, &value), TSR_OUT_OF_RANGE);
  EXPECT_EQ(table.query(device, TSR_QUERY_LIVE_ALLOCATIONS, 0, &value), TSR_OK);
  EXPECT_EQ(value, 3u);
  EXPECT_EQ(table.query(device, TSR_QUERY_BUSY_NS, 0, &value), TSR_UNIMPLEMENTED);
  EXPECT_EQ(table.health(device), TSR_OK);
}

TEST_F(device_table_test, a_dead_handle_reaches_nothing) {
  tsr_device_s closed;
  tsr_space_desc desc{};
  EXPECT_EQ(table.spaces(&closed, 0, &desc), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(table.health(nullptr), TSR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tessera::kit
