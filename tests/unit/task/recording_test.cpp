// What a recording keeps of its tasks.
#include "core/task/recording.hpp"

#include <gtest/gtest.h>

#include "core/block/table.hpp"
#include "core/task/pool.hpp"

namespace tessera::task {
namespace {

/// More than 16 bits count: a region may read an array of very many tiles.
TEST(recording, keeps_all_blocks_of_a_task_that_has_very_many) {
  constexpr std::size_t many = 70'000;
  block::table table;
  pool records{0};
  operation::definition work{.name = "work"}, reduce{.name = "reduce"};
  graph_recorder recorder(table, reduce, reduce);
  std::vector<block::record*> blocks;
  record& t = records.take();
  t.operation = &work;
  t.access_count = 255;
  t.flags |= flag_many_accesses;
  for (std::size_t k = 0; k < many; ++k) {
    blocks.push_back(&table.create(element_type::f64, {1}));
    t.need_more().accesses.push_back({.block = blocks.back(),
                                      .version = 0,
                                      .intent = intent::update,
                                      .flags = k == 7 ? block::access_of_part : std::uint8_t{0},
                                      .space = 0});
  }
  EXPECT_FALSE(recorder.add(t)) << "it is not kept";
  records.give_back(t, t);
  const std::unique_ptr<recording> made = recorder.finish();
  ASSERT_EQ(made->tasks.size(), 1u);
  EXPECT_EQ(made->accesses_of(made->tasks[0]).size(), many);
  EXPECT_EQ(made->accesses_of(made->tasks[0])[6].of_part, 0u);
  EXPECT_EQ(made->accesses_of(made->tasks[0])[7].of_part, 1u);
  EXPECT_EQ(made->index_of(*blocks.back()), made->accesses_of(made->tasks[0]).back().block);
}

}  // namespace
}  // namespace tessera::task
