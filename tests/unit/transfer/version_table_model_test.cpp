// The version table, transfers and eviction against a naive oracle: one value per block, in program order.
//
// Random tasks use blocks in three spaces, with every intent, while streams advance in random order (a fake device,
// where each step is the test's) or by themselves (the plugin sim). Every operation checks, at the moment in which the
// device runs it, that the bytes it reads are those of the version it was given. TESSERA_MODEL_STEPS and TESSERA_SEED
// change the length and the seed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <list>
#include <map>
#include <random>

#include "core/block/table.hpp"
#include "core/transfer/coherence.hpp"
#include "tests/integration/runtime/machines.hpp"
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

using kernel = std::function<void(const std::vector<std::byte*>&)>;  // gets the host pointers of what a task uses

/// Where the model runs: the host and two devices of one plugin.
class world {
 public:
  virtual ~world() = default;
  virtual const plugin::device& device(std::uint32_t k) = 0;
  /// Something may move; `random` chooses.
  virtual void advance(std::mt19937_64& random, transfer::stream_table& streams) = 0;
  /// Much of what is enqueued runs.
  virtual void advance_far(transfer::stream_table& streams) = 0;
  /// Enqueues work on a device's stream; `what` lives until that has run.
  virtual void enqueue(transfer::stream& on, const std::vector<tsr_address>& where, const kernel& what) = 0;
  /// Whether the same seed gives the same run.
  virtual bool repeatable() const = 0;
};

class fakes final : public world {
 public:
  fakes(bool peer_links, std::uint64_t device_bytes) {
    m_world.has_peer_links = peer_links;
    for (std::uint32_t k = 0; k < 3; ++k)
      m_devices.push_back(std::make_unique<fake_device>(m_world, k, k == 0, k == 0 ? 0 : device_bytes));
  }
  const plugin::device& device(std::uint32_t k) override { return m_devices[k]->device(); }
  void advance(std::mt19937_64& random, transfer::stream_table&) override {
    if (!m_world.streams.empty()) m_world.streams[random() % m_world.streams.size()]->advance();
  }
  void advance_far(transfer::stream_table&) override {
    for (int k = 0; k < 64; ++k)
      for (auto* s : m_world.streams) s->advance();
  }
  void enqueue(transfer::stream& on, const std::vector<tsr_address>& where, const kernel& what) override {
    fake_of(on.handle())
        .push({fake_step::kind::work,
               [where, &what] {
                 std::vector<std::byte*> bytes;
                 for (const tsr_address a : where) bytes.push_back(testing::resolve(a));
                 what(bytes);
               },
               0, nullptr});
  }
  bool repeatable() const override { return true; }

 private:
  fake_world m_world;
  std::vector<std::unique_ptr<fake_device>> m_devices;
};

class simulated final : public world {
 public:
  explicit simulated(bool peer_links) : m_machine(testing::with_sims(2, "1 MiB", peer_links)) {}
  const plugin::device& device(std::uint32_t k) override { return *m_machine.plugins->devices().at(k); }
  void advance(std::mt19937_64& random, transfer::stream_table& streams) override {
    if (random() % 32 == 0) advance_far(streams);
  }
  void advance_far(transfer::stream_table& streams) override {
    for (const auto& s : streams.all()) s->wait_until_idle(1'000'000);
  }
  void enqueue(transfer::stream& on, const std::vector<tsr_address>& where, const kernel& what) override {
    const auto run = [](void* argument, void* const* bases) -> tsr_status {
      const auto& [work, count] = *static_cast<call*>(argument);
      std::vector<std::byte*> bytes;
      for (std::size_t k = 0; k < count; ++k) bytes.push_back(static_cast<std::byte*>(bases[k]));
      (*work)(bytes);
      return TSR_OK;
    };
    const plugin::device& d = on.device();
    call& kept = m_calls.emplace_back(&what, where.size());
    d.check(d.table().host_task(d.handle(), on.handle(), run, &kept, where.data(),
                                static_cast<std::uint32_t>(where.size()), 0),
            "work");
  }
  bool repeatable() const override { return false; }

 private:
  using call = std::pair<const kernel*, std::size_t>;
  machine m_machine;
  std::list<call> m_calls;
};

