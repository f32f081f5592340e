// The suite finds what it looks for: plugins that break one promise each, and the check that must notice. Also the
// rules of known failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "tests/conformance/suite/conformance.hpp"
#include "tests/conformance/suite/known_failures.hpp"

namespace {

using namespace tessera;
using namespace tessera::conformance;

/// A plugin that breaks one promise, and the check that must notice.
struct fault {
  const char* planted;  ///< a file of tests/plugins, or what the layer `careless` (or `boastful`) around a simulated
                        ///< device is about
  const char* check;    ///< that must fail
  const char* wrong;    ///< what the plugin does
};

/// Those of a small device plugin.
constexpr fault of_devices[] = {
    {"fault_silent", "failure.failures_are_explained", "refuses without a word to `host->error`"},
    {"fault_alignment", "memory.alignment_is_kept", "promises an alignment that it does not keep"},
    {"fault_null_memory", "ordering.signals_wait_for_work", "answers OK to `mem_alloc` and gives no memory"},
    {"fault_writes_on_failure", "memory.absurd_sizes_are_exhaustion",
     "writes the out argument of a `mem_alloc` that fails"},
    {"fault_alloc_of_nothing", "failure.alloc_of_nothing", "allocates 0 bytes"},
    {"fault_exhaustion", "memory.exhaustion_answers_and_recovers", "answers `INTERNAL` when its memory is full"},
    {"fault_timeline", "ordering.timelines_increase", "gives the same point at every signal"},
    {"fault_ranges", "failure.copy_out_of_range", "answers OK to copies beyond an allocation"},
    {"fault_strides", "copies.every_pair", "copies rows as if there were no gaps between them"},
    {"fault_axpy", "blas.axpy", "ignores the increment of y"},
    {"fault_ends", "blas.axpy", "begins at the same end of a vector whatever the sign of the increment"},
    {"fault_claim", "honesty.inline_streams", "claims inline streams that it does not make"},
    {"fault_room", "abi.descriptions_stay_inside", "writes behind the struct that it fills"},
    {"fault_array", "abi.longer_option_values", "steps through option values by its own `sizeof`"},
    {"fault_short", "abi.short_structs_are_respected", "fills more of a struct than the host has room for"},
    {"fault_unterminated", "abi.texts_end", "gives a name without an end"},
    {"fault_uuids_change", "honesty.uuids_tell_devices_apart", "has another uuid at every question"},
    {"fault_uuids_twice", "honesty.uuids_tell_devices_apart", "has two devices with one uuid"},
    {"fault_capacity", "memory.capacity_is_there", "says that it has more memory than it has"}};

/// Those about queued work and lost devices.
constexpr fault of_streams[] = {
    {"patterns", "enqueueing.patterns_are_read_at_once", "reads the pattern of a fill when the work runs"},
    {"scalars", "enqueueing.arguments_are_read_at_once", "reads alpha of `scal` when the work runs"},
    {"products", "enqueueing.arguments_are_read_at_once", "reads alpha and beta of `spmm` when the work runs"},
    {"waiting", "enqueueing.operations_do_not_wait", "waits for the stream in `gemm`"},
    {"allocation", "enqueueing.allocation_waits_for_no_work", "waits for all streams in `mem_alloc`"},
    {"early", "enqueueing.callbacks_wait_for_work", "calls back before the work has finished"},
    {"destroy", "enqueueing.destroyed_streams_finish_their_work", "drops work in `stream_destroy`"},
    {"batches", "enqueueing.refused_batches_enqueue_nothing", "does part of a batch that it refuses"},
    {"merged", "failure.failures_are_reported_one_by_one", "tells one of several failures"},
    {"newest", "failure.failures_are_reported_one_by_one", "tells the newest of several failures first"},
    {"ahead", "failure.failures_are_reported_one_by_one",
     "tells with a failure all that is reached, past failures that it has not told"},
    {"downdates", "jobs.cholesky", "forgets the transposition in a path of its own for C -= A B^T"},
    {"waits", "jobs.random_graphs", "keeps the first three of several waits in a row"},
    {"forgiving", "loss.is_sticky", "has a lost device answer that it is well"},
    {"points", "loss.pending_points_are_reached", "leaves points of a lost device pending"},
    {"contagious", "loss.others_work_on", "has all devices say that they are lost when one is"},
    {"callbacks", "loss.due_callbacks_are_called", "drops callbacks that are due when a device is lost"},
    {"restless", "loss.memory_is_left_alone", "writes to host memory after it has answered `DEVICE_LOST`"}};

/// Those that other checks meet as well, or crash for; by the layer `careless`.
constexpr fault of_calls[] = {
    {"signals", "ordering.signals_wait_for_work", "has a point reached as soon as it is signalled"},
    {"repeats", "ordering.timelines_increase", "gives a value a second time"},
    {"structs", "enqueueing.copies_are_read_at_once", "reads the struct of a copy when the work runs"},
    {"hasty", "enqueueing.destroyed_streams_finish_their_work", "returns from `stream_destroy` while work goes on"},
    {"blocking", "enqueueing.waits_do_not_block", "has the caller of `stream_wait` wait"},
    {"strangers", "failure.memory_of_another_device", "takes memory of another device for a device's own"},
    {"untold", "failure.failed_work_is_reported_once", "never tells a failure"},
    {"deaf", "ordering.callbacks_come_in_order", "does not call back"},
    {"timeless", "ordering.host_waits", "ignores the limit of `stream_host_wait`"},
    {"bounds", "blas.arguments", "does not look whether the vectors of `axpy` fit their memory"},
    {"leading", "blas.arguments", "takes leading dimensions that are too small"},
    {"handles", "blas.arguments", "answers OK to `scal` of a NULL device"},
    {"unsized", "tensor.contract", "claims contract in a TENSOR table without `workspace`"},
    {"unsized", "tensor.permute", "claims permute in a TENSOR table without `workspace`"},
    {"batches_alone", "tensor.contract", "claims contract and has `contract_batched` alone"},
    {"notes", "failure.alloc_of_nothing", "answers OK and leaves a text with `host->error`"},
    {"products_wrong", "blas.gemm", "computes with twice the alpha of `gemm`"}};

/// Those about limits that are stated, by the layer `boastful`.
constexpr fault of_limits[] = {
    {"allocations", "limits.allocations", "states twice the largest allocation that it makes"},
    {"copies", "limits.copies", "copies twice of what it states as the largest copy"},
    {"streams", "limits.streams", "states twice the streams that can live"},
    {"lengths", "ordering.host_work", "looks at no lengths of ranges"}};

/// Those of plugins of the other kinds, and of what holds for every kind.
constexpr fault of_kinds[] = {
    {"table_slow_probe", "plugin.probe_is_cheap", "takes milliseconds to be probed"},
    {"operations_wears_out", "plugin.opens_again",
     "has something to offer at twenty openings and nothing at the next twenty"},
    {"table_stuck", "plugin.refused_options_do_no_harm", "refuses the opening after one that it refused for an option"},
    {"operations_twice", "operations.names", "has two operations of one name"},
    {"operations_silent", "operations.any_arguments_are_answered", "refuses arguments without a word to `host->error`"},
    {"operations_beyond", "operations.blocks_of_every_size", "writes behind blocks with an odd number of elements"},
    {"operations_shared", "operations.threads_get_equal_results", "has one scratch variable for all threads"},
    {"policy_single", "policy.index_is_in_range", "chooses number 1 of one candidate"},
    {"policy_endless", "policy.extreme_values", "chooses none of candidates that all take infinitely long"},
    {"policy_turns", "policy.is_a_pure_function", "has candidates take turns"},
    {"policy_shared", "policy.threads_get_equal_choices", "has one scratch variable for all threads"},
    {"layer_options", "layer.keeps_the_header", "loses the options of what it wraps"},
    {"layer_silent", "layer.refusals_are_explained", "refuses to wrap without a word to `host->error`"},
    {"layer_own_words", "layer.inner_failures_come_through", "replaces the inner plugin's details by its own"}};

std::string built(const std::string& name) { return TESSERA_BINARY_DIR "/tests/plugins/tessera_" + name + ".so"; }
const char* const sim = TESSERA_PLUGIN_DIR "/tessera_sim.so";

/// What to check for a plugin of tests/plugins.
request asked_of(const std::string& plugin) {
  request asked{.plugin = built(plugin)};
  if (plugin == "mini" || plugin.starts_with("fault_") || plugin == "drifting" || plugin == "inline")
    asked.options = {{"count", std::int64_t{2}, "test"}, {"device[0].memory", std::string("1 MiB"), "test"}};
  if (plugin.starts_with("layer")) asked.inner = built("mini");
  return asked;
}

/// `devices`: how many there are behind the layer.
request asked_behind(const std::string& careless_about, int devices = 1) {
  request asked{.plugin = sim, .layer = built("careless"), .layer_options = {{"about", careless_about, "test"}}};
  for (int i = 0; i < devices; ++i)
    asked.options.push_back({"device[" + std::to_string(i) + "].memory", std::string("64 MiB"), "test"});
  return asked;
}

result outcome_of(request asked, const std::string& check) {
  asked.only = check;
  const report done = run(asked);
  for (const result& one : done.results)
    if (one.name == check) return one;
  return done.results.empty() ? result{check, outcome::skipped, "did not run", 0} : done.results.front();
}

/// The result of one check on one plugin of tests/plugins.
result outcome_of(const std::string& plugin, const std::string& check, const std::filesystem::path& known = {}) {
  request asked = asked_of(plugin);
  asked.known_failures = known;
  return outcome_of(asked, check);
}

/// Whether what is planted is a race between threads, which the thread sanitizer would report before the suite does.
bool is_hidden_by_sanitizer([[maybe_unused]] const fault& one) {
#if defined(__SANITIZE_THREAD__)
  for (const char* racing : {"operations_shared", "policy_shared", "waits", "restless"})
    if (one.planted == std::string_view(racing)) return true;
#endif
  return false;
}

void expect_found(const fault& one, const request& faulty_one, const request& sound_one) {
  const result faulty = outcome_of(faulty_one, one.check), sound = outcome_of(sound_one, one.check);
  EXPECT_EQ(faulty.name, one.check) << faulty.message;
  EXPECT_EQ(faulty.how, outcome::failed) << faulty.message;
  EXPECT_FALSE(faulty.message.empty());
  EXPECT_EQ(sound.how, outcome::passed) << sound.message;
}

/// The checks that fail, of all but those groups that compute with random shapes for long and know nothing of what is
/// wrong.
std::vector<std::string> failing(request asked) {
  std::vector<std::string> found;
  std::string group;
  for (const std::string& name : names(asked)) {
    const std::string its_group = name.substr(0, name.find('.') + 1);
    if (its_group == group || its_group == "tensor." || its_group == "sparse." || its_group == "jit." ||
        its_group == "ipc.")
      continue;
    asked.filter = group = its_group;
    for (const result& one : run(asked).results)
      if (one.how == outcome::failed) found.push_back(one.name);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string name_of_test(const testing::TestParamInfo<fault>& test) {
  std::string name = std::string(test.param.planted) + "_" + test.param.check;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class faults : public testing::TestWithParam<fault> {};
TEST_P(faults, are_found) { expect_found(GetParam(), asked_of(GetParam().planted), asked_of("mini")); }
INSTANTIATE_TEST_SUITE_P(mini, faults, testing::ValuesIn(of_devices), name_of_test);

/// Promises about queued work: a layer breaks one of them around a device whose streams run by themselves.
class queued : public testing::TestWithParam<fault> {};
TEST_P(queued, faults_are_found) {
  if (is_hidden_by_sanitizer(GetParam())) GTEST_SKIP() << "a race is planted";
  expect_found(GetParam(), asked_behind(GetParam().planted, 2), asked_behind("", 2));
}
INSTANTIATE_TEST_SUITE_P(careless, queued, testing::ValuesIn(of_streams), name_of_test);

/// What is waited for in vain is waited for 2 seconds.
class called : public testing::TestWithParam<fault> {};
TEST_P(called, faults_are_found) {
  request faulty = asked_behind(GetParam().planted, 2);
  faulty.patience = std::chrono::seconds(2);
  expect_found(GetParam(), faulty, asked_behind("", 2));
}
INSTANTIATE_TEST_SUITE_P(careless, called, testing::ValuesIn(of_calls), name_of_test);

/// The words for a fault.
std::string message_of(const char* planted, const char* check) {
  request faulty = asked_behind(planted, 2);
  faulty.patience = std::chrono::seconds(2);
  return outcome_of(faulty, check).message;
}

TEST(messages, name_the_mistake) {
  using testing::HasSubstr;
  EXPECT_THAT(message_of("signals", "ordering.signals_wait_for_work"), HasSubstr("before it still runs"));
  EXPECT_THAT(message_of("repeats", "ordering.timelines_increase"), HasSubstr("the values of one stream increase"));
  EXPECT_THAT(message_of("structs", "enqueueing.copies_are_read_at_once"), HasSubstr("after the call has returned"));
  EXPECT_THAT(message_of("hasty", "enqueueing.destroyed_streams_finish_their_work"),
              HasSubstr("stream_destroy returns while a host task of the stream still runs"));
  EXPECT_THAT(message_of("blocking", "enqueueing.waits_do_not_block"), HasSubstr("and not the calling thread"));
  EXPECT_THAT(message_of("strangers", "failure.memory_of_another_device"), HasSubstr("with memory of device"));
  EXPECT_THAT(message_of("untold", "failure.failed_work_is_reported_once"), HasSubstr("the failure of a host task"));
  EXPECT_THAT(message_of("deaf", "ordering.callbacks_come_in_order"), HasSubstr("a callback of stream_callback"));
  EXPECT_THAT(message_of("timeless", "ordering.host_waits"), HasSubstr("it keeps to timeout_ns"));
  EXPECT_THAT(message_of("bounds", "blas.arguments"),
              HasSubstr("axpy of float64 with x whose last element lies behind"));
  EXPECT_THAT(message_of("leading", "blas.arguments"), HasSubstr("with lda = 3 for 4 rows answers OK"));
  EXPECT_THAT(message_of("handles", "blas.arguments"), HasSubstr("scal of float32 with a NULL device answers OK"));
  EXPECT_THAT(message_of("unsized", "tensor.contract"), HasSubstr("has no `workspace`"));
  EXPECT_THAT(message_of("batches_alone", "tensor.contract"), HasSubstr("`contract_batched` alone does not do"));
  const std::string noted = message_of("notes", "failure.alloc_of_nothing");
  EXPECT_THAT(noted, HasSubstr("mem_alloc of 0 bytes answers OK, expected INVALID_ARGUMENT"));
  EXPECT_THAT(noted, testing::Not(HasSubstr("a text of earlier"))) << "of a call that succeeds nothing was said";
  const std::string product = message_of("products_wrong", "blas.gemm");
  EXPECT_THAT(product, HasSubstr("alpha"));
  EXPECT_EQ(product.find("gemm "), product.rfind("gemm ")) << "said twice: " << product;
}

/// A batch of none has lists: a plugin may refuse those that are NULL.
TEST(sound, plugins_may_refuse_lists_that_are_null) {
  for (const char* check : {"blas.gemm_batched", "tensor.contract_batched"}) {
    request asked = asked_behind("lists");
    for (asked.seed = 1; asked.seed <= 3; ++asked.seed) {
      const result done = outcome_of(asked, check);
      EXPECT_EQ(done.how, outcome::passed) << done.message;
    }
  }
}

/// Checks that use memory as only a plugin stands that passes what they rely on do not run when it fails, and the run
/// does not crash; whatever was asked for.
TEST(foundations, that_fail_end_the_run) {
  for (const auto& [planted, check] :
       {std::pair{"signals", "ordering.signals_wait_for_work"}, std::pair{"repeats", "ordering.timelines_increase"},
        std::pair{"structs", "enqueueing.copies_are_read_at_once"}}) {
    const report all = run(asked_behind(planted));
    EXPECT_EQ(all.count(outcome::failed), 1u) << planted;
    EXPECT_GT(all.count(outcome::not_run), 60u) << planted;
    EXPECT_FALSE(all.passed());
    for (const result& one : all.results) {
      EXPECT_EQ(one.how == outcome::failed, one.name == check) << one.name << ": " << one.message;
      if (one.how == outcome::not_run) {
        EXPECT_EQ(one.message, std::string("it relies on ") + check + ", which fails");
      }
    }
    EXPECT_THAT(to_json(all), testing::HasSubstr("\"not_run\": " + std::to_string(all.count(outcome::not_run))));
    request some = asked_behind(planted);
    some.filter = "copies.";
    const report of_copies = run(some);
    ASSERT_EQ(of_copies.results.size(), 5u) << planted;
    EXPECT_EQ(of_copies.results.front().name, check);
    EXPECT_EQ(of_copies.results.front().how, outcome::failed);
    EXPECT_EQ(of_copies.count(outcome::not_run), 4u);
  }
  EXPECT_EQ(outcome_of("mini", "copies.fills").how, outcome::skipped) << "those that pass are not told";
  request one = asked_of("mini");
  one.only = "copies.every_pair";
  EXPECT_EQ(run(one).results.size(), 1u);
}

/// A run that a plugin hangs ends with a report: the entry, and the checks that did not run.
TEST(hanging, entries_are_named) {
  request asked = asked_of("fault_hang");
  asked.filter = "memory.";
  asked.time_limit = std::chrono::seconds(1);
  listener tells;
  tells.does_not_return = [](const report& so_far) {
    for (const result& one : so_far.results)
      std::fprintf(stderr, "%s %s: %s\n", name_of(one.how), one.name.c_str(), one.message.c_str());
    _exit(5);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run(asked, tells), testing::ExitedWithCode(5),
              "failed ordering.signals_wait_for_work: has not ended within 1 s: mem_free has not returned for .*\n"
              "not run memory.spaces_are_described: ordering.signals_wait_for_work did not end\n");
}

TEST(crashing, entries_are_named) {
  request asked = asked_of("fault_crash");
  asked.filter = "memory.";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run(asked), "the check ordering.signals_wait_for_work crashed .*\n.*calling mem_free\n.*did not run");
}

class kinds : public testing::TestWithParam<fault> {};
TEST_P(kinds, faults_are_found_by_one_check_alone) {
  if (is_hidden_by_sanitizer(GetParam())) GTEST_SKIP() << "a race is planted";
  const std::string planted = GetParam().planted, family = planted.substr(0, planted.find('_'));
  expect_found(GetParam(), asked_of(planted), asked_of(family == "table" ? "operations" : family));
  EXPECT_THAT(failing(asked_of(planted)), testing::ElementsAre(GetParam().check));
}
INSTANTIATE_TEST_SUITE_P(tables, kinds, testing::ValuesIn(of_kinds), name_of_test);

/// What only a whole job, a row of failures or a lost device shows.
class rare : public testing::TestWithParam<fault> {};
TEST_P(rare, faults_are_found_by_one_check_alone) {
  if (is_hidden_by_sanitizer(GetParam())) GTEST_SKIP() << "a race is planted";
  const int devices = std::string(GetParam().planted) == "contagious" ? 2 : 1;
  EXPECT_THAT(failing(asked_behind(GetParam().planted, devices)), testing::ElementsAre(GetParam().check));
}
std::vector<fault> rare_faults() {
  std::vector<fault> some;
  for (const fault& one : of_streams)
    if (!std::string_view(one.check).starts_with("enqueueing.")) some.push_back(one);
  return some;
}
INSTANTIATE_TEST_SUITE_P(careless, rare, testing::ValuesIn(rare_faults()), name_of_test);

TEST(layers, are_checked_around_a_device) {
  const request asked{
      .plugin = built("careless"), .options = {{"about", std::string("patterns"), "test"}}, .inner = sim};
  EXPECT_EQ(outcome_of(asked, "enqueueing.patterns_are_read_at_once").how, outcome::failed);
  EXPECT_EQ(outcome_of(asked, "copies.every_pair").how, outcome::passed);
  EXPECT_EQ(outcome_of(asked, "layer.keeps_the_header").how, outcome::passed);
}

TEST(layers, alone_have_an_inner_plugin) {
  request asked = asked_of("mini");
  asked.inner = sim;
  const result done = outcome_of(asked, "copies.every_pair");
  EXPECT_EQ(done.name, "load");
  EXPECT_THAT(done.message, testing::HasSubstr("no layer"));
  asked = asked_of("layer");
  asked.inner = built("policy");  // which it cannot wrap
  const result refused = outcome_of(asked, "policy.is_a_pure_function");
  EXPECT_EQ(refused.name, "load");
  EXPECT_THAT(refused.message, testing::HasSubstr("this layer wraps devices alone"));
}

TEST(groups, follow_the_kind_of_the_plugin) {
  const auto of = [](const char* plugin) { return names(asked_of(plugin)); };
  EXPECT_THAT(of("policy"),
              testing::AllOf(testing::Contains("policy.extreme_values"), testing::Contains("plugin.opens_again"),
                             testing::Not(testing::Contains("copies.every_pair")),
                             testing::Not(testing::Contains("operations.names"))));
  EXPECT_THAT(of("mini"), testing::AllOf(testing::Contains("copies.every_pair"),
                                         testing::Not(testing::Contains("storage.computes_nothing")),
                                         testing::Not(testing::Contains("layer.keeps_the_header"))));
  EXPECT_THAT(of("layer"),
              testing::AllOf(testing::Contains("layer.keeps_the_header"), testing::Contains("copies.every_pair")));
  const result foreign = outcome_of("policy", "copies.every_pair");
  EXPECT_EQ(foreign.how, outcome::skipped);
  EXPECT_THAT(foreign.message, testing::HasSubstr("policy"));
}

TEST(vacuous, checks_that_find_nothing_to_look_at_are_skipped) {
  const result done = outcome_of(request{.plugin = sim}, "memory.alignment_is_kept");  // its memory has no addresses
  EXPECT_EQ(done.how, outcome::skipped);
  EXPECT_THAT(done.message, testing::HasSubstr("no space is addressable"));
  EXPECT_EQ(outcome_of("mini", "memory.alignment_is_kept").how, outcome::passed);
  // A check of two extensions of which one is there.
  request without_graphs{
      .plugin = sim, .layer = built("without"), .layer_options = {{"leave_out", std::string("GRAPH"), "test"}}};
  EXPECT_EQ(outcome_of(without_graphs, "sparse.recorded").how, outcome::skipped);
  without_graphs.layer_options.clear();
  EXPECT_EQ(outcome_of(without_graphs, "sparse.recorded").how, outcome::passed);
}

/// Work that waits for what the call's own thread does next would not end on a plugin whose work is done inside the
/// calls.
TEST(work_inside_the_calls, is_found_out_at_once) {
  double seconds = 0;
  for (const char* group : {"enqueueing.", "ordering.", "failure."}) {
    request asked = asked_of("inline");
    asked.filter = group;
    const report done = run(asked);
    EXPECT_EQ(done.count(outcome::failed), 0u);
    EXPECT_GT(done.count(outcome::passed), 0u);
    for (const result& one : done.results) seconds += one.seconds;
  }
  EXPECT_LT(seconds, 4) << "one wait for work that is held back takes 5 seconds";
  EXPECT_EQ(outcome_of("inline", "enqueueing.allocation_waits_for_no_work").message,
            "the work is done inside the calls that enqueue it, so nothing of it can come late");
  EXPECT_EQ(outcome_of("inline", "ordering.host_waits").how, outcome::passed);
  EXPECT_EQ(outcome_of("inline", "failure.failures_are_reported_one_by_one").how, outcome::passed);
}

TEST(arguments, are_the_usual_ones_or_those_that_are_named) {
  const std::string check = "operations.blocks_of_every_size";
  request asked = asked_of("operations_five_more");
  const result unnamed = outcome_of(asked, check);
  EXPECT_EQ(unnamed.how, outcome::skipped);
  EXPECT_THAT(unnamed.message, testing::HasSubstr("--arguments"));
  asked.arguments = {{"test.scale", std::vector<unsigned char>(13)}};
  EXPECT_EQ(outcome_of(asked, check).how, outcome::passed);
  asked.arguments = {{"test.scales", {}}};
  EXPECT_THAT(outcome_of(asked, check).message, testing::HasSubstr("no such operation"));
}

TEST(losses, are_had_by_named_options_or_not_at_all) {
  const auto with = [](const char* every) {
    return request{.plugin = built("mini"),
                   .layer = TESSERA_PLUGIN_DIR "/tessera_fault.so",
                   .lose_with = {{"inject[0].kind", std::string("lost"), "test"},
                                 {"inject[0].every", std::string(every), "test"}}};
  };
  const result unnamed = outcome_of("mini", "loss.is_sticky");
  EXPECT_EQ(unnamed.how, outcome::skipped);
  EXPECT_THAT(unnamed.message, testing::HasSubstr("--lose-with"));
  const result named = outcome_of(with("50"), "loss.is_sticky");
  EXPECT_EQ(named.how, outcome::passed) << named.message;
  const result never = outcome_of(with("1000000"), "loss.is_sticky");
  EXPECT_EQ(never.how, outcome::failed);
  EXPECT_THAT(never.message, testing::HasSubstr("lose no device"));
}

/// The faults as README.md lists them.
std::string table() {
  std::string text = "| a plugin that | is planted as | is found by |\n|---|---|---|\n";
  const auto add = [&](std::span<const fault> some, const char* where) {
    for (const fault& one : some)
      text += "| " + std::string(one.wrong) + " | `" + where + one.planted + "` | `" + one.check + "` |\n";
  };
  add(of_kinds, "");
  add(of_devices, "");
  add(of_streams, "careless: ");
  add(of_calls, "careless: ");
  add(of_limits, "boastful: ");
  return text;
}

TEST(readme, lists_the_planted_faults) {
  std::ifstream file(TESSERA_SOURCE_DIR "/tests/conformance/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find("\n\n" + table()), std::string::npos) << "the table of README.md is to be:\n\n" << table();
}

TEST(readme, lists_faults_of_checks_that_there_are) {
  const auto all = names();
  for (const auto& some :
       {std::span<const fault>(of_kinds), std::span<const fault>(of_devices), std::span<const fault>(of_streams),
        std::span<const fault>(of_calls), std::span<const fault>(of_limits)})
    for (const fault& one : some) EXPECT_THAT(all, testing::Contains(one.check));
}

/// Limits: a layer states others than the device keeps.
class stated : public testing::TestWithParam<fault> {};

result outcome_of_limits(const std::string& untrue_about, const std::string& check) {
  const report done = run({.plugin = TESSERA_BINARY_DIR "/lib/tessera/plugins/tessera_sim.so",
                           .options = {{"device[0].max_allocation", std::string("2 MiB"), "test"},
                                       {"device[0].max_copy", std::string("1 MiB"), "test"},
                                       {"device[0].max_streams", std::int64_t{5}, "test"}},
                           .only = check,
                           .layer = built("boastful"),
                           .layer_options = {{"about", untrue_about, "test"}}});
  return done.results.empty() ? result{check, outcome::skipped, "did not run", 0} : done.results.front();
}

TEST_P(stated, limits_are_tried) {
  const result untrue = outcome_of_limits(GetParam().planted, GetParam().check);
  EXPECT_EQ(untrue.name, GetParam().check) << untrue.message;
  EXPECT_EQ(untrue.how, outcome::failed) << untrue.message;
  const result sound = outcome_of_limits("", GetParam().check);
  EXPECT_EQ(sound.how, outcome::passed) << sound.message;
}

INSTANTIATE_TEST_SUITE_P(boastful, stated, testing::ValuesIn(of_limits),
                         [](const auto& test) { return std::string(test.param.planted); });

/// A device that has one stream, copies 4 KiB and allocates 64 KiB at a time, and states it.
request asked_of_a_small_device() {
  return {.plugin = sim,
          .options = {{"device[0].memory", std::string("8 MiB"), "test"},
                      {"device[0].max_streams", std::int64_t{1}, "test"},
                      {"device[0].max_copy", std::string("4 KiB"), "test"},
                      {"device[0].max_allocation", std::string("64 KiB"), "test"}}};
}

TEST(small_devices, pass) {
  request asked = asked_of_a_small_device();
  for (const char* group : {"lifecycle.", "memory.", "copies.", "ordering.", "enqueueing.", "stress.", "failure.",
                            "jobs.", "loss.", "limits.", "blas.axpy"}) {
    asked.filter = group;
    for (const result& one : run(asked).results) EXPECT_NE(one.how, outcome::failed) << one.name << ": " << one.message;
  }
  for (const char* check :
       {"copies.every_pair", "memory.exhaustion_answers_and_recovers", "stress.threads_times_streams",
        "jobs.random_graphs", "limits.allocations", "limits.copies", "limits.streams", "loss.is_sticky", "blas.axpy"})
    EXPECT_EQ(outcome_of(asked_of_a_small_device(), check).how, outcome::passed) << check;
  const result hops = outcome_of(asked_of_a_small_device(), "ordering.tickets_order_streams");
  EXPECT_EQ(hops.how, outcome::skipped);
  EXPECT_THAT(hops.message, testing::HasSubstr("one stream"));
}

/// Whatever memory it has, a sound device passes or is skipped for it.
TEST(small_devices, of_little_memory_pass_or_are_skipped) {
  for (const char* memory : {"16 KiB", "256 KiB"}) {
    request asked{.plugin = sim, .options = {{"device[0].memory", std::string(memory), "test"}}};
    for (const result& one : run(asked).results) {
      EXPECT_NE(one.how, outcome::failed) << memory << ": " << one.name << ": " << one.message;
      EXPECT_NE(one.message, "there was nothing to look at") << memory << ": " << one.name;
    }
  }
}

/// What cannot be opened is told once.
TEST(unopened, plugins_fail_once) {
  for (const auto& [plugin, reason] :
       {std::pair{"open_fails", "the driver refused"}, std::pair{"device_open_fails", "the cable is not plugged in"}}) {
    const report done = run({.plugin = built(plugin)});
    EXPECT_EQ(done.count(outcome::failed), 1u) << plugin;
    EXPECT_GT(done.count(outcome::not_run), 50u) << plugin;
    EXPECT_FALSE(done.passed());
    std::size_t told = 0;
    for (const result& one : done.results) {
      told += one.message.find(reason) != std::string::npos ? 1 : 0;
      EXPECT_EQ(one.how == outcome::failed, one.name == "open") << one.name;
    }
    EXPECT_EQ(told, 1u) << plugin;
    EXPECT_THAT(to_json(done), testing::HasSubstr("\"outcome\": \"not run\""));
  }
}

TEST(drift, sizes_that_change_by_themselves_are_none) {
  const result drifting = outcome_of("drifting", "abi.longer_option_values");
  EXPECT_EQ(drifting.how, outcome::passed) << drifting.message;
}

/// A file of known failures with one line.
class known_file {
 public:
  explicit known_file(const std::string& line)
      : m_path(std::filesystem::temp_directory_path() / ("tessera_known_" + std::to_string(::getpid()))) {
    std::ofstream(m_path) << "# a comment\n\n" << line << "\n";
  }
  ~known_file() { std::filesystem::remove(m_path); }
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

TEST(known_failures, count_until_their_day_and_not_longer) {
  const std::string check = "honesty.inline_streams";
  {
    const known_file future(check + " 2999-12-31 the driver is being repaired");
    EXPECT_EQ(outcome_of("fault_claim", check, future.path()).how, outcome::known_failure);
  }
  {
    const known_file today_counts(check + " " + today() + " last day");
    EXPECT_EQ(outcome_of("fault_claim", check, today_counts.path()).how, outcome::known_failure);
  }
  const known_file past(check + " 2020-01-31 the driver is being repaired");
  const result expired = outcome_of("fault_claim", check, past.path());
  EXPECT_EQ(expired.how, outcome::failed);
  EXPECT_NE(expired.message.find("2020-01-31"), std::string::npos);
}

TEST(known_failures, that_pass_are_failures) {
  const known_file listed("honesty.inline_streams 2999-12-31 was broken once");
  const result passing = outcome_of("mini", "honesty.inline_streams", listed.path());
  EXPECT_EQ(passing.how, outcome::failed);
  EXPECT_NE(passing.message.find("take the line out"), std::string::npos);
}

TEST(known_failures, malformed_lines_are_refused) {
  for (const char* line :
       {"blas.gemm", "blas.gemm tomorrow it hurts", "blas.gemm 2999-12-31", "blas.gmme 2999-12-31 typo"}) {
    const known_file bad(line);
    EXPECT_THROW(read_known_failures(bad.path(), names()), error) << line;
    EXPECT_EQ(outcome_of("mini", "blas.gemm", bad.path()).name, "load") << line;
  }
  EXPECT_TRUE(read_known_failures("/no/such/file", names()).empty());
}

TEST(report, json_holds_every_result) {
  const report done = run({.plugin = built("fault_claim"), .seed = 7, .filter = "honesty."});
  const std::string json = to_json(done);
  EXPECT_EQ(done.seed, 7u);
  EXPECT_FALSE(done.passed());
  for (const result& one : done.results) EXPECT_NE(json.find(one.name), std::string::npos);
  EXPECT_NE(json.find("\"failed\": 1"), std::string::npos);
}

}  // namespace
