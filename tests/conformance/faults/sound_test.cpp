// Plugins that keep their promises pass, also unusual ones: small, strict, or without threads of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/conformance/faults/requests.hpp"

namespace tessera::conformance {
namespace {

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

/// Work that waits for what the call's own thread does next would not end on a plugin whose work is done inside the
/// calls.
TEST(work_inside_the_calls, is_found_out_at_once) {
  for (const char* group : {"enqueueing.", "ordering.", "failure."}) {
    request asked = asked_of("inline");
    asked.filter = group;
    const report done = run(asked);
    EXPECT_EQ(done.count(outcome::failed), 0u);
    EXPECT_GT(done.count(outcome::passed), 0u);
    // Each by itself: their sum says how busy the machine is.
    for (const result& one : done.results)
      EXPECT_LT(one.seconds, 5) << one.name << ": a wait for work that is held back takes 5 seconds";
  }
  EXPECT_EQ(outcome_of("inline", "enqueueing.allocation_waits_for_no_work").message,
            "the work is done inside the calls that enqueue it, so nothing of it can come late");
  EXPECT_EQ(outcome_of("inline", "ordering.host_waits").how, outcome::passed);
  EXPECT_EQ(outcome_of("inline", "failure.failures_are_reported_one_by_one").how, outcome::passed);
}

/// "No device is a count of 0 and no failure", as on a machine that has no such card.
TEST(sound, a_plugin_without_a_device_is_no_failure) {
  request asked = asked_of("mini");
  asked.options = {{"count", std::int64_t{0}, "test"}};
  const report done = run(asked);
  for (const result& one : done.results) EXPECT_NE(one.how, outcome::failed) << one.name << ": " << one.message;
  EXPECT_GT(done.count(outcome::passed), 0u);
  const result job = outcome_of(asked, "jobs.random_graphs");
  EXPECT_EQ(job.how, outcome::skipped);
  EXPECT_THAT(job.message, ::testing::HasSubstr("has no device"));
}

/// host_work is younger than host_task and says more: a plugin need not have both.
TEST(sound, host_work_alone_is_looked_at) {
  const request asked{.plugin = sim,
                      .options = {{"device[0].memory", std::string("8 MiB"), "test"}},
                      .layer = built("without"),
                      .layer_options = {{"leave_out", std::string("host_task"), "test"}}};
  for (const char* check : {"failure.failed_work_is_reported_once", "failure.failures_are_reported_one_by_one",
                            "ordering.host_waits", "jobs.random_graphs"})
    EXPECT_EQ(outcome_of(asked, check).how, outcome::passed) << check << ": " << outcome_of(asked, check).message;
}

/// A host function that answers DEVICE_LOST may be taken for a loss, or for a failure as any other.
TEST(sound, a_loss_that_merely_fails_is_no_loss) {
  for (const char* check : {"loss.is_sticky", "loss.pending_points_are_reached", "loss.memory_is_left_alone"}) {
    const result done = outcome_of("inline", check);
    EXPECT_EQ(done.how, outcome::skipped) << check << ": " << done.message;
    EXPECT_THAT(done.message, ::testing::HasSubstr("merely fails"));
  }
}

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
  EXPECT_THAT(hops.message, ::testing::HasSubstr("one stream"));
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

/// Threads share what little there is.
TEST(small_devices, of_little_memory_take_several_threads) {
  request asked{.plugin = sim, .options = {{"device[0].memory", std::string("16 KiB"), "test"}}};
  for (asked.seed = 1; asked.seed <= 3; ++asked.seed) {
    const result done = outcome_of(asked, "stress.threads_times_streams");
    EXPECT_EQ(done.how, outcome::passed) << done.message;
  }
}

TEST(drift, sizes_that_change_by_themselves_are_none) {
  const result drifting = outcome_of("drifting", "abi.longer_option_values");
  EXPECT_EQ(drifting.how, outcome::passed) << drifting.message;
}

}  // namespace
}  // namespace tessera::conformance