class model {
 public:
  model(std::uint64_t seed, world& on, std::uint64_t device_blocks, double write_ahead)
      : m_world(on), m_writes_ahead(write_ahead > 0), m_random(seed) {
    for (std::uint32_t k = 0; k < 3; ++k) {
      memory::space_setup setup;
      setup.number = static_cast<memory::space_number>(k);
      setup.device = &on.device(k);
      const std::uint64_t allocated_size = std::max(block_bytes, on.device(k).spaces()[0].description.alignment);
      setup.limit = k == 0 ? 1 << 20 : device_blocks * allocated_size;
      setup.slab_bytes = k == 0 ? 1 << 16 : device_blocks * allocated_size;
      m_spaces.push_back(std::make_unique<memory::space>(setup));
    }
    m_coherence = std::make_unique<transfer::coherence>(
        m_spaces, std::vector<memory::space_number>{memory::no_space, 0, 0}, m_streams, 4 * 4096,
        transfer::eviction_settings{.write_ahead = write_ahead});
    for (std::uint32_t k = 1; k < 3; ++k)
      for (int twice = 0; twice < 2; ++twice)
        m_compute[k].push_back(&m_streams.create(on.device(k), TSR_STREAM_COMPUTE));
    for (int k = 0; k < 12; ++k) {
      m_blocks.push_back(std::make_unique<tracked>());
      m_blocks.back()->is = &fresh_record();
    }
  }

  void run(std::uint64_t steps) {
    for (std::uint64_t k = 0; k < steps && !::testing::Test::HasFailure(); ++k) {
      step();
      if (k % 8 == 0) check_invariants();
    }
    // Open groups are summed; where the devices have no room, on the host.
    for (auto& b : m_blocks)
      while (!b->copies.empty() && !::testing::Test::HasFailure()) {
        start_sum(*b, 0);
        settle();
      }
    while (!m_open.empty() || m_coherence->transfers_pending()) settle();
    check_invariants();
    for (auto& b : m_blocks) m_ended.push_back(std::move(b));
    while (!m_ended.empty()) {
      settle();
      end_copies();
    }
    EXPECT_EQ(m_table.size(), 0u);
    for (const auto& s : m_spaces)
      EXPECT_LE(s->statistics().used_bytes, 2u * 4 * 4096) << s->name();  // two staging rings
    EXPECT_GT(m_reads_checked, steps / 20);
    for (const intent i : {intent::read, intent::write, intent::update, intent::accumulate, intent::scratch})
      EXPECT_GT(m_uses[i], steps / 100) << name_of(i);
    EXPECT_GT(m_sums, steps / 200);
    const transfer::coherence_statistics s = m_coherence->statistics();
    EXPECT_GT(s.written_back, 0u);
    EXPECT_GT(s.dropped, 0u);
    EXPECT_GT(s.saved_fetches, 0u);
    if (m_world.repeatable()) {
      EXPECT_EQ(s.written_ahead > 0, m_writes_ahead);
    }
  }

 private:
  /// A block, or a private copy of one.
  struct tracked {
    block::record* is = nullptr;
    std::uint64_t value = 0;  // the oracle: what all its elements are; 0: it has no contents
    int readers = 0;          // tasks acquired on the host and not yet run
    bool writer = false;
    std::vector<std::unique_ptr<tracked>> copies;  // of the open group of accumulates
    std::uint64_t sum = 0;                         // of what was added to them
    bool idle() const { return readers == 0 && !writer; }
  };
  /// What a task does to one block: it finds `expected` where its intent needs contents, and leaves `made` unless it
  /// reads.
  struct use {
    tracked* of;
    intent how;
    std::uint64_t expected, made;
  };
  struct open_task {
    std::vector<block::access> accesses;
    std::vector<use> uses;
    std::vector<std::unique_ptr<tracked>> ends;  // a sum: the copies, which are not used afterwards
    std::vector<block::ticket> waits;            // host: before it runs
    block::ticket done;                          // device: when it lands
    bool on_host = true;
    std::unique_ptr<kernel> work;
  };

