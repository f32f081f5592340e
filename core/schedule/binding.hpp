#pragma once
// Which CPUs the host's workers run on.
#include <sched.h>

#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace tessera::schedule {

/// Each worker but the first is a thread bound to all CPUs of its core. Worker 0 is whatever thread of the program
/// waits: its own binding is the program's, so it is only moved off the CPUs of the others when it happens to be there,
/// and may float again at once. Otherwise two of the workers would share a CPU until the system notices, which takes as
/// long as many a program.
class binding {
 public:
  /// @param cpus  by worker, worker 0 first: the numbers that the system gives its CPUs; none: it floats
  /// @param on    false: nothing is bound and nothing is moved
  binding(std::vector<std::vector<std::uint32_t>> cpus, bool on);

  /// Binds the thread of worker k, where it has any.
  void bind(std::thread& worker, std::uint32_t k);
  /// By the thread that is to be worker 0.
  void place_this_thread() const noexcept;
  /// While it exists, the thread that made it may run on all CPUs of several workers; then it is bound as before.
  class scoped_spread {
   public:
    scoped_spread(const binding& of, std::span<const std::uint32_t> workers) noexcept;
    ~scoped_spread();
    scoped_spread(const scoped_spread&) = delete;
    scoped_spread& operator=(const scoped_spread&) = delete;

   private:
    cpu_set_t m_before{};
    bool m_is_spread = false;
  };
  /// Why workers float although they should be bound, in one sentence; empty: none does.
  const std::string& trouble() const noexcept { return m_trouble; }

 private:
  struct cpu_set {
    std::vector<cpu_set_t> words;  // as many as the highest number needs
    explicit cpu_set(const std::vector<std::uint32_t>& cpus);
    std::size_t bytes() const noexcept { return words.size() * sizeof(cpu_set_t); }
  };
  std::vector<std::vector<std::uint32_t>> m_cpus;
  bool m_on;
  std::vector<bool> m_taken;  // by number of the CPU: a bound worker's
  std::string m_trouble;
};

}  // namespace tessera::schedule
