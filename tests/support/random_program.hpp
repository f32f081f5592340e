#pragma once
// Random tasks on the blocks of one array, as the runtime sees them and as a sequential program would do them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera::testing {

inline std::uint64_t number_from(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/// A generator whose seed is printed, and can be given as TESSERA_SEED.
inline std::mt19937_64 seeded_random() {
  const std::uint64_t seed = number_from("TESSERA_SEED", std::random_device{}());
  std::printf("seed %llu (TESSERA_SEED)\n", static_cast<unsigned long long>(seed));
  return std::mt19937_64(seed);
}

/// One task of the program.
struct random_task {
  int kind, x, y, z, room;
  double number;
  std::int16_t priority;
  bool hinted;
};

inline random_task random_task_on(int blocks, std::mt19937_64& random) {
  const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<std::uint64_t>(below)); };
  random_task t{};
  t.x = pick(blocks);
  t.y = (t.x + 1 + pick(blocks - 1)) % blocks;
  t.z = pick(blocks);
  while (t.z == t.x || t.z == t.y) t.z = (t.z + 1) % blocks;
  t.room = pick(8);
  t.number = pick(17);
  t.priority = static_cast<std::int16_t>(pick(8) == 0 ? pick(3) : 0);
  t.hinted = pick(20) == 0;
  t.kind = pick(11);
  return t;
}

/// Submits it. `a`: blocks of equal elements; `spare`: at least eight blocks of the same extent, for the scratch
/// intent.
inline void submit(runtime& rt, array<double>& a, array<double>& spare, const random_task& t) {
  const task_options options{.priority = t.priority, .at = t.hinted ? rt.tree().root() : location::no_node};
  switch (t.kind) {
    case 0:
      fill(rt, a(t.x), t.number, options);
      break;
    case 1:
      scal(rt, 0.5, a(t.x), options);
      break;
    case 2:
    case 3:
      axpy(rt, 0.5, a(t.x), a(t.y), options);
      break;
    case 4:
    case 5:
    case 6:
      axpy_accumulate(rt, 0.25, a(t.x), a(t.y), options);
      break;
    case 7:
      rt.submit(
          "mix",
          [](view<const double> p, view<const double> q, view<double> r) {
            for (std::int64_t i = 0; i < r.size(); ++i) r[i] = p[i] - 0.5 * q[i];
          },
          read(a(t.x)), read(a(t.y)), write(a(t.z)));
      break;
    case 8:
      rt.submit(
          "fold",
          [](view<double> p, view<double> room) {
            for (std::int64_t i = 0; i < p.size(); ++i) room[i] = std::fmod(p[i], 1000.0);
            for (std::int64_t i = 0; i < p.size(); ++i) p[i] = room[i] + 1;
          },
          update(a(t.x)), scratch(spare(t.room)));
      break;
    case 9:
      rt.submit(
          "add",
          [](view<const double> p, view<double> sum) {
            for (std::int64_t i = 0; i < p.size(); ++i) sum[i] += 0.125 * p[i];
          },
          read(a(t.x)), accumulate(a(t.y)));
      break;
    default:  // five blocks: more than a record holds inline
      rt.submit(
          "five",
          [](view<const double> p, view<const double> q, view<const double> r, view<const double> p2, view<double> o) {
            for (std::int64_t i = 0; i < o.size(); ++i) o[i] = 0.25 * (p[i] + q[i]) + 0.125 * (r[i] + p2[i]);
          },
          read(a(t.x)), read(a(t.y)), read(a(t.x)), read(a(t.y)), write(a(t.z)));
      break;
  }
}

/// Does it: one number stands for a block.
inline void apply(const random_task& t, std::vector<double>& values) {
  const auto value = [&](int k) -> double& { return values[static_cast<std::size_t>(k)]; };
  switch (t.kind) {
    case 0:
      value(t.x) = t.number;
      break;
    case 1:
      value(t.x) *= 0.5;
      break;
    case 2:
    case 3:
      value(t.y) += 0.5 * value(t.x);
      break;
    case 4:
    case 5:
    case 6:
      value(t.y) += 0.25 * value(t.x);
      break;
    case 7:
      value(t.z) = value(t.x) - 0.5 * value(t.y);
      break;
    case 8:
      value(t.x) = std::fmod(value(t.x), 1000.0) + 1;
      break;
    case 9:
      value(t.y) += 0.125 * value(t.x);
      break;
    default:
      value(t.z) = 0.25 * (value(t.x) + value(t.y)) + 0.125 * (value(t.x) + value(t.y));
      break;
  }
}