  std::uint64_t random(std::uint64_t below) { return m_random() % below; }
  std::uint64_t any_value() { return m_random() | 1; }
  block::record& fresh_record() { return m_table.create(element_type::i64, shape{block_bytes / 8}); }

  void step() {
    switch (random(10)) {
      case 0:
      case 1:
      case 2:
        start_task();
        break;
      case 3:
        evict_some(static_cast<memory::space_number>(1 + random(2)));
        break;
      case 4:
        recreate();
        break;
      case 5:
        poll();
        break;
      default:
        break;
    }
    // Streams keep up on average, with bursts in which nothing moves.
    for (std::uint64_t k = (m_step++ / 64) % 4 == 0 ? 0 : 2 + random(8); k > 0; --k)
      m_world.advance(m_random, m_streams);
    run_ready_tasks();
    end_copies();
  }
  void evict_some(memory::space_number space) {
    m_coherence->evict(space, m_spaces[space]->allocated_size(block_bytes) * (1 + random(3)));
  }
  void poll() {
    for (const auto& s : m_streams.all()) s->poll();
  }
  void settle() {
    m_world.advance_far(m_streams);
    poll();
    run_ready_tasks();
  }

  bool used_by_open_task(const tracked& b) const {
    return std::ranges::any_of(m_open, [&](const open_task& t) {
      return std::ranges::any_of(t.uses, [&](const use& u) { return u.of == &b; });
    });
  }
  /// One block is destroyed and made afresh, when no task uses it.
  void recreate() {
    tracked& b = *m_blocks[random(m_blocks.size())];
    if (!b.idle() || !b.copies.empty() || used_by_open_task(b)) return;
    std::vector<block::ticket> waits;
    if (!m_coherence->try_drop(*b.is, waits)) return;
    m_table.destroy(*b.is);
    b.is = &fresh_record();
    b.value = 0;
  }
  /// What is not needed any more leaves when no task uses it.
  void end_copies() {
    std::erase_if(m_ended, [&](const std::unique_ptr<tracked>& copy) {
      std::vector<block::ticket> waits;
      if (used_by_open_task(*copy) || !m_coherence->try_drop(*copy->is, waits)) return false;
      m_table.destroy(*copy->is);
      return true;
    });
  }

  void start_task() {
    const auto space = static_cast<memory::space_number>(random(3));
    open_task t;
    const std::size_t count = 1 + random(3);
    std::vector<tracked*> chosen;
    std::unique_ptr<tracked> fresh_copy;
    tracked* adds_to = nullptr;
    for (std::size_t tries = 0; tries < 8 && chosen.size() < count; ++tries) {
      tracked& b = *m_blocks[random(m_blocks.size())];
      if (std::ranges::find(chosen, &b) != chosen.end()) continue;
      intent how = static_cast<intent>(random(5));
      if (how == intent::accumulate) {
        if (adds_to != nullptr) continue;  // one is enough
        adds_to = &b;
        chosen.push_back(&b);
        t.uses.push_back(addition_to(b, fresh_copy));
        continue;
      }
      if (!b.copies.empty()) {  // the group ends first
        if (t.uses.empty()) start_sum(b, space);
        continue;
      }
      if (b.value == 0 && needs_contents(how)) how = intent::write;  // nothing to read yet
      // The flow's promise: no task starts while a conflicting earlier task has not been enqueued or has not run.
      if (b.writer || (how != intent::read && b.readers != 0)) continue;
      chosen.push_back(&b);
      t.uses.push_back({&b, how, b.value, how == intent::read ? b.value : any_value()});
    }
    if (t.uses.empty()) return;
    const std::vector<use> wanted = t.uses;
    if (!start(std::move(t), space)) {
      if (fresh_copy) m_table.destroy(*fresh_copy->is);
      return;
    }
    for (const use& u : wanted) ++m_uses[std::ranges::find(chosen, u.of) == chosen.end() ? intent::accumulate : u.how];
    if (adds_to == nullptr) return;
    adds_to->sum += m_addend;
    if (fresh_copy) adds_to->copies.push_back(std::move(fresh_copy));
  }

