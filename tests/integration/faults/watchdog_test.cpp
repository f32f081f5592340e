// Streams that hang are named, and the run ends.
#include <gmock/gmock.h>

#include "tests/integration/faults/faulty.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AnyOf;
using ::testing::HasSubstr;

struct hanging {
  std::size_t where;
  const char* on;
  int at;
};
void PrintTo(const hanging& h, std::ostream* out) {
  *out << testing::places()[h.where].name << " " << h.on << " " << h.at;
}
class watchdog : public ::testing::TestWithParam<hanging> {};

TEST_P(watchdog, names_the_device_and_what_it_was_doing) {
  const hanging& h = GetParam();
  const testing::place& at = testing::places()[h.where];
  const testing::deadline limit(at.name + std::string(" hang ") + h.on);
  std::string text;
  {
    runtime rt(testing::faulty_machine(
        at, "kind = \"hang\"\non = \"" + std::string(h.on) + "\"\nat = " + std::to_string(h.at) + "\n",
        "watchdog = \"200 ms\"\n"));
    testing::random_blocks program(rt, testing::blocks_on(at), 512);
    testing::run_random(program, 1, 300);
    const error e = error_of([&] { rt.fence(); });
    text = e.what();
    EXPECT_EQ(e.kind(), error_kind::device);
    EXPECT_THAT(error_of([&] { (void)program.blocks()(0).read(); }).what(), HasSubstr("hangs")) << "the run is over";
  }
  EXPECT_THAT(text, HasSubstr("hangs: stream"));
  EXPECT_THAT(text, HasSubstr("has not come further for 200 ms"));
  EXPECT_THAT(text, AnyOf(HasSubstr("the copy of"), HasSubstr("task '")));
}

INSTANTIATE_TEST_SUITE_P(streams, watchdog,
                         ::testing::Values(hanging{0, "copy", 1}, hanging{0, "copy", 10}, hanging{0, "kernel", 1},
                                           hanging{0, "kernel", 20}, hanging{2, "copy", 20}, hanging{2, "kernel", 20},
                                           hanging{3, "any", 30}, hanging{4, "kernel", 5}, hanging{7, "copy", 3}));

TEST(watchdog_off, and_a_run_without_trouble_says_nothing) {
  for (const char* limit : {"0 s", "1 s"}) {
    const testing::deadline end("no trouble");
    runtime rt(testing::faulty_machine(testing::places()[0], "", "watchdog = \"" + std::string(limit) + "\"\n"));
    testing::random_blocks program(rt, 24);
    testing::run_random(program, 3, 500);
    EXPECT_NO_THROW(rt.fence());
    program.check_all();
  }
}

TEST(watchdog_off, a_stream_that_is_merely_slow_is_left_alone) {
  // 24 copies one after the other on one stream, 20 of them 100 ms late: it is busy for 2 s, and goes on all the time.
  const testing::deadline end("slow");
  const auto began = std::chrono::steady_clock::now();
  runtime rt(testing::faulty_machine(testing::places()[0], "kind = \"slow\"\nlatency = \"100 ms\"\ntimes = 20\n",
                                     "watchdog = \"1 s\"\n"));
  constexpr std::int64_t count = 24;
  auto a = rt.make_array<double>("a", {count * 8}, {8});
  for (std::int64_t k = 0; k < count; ++k) fill(rt, a(k), static_cast<double>(k), {.at = rt.at("numa0")});
  for (std::int64_t k = 0; k < count; ++k) scal(rt, 2.0, a(k), {.at = rt.at("sim0")});
  EXPECT_NO_THROW(rt.fence());
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::seconds(2)) << "all of them were late";
  for (std::int64_t k = 0; k < count; ++k) EXPECT_EQ(a(k).read()[7], 2.0 * static_cast<double>(k)) << k;
}

}  // namespace
}  // namespace tessera
