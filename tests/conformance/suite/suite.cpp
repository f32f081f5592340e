#include <cxxabi.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

#include "core/base/error.hpp"
#include "tests/conformance/suite/calls.hpp"
#include "tests/conformance/suite/check.hpp"
#include "tests/conformance/suite/known_failures.hpp"
#include "tests/conformance/suite/place.hpp"
#include "tests/conformance/suite/watch.hpp"

namespace tessera::conformance {
namespace {

std::vector<check> all_checks() {
  std::vector<check> all;
  for (const auto& group :
       {plugin_checks(),        operations_checks(),   policy_checks(),    layer_checks(),    foundation_checks(),
        lifecycle_checks(),     abi_checks(),          honesty_checks(),   memory_checks(),   copy_checks(),
        ordering_checks(),      enqueueing_checks(),   stress_checks(),    failure_checks(),  foreign_memory_checks(),
        blas_argument_checks(), blas_checks(),         tensor_checks(),    contract_checks(), reduce_checks(),
        sparse_checks(),        tiled_sparse_checks(), extension_checks(), jit_checks(),      ipc_checks(),
        storage_checks(),       job_checks(),          loss_checks(),      limit_checks(),    manners_checks()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

/// `last_word` is told of a check that cannot go on: the plugin has ended its thread. `never_opens`: the plugin cannot
/// be opened.
#ifdef __SANITIZE_ADDRESS__
// GCC's sanitizer takes the reference to what unwinds a thread, in which there is no C++ object, for one to nothing.
[[gnu::no_sanitize("null"), gnu::noinline]]
#endif
result
run_one(const check& one, const subject& what, const std::function<void(const result&)>& last_word, bool& never_opens) {
  result done{one.name, outcome::passed, {}, 0};
  const auto begin = std::chrono::steady_clock::now();
  looked_at_something.store(false);
  left_out.clear();
  try {
    one.run(what);
    if (!looked_at_something.load()) skip(left_out.empty() ? "there was nothing to look at" : left_out);
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {  // the end of a thread goes on after it is caught
    done.how = outcome::failed;
    done.message = "the plugin ends the thread that calls it (pthread_exit, or a cancellation)";
    last_word(done);
    throw;
#endif
  } catch (const cannot_open& failure) {
    done.how = outcome::failed;
    done.message = failure.what();
    never_opens = failure.never;
  } catch (const check_skipped& reason) {
    done.how = outcome::skipped;
    done.message = reason.what();
  } catch (const std::exception& failure) {
    done.how = outcome::failed;
    done.message = failure.what();
  } catch (...) {
    done.how = outcome::failed;
    done.message = "an exception that is no std::exception came out of the plugin";
  }
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return done;
}

/// A mask of all CPUs that there may be: the suite does not bind.
std::vector<std::uint64_t> every_cpu() {
  const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::uint64_t> mask((count + 63) / 64, 0);
  for (unsigned cpu = 0; cpu < count; ++cpu) mask[cpu / 64] |= 1ull << (cpu % 64);
  return mask;
}

void judge_by_list(result& done, const std::vector<known_failure>& known) {
  for (const known_failure& one : known) {
    if (one.name != done.name) continue;
    if (done.how == outcome::passed) {
      done.how = outcome::failed;
      done.message = fmt::format("passes, but is listed as a known failure ({}): take the line out", one.reason);
    } else if (done.how == outcome::failed && today() <= one.expiry) {
      done.how = outcome::known_failure;
      done.message = fmt::format("known until {}: {}; {}", one.expiry, one.reason, done.message);
    } else if (done.how == outcome::failed) {
      done.message = fmt::format("was a known failure until {} ({}); {}", one.expiry, one.reason, done.message);
    }
  }
}

bool is_asked_for(const check& one, const request& what) {
  return std::string_view(one.name).find(what.filter) != std::string_view::npos &&
         (what.only.empty() || what.only == one.name);
}

/// Whether one that was asked for relies on others.
bool relies(const std::vector<check>& checks, const request& what) {
  return std::ranges::any_of(checks, [&](const check& one) {
    return one.of != every_kind && !one.others_rely_on_it && is_asked_for(one, what);
  });
}

/// The entries that have not returned for a good part of the limit, in words.
std::string what_hangs(std::chrono::seconds limit) {
  std::string entries;
  for (const call_under_way& one : calls_under_way())
    if (one.seconds > static_cast<double>(limit.count()) / 4)
      entries += fmt::format("{}{} has not returned for {:.3g} s", entries.empty() ? "" : ", ", one.entry, one.seconds);
  if (const std::string tried = what_is_tried(); !tried.empty())
    entries += fmt::format("{}it was trying {}", entries.empty() ? "" : "; ", tried);
  return entries.empty() ? "the calls of the plugin return, but what the check waits for does not come" : entries;
}

/// Checks that run on one opening of a place.
struct stage {
  request what;
  std::vector<check> checks;
};

tsr_plugin_kind kind_of(const std::filesystem::path& file) { return plugin::load_plugin(file, {}).header.kind; }

/// What a layer is put around: as asked, or the host that lies beside it; empty where there is none.
std::filesystem::path inner_of(const request& what) {
  if (!what.inner.empty()) return what.inner;
  const std::filesystem::path beside = what.plugin.parent_path() / "tessera_host.so";
  return std::filesystem::exists(beside) ? beside : std::filesystem::path{};
}

/// Adds the checks that are about `kind`: those that lose devices to a stage of their own, where options for it are
/// named.
void add_stages(std::vector<stage>& to, const request& what, tsr_plugin_kind kind, kind_set but = 0) {
  stage usual{what, {}}, losing{what, {}};
  auto& options = what.layer.empty() ? losing.what.options : losing.what.layer_options;
  options.insert(options.end(), what.lose_with.begin(), what.lose_with.end());
  for (const check& one : all_checks())
    if ((one.of & set_of(kind)) != 0 && (one.of & but) == 0)
      (one.loses && !what.lose_with.empty() ? losing : usual).checks.push_back(one);
  to.push_back(std::move(usual));
  if (!losing.checks.empty()) to.push_back(std::move(losing));
}

std::vector<stage> stages_of(const request& what) {
  std::vector<stage> all;
  const tsr_plugin_kind kind = kind_of(what.plugin);
  if (kind != TSR_PLUGIN_OPERATIONS && kind != TSR_PLUGIN_LAYER && !what.arguments.empty())
    throw error(error_kind::usage,
                fmt::format("arguments of operation \"{}\" are named, and this is a {} plugin, which has none",
                            what.arguments.front().first, plugin::name_of_kind(kind)),
                what.plugin.string(), "leave out --arguments");
  if (kind != TSR_PLUGIN_LAYER) {
    if (!what.inner.empty())
      throw error(
          error_kind::usage,
          fmt::format("an inner plugin is named, and this is a {} plugin, no layer", plugin::name_of_kind(kind)),
          what.plugin.string(), "name the layer as the file, or put it around this plugin with --layer");
    add_stages(all, what, kind);
    return all;
  }
  request alone = what, around = what;
  alone.inner = around.plugin = inner_of(what);
  alone.lose_with = {};
  add_stages(all, alone, kind);
  if (around.plugin.empty()) return all;
  around.options = what.inner_options;
  around.layer = what.plugin;
  around.layer_options = what.options;
  add_stages(all, around, kind_of(around.plugin), set_of(kind));  // what is about layers too has been looked at
  return all;
}

}  // namespace

const char* name_of(outcome how) noexcept {
  switch (how) {
    case outcome::passed:
      return "passed";
    case outcome::failed:
      return "failed";
    case outcome::skipped:
      return "skipped";
    case outcome::known_failure:
      return "known failure";
    case outcome::not_run:
      return "not run";
  }
  return "?";
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const check& one : all_checks()) all.emplace_back(one.name);
  return all;
}

std::vector<std::string> names(const request& what) {
  try {
    std::vector<std::string> some;
    for (const stage& part : stages_of(what))
      for (const check& one : part.checks) some.emplace_back(one.name);
    return some;
  } catch (const error&) {
    return names();  // each tells why
  }
}

bool report::passed() const { return count(outcome::failed) == 0; }

std::size_t report::count(outcome how) const {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(), [&](const result& r) { return r.how == how; }));
}

void need_status(tsr_status got, tsr_status wanted, std::string_view call) {
  if (got == wanted) return;
  // Of a call that succeeds, what is recorded comes from an earlier one.
  const std::string recorded = plugin::take_error_details(), details = got == TSR_OK ? std::string() : recorded;
  throw check_failed(fmt::format("{} answers {}{}{}, expected {}", call, plugin::name_of(got),
                                 details.empty() ? "" : ": ", details, plugin::name_of(wanted)));
}

opened_plugin::opened_plugin(const subject& what) try : session(what.plugin, what.host, what.options) {
  what.opened_before.store(true);
} catch (const error& failure) {
  throw cannot_open(failure.what(), !what.opened_before.load());
}

opened::opened(const subject& what) : session(what) {
  try {
    session.open_devices(devices);
    session.devices_ready();
  } catch (const error& failure) {
    throw cannot_open(failure.what(), !what.devices_opened_before.load());
  }
  what.devices_opened_before.store(true);
  if (!devices.empty())
    what.has_devices.store(true);
  else if (what.has_devices.load())
    throw check_failed("an opening finds no device, and earlier ones found some");
  else
    skip(no_devices);
}

place::place(const request& what) : m_host(every_cpu(), {}), m_loaded(plugin::load_plugin(what.plugin, {})) {
  {
    const calling now("probe");
    if (const auto answer = plugin::probe(m_loaded, m_host.table()); answer.score == 0)
      throw error(error_kind::plugin, "the plugin cannot run on this machine: " + answer.reason, what.plugin.string());
  }
  if (!what.layer.empty()) {
    const plugin::loaded_plugin found = plugin::load_plugin(what.layer, {});
    if (found.header.kind != TSR_PLUGIN_LAYER)
      throw error(error_kind::plugin,
                  fmt::format("a {} plugin cannot be put around another", plugin::name_of_kind(found.header.kind)),
                  what.layer.string());
    m_layer = std::make_unique<plugin::session>(found, m_host,
                                                plugin::check_options(found.name, found.options, what.layer_options));
    m_loaded = m_layer->wrap(m_loaded);
  }
  mark_calls(m_loaded);
}

subject place::subject_of(const request& what, std::uint64_t seed) const {
  return {m_loaded, plugin::check_options(m_loaded.name, m_loaded.options, what.options), m_host, seed, what};
}

report run(const request& what, const listener& tells) {
  report done;
  std::mutex mutex;  // of `done` and `ahead`, which the watch reads
  std::deque<std::string> ahead;
  done.seed = what.seed != 0 ? what.seed : std::random_device{}() | 1u;
  patience = what.patience;
  if (what.time_limit.count() > 0) patience = std::min(patience, std::chrono::milliseconds(what.time_limit) / 2);
  const auto add = [&](result one) {
    {
      const std::lock_guard guard(mutex);
      done.results.push_back(one);
    }
    if (tells.ended) tells.ended(one);
  };
  const auto last_word = [&](const result& failure) {
    report so_far;
    {
      const std::lock_guard guard(mutex);
      so_far = done;
      so_far.results.push_back(failure);
      for (const std::string& name : ahead)
        so_far.results.push_back({name, outcome::not_run, fmt::format("{} did not end", failure.name), 0});
    }
    if (tells.does_not_return) tells.does_not_return(so_far);
  };
  watch observed(tells.does_not_return ? what.time_limit : std::chrono::seconds{0}, [&](const std::string& name) {
    last_word({name, outcome::failed,
               fmt::format("has not ended within {} s: {}", what.time_limit.count(), what_hangs(what.time_limit)),
               static_cast<double>(what.time_limit.count())});
  });
  try {
    const auto known = read_known_failures(what.known_failures, names());
    observed.begins("load");  // probing is the plugin's code already
    const std::vector<stage> stages = stages_of(what);
    for (const stage& part : stages)
      for (const check& one : part.checks)
        if (is_asked_for(one, what)) ahead.emplace_back(one.name);
    bool first = true;
    std::string failed_foundation;
    for (const stage& part : stages) {
      const place at(part.what);
      if (first) {
        const std::lock_guard guard(mutex);
        done.plugin = at.loaded().name;
        done.version = at.loaded().header.version != nullptr ? at.loaded().header.version : "";
      }
      first = false;
      const subject checked = at.subject_of(part.what, done.seed);
      observed.ends();
      bool never_opens = false;
      std::ptrdiff_t standing = 0;
      for (const check& one : part.checks) {
        const bool asked = is_asked_for(one, what);
        if (!asked && !(one.others_rely_on_it && what.foundations_first && relies(part.checks, what))) continue;
        if (asked) {
          const std::lock_guard guard(mutex);
          ahead.pop_front();
        }
        if (never_opens || (!failed_foundation.empty() && one.of != every_kind)) {
          if (asked)
            add({one.name, outcome::not_run,
                 never_opens ? std::string() : fmt::format("it relies on {}, which fails", failed_foundation), 0});
          continue;
        }
        if (asked && tells.begins) tells.begins(one.name);
        observed.begins(one.name, !ahead.empty());
        result finished = run_one(one, checked, last_word, never_opens);
        observed.ends();
        if (never_opens) {  // said once, and not by every check
          add({"open", outcome::failed, std::move(finished.message), finished.seconds});
          if (asked) add({one.name, outcome::not_run, {}, 0});
          continue;
        }
        if (one.others_rely_on_it && finished.how == outcome::failed) failed_foundation = one.name;
        if (one.others_rely_on_it && finished.how != outcome::failed) ++standing;
        judge_by_list(finished, known);
        if (asked || !failed_foundation.empty()) add(std::move(finished));
      }
      observed.begins("the end");  // layers close
      const std::lock_guard guard(mutex);
      done.foundations_stand =
          done.foundations_stand ||
          (standing != 0 && standing == std::ranges::count_if(part.checks, &check::others_rely_on_it));
    }
    if (done.results.empty() && !what.only.empty())
      add({what.only, outcome::skipped,
           fmt::format("it is not about {} plugins", plugin::name_of_kind(kind_of(what.plugin))), 0});
  } catch (const std::exception& failure) {
    add({"load", outcome::failed, failure.what(), 0});
  }
  observed.ends();
  return done;
}

std::string to_json(const report& done) {
  nlohmann::ordered_json json;
  json["plugin"] = done.plugin;
  json["version"] = done.version;
  json["seed"] = done.seed;
  json["passed"] = done.count(outcome::passed);
  json["failed"] = done.count(outcome::failed);
  json["skipped"] = done.count(outcome::skipped);
  json["known_failures"] = done.count(outcome::known_failure);
  json["not_run"] = done.count(outcome::not_run);
  json["results"] = nlohmann::ordered_json::array();
  for (const result& one : done.results)
    json["results"].push_back(
        {{"name", one.name}, {"outcome", name_of(one.how)}, {"message", one.message}, {"seconds", one.seconds}});
  return json.dump(2) + "\n";
}

}  // namespace tessera::conformance