/// Blocks of equal elements for random tasks, and the oracle beside them.
class random_blocks {
 public:
  explicit random_blocks(runtime& rt, int count, std::int64_t extent = 32)
      : m_runtime(rt),
        m_blocks(rt.make_array<double>("a", {count * extent}, {extent})),
        m_spare(rt.make_array<double>("spare", {8 * extent}, {extent})),
        m_oracle(static_cast<std::size_t>(count)) {
    fill_all();
  }
  /// Each block with its number.
  void fill_all() {
    for (int k = 0; k < count(); ++k) fill(m_runtime, m_blocks(k), m_oracle[static_cast<std::size_t>(k)] = k);
  }
  int count() const { return static_cast<int>(m_oracle.size()); }
  array<double>& blocks() { return m_blocks; }
  double expected(int k) const { return m_oracle[static_cast<std::size_t>(k)]; }  ///< every element of a block
  void set(int k, double value) {
    m_oracle[static_cast<std::size_t>(k)] = value;
  }  ///< the caller has done it to the block

  random_task any_task(std::mt19937_64& random) const { return random_task_on(count(), random); }
  void submit(const random_task& t) { testing::submit(m_runtime, m_blocks, m_spare, t); }  ///< to the runtime
  void apply(const random_task& t) { testing::apply(t, m_oracle); }                        ///< to the oracle
  void run(const random_task& t) {                                                         ///< to both
    submit(t);
    apply(t);
  }

  /// Waits for a block and compares all of it; a fatal failure of the test when it is another.
  void check(int k) {
    const double expected = m_oracle[static_cast<std::size_t>(k)];
    const auto seen = m_blocks.read_host(m_blocks(k));
    for (const double v : seen) ASSERT_NEAR(v, expected, 1e-9 * (1 + std::abs(expected))) << "block " << k;
  }
  void check_any(std::mt19937_64& random) { check(static_cast<int>(random() % m_oracle.size())); }  ///< likewise
  void check_all() {                                                                                ///< likewise
    for (int k = 0; k < count() && !::testing::Test::HasFatalFailure(); ++k) check(k);
  }
  /// Blocks that are wrong; those that cannot be read are in `unreadable`, with the error of each.
  int wrong(std::map<int, std::string>& unreadable) {
    int count = 0;
    for (int k = 0; k < this->count(); ++k) try {
        const double expected = m_oracle[static_cast<std::size_t>(k)];
        bool good = true;
        for (const double v : m_blocks.read_host(m_blocks(k)))
          good = good && std::abs(v - expected) <= 1e-9 * (1 + std::abs(expected));
        count += !good;
      } catch (const error& e) {
        unreadable[k] = e.what();
      }
    return count;
  }

 private:
  runtime& m_runtime;
  array<double> m_blocks, m_spare;
  std::vector<double> m_oracle;
};

/// Records each of `programs` and replays them in random order, with single tasks and looks at blocks between them.
/// `submit` and `apply` do a task, `any_task()` makes one.
template <class Task, class Submit, class Apply, class Make>
void replay_at_random(runtime& rt, random_blocks& on, std::mt19937_64& random,
                      const std::vector<std::vector<Task>>& programs, int rounds, Submit&& submit, Apply&& apply,
                      Make&& any_task) {
  std::vector<recording> recordings;
  for (const auto& program : programs) {
    recordings.push_back(rt.record(
        [&] {
          for (const Task& t : program) submit(t);
        },
        {.replays_under_way = 1 + random() % 5}));
    EXPECT_EQ(recordings.back().submitted(), program.size());
  }
  on.check(0);  // recording runs nothing
  for (int round = 0; round < rounds && !::testing::Test::HasFatalFailure(); ++round) {
    const std::size_t which = random() % programs.size();
    rt.replay(recordings[which]);
    for (const Task& t : programs[which]) apply(t);
    for (std::uint64_t k = random() % 4; k > 0; --k) {
      const Task t = any_task();
      submit(t);
      apply(t);
    }
    if (random() % 5 == 0) on.check_any(random);
    if (random() % 12 == 0) recordings[which].place_again();
  }
  rt.fence();
  on.check_all();
}

}  // namespace tessera::testing
