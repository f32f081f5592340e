// What a front end that runs operations in place is told: whether a device had better do it.
#include <gtest/gtest.h>

#include "core/operation/blas.hpp"
#include "machines.hpp"
#include "tessera/front_end.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using placement::device_question;
using test_support::error_of;
using testing::machine_of;

/// Devices that count the time of their description: what is chosen follows from it.
machine described(const std::string& flops, int devices = 1, const std::string& bandwidth = "20 GiB/s",
                  const std::string& keys = "placement = \"cost\"\nhistory = \"off\"\n") {
  std::string toml = "plugins = [\"host\", \"sim\"]\n" + keys + "[plugin.sim]\nclock = \"virtual\"\n";
  for (int k = 0; k < devices; ++k)
    toml += "[[plugin.sim.device]]\nmemory = \"4 MiB\"\nlatency = \"1 us\"\nflops = \"" + flops +
            "\"\nbandwidth_in = \"" + bandwidth + "\"\nbandwidth_out = \"" + bandwidth + "\"\n";
  return machine_of(toml, 1);
}

/// C = A B of square blocks.
struct product {
  product(runtime& on, std::int64_t n) {
    for (const char* name : {"A", "B", "C"}) arrays.push_back(on.make_array<double>(name, {n, n}, {n, n}));
    for (std::size_t k = 0; k < 3; ++k)
      accesses[k] = {.block = &block(k).record(),
                     .version = 0,
                     .intent = k < 2 ? intent::read : intent::write,
                     .flags = 0,
                     .space = 0};
    spaces = {host, host, host};
    asked.operation = on.builtin().contract;
    asked.arguments = &arguments;
    asked.accesses = accesses;
    asked.spaces = spaces;
  }
  static constexpr auto host = block::space_set::of(0);
  block_of<double> block(std::size_t k) const { return arrays[k].block(0); }
  std::vector<array<double>> arrays;
  operation::contract_arguments arguments{1.0, 0.0, {'i', 'k'}, {'k', 'j'}, {'i', 'j'}};
  std::array<block::access, 3> accesses;
  std::array<block::space_set, 3> spaces;
  device_question asked;
};

TEST(device_choice, none_without_devices) {
  runtime rt(testing::host_only(1));
  product p(rt, 100);
  EXPECT_FALSE(rt.has_devices());
  EXPECT_TRUE(front_end(rt).device_spaces().empty());
  EXPECT_FALSE(front_end(rt).choose_device(p.asked));
}

TEST(device_choice, follows_speed_size_and_where_the_blocks_are) {
  runtime fast(described("10000 GFLOP/s")), slow(described("0.01 GFLOP/s"));
  EXPECT_TRUE(fast.has_devices());
  product large(fast, 300), small(fast, 8), slowly(slow, 300);
  EXPECT_FALSE(front_end(fast).choose_device(large.asked))
      << "the first of a size goes to the host, to learn how long it takes there";
  const auto chosen = front_end(fast).choose_device(large.asked);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(front_end(fast).device_spaces(), block::space_set::of(chosen->space));
  EXPECT_FALSE(front_end(fast).choose_device(small.asked));
  EXPECT_FALSE(front_end(slow).choose_device(slowly.asked));
  small.asked.only_devices = true;
  EXPECT_TRUE(front_end(fast).choose_device(small.asked));

  runtime narrow(described("10000 GFLOP/s", 1, "1 GiB/s"));
  for (const bool fixed : {false, true}) {
    product between(narrow, 100);
    between.asked.fixed = fixed;
    between.spaces = {between.host, between.host, between.host};
    EXPECT_FALSE(front_end(narrow).choose_device(between.asked)) << "two copies take longer";
    between.spaces[0] = between.spaces[1] = front_end(narrow).device_spaces();
    if (!fixed) front_end(narrow).choose_device(between.asked);  // likewise
    EXPECT_TRUE(front_end(narrow).choose_device(between.asked)) << "fetching both takes longer";
  }
}

TEST(device_choice, only_what_fits) {
  runtime rt(described("10000 GFLOP/s"));
  product p(rt, 500);  // 6 MB
  EXPECT_FALSE(front_end(rt).choose_device(p.asked));
}

TEST(device_choice, turns_go_round_equal_devices) {
  runtime rt(described("10000 GFLOP/s", 2));
  product p(rt, 200);
  p.asked.fixed = true;
  const auto first = front_end(rt).choose_device(p.asked), again = front_end(rt).choose_device(p.asked);
  p.asked.turn = 1;
  const auto second = front_end(rt).choose_device(p.asked);
  ASSERT_TRUE(first && again && second);
  EXPECT_EQ(first->place, again->place);
  bool other = second->place != first->place;
  p.asked.turn = 2;
  other = other || front_end(rt).choose_device(p.asked)->place != first->place;
  EXPECT_TRUE(other);
}

TEST(device_choice, locality_leaves_blocks_where_they_are) {
  runtime rt(described("10000 GFLOP/s", 1, "20 GiB/s", "placement = \"locality\"\n"));
  product p(rt, 300);
  EXPECT_FALSE(front_end(rt).choose_device(p.asked));
  p.spaces[0] = p.spaces[1] = front_end(rt).device_spaces();
  EXPECT_TRUE(front_end(rt).choose_device(p.asked));
}

TEST(device_choice, a_task_goes_there_and_knows_its_source) {
  runtime rt(described("10000 GFLOP/s"));
  product p(rt, 60);
  for (std::size_t k = 0; k < 2; ++k) {
    auto v = p.arrays[k].write_host(p.block(k));
    std::fill(v.begin(), v.end(), 0.5);
  }
  p.asked.only_devices = true;
  const auto chosen = front_end(rt).choose_device(p.asked);
  ASSERT_TRUE(chosen);
  task::source from("program:12");
  rt.submit_operation(*p.asked.operation, &p.arguments, sizeof p.arguments, p.accesses,
                      {.from = &from, .to = &*chosen});
  {
    const auto held = p.arrays[0].read_host(p.block(0));
    front_end(rt).fence();  // while a view is held
    EXPECT_EQ(from.device_tasks, 1u);
    EXPECT_THROW(rt.fence(), error);
  }
  {
    const auto c = p.arrays[2].read_host(p.block(2));
    EXPECT_EQ(c[7], 60 * 0.25);
  }

  // The same with labels that do not fit: the message names the source.
  p.arguments.a = {'i', 'k', 'x'};
  rt.submit_operation(*p.asked.operation, &p.arguments, sizeof p.arguments, p.accesses,
                      {.from = &from, .to = &*chosen});
  const error e = error_of([&] { front_end(rt).fence(); });
  EXPECT_EQ(e.where(), "program:12, task 'contract'") << e.what();
}

}  // namespace
}  // namespace tessera
