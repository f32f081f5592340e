#pragma once
// What the checks are made of.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/host.hpp"
#include "core/plugin/loaded_plugin.hpp"
#include "core/plugin/session.hpp"
#include "tests/conformance/suite/conformance.hpp"

namespace tessera::conformance {

struct check_failed : std::runtime_error {
  using runtime_error::runtime_error;
};
struct check_skipped : std::runtime_error {
  using runtime_error::runtime_error;
};
/// A device states a limit that is too small for what is to be looked at. Other devices, and smaller shapes, are looked
/// at all the same.
struct beyond_limits : check_skipped {
  using check_skipped::check_skipped;
};
/// The plugin, or one of its devices, does not open. `never`: nor has it done so before in this run.
struct cannot_open : check_failed {
  cannot_open(const std::string& why, bool never_before) : check_failed(why), never(never_before) {}
  bool never;
};

/// Whether the running check has looked at anything: one that ends without an expectation is reported as skipped.
inline std::atomic<bool> looked_at_something{false};
/// How long a check waits for what must come (a point, a callback, a report) before it fails. Set by run().
inline std::chrono::milliseconds patience{60'000};
/// The last limit for which the running check left something out; "" if there was none. For its own thread.
inline std::string left_out;

/// Fails the running check unless `truth`. For what a check needs before it can look at what it is about; counts as no
/// look.
template <class... Arguments>
void need(bool truth, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  if (!truth) throw check_failed(fmt::format(text, std::forward<Arguments>(arguments)...));
}
void need_status(tsr_status got, tsr_status wanted, std::string_view call);
inline void need_ok(tsr_status got, std::string_view call) { need_status(got, TSR_OK, call); }

/// Fails the running check unless `truth`.
template <class... Arguments>
void expect(bool truth, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  looked_at_something.store(true, std::memory_order_relaxed);
  need(truth, text, std::forward<Arguments>(arguments)...);
}

/// Fails the running check unless a call answered `wanted`; the plugin's details are part of the message.
inline void expect_status(tsr_status got, tsr_status wanted, std::string_view call) {
  looked_at_something.store(true, std::memory_order_relaxed);
  need_status(got, wanted, call);
}
inline void expect_ok(tsr_status got, std::string_view call) { expect_status(got, TSR_OK, call); }

[[noreturn]] inline void skip(const std::string& reason) { throw check_skipped(reason); }
/// The reason where there is nothing that a check of devices could look at.
inline constexpr const char* no_devices = "the plugin has no device, with these options on this machine";
/// The reason where no device leaves work for later.
inline constexpr const char* nothing_comes_late =
    "the work is done inside the calls that enqueue it, so nothing of it can come late";

/// Where shapes and contents come from.
struct random_source : std::mt19937_64 {
  using std::mt19937_64::mt19937_64;
  /// Shapes are now ones in which each argument matters: no size is 0 or 1, no scalar is 0 or 1, and there are gaps.
  /// Otherwise all of these come too.
  bool general = false;
};

/// The plugin under test and what to open it with.
struct subject {
  plugin::loaded_plugin plugin;
  std::vector<plugin::option_value> options;
  plugin::host& host;
  std::uint64_t seed;
  const request& asked;
  mutable std::atomic<bool> opened_before{false}, devices_opened_before{false};
  mutable std::atomic<bool> has_devices{false};  ///< an opening has found some

  random_source generator() const { return random_source(seed); }
};

/// The plugin opened, without devices, closed at the end of the scope. Throws cannot_open.
struct opened_plugin : plugin::session {
  explicit opened_plugin(const subject& what);
};

/// The plugin opened with all its devices, of which there is one at least, closed at the end of the scope. Throws
/// cannot_open; check_skipped where the plugin has no device, which is no failure, and check_failed where it had some.
struct opened {
  explicit opened(const subject& what);
  opened_plugin session;
  std::vector<std::unique_ptr<plugin::device>> devices;
};

/// Kinds of plugins, as bits.
using kind_set = std::uint32_t;
constexpr kind_set set_of(tsr_plugin_kind kind) { return kind_set{1} << kind; }
constexpr kind_set devices = set_of(TSR_PLUGIN_DEVICE) | set_of(TSR_PLUGIN_STORAGE), every_kind = ~kind_set{0};
/// Every kind too, but devices are used: not behind a check that others rely on and that fails.
constexpr kind_set every_sound_kind =
    devices | set_of(TSR_PLUGIN_OPERATIONS) | set_of(TSR_PLUGIN_POLICY) | set_of(TSR_PLUGIN_LAYER);

/// One check. Receives the subject; throws check_failed or check_skipped.
struct check {
  const char* name;
  void (*run)(const subject&);
  kind_set of = devices;  ///< the kinds of plugins that it is about
  bool loses = false;     ///< the plugin is opened as request::lose_with says
  /// Checks of devices behind it use memory in ways that only a plugin which passes it stands: they are not run where
  /// it fails. It runs before them even where it was not asked for.
  bool others_rely_on_it = false;
};

/// The groups, each in its own file.
std::vector<check> foundation_checks();
std::vector<check> lifecycle_checks();
std::vector<check> abi_checks();
std::vector<check> honesty_checks();
std::vector<check> memory_checks();
std::vector<check> copy_checks();
std::vector<check> ordering_checks();
std::vector<check> enqueueing_checks();
std::vector<check> stress_checks();
std::vector<check> failure_checks();
std::vector<check> foreign_memory_checks();
std::vector<check> blas_argument_checks();
std::vector<check> blas_checks();
std::vector<check> tensor_checks();
std::vector<check> contract_checks();
std::vector<check> reduce_checks();
std::vector<check> sparse_checks();
std::vector<check> tiled_sparse_checks();
std::vector<check> extension_checks();
std::vector<check> jit_checks();
std::vector<check> ipc_checks();
std::vector<check> manners_checks();
std::vector<check> storage_checks();
std::vector<check> plugin_checks();
std::vector<check> operations_checks();
std::vector<check> policy_checks();
std::vector<check> layer_checks();
std::vector<check> job_checks();
std::vector<check> loss_checks();
std::vector<check> limit_checks();

}  // namespace tessera::conformance
