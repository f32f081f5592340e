// When a thread that submits is held back, and until when.
#include "core/schedule/submission_window.hpp"

#include <gtest/gtest.h>

namespace tessera::schedule {
namespace {

/// Two contexts whose counts a test sets.
struct two_submitters {
  two_submitters() {
    for (int k = 0; k < 2; ++k) threads.publish(threads.make());
  }
  void submit(std::uint32_t by, std::uint64_t count) { threads[by].submitted += count; }
  void retire(std::uint32_t by, std::uint64_t count) { threads[by].retired += count; }
  thread_table threads;
};

TEST(submission_window, counts_tasks_of_all_threads) {
  two_submitters t;
  const submission_window window(t.threads, 100, 0);
  t.submit(0, 60);
  t.submit(1, 39);
  EXPECT_FALSE(window.tasks_full());
  t.submit(1, 1);
  EXPECT_TRUE(window.tasks_full());
  t.retire(0, 49);  // a thread also ends what others have submitted
  EXPECT_FALSE(window.tasks_half_empty(0));
  EXPECT_TRUE(window.tasks_half_empty(1)) << "a view ends by the program's doing alone";
  t.retire(1, 1);
  EXPECT_TRUE(window.tasks_half_empty(0));
}

TEST(submission_window, counts_bytes_where_they_are_limited) {
  two_submitters t;
  const submission_window window(t.threads, 100, 1000), tasks_only(t.threads, 100, 0);
  submission_window::note_submitted_bytes(t.threads[0], 900);
  EXPECT_FALSE(window.bytes_full());
  submission_window::note_submitted_bytes(t.threads[1], 100);
  EXPECT_TRUE(window.bytes_full());
  EXPECT_FALSE(tasks_only.bytes_full());
  t.threads[1].retired_bytes += 499;
  EXPECT_FALSE(window.bytes_half_empty());
  t.threads[1].retired_bytes += 1;
  EXPECT_TRUE(window.bytes_half_empty());
}

TEST(submission_window, is_looked_at_seldom_unless_it_is_small_or_counts_bytes) {
  const thread_table threads;
  const submission_window large(threads, 2048, 0), small(threads, 255, 0), bytes(threads, 2048, 1);
  for (std::uint64_t k = 1; k <= 1024; ++k) {
    EXPECT_EQ(large.due(k), k % 256 == 0) << k;
    EXPECT_TRUE(small.due(k));
    EXPECT_TRUE(bytes.due(k));
  }
}

}  // namespace
}  // namespace tessera::schedule
