#include "tests/stress/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "tests/integration/runtime/machines.hpp"
#include "tests/support/random_program.hpp"

namespace tessera::stress {
namespace {

/// The choices that make a case, all of them before anything runs.
struct plan {
  plan(std::uint64_t seed, const limits& most) : random(seed) {
    workers = 1 + static_cast<unsigned>(pick(4));
    threads = 1 + static_cast<int>(pick(4));
    devices = static_cast<int>(pick(3));
    blocks = 6 + static_cast<int>(pick(40));
    tight = devices > 0 && pick(2) == 0;
    spills = pick(3) == 0;
    faults = devices > 0 && pick(3) == 0;
    comes_and_goes = devices > 0 && pick(3) == 0;
    two_memories = pick(4) == 0 || most.two_memories;
    // Blocks of a page where there is a disk; so many that one thread's task of five always fits.
    extent = spills ? 512 : 32;
    const std::uint64_t block = static_cast<std::uint64_t>(extent) * 8;
    runtime = "history = \"off\"\nwatchdog = \"60 s\"\n";
    runtime += fmt::format("placement = \"{}\"\n", one_of({"locality", "eager", "cost"}));
    if (pick(4) == 0) runtime += fmt::format("window_tasks = {}\n", 64 << pick(5));
    if (pick(5) == 0) runtime += fmt::format("window_bytes = \"{} KiB\"\n", 64 << pick(4));
    if (pick(6) == 0) runtime += "deterministic = true\n";
    if (pick(6) == 0) runtime += "trace = true\n";
    if (pick(4) == 0) runtime += "spin = \"0 us\"\n";
    if (faults) runtime += "copy_retries = 20\nchecked_copies = true\n";
    memory = fmt::format("[memory]\neviction = \"{}\"\n", one_of({"next_use", "lru", "fifo"}));
    if (pick(4) == 0) memory += "write_ahead = 40\n";
    if (spills)
      memory += fmt::format("host_limit = \"{}\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n",
                            (128 << 10) + 40 * block);
    if (two_memories) tables += "[topology]\nsynthetic = \"numa:2 core:2 pu:1\"\n";
    if (faults)
      tables += fmt::format(
          "[plugin.sim]\nclock = \"real\"\ninject_seed = {}\n[[plugin.sim.inject]]\nkind = \"{}\"\nprobability = "
          "0.02\n",
          pick(1000), one_of({"copy_fails", "copy_refused"}));
    else if (devices > 0)
      tables += "[plugin.sim]\nclock = \"real\"\n";
    for (int k = 0; k < devices; ++k)
      tables += fmt::format(
          "[[plugin.sim.device]]\nmemory = \"{}\"\nbandwidth_in = \"20 GiB/s\"\nbandwidth_out = \"20 GiB/s\"\n"
          "latency = \"1 us\"\nflops = \"{} GFLOP/s\"\n",
          tight ? fmt::format("{}", 24 * block) : "64 MiB", 40 / (k + 1));
    program_seed = random();
  }
  std::uint64_t pick(std::uint64_t below) { return random() % below; }
  const char* one_of(std::initializer_list<const char*> all) { return all.begin()[pick(all.size())]; }
  std::string toml() const {
    return fmt::format("plugins = [\"host\"{}{}]\n{}{}{}", devices > 0 ? ", \"sim\"" : "", spills ? ", \"disk\"" : "",
                       runtime, memory, tables);
  }

  std::mt19937_64 random;
  unsigned workers;
  int threads, devices, blocks;
  bool tight, spills, faults, comes_and_goes, two_memories;
  std::int64_t extent;
  std::string runtime, memory, tables;
  std::uint64_t program_seed;
};

/// What several threads add to, each whole numbers, so that the sums are exact in any order.
struct shared_sums {
  static constexpr int count = 4;
  shared_sums(tessera::runtime& rt, std::int64_t extent)
      : sums(rt.make_array<double>("sums", {count * extent}, {extent})),
        ones(rt.make_array<double>("ones", {extent}, {extent})) {
    for (int k = 0; k < count; ++k) fill(rt, sums(k), 0.0);
    fill(rt, ones(0), 1.0);
  }
  array<double> sums, ones;
  std::atomic<std::int64_t> expected[count] = {};
};

class wrongs {
 public:
  void add(std::string what) {
    const std::lock_guard guard(m_lock);
    if (m_all.size() < 20) m_all.push_back(std::move(what));
    m_any = true;
  }
  bool any() const noexcept { return m_any; }
  std::string text() const { return fmt::format("{}", fmt::join(m_all, "\n")); }

