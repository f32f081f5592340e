// The version table, transfers and eviction against a naive oracle: one value per block, in program order.
//
// Random tasks read, write and update blocks in three spaces while streams advance step by step in random order. Every
// operation checks, at the moment in which the device would run it, that the bytes it reads are those of the version it
// was given. TESSERA_MODEL_STEPS and TESSERA_SEED change the length and the seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <list>
#include <map>
#include <random>

#include "core/block/table.hpp"
#include "core/transfer/coherence.hpp"
#include "tests/support/fake_device.hpp"

namespace tessera {
namespace {

using testing::fake_device;
using testing::fake_of;
using testing::fake_step;
using testing::fake_world;

constexpr std::uint64_t block_bytes = 256;

std::uint64_t number_from(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

class model {
 public:
  model(std::uint64_t seed, bool peer_links, std::uint64_t device_blocks, double write_ahead) : m_writes_ahead(write_ahead > 0), m_random(seed) {
    m_world.has_peer_links = peer_links;
    for (std::uint32_t k = 0; k < 3; ++k) {
      m_devices.push_back(std::make_unique<fake_device>(m_world, k, k == 0, k == 0 ? 0 : device_blocks * block_bytes));
      memory::space_setup setup;
      setup.number = static_cast<memory::space_number>(k);
      setup.device = &m_devices.back()->device();
      setup.slab_bytes = k == 0 ? 1 << 16 : device_blocks * block_bytes;
      m_spaces.push_back(std::make_unique<memory::space>(setup));
    }
    m_coherence = std::make_unique<transfer::coherence>(m_spaces, std::vector<memory::space_number>{memory::no_space, 0, 0},
                                                        m_streams, 4 * 4096, transfer::eviction_settings{.write_ahead = write_ahead});
    for (std::uint32_t k = 1; k < 3; ++k)
      for (int twice = 0; twice < 2; ++twice)
        m_compute[k].push_back(&m_streams.create(m_devices[k]->device(), TSR_STREAM_COMPUTE));
    for (int k = 0; k < 12; ++k) m_blocks.push_back({&m_table.create(element_type::i64, shape{block_bytes / 8})});
  }

  void run(std::uint64_t steps) {
    for (std::uint64_t k = 0; k < steps && !::testing::Test::HasFailure(); ++k) {
      step();
      if (k % 8 == 0) check_invariants();
    }
    while (!m_open.empty() || m_coherence->transfers_pending()) settle();
    check_invariants();
    for (auto& b : m_blocks) {
      std::vector<block::ticket> waits;
      while (!m_coherence->try_drop(*b.is, waits)) {
        waits.clear();
        settle();
      }
      m_table.destroy(*b.is);
    }
    EXPECT_EQ(m_table.size(), 0u);
    for (const auto& s : m_spaces) EXPECT_LE(s->statistics().used_bytes, 2u * 4 * 4096) << s->name();  // two staging rings
    EXPECT_GT(m_reads_checked, steps / 20);
    EXPECT_GT(m_coherence->statistics().written_back, 0u);
    EXPECT_GT(m_coherence->statistics().dropped, 0u);
    EXPECT_EQ(m_coherence->statistics().written_ahead > 0, m_writes_ahead);
    EXPECT_GT(m_coherence->statistics().saved_fetches, 0u);
  }

 private:
  struct tracked {
    block::record* is;
    std::uint64_t value = 0;  // the oracle
    int readers = 0;          // tasks acquired on the host and not yet run
    bool writer = false;
  };
  struct open_task {
    std::vector<block::access> accesses;
    std::vector<std::size_t> which;
    std::vector<std::uint64_t> expected;
    std::uint64_t made = 0;
    std::vector<block::ticket> waits;   // host: before it runs
    block::ticket done;                 // device: when it lands
    bool on_host = true;
  };

  std::uint64_t random(std::uint64_t below) { return m_random() % below; }

  void step() {
    switch (random(10)) {
      case 0: case 1: case 2: start_task(); break;
      case 3: m_coherence->evict(static_cast<memory::space_number>(1 + random(2)), block_bytes * (1 + random(3))); break;
      case 4: recreate(); break;
      case 5: poll(); break;
      default: break;
    }
    // Streams keep up on average, with bursts in which nothing moves.
    for (std::uint64_t k = (m_step++ / 64) % 4 == 0 ? 0 : 2 + random(8); k > 0; --k) advance_one();
    run_ready_tasks();
  }

  void advance_one() {
    if (!m_world.streams.empty()) m_world.streams[random(m_world.streams.size())]->advance();
  }
  void poll() {
    for (const auto& s : m_streams.all()) s->poll();
  }
  void settle() {
    for (int k = 0; k < 64; ++k)
      for (auto* s : m_world.streams) s->advance();
    poll();
    run_ready_tasks();
  }

  /// One block is destroyed and made anew, when no task uses it.
  void recreate() {
    const std::size_t k = random(m_blocks.size());
    if (m_blocks[k].readers != 0 || m_blocks[k].writer) return;
    for (const open_task& t : m_open)
      for (const std::size_t w : t.which)
        if (w == k) return;
    std::vector<block::ticket> waits;
    if (!m_coherence->try_drop(*m_blocks[k].is, waits)) return;
    m_table.destroy(*m_blocks[k].is);
    m_blocks[k] = {&m_table.create(element_type::i64, shape{block_bytes / 8})};
  }

  void start_task() {
    open_task t;
    const auto space = static_cast<memory::space_number>(random(3));
    const std::size_t count = 1 + random(3);
    for (std::size_t tries = 0; tries < 8 && t.which.size() < count; ++tries) {
      const std::size_t k = random(m_blocks.size());
      if (std::ranges::find(t.which, k) != t.which.end()) continue;
      tracked& b = m_blocks[k];
      intent how = static_cast<intent>(random(3));  // read, write, update
      if (b.value == 0) how = intent::write;        // nothing to read yet
      // The flow's promise: nobody starts while a conflicting earlier task has not been enqueued or has not run.
      if (b.writer || (how != intent::read && b.readers != 0)) continue;
      t.which.push_back(k);
      t.accesses.push_back({.block = b.is, .version = 0, .how = how, .flags = 0, .space = 0});
      t.expected.push_back(how == intent::write ? 0 : b.value);
    }
    if (t.which.empty()) return;
    for (block::access& a : t.accesses)
      if (a.how != intent::read) a.version = a.block->flow.next_version++;

    transfer::acquisition got;
    m_coherence->acquire(t.accesses, space, got);
    if (got.what == transfer::outcome::no_memory) m_coherence->evict(got.lacking, got.missing_bytes);
    ASSERT_NE(static_cast<int>(got.what), static_cast<int>(transfer::outcome::failed)) << (got.cause ? got.cause->text : "");
    if (got.what != transfer::outcome::ready) return;  // retry or no memory: given up, which must leave no trace
    t.made = ++m_next_value;
    t.on_host = space == 0;
    if (t.on_host) {
      t.waits = got.waits;
      for (std::size_t k = 0; k < t.which.size(); ++k) {
        tracked& b = m_blocks[t.which[k]];
        if (t.accesses[k].how == intent::read) ++b.readers;
        else b.writer = true;
      }
      m_open.push_back(std::move(t));
      return;
    }
    transfer::stream& on = *m_compute[space][random(m_compute[space].size())];
    for (const block::ticket w : got.waits) {
      ASSERT_TRUE(on.can_wait_for(m_streams.at(w.stream)));
      on.wait(m_streams.at(w.stream), w);
    }
    std::vector<tsr_address> where;
    for (const block::access& a : t.accesses) where.push_back(m_coherence->address_of(a));
    fake_of(on.handle()).push({fake_step::kind::work, [this, where, accesses = t.accesses, expected = t.expected, made = t.made] {
      for (std::size_t k = 0; k < where.size(); ++k) apply(testing::resolve(where[k]), accesses[k].how, expected[k], made);
    }, 0, nullptr});
    t.done = on.signal();
    m_coherence->publish(t.accesses, t.done);
    for (std::size_t k = 0; k < t.which.size(); ++k)
      if (t.accesses[k].how != intent::read) m_blocks[t.which[k]].value = t.made;
    m_open.push_back(std::move(t));
  }

  /// What every task does to every block: checks what it was promised, then writes the value it makes.
  void apply(std::byte* bytes, intent how, std::uint64_t expected, std::uint64_t made) {
    auto* words = reinterpret_cast<std::uint64_t*>(bytes);
    if (how != intent::write)
      for (const std::size_t at : {std::size_t{0}, block_bytes / 16, block_bytes / 8 - 1}) {
        EXPECT_EQ(words[at], expected);
        ++m_reads_checked;
      }
    if (how != intent::read) std::fill_n(words, block_bytes / 8, made);
  }

  void run_ready_tasks() {
    for (auto it = m_open.begin(); it != m_open.end();) {
      open_task& t = *it;
      if (t.on_host) {
        if (!std::ranges::all_of(t.waits, [&](block::ticket w) { return m_streams.reached(w); })) {
          ++it;
          continue;
        }
        for (std::size_t k = 0; k < t.which.size(); ++k) {
          void* host = nullptr;
          m_coherence->address_of(t.accesses[k], &host);
          apply(static_cast<std::byte*>(host), t.accesses[k].how, t.expected[k], t.made);
          tracked& b = m_blocks[t.which[k]];
          if (t.accesses[k].how == intent::read) --b.readers;
          else b.writer = false, b.value = t.made;
        }
        m_coherence->publish(t.accesses, {});
      } else if (!m_streams.reached(t.done)) {
        ++it;
        continue;
      }
      m_coherence->finish(t.accesses);
      it = m_open.erase(it);
    }
  }

  void check_invariants() {
    m_table.for_each([&](block::record& b) {
      std::uint64_t mask = 0;
      int entries = 0;
      b.for_each_replica([&](block::replica& r) {
        ++entries;
        EXPECT_TRUE(static_cast<bool>(r.where));
        EXPECT_EQ(r.issuing, 0);
        EXPECT_LE(r.version, b.committed);
        if (b.committed != 0 && r.version == b.committed) mask |= std::uint64_t{1} << r.space;
      });
      EXPECT_EQ(mask, b.valid_mask) << "the mask is the set of valid replicas";
      EXPECT_EQ(b.committed != 0, mask != 0) << "somewhere there is a current copy";
      EXPECT_LE(entries, 3);
    });
    for (const auto& s : m_spaces) EXPECT_LE(s->statistics().used_bytes, s->limit());
  }

  bool m_writes_ahead;
  std::mt19937_64 m_random;
  fake_world m_world;
  std::vector<std::unique_ptr<fake_device>> m_devices;
  block::table m_table;
  transfer::stream_table m_streams;
  std::vector<std::unique_ptr<memory::space>> m_spaces;
  std::unique_ptr<transfer::coherence> m_coherence;
  std::array<std::vector<transfer::stream*>, 3> m_compute;
  std::vector<tracked> m_blocks;
  std::list<open_task> m_open;
  std::uint64_t m_next_value = 0, m_reads_checked = 0, m_step = 0;
};

class version_table : public ::testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(version_table, agrees_with_a_naive_oracle) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::uint64_t steps = number_from("TESSERA_MODEL_STEPS", 25'000);
#else
  const std::uint64_t steps = number_from("TESSERA_MODEL_STEPS", 250'000);  // four cases: 10^6 in all
#endif
  const std::uint64_t seed = number_from("TESSERA_SEED", std::random_device{}());
  std::printf("seed %llu (TESSERA_SEED), %llu steps\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(steps));
  const int blocks = std::get<1>(GetParam());
  model m(seed, std::get<0>(GetParam()), static_cast<std::uint64_t>(blocks), blocks < 5 ? 0 : 0.3);
  m.run(steps);
}

INSTANTIATE_TEST_SUITE_P(links_and_memory, version_table,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(3, 7)),
                         [](const auto& parameters) {
                           return std::string(std::get<0>(parameters.param) ? "peer_links" : "through_the_ring") + "_" +
                                  std::to_string(std::get<1>(parameters.param)) + "_blocks";
                         });

}  // namespace
}  // namespace tessera
