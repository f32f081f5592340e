#pragma once
// Faults that a user asks for: which, where, and at which call they strike.
#include <tessera/plugin.h>

#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::fault {

enum class kind : std::uint8_t {
  alloc_fails,     ///< mem_alloc answers RESOURCE_EXHAUSTED
  copy_refused,    ///< copy answers `status`
  copy_fails,      ///< the copy is enqueued and fails on the timeline; nothing is copied
  kernel_refused,  ///< a computation (BLAS, TENSOR, fill, launch, host task, graph) answers `status`
  kernel_fails,    ///< it fails on the timeline; nothing is computed
  signal_refused,  ///< stream_signal answers `status`: what was enqueued runs, and nobody can ask when it ends
  slow,            ///< a copy takes bytes/bandwidth + latency longer
  hang,            ///< nothing on the stream ends any more, from this work on
  lost             ///< the device is lost, for good
};

/// What a call does, as far as rules can tell calls apart.
enum class call : std::uint8_t {
  alloc,
  copy,
  kernel,
  signal
};

/// What a device is called: by itself ("fast"), and by the runtime ("sim0"). A rule may name either.
struct device_name {
  std::string own, given;
  bool is(const std::string& name) const { return name == own || name == given; }
};

/// One rule as it was configured.
struct rule {
  kind fault = kind::kernel_fails;
  std::string device;         ///< by either name; "": every device
  std::string calls = "any";  ///< hang, lost: which calls count: any|alloc|copy|kernel
  std::uint64_t number = 0, every = 0, times = 0;
  double probability = 0;
  tsr_status status = TSR_INTERNAL;
  double bandwidth = 0;          ///< slow: bytes per second; 0: not limited
  std::uint64_t latency_ns = 0;  ///< slow

  bool counts(call which) const noexcept;
};

struct settings {
  std::uint64_t seed = 0;  ///< 0: a new one for each opening
  std::vector<rule> rules;
};

/// Appends the options `seed` and `PREFIX[].kind` and so on to a plugin's own; `seed` and the prefix are literals that
/// live for ever.
void add_options(std::vector<tsr_option>& to, const char* seed_name);
/// Fails: INVALID_ARGUMENT, with a record that says which rule and why.
tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, const char* seed_name,
                         settings& out);

/// What strikes a call: at most one rule, beside slowness, which adds up.
struct verdict {
  const rule* strikes = nullptr;
  std::uint64_t number = 0;    ///< of the call among those that the rule counts
  std::uint64_t delay_ns = 0;  ///< before the work
};

/// The rules of one opened plugin with their counts. Thread-safe.
class judge {
 public:
  explicit judge(settings given);
  bool any() const noexcept { return !m_settings.rules.empty(); }
  bool random() const noexcept;
  std::uint64_t seed() const noexcept { return m_settings.seed; }
  const std::vector<rule>& rules() const noexcept { return m_settings.rules; }
  /// Counts the call; `bytes` of a copy. The first rule that strikes wins; the others have counted the call all the
  /// same.
  verdict decide(call which, const device_name& device, std::uint64_t bytes = 0);

 private:
  struct count {
    std::uint64_t calls = 0, strikes = 0;
  };
  settings m_settings;
  std::mutex m_mutex;
  std::vector<count> m_counts;
  std::mt19937_64 m_random;
};

/// The word for a kind, as in the option ("kernel_fails").
const char* word_for(kind what) noexcept;

}  // namespace tessera::fault
