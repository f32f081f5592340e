// One rank as an object: what fails is thrown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "cluster/transport/transport.hpp"

namespace {

using namespace tessera;
using namespace tessera::cluster;
using testing::HasSubstr;

transport_options two_ranks(std::vector<plugin::raw_option> values = {}) {
  return {.directories = {TESSERA_TRANSPORT_DIR}, .name = "inprocess", .values = std::move(values)};
}

plugin::raw_option option(const char* name, std::int64_t value) { return {name, value, "test"}; }

/// Both ranks of a process, by one thread in turn.
struct pair {
  explicit pair(std::vector<plugin::raw_option> values = {}) : between(two_ranks(std::move(values))) {
    for (int rank = 0; rank < 2; ++rank)
      ends[rank] = between.open(rank, [this, rank](const message_view& one) { received[rank].push_back(one.id); });
  }
  void finish(request (&both)[2]) {
    while (both[0].under_way() || both[1].under_way())
      for (auto& end : ends) end->progress();
  }
  transport between;
  std::vector<std::uint32_t> received[2];
  std::unique_ptr<endpoint> ends[2];
};

TEST(transport_endpoint, two_ranks_in_one_thread) {
  pair p;
  request both[2];
  tsr_window* windows[2] = {};
  for (int k = 0; k < 2; ++k) p.ends[k]->window_create(64, windows[k], both[k]);
  p.finish(both);
  std::int64_t before = -1;
  request done;
  ASSERT_TRUE(p.ends[0]->fetch_add(windows[0], 1, 8, 5, before, done));
  p.ends[0]->finish(done);
  EXPECT_EQ(before, 0);
  EXPECT_EQ(reinterpret_cast<const std::int64_t*>(p.ends[1]->window_part(windows[1], 1).data())[1], 5);
  ASSERT_TRUE(p.ends[0]->send(1, 42, {}, {}, done));
  while (p.received[1].empty()) p.ends[1]->progress();
  EXPECT_EQ(p.received[1][0], 42u);
  EXPECT_FALSE(p.ends[1]->wait(std::chrono::milliseconds(1)));
}

TEST(transport_endpoint, a_full_buffer_is_no_failure) {
  pair p({option("buffer", 2)});
  request done[3];
  EXPECT_TRUE(p.ends[0]->send(1, 0, {}, {}, done[0]));
  EXPECT_TRUE(p.ends[0]->send(1, 1, {}, {}, done[1]));
  EXPECT_FALSE(p.ends[0]->send(1, 2, {}, {}, done[2]));
  p.ends[1]->progress();
  EXPECT_TRUE(p.ends[0]->send(1, 2, {}, {}, done[2]));
}

TEST(transport_endpoint, what_is_wrong_is_thrown_with_the_words_of_the_transport) {
  pair p;
  request done;
  try {
    p.ends[0]->send(7, 0, {}, {}, done);
    FAIL() << "nothing was thrown";
  } catch (const error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("send: rank 7; expected 0 to 1 (send answered OUT_OF_RANGE)"));
    EXPECT_THAT(failure.where(), HasSubstr("tessera_inprocess.so"));
  }
  EXPECT_THROW(p.between.open(0, [](const message_view&) {}), error);
  EXPECT_THROW(p.between.open(5, [](const message_view&) {}), error);
}

TEST(transport_endpoint, a_lost_rank_and_an_ended_job_have_types_of_their_own) {
  pair p;
  request done, pending;
  p.ends[0]->barrier(pending);
  p.ends[1]->lose();
  EXPECT_FALSE(p.ends[0]->alive(1));
  EXPECT_THROW(p.ends[0]->send(1, 0, {}, {}, done), rank_lost);
  EXPECT_THROW(p.ends[0]->finish(pending), rank_lost);
  EXPECT_THROW(p.ends[1]->progress(), rank_lost);
  p.ends[0]->abort(3, "enough");
  try {
    p.ends[0]->progress();
    FAIL() << "nothing was thrown";
  } catch (const job_ended& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("rank 0 has ended the job with code 3: enough"));
  }
}

TEST(transport_endpoint, a_rank_is_lost_after_so_many_calls) {
  pair p({option("lost_rank", 1), option("lost_after", 10)});
  int calls = 0;
  try {
    for (; calls < 100; ++calls) p.ends[1]->progress();
  } catch (const rank_lost&) {
  }
  EXPECT_EQ(calls, 10);
  EXPECT_FALSE(p.ends[0]->alive(1));
}

TEST(transport_endpoint, memory_of_all_windows_has_a_limit) {
  pair p({option("memory", 1000)});
  request both[2];
  tsr_window* windows[2] = {};
  for (int k = 0; k < 2; ++k) p.ends[k]->window_create(600, windows[k], both[k]);
  p.finish(both);
  EXPECT_EQ(both[0].status, TSR_RESOURCE_EXHAUSTED);
  EXPECT_EQ(both[1].status, TSR_RESOURCE_EXHAUSTED);
  for (int round = 0; round < 3; ++round) {  // what was destroyed is there again
    for (int k = 0; k < 2; ++k) p.ends[k]->window_create(500, windows[k], both[k]);
    p.finish(both);
    ASSERT_EQ(both[0].status, TSR_OK) << round;
    for (int k = 0; k < 2; ++k) p.ends[k]->window_destroy(windows[k], both[k]);
    p.finish(both);
  }
}

TEST(transport_endpoint, what_a_receiver_throws_comes_out_of_progress) {
  transport between(two_ranks());
  const auto first = between.open(0, [](const message_view&) { throw std::runtime_error("too much"); });
  const auto second = between.open(1, [](const message_view&) {});
  request done;
  ASSERT_TRUE(second->send(0, 0, {}, {}, done));
  EXPECT_THROW(first->progress(), std::runtime_error);
  EXPECT_FALSE(first->progress());
}

}  // namespace
