#pragma once
// Machines on which something breaks, a program to run on them, and a limit to how long it may take.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/runtime/machines.hpp"
#include "tests/support/random_program.hpp"

namespace tessera::testing {

/// Ends the process when it lives too long: a hang is a failure with a name, not a job that is killed.
class deadline {
 public:
  explicit deadline(std::string what, std::chrono::seconds limit = std::chrono::seconds(60))
      : m_thread([this, what = std::move(what), limit = limit * static_cast<int>(slow_down)] {
          std::unique_lock lock(m_mutex);
          if (m_changed.wait_for(lock, limit, [this] { return m_over; })) return;
          std::fprintf(stderr, "%s did not end within %lld s\n", what.c_str(), static_cast<long long>(limit.count()));
          std::abort();
        }) {}
  ~deadline() {
    {
      const std::lock_guard guard(m_mutex);
      m_over = true;
    }
    m_changed.notify_all();
    m_thread.join();
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  bool m_over = false;
  std::thread m_thread;
};

/// Where faults strike.
struct place {
  const char* name;
  std::string runtime;  ///< lines of [runtime], plugins first
  std::string tables;   ///< whole tables
  std::string inject;   ///< the table of one rule
  bool devices = true;  ///< tasks run elsewhere than on the host
};

/// A program that waits for all its tasks makes no room: what cannot go on is told at once, however long the patience.
inline const std::string patient = "[memory]\npatience = \"1000 s\"\n";

inline std::string sims(int count, const std::string& memory, bool link) {
  std::string text = patient + "slab_bytes = \"256 KiB\"\nstaging_bytes = \"64 KiB\"\n[plugin.sim]\nclock = \"real\"\n";
  for (int k = 0; k < count; ++k)
    text += "[[plugin.sim.device]]\nmemory = \"" + memory +
            "\"\nbandwidth_in = \"20 GiB/s\"\nbandwidth_out = \"20 GiB/s\"\nlatency = \"1 us\"\nflops = \"" +
            std::to_string(40 / (k + 1)) + " GFLOP/s\"\n";
  if (link)
    text +=
        "[[plugin.sim.link]]\nfrom = 0\nto = 1\nbandwidth = \"40 GiB/s\"\nlatency = \"1 us\"\n"
        "[[plugin.sim.link]]\nfrom = 1\nto = 0\nbandwidth = \"40 GiB/s\"\nlatency = \"1 us\"\n";
  return text;
}

inline const std::vector<place>& places() {
  static const std::string small =
      patient + "host_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n";
  static const std::vector<place> all = {
      {"sim", "plugins = [\"host\", \"sim\"]\n", sims(1, "1 MiB", false), "plugin.sim.inject"},
      {"sim_full", "plugins = [\"host\", \"sim\"]\n", sims(1, "6 KiB", false), "plugin.sim.inject"},
      {"two_sims", "plugins = [\"host\", \"sim\"]\n", sims(2, "1 MiB", false), "plugin.sim.inject"},
      {"two_linked", "plugins = [\"host\", \"sim\"]\n", sims(2, "8 KiB", true), "plugin.sim.inject"},
      {"layer", "plugins = [\"host\", \"sim\"]\nlayers = [\"fault:sim\"]\n", sims(1, "1 MiB", false),
       "plugin.fault.inject"},
      {"host", "plugins = [\"host\"]\nlayers = [\"fault:host\"]\n", patient, "plugin.fault.inject", false},
      {"host_beside_sim", "plugins = [\"host\", \"sim\"]\nlayers = [\"fault:host\"]\n", sims(1, "1 MiB", false),
       "plugin.fault.inject"},
      {"disk", "plugins = [\"host\", \"disk\"]\nlayers = [\"fault:disk\"]\n", small, "plugin.fault.inject", false},
  };
  return all;
}

/// A machine with one rule; `rule`: its keys, one a line. `more`: lines of [runtime].
inline machine faulty_machine(const place& at, const std::string& rule, const std::string& more = "") {
  return machine_of(
      at.runtime + "history = \"off\"\n" + more + at.tables + (rule.empty() ? "" : "[[" + at.inject + "]]\n" + rule),
      2);
}

/// So many random tasks.
inline void run_random(random_blocks& on, std::uint64_t seed, int tasks) {
  std::mt19937_64 random(seed);
  for (int k = 0; k < tasks; ++k) on.run(on.any_task(random));
}

/// Blocks that a random program on a place needs so that something has to leave a small memory.
inline int blocks_on(const place& at) { return std::string(at.name) == "disk" ? 200 : 24; }

}  // namespace tessera::testing