  /// To an idle private copy, which is updated, or to a fresh one, which is written: as the scheduler has it.
  use addition_to(tracked& base, std::unique_ptr<tracked>& out_fresh) {
    m_addend = any_value();
    for (const auto& copy : base.copies)
      if (copy->idle() && random(3) != 0) return {copy.get(), intent::update, copy->value, copy->value + m_addend};
    out_fresh = std::make_unique<tracked>();
    out_fresh->is = &fresh_record();
    return {out_fresh.get(), intent::write, 0, m_addend};
  }

  /// The reduction of a group, if nothing that comes before it is still to run.
  void start_sum(tracked& b, memory::space_number space) {
    if (!b.idle() || !std::ranges::all_of(b.copies, [](const auto& copy) { return copy->idle(); })) return;
    open_task t;
    t.uses.push_back({&b, b.value == 0 ? intent::write : intent::update, b.value, b.value + b.sum});
    for (const auto& copy : b.copies) t.uses.push_back({copy.get(), intent::read, copy->value, copy->value});
    const auto room = m_spaces[space]->limit() / m_spaces[space]->allocated_size(block_bytes);
    if (space != 0 && room < t.uses.size()) return;  // it is for a larger memory
    t.ends = std::move(b.copies);
    b.copies.clear();
    if (start(std::move(t), space, &b)) {
      b.sum = 0;
      ++m_sums;
    }
  }

  /// False: given up, which must leave no trace; then a sum's copies are `b`'s again.
  bool start(open_task t, memory::space_number space, tracked* b = nullptr) {
    for (const use& u : t.uses)
      t.accesses.push_back({.block = u.of->is,
                            .version = u.how == intent::read ? 0 : u.of->is->flow.next_version++,
                            .intent = u.how,
                            .flags = 0,
                            .space = 0});
    transfer::acquisition got;
    m_coherence->acquire(t.accesses, space, got);
    if (got.outcome == transfer::outcome::no_memory) m_coherence->evict(got.lacking, got.missing_bytes);
    EXPECT_NE(static_cast<int>(got.outcome), static_cast<int>(transfer::outcome::failed))
        << (got.cause ? got.cause->text : "");
    if (got.outcome != transfer::outcome::ready) {  // retry or no memory
      if (b != nullptr) b->copies = std::move(t.ends);
      return false;
    }
    t.on_host = space == 0;
    if (t.on_host) {
      t.waits = got.waits;
      for (const use& u : t.uses)
        if (u.how == intent::read)
          ++u.of->readers;
        else
          u.of->writer = true;
      m_open.push_back(std::move(t));
      return true;
    }
    transfer::stream& on = *m_compute[space][random(m_compute[space].size())];
    const std::lock_guard guard(on.enqueue_lock());
    for (const block::ticket w : got.waits) {
      EXPECT_TRUE(on.can_wait_for(m_streams.at(w.stream)));
      on.wait(m_streams.at(w.stream), w);
    }
    std::vector<tsr_address> where;
    for (const block::access& a : t.accesses) where.push_back(m_coherence->address_of(a));
    t.work = std::make_unique<kernel>([this, uses = t.uses](const std::vector<std::byte*>& bytes) {
      for (std::size_t k = 0; k < bytes.size(); ++k) apply(bytes[k], uses[k]);
    });
    m_world.enqueue(on, where, *t.work);
    t.done = on.signal();
    publish(t, t.done);
    for (const use& u : t.uses) has_run(u);
    m_open.push_back(std::move(t));
    return true;
  }
  void publish(const open_task& t, block::ticket done) {
    m_coherence->publish(t.accesses, done);
    for (const use& u : t.uses) {
      const std::lock_guard guard(u.of->is->lock);
      EXPECT_EQ(u.of->is->committed == 0, u.how == intent::scratch) << "all but scratch leave contents";
    }
  }
  static void has_run(const use& u) {
    if (u.how == intent::scratch)
      u.of->value = 0;
    else if (u.how != intent::read)
      u.of->value = u.made;
  }

  /// What every task does to every block.
  void apply(std::byte* bytes, const use& u) {
    auto* words = reinterpret_cast<std::uint64_t*>(bytes);
    if (needs_contents(u.how))
      for (const std::size_t at : {std::size_t{0}, block_bytes / 16, block_bytes / 8 - 1}) {
        EXPECT_EQ(words[at], u.expected) << name_of(u.how);
        ++m_reads_checked;
      }
    if (u.how != intent::read) std::fill_n(words, block_bytes / 8, u.made);
  }

