#pragma once
// A host and some devices whose streams move only when a test says so, with the coherence between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/block/table.hpp"
#include "core/transfer/coherence.hpp"
#include "tests/support/fake_device.hpp"

namespace tessera::transfer {

inline constexpr std::uint64_t block_bytes = 256;  // one granule

/// Space 0 is the host, spaces 1... are devices of the plugins named.
struct rig {
  /// @param blocks  how many blocks of block_bytes a device holds  @param host_blocks  the host; 0: no limit
  explicit rig(const std::vector<std::string>& plugins, std::uint64_t blocks = 16, bool peer_links = false,
               std::uint64_t staging = 4 * 4096, std::uint64_t host_blocks = 0, eviction_settings eviction = {}) {
    world.has_peer_links = peer_links;
    std::vector<memory::space_number> parents;
    for (std::uint32_t k = 0; k <= plugins.size(); ++k) {
      const bool host = k == 0;
      devices.push_back(std::make_unique<testing::fake_device>(
          world, k, host, (host ? host_blocks : blocks) * block_bytes, host ? "host" : plugins[k - 1]));
      memory::space_setup setup;
      setup.number = static_cast<memory::space_number>(k);
      setup.device = &devices.back()->device();
      setup.slab_bytes = host && host_blocks == 0 ? 1 << 16 : (host ? host_blocks : blocks) * block_bytes;
      spaces.push_back(std::make_unique<memory::space>(setup));
      parents.push_back(host ? memory::no_space : memory::space_number{0});
    }
    is = std::make_unique<coherence>(spaces, parents, streams, staging, eviction);
  }

  block::record& make(std::uint64_t bytes = block_bytes) {
    return table.create(element_type::i64, shape{static_cast<std::int64_t>(bytes / 8)});
  }
  static block::access use(block::record& b, intent how) {
    return {
        .block = &b, .version = how == intent::read ? 0 : b.flow.next_version++, .intent = how, .flags = 0, .space = 0};
  }
  acquisition acquire(std::vector<block::access>& accesses, memory::space_number space) {
    acquisition got;
    is->acquire(accesses, space, got);
    return got;
  }
  /// Acquires until it works, with everything moving in between.
  void hold(std::vector<block::access>& accesses, memory::space_number space) {
    for (int tries = 0; tries < 10; ++tries) {
      const acquisition got = acquire(accesses, space);
      settle();
      if (got.outcome == outcome::ready) return;
      ASSERT_EQ(got.outcome, outcome::retry) << (got.cause ? got.cause->text : "");
    }
    FAIL() << "never ready";
  }
  transfer_estimate cost_of(std::vector<block::access>& accesses, memory::space_number space) const {
    transfer_estimate out;
    is->costs_of(accesses, {&space, 1}, {&out, 1});
    return out;
  }
  void done(std::vector<block::access>& accesses) { is->publish_and_finish(accesses); }
  /// The block becomes `value` everywhere in `space`, at once.
  void put(block::record& b, memory::space_number space, std::int64_t value) {
    std::vector<block::access> task{use(b, intent::write)};
    hold(task, space);
    std::fill_n(words(b, space), b.bytes / 8, value);
    done(task);
  }
  /// Reads it in a space; leaves a valid replica there.
  std::int64_t get(block::record& b, memory::space_number space) {
    std::vector<block::access> task{use(b, intent::read)};
    hold(task, space);
    const std::int64_t first = words(b, space)[0];
    for (std::uint64_t k = 0; k < b.bytes / 8; ++k) EXPECT_EQ(words(b, space)[k], first);
    done(task);
    return first;
  }
  std::int64_t* words(block::record& b, memory::space_number space) {
    const block::replica* r = b.find(space);
    return reinterpret_cast<std::int64_t*>(testing::resolve(spaces[space]->address_of(r->where)));
  }
  /// Everything that is enqueued runs.
  void settle() {
    for (int k = 0; k < 200; ++k)
      for (auto* s : world.streams) s->advance();
    for (const auto& s : streams.all())
      for (int k = 0; k < 4; ++k) s->poll();
  }
  std::uint32_t pins(block::record& b, memory::space_number space) {
    const block::replica* r = b.find(space);
    return r == nullptr ? 0 : r->pins;
  }
  std::uint64_t copies(memory::space_number from, memory::space_number to) {
    return is->links().counters(from, to).transfers;
  }
  /// All blocks can be dropped: nothing is pinned or under way.
  void end() {
    settle();
    std::vector<block::record*> all;
    table.for_each([&](block::record& b) { all.push_back(&b); });
    for (block::record* b : all) {
      std::vector<block::ticket> waits;
      EXPECT_TRUE(is->try_drop(*b, waits)) << block::name_of(*b);
      table.destroy(*b);
    }
    EXPECT_FALSE(is->transfers_pending());
  }

  testing::fake_world world;
  std::vector<std::unique_ptr<testing::fake_device>> devices;
  block::table table;
  stream_table streams;
  std::vector<std::unique_ptr<memory::space>> spaces;
  std::unique_ptr<coherence> is;
};

}  // namespace tessera::transfer
