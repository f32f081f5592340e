#pragma once
// A runtime for one command, with everything that a command shows.
#include <atomic>
#include <memory>
#include <string>

#include "apps/common/command_options.hpp"
#include "apps/common/interrupt.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/report.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps {

/// Opens the configured machine, starts the runtime, watches for Ctrl-C (which cancels: fence then throws `interrupted`).
/// Notes about the machine go to standard error.
class session {
 public:
  explicit session(const command_options& options);
  ~session();

  runtime& rt() noexcept { return *m_runtime; }
  const command_options& options() const noexcept { return m_options; }
  /// The first lines of every report: machine, plugins, BLAS kernel set.
  void describe(report& to) const;
  /// Prints the report, the statistics and the JSON, as the options ask.
  void finish(report& r);

 private:
  command_options m_options;
  std::atomic<runtime*> m_started{nullptr};  ///< for the watching thread
  std::unique_ptr<interrupt_watch> m_watch;
  std::unique_ptr<runtime> m_runtime;
};

/// Pseudo-random numbers in [-0.5, 0.5) that depend on position and seed only, so that blocks can be made in any order.
inline double noise(std::uint64_t seed, std::uint64_t i, std::uint64_t j) noexcept {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15ull + (i << 32 | j);  // splitmix64's finalizer over the position
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53 - 0.5;
}

}  // namespace tessera::apps