  void run_ready_tasks() {
    for (auto it = m_open.begin(); it != m_open.end();) {
      open_task& t = *it;
      if (t.on_host) {
        if (!std::ranges::all_of(t.waits, [&](block::ticket w) { return m_streams.reached(w); })) {
          ++it;
          continue;
        }
        for (std::size_t k = 0; k < t.uses.size(); ++k) {
          void* host = nullptr;
          m_coherence->address_of(t.accesses[k], &host);
          apply(static_cast<std::byte*>(host), t.uses[k]);
          has_run(t.uses[k]);
          if (t.uses[k].how == intent::read)
            --t.uses[k].of->readers;
          else
            t.uses[k].of->writer = false;
        }
        publish(t, {});
      } else if (!m_streams.reached(t.done)) {
        ++it;
        continue;
      }
      m_coherence->finish(t.accesses);
      for (auto& copy : t.ends) m_ended.push_back(std::move(copy));
      it = m_open.erase(it);
    }
  }

  void check_invariants() {
    m_table.for_each([&](block::record& b) {
      const std::lock_guard guard(b.lock);
      block::space_set valid;
      int entries = 0;
      b.for_each_replica([&](block::replica& r) {
        ++entries;
        EXPECT_TRUE(static_cast<bool>(r.where));
        EXPECT_EQ(r.issuing, 0);
        if (b.committed != 0) {
          EXPECT_LE(r.version, b.committed);
        }
        if (b.committed != 0 && r.version == b.committed) valid.add(r.space);
      });
      EXPECT_EQ(valid, b.valid_spaces) << "the set of valid replicas";
      EXPECT_EQ(b.committed != 0, !valid.empty()) << "somewhere there is a current copy";
      EXPECT_LE(entries, 3);
    });
    for (const auto& s : m_spaces) EXPECT_LE(s->statistics().used_bytes, s->limit());
  }

  world& m_world;
  bool m_writes_ahead;
  std::mt19937_64 m_random;
  block::table m_table;
  transfer::stream_table m_streams;
  std::vector<std::unique_ptr<memory::space>> m_spaces;
  std::unique_ptr<transfer::coherence> m_coherence;
  std::array<std::vector<transfer::stream*>, 3> m_compute;
  std::vector<std::unique_ptr<tracked>> m_blocks, m_ended;
  std::list<open_task> m_open;
  std::map<intent, std::uint64_t> m_uses;
  std::uint64_t m_addend = 0, m_sums = 0, m_step = 0;
  std::atomic<std::uint64_t> m_reads_checked{0};
};

void run_model(world& on, int device_blocks, std::uint64_t default_steps) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  default_steps /= 10;
#endif
  const std::uint64_t steps = number_from("TESSERA_MODEL_STEPS", default_steps);
  const std::uint64_t seed = number_from("TESSERA_SEED", std::random_device{}());
  std::printf("seed %llu (TESSERA_SEED), %llu steps\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(steps));
  model m(seed, on, static_cast<std::uint64_t>(device_blocks), device_blocks < 5 ? 0 : 0.3);
  m.run(steps);
}

class version_table : public ::testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(version_table, agrees_with_a_naive_oracle) {
  const auto [peer_links, blocks] = GetParam();
  fakes on(peer_links, static_cast<std::uint64_t>(blocks) * block_bytes);
  run_model(on, blocks, 250'000);  // four cases: 10^6 in all
}

TEST_P(version_table, agrees_with_it_on_simulated_devices) {
  const auto [peer_links, blocks] = GetParam();
  simulated on(peer_links);
  run_model(on, blocks, 100'000);
}

INSTANTIATE_TEST_SUITE_P(links_and_memory, version_table,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(3, 7)), [](const auto& parameters) {
                           return std::string(std::get<0>(parameters.param) ? "peer_links" : "through_the_ring") + "_" +
                                  std::to_string(std::get<1>(parameters.param)) + "_blocks";
                         });

}  // namespace
}  // namespace tessera
