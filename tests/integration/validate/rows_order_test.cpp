// Uses of rows that nothing orders, however their blocks are cut.
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

#include "tessera/deep_copy.hpp"
#include "tessera/region.hpp"
#include "tessera/tessera.hpp"
#include "tests/integration/validate/validating.hpp"

namespace tessera {
namespace {

using testing::at;
using testing::fence_text;
using ::testing::HasSubstr;

constexpr auto set_one = [](auto i, auto x) { x[i] = 1.0; };
constexpr auto add_one = [](auto i, auto x) { x[i] += 1.0; };
constexpr auto put_rows = [](auto x) {
  for (double& v : x) v = 1;
};
constexpr auto look_at = [](auto) {};

/// An array without blocks, one with blocks, and threads that are there until the end.
class rows_order : public testing::with_threads {
 protected:
  runtime rt{testing::validating(testing::host_only())};
  location_model model{rt};
  array<double> x = model.make_array<double>("x", {100});
  array<double> a = rt.make_array<double>("A", {16}, {8});
};

TEST_F(rows_order, regions_of_two_threads_are_named) {
  int theirs = 0, ours = 0;
  elsewhere([&] {
    model.region("theirs", iterate(0, 60), write(x), set_one);
    theirs = __LINE__ - 1;
  });
  model.region("ours", iterate(40, 100), write(x), set_one);
  ours = __LINE__ - 1;
  EXPECT_EQ(fence_text(rt),
            "rows 40 to 60 of x are used by two threads or tasks with the intents write and write, and nothing orders "
            "their submissions\n"
            "  at: region 'ours' launched at " +
                at(__FILE__, ours) +
                ", x rows 40 to 100 write\n"
                "  and: region 'theirs' launched at " +
                at(__FILE__, theirs) +
                ", x rows 0 to 60 write\n"
                "  hint: order them: submit both from one thread, fence, take a view, or tell of a barrier with "
                "order_before and order_after");
}

TEST_F(rows_order, rows_apart_need_no_order) {
  elsewhere([&] { model.region("low", iterate(0, 50), write(x), set_one); });
  model.region("high", iterate(50, 100), write(x), set_one);
  rt.submit("rows", put_rows, write(x.rows(60, 70)));
  elsewhere([&] { rt.submit("others", put_rows, update(x.rows(40, 50))); });
  EXPECT_THAT(fence_text(rt), HasSubstr("rows 40 to 50 of x are used")) << "another thread wrote them, too";
  elsewhere([&] { model.region("even", iterate(0, 100, 2), update(x), add_one); });
  model.region("odd", iterate(1, 100, 2), update(x), add_one);
  fill(rt, a, 0.0);
  rt.fence();
  elsewhere([&] { rt.submit("half a block", put_rows, write(a.rows(0, 4))); });
  rt.submit("the other half", put_rows, write(a.rows(4, 8)));
  EXPECT_EQ(fence_text(rt), "");
}

TEST_F(rows_order, tasks_views_operations_and_copies_are_named) {
  const auto found = [&](auto theirs, auto ours) {
    rt.fence();
    elsewhere(theirs);
    ours();
    return fence_text(rt);
  };
  fill(rt, x, 0.0);
  EXPECT_THAT(found([&] { rt.submit("task", put_rows, write(x.rows(3, 9))); },
                    [&] { rt.submit("task", look_at, read(x.rows(8, 20))); }),
              HasSubstr("rows 8 to 9 of x are used by two threads or tasks with the intents write and read"));
  EXPECT_THAT(found([&] { model.region("r", iterate(0, 100), update(x), add_one); }, [&] { (void)x.read(); }),
              HasSubstr("at: view taken at"));
  EXPECT_THAT(found([&] { fill(rt, x.rows(0, 10), 2.0); }, [&] { rt.submit("task", look_at, read(x)); }),
              HasSubstr("rows 0 to 10 of x are used"));
  auto y = model.make_array<double>("y", {100});
  EXPECT_THAT(found([&] { fill(rt, y, 2.0); }, [&] { model.copy(x, y); }), HasSubstr("rows 0 to 100 of y are used"));
  EXPECT_EQ(found([&] { rt.submit("task", look_at, read(x)); }, [&] { rt.submit("task", look_at, read(x)); }), "");
}

TEST_F(rows_order, a_block_and_its_rows_are_the_same) {
  fill(rt, a, 0.0);
  rt.fence();
  elsewhere([&] { rt.submit("block", put_rows, write(a(1))); });
  rt.submit("row", put_rows, write(a.rows(15, 16)));
  EXPECT_THAT(fence_text(rt), HasSubstr("A(1) is used by two threads or tasks with the intents write and update"));
  elsewhere([&] { model.region("all", iterate(0, 16), update(a), add_one); });
  rt.submit("block", put_rows, write(a(0)));
  EXPECT_THAT(fence_text(rt), HasSubstr("A(0) is used by two threads or tasks with the intents update and write"));
}

TEST_F(rows_order, uses_of_a_block_are_compared_with_all_of_its_rows) {
  fill(rt, a, 0.0);
  const auto found = [&](auto theirs, auto ours) {
    rt.fence();
    elsewhere(theirs);
    ours();
    return fence_text(rt);
  };
  const auto low = [&] { rt.submit("low", put_rows, update(a.rows(0, 4))); };
  const auto high = [&] { rt.submit("high", put_rows, update(a.rows(4, 8))); };
  const auto all = [&] { rt.submit("all", put_rows, update(a(0))); };
  EXPECT_THAT(found(low, [&] { high(), all(); }), HasSubstr("task 'low'")) << "rows apart hide none of a block";
  EXPECT_THAT(found(low, [&] { high(), fill(rt, a, 3.0); }), HasSubstr("task 'low'"));
  EXPECT_THAT(found([&] { rt.submit("look", look_at, read(a.rows(0, 4))); }, [&] { high(), fill(rt, a(0), 3.0); }),
              HasSubstr("task 'look'"));
  order_point met;
  EXPECT_THAT(found([&] { all(), low(); }, high), HasSubstr("task 'all'"));
  EXPECT_EQ(found([&] { low(), rt.order_before(met); }, [&] { rt.order_after(met), high(), all(); }), "");
}

TEST_F(rows_order, scratch_and_fences_of_a_location_are_no_mistakes) {
  elsewhere([&] { rt.submit("theirs", put_rows, scratch(x.rows(0, 50))); });
  rt.submit("ours", put_rows, scratch(x.rows(20, 60)));
  EXPECT_EQ(fence_text(rt), "");
  fill(rt, a(0), 0.0);
  rt.fence();
  rt.submit("part", put_rows, write(a.rows(8, 12)));  // the rest of its block is never written
  rt.submit("sum", put_rows, accumulate(a.rows(8, 12)));
  EXPECT_EQ(fence_text(rt), "");
  EXPECT_EQ(a.rows(8, 12).read().elements()[3], 2);
  elsewhere([&] { model.region("theirs", iterate(0, 100), write(x), set_one); });
  const auto& tree = rt.tree();
  model.fence({.at = tree.at(tree.at(tree.root()).children.front()).properties.name});
  model.region("ours", iterate(0, 100), update(x), add_one);
  EXPECT_EQ(fence_text(rt), "");
}

TEST_F(rows_order, replays_wait_for_what_they_wait_for) {
  auto y = rt.make_array<double>("y", {16}, {8});
  for (auto* all : {&a, &y}) fill(rt, *all, 0.0);
  auto z = model.make_array<double>("z", {10});
  fill(rt, z, 0.0);
  rt.fence();
  recording copies = rt.record([&] {
    rt.submit(
        "copy", [](auto from, auto to) { to[0] = from[0]; }, read(x), update(y.rows(0, 8)));
  });
  rt.submit(
      "outer", [&](auto v) { put_rows(v), rt.submit("inner", put_rows, update(z)); }, write(x));
  rt.replay(copies);
  (void)y.rows(0, 8).read();
  rt.submit("ours", put_rows, update(z));
  EXPECT_EQ(fence_text(rt), "");
  copies.substitute({{y(0), a(0)}});
  elsewhere([&] { rt.submit("theirs", put_rows, update(y.rows(0, 8))); });
  rt.replay(copies);
  EXPECT_EQ(fence_text(rt), "") << "it does not use them now";
  elsewhere([&] { rt.submit("theirs", put_rows, update(a.rows(0, 8))); });
  rt.replay(copies);
  EXPECT_THAT(fence_text(rt), HasSubstr("A(0) is used by two threads"));
}

TEST_F(rows_order, a_fence_a_view_a_point_and_the_end_of_a_thread_order) {
  elsewhere([&] { model.region("theirs", iterate(0, 100), write(x), set_one); });
  rt.fence();
  model.region("ours", iterate(0, 100), update(x), add_one);
  order_point met;
  rt.order_before(met);
  elsewhere([&] {
    rt.order_after(met);
    rt.submit("theirs", put_rows, write(x.rows(10, 20)));
    rt.order_before(met);
  });
  rt.order_after(met);
  model.region("ours", iterate(0, 100), update(x), add_one);
  std::thread([&] { model.region("theirs", iterate(0, 100), update(x), add_one); }).join();
  model.region("ours", iterate(5, 50), update(x), add_one);
  EXPECT_EQ(fence_text(rt), "");
}

TEST_F(rows_order, a_view_comes_after_what_made_its_rows_whoever_cut_them) {
  model.region("all", iterate(0, 100), write(x), set_one);
  rt.fence();
  elsewhere([&] { model.region("theirs", iterate(20, 40), update(x), add_one); });
  elsewhere([&] { rt.submit("cuts", look_at, read(x.rows(0, 7))); });  // apart from those
  { auto seen = x.rows(20, 40).read(); }                               // unordered itself, and told
  EXPECT_THAT(fence_text(rt), HasSubstr("with the intents update and read"));
  elsewhere([&] { model.region("theirs", iterate(20, 40), update(x), add_one); });
  rt.submit("others", put_rows, write(x.rows(60, 61)));
  EXPECT_EQ(fence_text(rt), "");
}

TEST_F(rows_order, tasks_that_submit_are_ordered_by_the_rows_they_wait_for) {
  const auto child = [&](auto v) {
    put_rows(v);
    rt.submit("child", put_rows, write(a(0)));
  };
  rt.submit("parent 1", child, write(x.rows(0, 50)));
  model.region("between", iterate(40, 60), update(x), add_one);  // cut otherwise
  rt.submit("parent 2", child, update(x.rows(55, 70)));
  EXPECT_EQ(fence_text(rt), "") << "the second parent waits for the region, which waits for the first";
  rt.submit("parent 3", child, update(x.rows(0, 50)));
  rt.submit("parent 4", child, update(x.rows(50, 70)));
  EXPECT_THAT(fence_text(rt), HasSubstr("A(0) is used by two threads or tasks with the intents write and write"));
}

TEST_F(rows_order, replays_are_followed) {
  model.region("all", iterate(0, 100), write(x), set_one);
  rt.fence();
  recording loop = rt.record([&] {
    model.region("recorded", iterate(0, 50), update(x), add_one);
    rt.submit("recorded task", put_rows, write(x.rows(50, 60)));
  });
  rt.replay(loop);
  rt.replay(loop);
  EXPECT_EQ(fence_text(rt), "");
  elsewhere([&] { rt.submit("theirs", put_rows, write(x.rows(60, 70))); });
  rt.replay(loop);
  EXPECT_EQ(fence_text(rt), "");
  elsewhere([&] { rt.submit("theirs", put_rows, write(x.rows(50, 60))); });
  rt.replay(loop);
  EXPECT_THAT(fence_text(rt), HasSubstr("rows 50 to 60 of x are used"));
}

}  // namespace
}  // namespace tessera
