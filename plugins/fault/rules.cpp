#include "plugins/fault/rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::fault {
namespace {

constexpr std::uint32_t size = sizeof(tsr_option);
constexpr const char* kind_words =
    "alloc_fails|copy_refused|copy_fails|kernel_refused|kernel_fails|signal_refused|slow|hang|lost";
constexpr std::array words{"alloc_fails",    "copy_refused", "copy_fails",
                           "kernel_refused", "kernel_fails", "signal_refused",
                           "slow",           "hang",         "lost"};

const tsr_option rule_options[] = {
    {size, TSR_OPTION_STRING, "inject[].kind", nullptr, 0, 0, kind_words,
     "What goes wrong: an allocation, a copy or a computation, refused at the call or failing on the timeline; a point "
     "of a stream that cannot be set; a slow copy; a stream that never ends its work; a device that is lost."},
    {size, TSR_OPTION_STRING, "inject[].device", nullptr, 0, 0, nullptr,
     "The device, by the name that `tessera topology` shows (sim0) or the one that it has itself (fast); without it "
     "every device."},
    {size, TSR_OPTION_STRING, "inject[].on", "any", 0, 0, "any|alloc|copy|kernel",
     "Of hang and lost: which calls count."},
    {size, TSR_OPTION_INT, "inject[].at", nullptr, 1, 9e15, nullptr, "Strikes the call of this number, from 1."},
    {size, TSR_OPTION_INT, "inject[].every", nullptr, 1, 9e15, nullptr, "Strikes every so many calls."},
    {size, TSR_OPTION_FLOAT, "inject[].probability", nullptr, 0, 1, nullptr,
     "Strikes each call with this probability. Without at, every and probability each call is struck."},
    {size, TSR_OPTION_INT, "inject[].times", "0", 0, 9e15, nullptr, "How often at most; 0: no limit."},
    {size, TSR_OPTION_STRING, "inject[].status", "internal", 0, 0,
     "internal|unknown|aborted|unavailable|data_loss|resource_exhausted",
     "What the failure answers; data_loss is what a wrong checksum gives, resource_exhausted a full disk."},
    {size, TSR_OPTION_RATE, "inject[].bandwidth", nullptr, 1, 1e18, nullptr,
     "Of slow: each copy takes bytes/bandwidth longer."},
    {size, TSR_OPTION_DURATION, "inject[].latency", "0", 0, 3.6e12, nullptr, "Of slow: and this much."},
};

tsr_status status_of(const std::string& word) noexcept {
  if (word == "unknown") return TSR_UNKNOWN;
  if (word == "aborted") return TSR_ABORTED;
  if (word == "unavailable") return TSR_UNAVAILABLE;
  if (word == "data_loss") return TSR_DATA_LOSS;
  if (word == "resource_exhausted") return TSR_RESOURCE_EXHAUSTED;
  return TSR_INTERNAL;
}

std::uint64_t positive(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)); }

}  // namespace

const char* word_for(kind what) noexcept { return words[static_cast<std::size_t>(what)]; }

bool rule::counts(call which) const noexcept {
  switch (fault) {
    case kind::alloc_fails:
      return which == call::alloc;
    case kind::copy_refused:
    case kind::copy_fails:
    case kind::slow:
      return which == call::copy;
    case kind::kernel_refused:
    case kind::kernel_fails:
      return which == call::kernel;
    case kind::signal_refused:
      return which == call::signal;
    case kind::hang:  // an allocation has no stream, and a signal is no work
      return (which == call::copy || which == call::kernel) &&
             (calls == "any" || (calls == "copy") == (which == call::copy));
    case kind::lost:
      return (calls == "any" && which != call::signal) || (calls == "alloc" && which == call::alloc) ||
             (calls == "copy" && which == call::copy) || (calls == "kernel" && which == call::kernel);
  }
  return false;
}

