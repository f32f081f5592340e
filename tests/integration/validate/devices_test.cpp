// Wrong intents of tasks on devices: the same findings, from copies made on the task's stream.
#include <array>

#include "tests/integration/validate/validating.hpp"

namespace tessera {
namespace {

using testing::at;
using testing::fence_text;
using ::testing::HasSubstr;

class on_devices : public ::testing::Test {
 protected:
  runtime rt{testing::validating(testing::with_sims(1, "1 MiB"))};
  array<double> a = rt.make_array<double>("A", {16}, {8});
  const operation::definition& first(const char* name, intent how) {
    return rt.define(testing::fills_with_seven(name, how));
  }
  void run(const operation::definition& what, block::access use, std::int64_t elements,
           std::source_location site = std::source_location::current()) {
    rt.submit_operation(what, &elements, sizeof elements, std::array{use}, {.at = rt.at("sim0")}, site);
  }
};

TEST_F(on_devices, a_read_block_that_was_written_is_named_with_its_maker) {
  fill(rt, a(0), 2.0, {.at = rt.at("sim0")});
  run(first("wrong", intent::read), read(a(0)), 3);
  const int line = __LINE__ - 1;
  const std::string text = fence_text(rt);
  EXPECT_THAT(
      text,
      HasSubstr(
          "task 'wrong' changed 3 of 8 elements of A(0), which it has declared read: element 0 was 2 and became 7\n"
          "  at: task 'wrong' submitted at " +
          at(__FILE__, line) +
          ", A(0) read, version 1\n"
          "  and: task 'fill' submitted at "));
}

TEST_F(on_devices, elements_that_a_write_leaves_out_are_counted) {
  run(first("half", intent::write), write(a(1)), 4);
  const int line = __LINE__ - 1;
  EXPECT_THAT(fence_text(rt), HasSubstr("task 'half' has declared A(1) write and left 4 of 8 elements unwritten\n"
                                        "  at: task 'half' submitted at " +
                                        at(__FILE__, line) + ", A(1) write, version 1"));
}

TEST_F(on_devices, what_is_right_is_not_reported) {
  run(first("whole", intent::write), write(a(1)), 8);
  run(first("part", intent::update), update(a(1)), 2);
  scal(rt, 2.0, a(1), {.at = rt.at("sim0")});
  rt.submit(
      "host",
      [](view<double> x) {
        for (double& v : x) v += 1;
      },
      update(a(1)));
  scal(rt, 2.0, a(1), {.at = rt.at("sim0")});
  EXPECT_EQ(fence_text(rt), "");
  EXPECT_EQ(a.read_host(a(1))[0], 30);
}

TEST_F(on_devices, a_write_beyond_a_block_shows_in_its_neighbour) {
  const operation::definition& over = first("over", intent::update);
  auto wide =
      rt.make_array<double>("W", {1536}, {512});  // a page each: they lie side by side, in one order or the other
  for (int k = 0; k < 3; ++k) fill(rt, wide(k), 1.0, {.at = rt.at("sim0")});
  run(over, update(wide(1)), 1024);
  EXPECT_EQ(fence_text(rt), "") << "what lies outside is not seen by the task itself";
  for (const int k : {0, 2}) scal(rt, 2.0, wide(k), {.at = rt.at("sim0")});
  EXPECT_THAT(fence_text(rt),
              ::testing::ContainsRegex("the contents of W.[02]. are not those that its version 1 was made with"));
  ASSERT_EQ(rt.findings().size(), 1u);
  EXPECT_EQ(rt.findings()[0].fault, validate::fault::stray);
}

}  // namespace
}  // namespace tessera