 private:
  std::mutex m_lock;
  std::vector<std::string> m_all;
  std::atomic<bool> m_any{false};
};

/// One thread of the program: tasks and views on blocks of its own, with an oracle; additions to the shared sums.
class submitter {
 public:
  submitter(tessera::runtime& rt, const plan& of, shared_sums& sums, wrongs& out, int number)
      : m_rt(rt),
        m_plan(of),
        m_sums(sums),
        m_wrong(out),
        m_number(number),
        m_random(of.program_seed + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(number + 1)),
        m_on(rt, of.blocks, of.extent) {}

  void run(std::uint64_t operations) {
    for (std::uint64_t k = 0; k < operations && !m_wrong.any(); ++k) step();
    check_all();
  }
  void check_all() {
    std::map<int, std::string> unreadable;
    if (const int wrong = m_on.wrong(unreadable))
      m_wrong.add(fmt::format("thread {}: {} blocks are wrong", m_number, wrong));
    for (const auto& [block, why] : unreadable)
      m_wrong.add(fmt::format("thread {}: block {}: {}", m_number, block, why));
  }

 private:
  std::uint64_t pick(std::uint64_t below) { return m_random() % below; }

  void step() {
    switch (pick(40)) {
      case 0:
        look();
        break;
      case 1:
        change_in_view();
        break;
      case 2:
        adopt();
        break;
      case 3:
        short_lived();
        break;
      case 4:
        m_rt.fence();
        break;
      case 5:
      case 6:
      case 7:
        add_to_sums();
        break;
      case 8:
        replay();
        break;
      default:
        m_on.run(m_on.any_task(m_random));
    }
  }
  bool same(double seen, double expected) const { return std::abs(seen - expected) <= 1e-9 * (1 + std::abs(expected)); }
  void expect(const host_view<const double>& seen, double expected, const char* where) {
    for (std::int64_t k = 0; k < seen.size(); ++k)
      if (!same(seen[k], expected)) {
        m_wrong.add(fmt::format("thread {}: {}: element {} is {} and not {}", m_number, where, k, seen[k], expected));
        return;
      }
  }

  void look() {
    const int b = static_cast<int>(pick(static_cast<std::uint64_t>(m_on.count())));
    expect(m_on.blocks()(b).read(), m_on.expected(b), "a view");
  }
  void change_in_view() {
    const int b = static_cast<int>(pick(static_cast<std::uint64_t>(m_on.count())));
    const double number = static_cast<double>(pick(100));
    for (double& v : m_on.blocks()(b).update()) v = 0.5 * v + number;
    m_on.set(b, 0.5 * m_on.expected(b) + number);
  }
  /// The program's own memory, which has the last versions when the array has ended.
  void adopt() {
    const std::int64_t extent = m_plan.extent, count = 1 + static_cast<std::int64_t>(pick(4));
    std::vector<double> own(static_cast<std::size_t>(count * extent), 3.0),
        oracle(static_cast<std::size_t>(count), 3.0);
    {
      auto a = m_rt.adopt<double>("own", own, extent);
      for (std::uint64_t tasks = pick(12); tasks > 0; --tasks) {
        const auto x = static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(count)));
        const auto mine = static_cast<int>(pick(static_cast<std::uint64_t>(m_on.count())));
        double& value = oracle[static_cast<std::size_t>(x)];
        if (pick(2) == 0) {
          scal(m_rt, 0.5, a(x));
          value *= 0.5;
        } else {
          axpy(m_rt, 0.25, m_on.blocks()(mine), a(x));
          value += 0.25 * m_on.expected(mine);
        }
      }
      a.flush();
    }
    m_rt.fence();
    for (std::size_t k = 0; k < own.size(); ++k)
      if (const double expected = oracle[k / static_cast<std::size_t>(extent)]; !same(own[k], expected)) {
        m_wrong.add(
            fmt::format("thread {}: adopted memory: element {} is {} and not {}", m_number, k, own[k], expected));
        return;
      }
  }
  /// An array that ends while its tasks are under way.
  void short_lived() {
    const std::int64_t extent = m_plan.extent;
    const int to = static_cast<int>(pick(static_cast<std::uint64_t>(m_on.count())));
    auto a = m_rt.make_array<double>("short", {2 * extent}, {extent});
    const double number = static_cast<double>(pick(9));
    fill(m_rt, a(0), number);
    fill(m_rt, a(1), 1.0);
    axpy(m_rt, 0.5, a(0), a(1));
    axpy(m_rt, 0.25, a(1), m_on.blocks()(to));
    m_on.set(to, m_on.expected(to) + 0.25 * (1 + 0.5 * number));
  }
  void add_to_sums() {
    const int k = static_cast<int>(pick(shared_sums::count));
    const auto times = 1 + static_cast<int>(pick(5));
    for (int t = 0; t < times; ++t) axpy_accumulate(m_rt, 1.0, m_sums.ones(0), m_sums.sums(k));
    m_sums.expected[k] += times;
  }
  /// A few tasks, recorded and run some times.
  void replay() {
    std::vector<testing::random_task> tasks;
    for (std::uint64_t k = 1 + pick(20); k > 0; --k) tasks.push_back(m_on.any_task(m_random));
    recording step = m_rt.record([&] {
      for (const auto& t : tasks) m_on.submit(t);
    });
    for (std::uint64_t k = pick(4); k > 0; --k) {
      m_rt.replay(step);
      for (const auto& t : tasks) m_on.apply(t);
    }
  }