void add_options(std::vector<tsr_option>& to, const char* seed_name) {
  to.push_back({size, TSR_OPTION_INT, seed_name, "0", 0, 9e15, nullptr,
                "Of faults that strike with a probability; 0: a new one each time, which is logged."});
  to.insert(to.end(), std::begin(rule_options), std::end(rule_options));
}

tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, const char* seed_name,
                         settings& out) {
  settings made;
  made.seed = positive(option.integer(seed_name, 0));
  for (std::size_t i = 0; i < option.tables("inject"); ++i) {
    const std::string table = "inject[" + std::to_string(i) + "].";
    rule one;
    const std::string word = option.text(table + "kind", "");
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
      return report.fail(TSR_INVALID_ARGUMENT, "inject %zu: kind is '%s'; expected one of %s", i, word.c_str(),
                         kind_words);
    one.fault = static_cast<kind>(found - words.begin());
    one.device = option.text(table + "device", "");
    one.calls = option.text(table + "on", "any");
    one.number = positive(option.integer(table + "at", 0));
    one.every = positive(option.integer(table + "every", 0));
    one.times = positive(option.integer(table + "times", 0));
    one.probability = option.number(table + "probability", 0);
    one.status =
        one.fault == kind::alloc_fails ? TSR_RESOURCE_EXHAUSTED : status_of(option.text(table + "status", "internal"));
    one.bandwidth = option.number(table + "bandwidth", 0);
    one.latency_ns = positive(option.integer(table + "latency", 0));
    if (!(one.probability >= 0 && one.probability <= 1))
      return report.fail(TSR_INVALID_ARGUMENT, "inject %zu: probability is between 0 and 1", i);
    if (one.fault == kind::slow && one.bandwidth == 0 && one.latency_ns == 0)
      return report.fail(TSR_INVALID_ARGUMENT, "inject %zu: slow needs a bandwidth or a latency", i);
    if (one.fault == kind::hang && one.calls == "alloc")
      return report.fail(TSR_INVALID_ARGUMENT, "inject %zu: an allocation has no stream that could hang", i);
    made.rules.push_back(std::move(one));
  }
  out = std::move(made);
  return TSR_OK;
}

judge::judge(settings given) : m_settings(std::move(given)), m_counts(m_settings.rules.size()) {
  if (m_settings.seed == 0) m_settings.seed = std::random_device{}() | 1u;
  m_random.seed(m_settings.seed);
}

bool judge::random() const noexcept {
  return std::any_of(m_settings.rules.begin(), m_settings.rules.end(), [](const rule& r) { return r.probability > 0; });
}

verdict judge::decide(call which, const device_name& device, std::uint64_t bytes) {
  verdict made;
  if (!any()) return made;
  const std::lock_guard lock(m_mutex);
  for (std::size_t i = 0; i < m_counts.size(); ++i) {
    const rule& one = m_settings.rules[i];
    if (!one.counts(which) || (!one.device.empty() && !device.is(one.device))) continue;
    count& so_far = m_counts[i];
    const std::uint64_t number = ++so_far.calls;
    bool strikes = one.number == 0 && one.every == 0 && one.probability == 0;
    strikes = strikes || (one.number != 0 && number == one.number) || (one.every != 0 && number % one.every == 0);
    // Drawn at each call, so that one seed gives one sequence whatever else strikes.
    if (one.probability > 0 && std::uniform_real_distribution<>(0, 1)(m_random) < one.probability) strikes = true;
    if (!strikes || (one.times != 0 && so_far.strikes >= one.times)) continue;
    if (one.fault == kind::slow) {
      ++so_far.strikes;
      made.delay_ns += one.latency_ns;
      if (one.bandwidth > 0)
        made.delay_ns +=
            static_cast<std::uint64_t>(std::min(std::ceil(static_cast<double>(bytes) / one.bandwidth * 1e9), 3600e9));
    } else if (made.strikes == nullptr) {
      ++so_far.strikes;
      made.strikes = &one;
      made.number = number;
    }
  }
  return made;
}

}  // namespace tessera::fault
