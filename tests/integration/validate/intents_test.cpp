// A task or view that does not do with its blocks what it has declared, on the host.
#include "tests/integration/validate/validating.hpp"

namespace tessera {
namespace {

using testing::at;
using testing::fence_text;
using ::testing::HasSubstr;

class intents : public ::testing::Test {
 protected:
  runtime rt{testing::validating(testing::host_only())};
  array<double> a = rt.make_array<double>("A", {16}, {8});
};

TEST_F(intents, a_read_block_that_was_written_is_named_with_its_maker) {
  rt.submit(
      "make",
      [](view<double> x) {
        for (double& v : x) v = 2;
      },
      write(a(0)));
  const int made = __LINE__ - 6;
  rt.submit(
      "peek", [](view<const double> x) { const_cast<double&>(x[3]) = 7; }, read(a(0)));
  const int peeked = __LINE__ - 2;
  EXPECT_EQ(fence_text(rt),
            "task 'peek' changed 1 of 8 elements of A(0), which it has declared read: element 3 was 2 and became 7\n"
            "  at: task 'peek' submitted at " +
                at(__FILE__, peeked) +
                ", A(0) read, version 1\n"
                "  and: task 'make' submitted at " +
                at(__FILE__, made) +
                ", A(0) write, version 1\n"
                "  hint: declare the block update; the change was not kept");
  EXPECT_EQ(a(0).read()[3], 2) << "the change was kept";
  EXPECT_EQ(fence_text(rt), "") << "reported twice";
  ASSERT_EQ(rt.findings().size(), 1u);
  EXPECT_EQ(rt.findings()[0].fault, validate::fault::read_changed);
}

TEST_F(intents, two_readers_at_once_are_told_apart) {
  rt.submit(
      "make",
      [](view<double> x) {
        for (double& v : x) v = 1;
      },
      write(a(0)));
  for (int k = 0; k < 20; ++k) {
    rt.submit(
        "honest",
        [](view<const double> x) {
          for (const double& v : x)
            if (v != 1) throw std::runtime_error("not 1");
        },
        read(a(0)));
    rt.submit(
        "liar",
        [](view<const double> x) {
          for (const double& v : x) const_cast<double&>(v) = 3;
        },
        read(a(0)));
  }
  EXPECT_THAT(fence_text(rt), HasSubstr("task 'liar' changed 8 of 8 elements of A(0)"));
  ASSERT_EQ(rt.findings().size(), 1u);
  EXPECT_EQ(rt.findings()[0].times, 20u);
}

TEST_F(intents, elements_that_a_write_leaves_out_are_counted) {
  rt.submit(
      "half",
      [](view<double> x) {
        for (int i = 0; i < 4; ++i) x[i] = i;
      },
      write(a(1)));
  const int line = __LINE__ - 6;
  EXPECT_EQ(fence_text(rt),
            "task 'half' has declared A(1) write and left 4 of 8 elements unwritten\n"
            "  at: task 'half' submitted at " +
                at(__FILE__, line) +
                ", A(1) write, version 1\n"
                "  hint: write means every element: what was there before is not fetched; declare the block update to "
                "keep it");
}

struct padded {
  alignas(16) double x;  // and eight bytes that nobody writes
  alignas(16) short kind;
};

TEST_F(intents, bytes_between_members_are_left_out_by_nobody) {
  auto blocks = rt.make_array<padded>("P", {16}, {8});
  auto rows = rt.make_array<padded>("R", {16});
  const auto put = [](auto elements) {
    for (auto& e : elements) e.x = 1, e.kind = 2;
  };
  rt.submit("blocks", put, write(blocks(0)));
  rt.submit("rows", put, write(rows.rows(4, 12)));
  EXPECT_EQ(fence_text(rt), "");
  const auto put_half = [](auto elements) {
    std::size_t k = 0;
    for (auto& e : elements)
      if (k++ % 2 == 0) e.x = 1, e.kind = 2;
  };
  rt.submit("half", put_half, write(blocks(1)));
  EXPECT_THAT(fence_text(rt), HasSubstr("'half' has declared P(1) write and left 4 of 8 elements unwritten"));
  rt.submit("half of rows", put_half, write(rows.rows(4, 12)));
  EXPECT_THAT(fence_text(rt), HasSubstr("and left 4 of 8 elements unwritten"));
}

/// Changes all eight bytes, whatever the guard's pattern is this time.
void invert(double* at) {
  auto* const bytes = reinterpret_cast<unsigned char*>(at);
  for (std::size_t k = 0; k < sizeof(double); ++k) bytes[k] = static_cast<unsigned char>(~bytes[k]);
}

TEST_F(intents, a_task_that_writes_outside_of_its_block_is_named) {
  rt.submit(
      "first",
      [](view<double> x) {
        for (double& v : x) v = 0;
      },
      write(a(0)));
  const int before = __LINE__ - 6;
  rt.submit(
      "over", [](view<double> x) { invert(x.data() + 8); }, update(a(0)));
  const int line = __LINE__ - 2;
  EXPECT_EQ(
      fence_text(rt),
      "task 'over' wrote 8 bytes outside of A(0), the first one 0 bytes behind its last element\n"
      "  at: task 'over' submitted at " +
          at(__FILE__, line) +
          ", A(0) update, version 2\n"
          "  and: task 'first' submitted at " +
          at(__FILE__, before) +
          ", A(0) write, version 1\n"
          "  hint: compare its indices with the extents of the view: blocks at the end of an array may be smaller");
  rt.submit(
      "under", [](view<double> x) { invert(x.data() - 2); }, update(a(0)));
  EXPECT_THAT(fence_text(rt),
              HasSubstr("task 'under' wrote 8 bytes outside of A(0), the first one 16 bytes before its first element"));
}

TEST_F(intents, a_view_that_writes_what_it_reads_is_named) {
  fill(rt, a(0), 1.0);
  const int filled = __LINE__ - 1;
  int line = 0;
  {
    const auto x = a(0).read();
    line = __LINE__ - 1;
    const_cast<double&>(x[0]) = 5;
  }
  EXPECT_EQ(fence_text(rt),
            "a view changed 1 of 8 elements of A(0), which it has declared read: element 0 was 1 and became 5\n"
            "  at: view taken at " +
                at(__FILE__, line) +
                ", A(0) read, version 1\n"
                "  and: task 'fill' submitted at " +
                at(__FILE__, filled) +
                ", A(0) write, version 1\n"
                "  hint: declare the block update; the change was not kept");
}

TEST_F(intents, results_from_scratch_that_was_never_written_are_traced_back) {
  const int line = __LINE__ + 1;
  rt.submit(
      "careless",
      [](view<double> x, view<double> room) {
        for (std::int64_t i = 0; i < x.size(); ++i) x[i] = i < 6 ? 1.0 : 2 * room[i] + 1;
      },
      write(a(0)), scratch(a(1)));
  const std::string text = fence_text(rt);
  EXPECT_THAT(
      text,
      HasSubstr(
          "task 'careless' computed 2 of 8 elements of A(0) from elements that nobody had written, the first one 6\n"));
  EXPECT_THAT(text, HasSubstr("at " + at(__FILE__, line) + ", A(1) scratch")) << "the block that it comes from";
}

TEST_F(intents, every_element_type_is_watched) {
  const auto check = [&]<class T>(T value) {
    auto b = rt.make_array<T>("B", {32}, {32});
    rt.submit(
        "all",
        [value](view<T> x) {
          for (T& v : x) v = value;
        },
        write(b(0)));
    rt.submit(
        "look", [](view<const T>) {}, read(b(0)));
    EXPECT_EQ(fence_text(rt), "");
    rt.submit(
        "some",
        [value](view<T> x) {
          for (int i = 0; i < 16; ++i) x[i] = value;
        },
        write(b(0)));
    // A byte that was written may be what was there before, which is random.
    const char* const left =
        sizeof(T) == 1 ? "left (1[6-9]|2[0-9]) of 32 elements unwritten" : "left 16 of 32 elements unwritten";
    EXPECT_THAT(fence_text(rt), ::testing::ContainsRegex(left));
    rt.submit(
        "alter", [value](view<const T> x) { const_cast<T&>(x[1]) = static_cast<T>(value + value); }, read(b(0)));
    EXPECT_THAT(fence_text(rt), HasSubstr("' changed 1 of 32 elements of B(0)"));
  };
  check(1.5);
  check(1.5f);
  check(std::complex<double>(1, 2));
  check(std::complex<float>(1, 2));
  check(std::int32_t{7});
  check(std::int64_t{7});
  check(std::uint8_t{7});
}

TEST_F(intents, adopted_memory_that_the_program_touches_is_noticed) {
  std::vector<double> mine(8, 1.0);
  auto b = rt.adopt("B", std::span(mine), 8);
  rt.submit(
      "scale",
      [](view<double> x) {
        for (double& v : x) v *= 2;
      },
      update(b(0)));
  const int line = __LINE__ - 6;
  EXPECT_EQ(fence_text(rt), "");
  mine[4] = 0;
  rt.submit(
      "look", [](view<const double>) {}, read(b(0)));
  const std::string text = fence_text(rt);
  EXPECT_THAT(text, HasSubstr("the contents of B(0) are not those that its version 2 was made with"));
  EXPECT_THAT(text, HasSubstr("and: task 'scale' submitted at " + at(__FILE__, line)));
}

TEST_F(intents, a_runtime_that_does_not_validate_finds_nothing) {
  runtime plain(testing::host_only());
  auto b = plain.make_array<double>("B", {8}, {8});
  fill(plain, b(0), 1.0);
  plain.submit(
      "peek", [](view<const double> x) { const_cast<double&>(x[3]) = 7; }, read(b(0)));
  EXPECT_NO_THROW(plain.fence());
  EXPECT_FALSE(plain.validates());
  EXPECT_TRUE(plain.findings().empty());
}

}  // namespace
}  // namespace tessera
