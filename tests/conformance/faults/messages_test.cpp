// What is said of a plugin that breaks a promise, hangs or crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "tests/conformance/faults/requests.hpp"

namespace tessera::conformance {
namespace {

/// The words for a fault.
std::string message_of(const char* planted, const char* check) {
  request faulty = asked_behind(planted, 2);
  faulty.patience = std::chrono::seconds(2);
  return outcome_of(faulty, check).message;
}

TEST(messages, name_the_mistake) {
  using ::testing::HasSubstr;
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
  EXPECT_THAT(noted, ::testing::Not(HasSubstr("a text of earlier"))) << "of a call that succeeds nothing was said";
  const std::string product = message_of("products_wrong", "blas.gemm");
  EXPECT_THAT(product, HasSubstr("alpha"));
  EXPECT_EQ(product.find("gemm "), product.rfind("gemm ")) << "said twice: " << product;
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
  EXPECT_EXIT(run(asked, tells), ::testing::ExitedWithCode(5),
              "failed ordering.signals_wait_for_work: has not ended within 1 s: mem_free has not returned for .*\n"
              "not run memory.spaces_are_described: ordering.signals_wait_for_work did not end\n");
}

TEST(crashing, entries_are_named) {
  request asked = asked_of("fault_crash");
  asked.filter = "memory.";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run(asked), "the check ordering.signals_wait_for_work crashed .*\n.*calling mem_free\n.*did not run");
}

}  // namespace
}  // namespace tessera::conformance