  tessera::runtime& m_rt;
  const plan& m_plan;
  shared_sums& m_sums;
  wrongs& m_wrong;
  int m_number;
  std::mt19937_64 m_random;
  testing::random_blocks m_on;
};

/// Takes devices away and gives them back while the others work.
void come_and_go(tessera::runtime& rt, const plan& of, const std::atomic<bool>& over, wrongs& out) {
  std::mt19937_64 random(of.program_seed);
  std::vector<bool> away(static_cast<std::size_t>(of.devices));
  for (int edits = 0; !over && edits < 200; ++edits) {
    const std::size_t k = random() % away.size();
    const std::string name = "sim" + std::to_string(k);
    try {
      if (away[k])
        rt.attach(name);
      else
        rt.detach(name);
      away[k] = !away[k];
    } catch (const error& e) {
      // What it holds may fit nowhere at the moment, or copies fail while it is emptied; it stays attached then.
      if (e.kind() != error_kind::memory && e.kind() != error_kind::device)
        out.add(std::string("detach or attach: ") + e.what());
    }
    const std::uint64_t until = rt.tasks_retired() + random() % 200;
    while (rt.tasks_retired() < until && !over) std::this_thread::yield();
  }
}

template <class Body>
std::thread guarded(wrongs& out, Body body) {
  return std::thread([&out, body = std::move(body)] {
    try {
      body();
    } catch (const std::exception& e) {
      out.add(e.what());
    }
  });
}

}  // namespace

std::string description_of(std::uint64_t seed, const limits& most) {
  const plan of(seed, most);
  return fmt::format("{} threads, {} blocks each{}, {} workers\n{}", of.threads, of.blocks,
                     of.comes_and_goes ? ", devices come and go" : "", of.workers, of.toml());
}

std::string run_case(std::uint64_t seed, const limits& most) {
  const plan of(seed, most);
  wrongs out;
  tessera::runtime rt(testing::machine_of(of.toml(), of.workers));
  {
    shared_sums sums(rt, of.extent);
    std::vector<std::unique_ptr<submitter>> programs;
    for (int t = 0; t < of.threads; ++t) programs.push_back(std::make_unique<submitter>(rt, of, sums, out, t));
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (auto& program : programs)
      threads.push_back(guarded(out, [&program, &most] { program->run(most.operations); }));
    std::optional<std::thread> editor;
    if (of.comes_and_goes) editor = guarded(out, [&] { come_and_go(rt, of, over, out); });
    for (std::thread& t : threads) t.join();
    over = true;
    if (editor) editor->join();
    rt.fence();
    for (auto& program : programs) program->check_all();
    for (int k = 0; k < shared_sums::count; ++k)
      for (const double v : sums.sums(k).read())
        if (v != static_cast<double>(sums.expected[k])) {
          out.add(fmt::format("sum {} is {} and not {}", k, v, sums.expected[k].load()));
          break;
        }
  }
  rt.fence();
  const statistics s = rt.statistics();
  if (s.tasks_submitted != s.tasks_retired)
    out.add(fmt::format("{} tasks submitted, {} ended", s.tasks_submitted, s.tasks_retired));
  return out.text();
}

}  // namespace tessera::stress
