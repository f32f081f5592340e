// How the iterations of a pardo are shared out.
#include "languages/sial/exchange/loop_scheduler.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(second.first, 125);
  EXPECT_EQ(second.second - second.first, 109);
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
