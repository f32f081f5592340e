// How the iterations of a pardo are shared out.
#include "languages/sial/exchange/loop_scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace tessera::sial {
namespace {

/// Who gets which candidate when the workers take turns, until nobody gets any.
std::vector<std::vector<unsigned>> takers(loop_scheduler& loop, unsigned workers) {
  std::vector<std::vector<unsigned>> all(static_cast<std::size_t>(loop.candidates()));
  for (bool any = true; any;) {
    any = false;
    for (unsigned w = 0; w < workers; ++w) {
      const auto [begin, end] = loop.take(w);
      for (std::int64_t k = begin; k < end; ++k) all[static_cast<std::size_t>(k)].push_back(w);
      any = any || begin < end;
    }
  }
  return all;
}

TEST(loop_scheduler, gives_every_candidate_to_one_worker) {
  for (const bool fixed : {false, true})
    for (const std::int64_t candidates : {0, 1, 2, 7, 1000})
      for (const unsigned workers : {1u, 3u}) {
        loop_scheduler loop(0, candidates, workers, fixed);
        for (const std::vector<unsigned>& who : takers(loop, workers)) EXPECT_EQ(who.size(), 1u);
      }
}

TEST(loop_scheduler, chunks_shrink) {
  loop_scheduler loop(0, 1000, 2, false);
  const auto first = loop.take(0);
  EXPECT_EQ(first.first, 0);
  EXPECT_EQ(first.second, 125);  // an eighth of what is left: a quarter of a worker's share
  const auto second = loop.take(1);
  EXPECT_EQ(second.first, 500) << "a part of its own";
  EXPECT_EQ(second.second - second.first, 109);
}

TEST(loop_scheduler, workers_begin_with_the_same_parts_whoever_asks_first) {
  loop_scheduler one(0, 1000, 4, false), other(0, 1000, 4, false);
  for (const unsigned w : {0u, 1u, 2u, 3u}) EXPECT_EQ(one.take(w).first, 250 * w);
  for (const unsigned w : {3u, 1u, 0u, 2u}) EXPECT_EQ(other.take(w).first, 250 * w);
}

TEST(loop_scheduler, who_is_done_takes_from_the_part_that_has_most) {
  loop_scheduler loop(0, 1000, 4, false);
  const auto beginning = loop.take(3);
  std::int64_t last = 0;
  for (auto next = loop.take(0); next.first < 250; next = loop.take(0)) last = next.second;
  EXPECT_EQ(last, 250) << "its own part first, to the end";
  loop_scheduler alone(0, 1000, 4, false);
  std::vector<unsigned> seen(1000);
  std::int64_t longest = 0;
  for (auto next = alone.take(0); next.first < next.second; next = alone.take(0)) {
    longest = std::max(longest, next.second - next.first);
    for (std::int64_t k = next.first; k < next.second; ++k) ++seen[static_cast<std::size_t>(k)];
  }
  EXPECT_EQ(seen, std::vector<unsigned>(1000, 1u)) << "one worker can have all of it";
  EXPECT_EQ(longest, 62) << "chunks are shares of what is left in all parts";
  EXPECT_EQ(beginning.second - beginning.first, 62);
}

TEST(loop_scheduler, threads_get_each_candidate_once) {
  constexpr unsigned workers = 4;
  for (const std::int64_t candidates : {3, 1000, 100000}) {
    loop_scheduler loop(0, candidates, workers, false);
    std::vector<std::atomic<unsigned>> seen(static_cast<std::size_t>(candidates));
    std::vector<std::thread> threads;
    for (unsigned w = 0; w < workers; ++w)
      threads.emplace_back([&, w] {
        for (auto next = loop.take(w); next.first < next.second; next = loop.take(w))
          for (std::int64_t k = next.first; k < next.second; ++k) ++seen[static_cast<std::size_t>(k)];
      });
    for (std::thread& one : threads) one.join();
    for (const std::atomic<unsigned>& one : seen) ASSERT_EQ(one.load(), 1u);
  }
}

TEST(loop_scheduler, fixed_chunks_do_not_depend_on_who_asks_first) {
  loop_scheduler one(0, 1000, 2, true), other(0, 1000, 2, true);
  const auto expected = one.take(1);
  other.take(0);
  other.take(0);
  EXPECT_EQ(other.take(1), expected);
}

TEST(loop_scheduler, counts_what_is_finished) {
  loop_scheduler loop(7, 10, 2, false);
  EXPECT_EQ(loop.pardo(), 7u);
  loop.finished(0);
  loop.finished(1);
  loop.finished(1);
  EXPECT_EQ(loop.finished(), 3);
}

}  // namespace
}  // namespace tessera::sial
