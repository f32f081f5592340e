// Uses of a block that nothing orders, and uses after the end.
#include <barrier>
#include <future>
#include <thread>

#include "core/runtime/inside.hpp"
#include "tessera/detail/block_group.hpp"
#include "tests/integration/validate/validating.hpp"

namespace tessera {
namespace {

using testing::at;
using testing::fence_text;
using ::testing::HasSubstr;
using ::testing::Not;

void put(view<double> x) {
  for (double& v : x) v = 1;
}
void look(view<const double>) {}
void change(view<double> x) {
  for (double& v : x) v += 1;
}

class order : public testing::with_threads {
 protected:
  runtime rt{testing::validating(testing::host_only())};
  array<double> a = rt.make_array<double>("A", {16}, {8});
};

TEST_F(order, two_threads_that_write_one_block_are_named) {
  int theirs = 0, ours = 0;
  elsewhere([&] {
    rt.submit("theirs", put, write(a(0)));
    theirs = __LINE__ - 1;
  });
  rt.submit("ours", put, write(a(0)));
  ours = __LINE__ - 1;
  EXPECT_EQ(
      fence_text(rt),
      "A(0) is used by two threads or tasks with the intents write and write, and nothing orders their submissions\n"
      "  at: task 'ours' submitted at " +
          at(__FILE__, ours) +
          ", A(0) write, version 2\n"
          "  and: task 'theirs' submitted at " +
          at(__FILE__, theirs) +
          ", A(0) write, version 1\n"
          "  hint: order them: submit both from one thread, fence, take a view, or tell of a barrier with order_before "
          "and order_after");
}

TEST_F(order, a_thread_that_reads_what_another_writes_is_named) {
  rt.submit("first", put, write(a(0)));
  elsewhere([&] { rt.submit("reader", look, read(a(0))); });  // after all that the first thread did: no finding
  EXPECT_EQ(fence_text(rt), "");
  elsewhere([&] { rt.submit("reader", look, read(a(0))); });
  rt.submit("writer", change, update(a(0)));
  EXPECT_THAT(fence_text(rt), HasSubstr("with the intents read and update, and nothing orders"));
}

TEST_F(order, a_fence_a_view_and_the_end_of_a_thread_order) {
  elsewhere([&] { rt.submit("theirs", put, write(a(0))); });
  rt.fence();
  rt.submit("ours", put, write(a(0)));
  rt.submit(
      "parent",
      [&](view<double> x) {
        change(x);
        rt.submit("child", put, write(a(1)));
      },
      update(a(0)));
  (void)a(0).read();  // the parent has run, and with it what it submitted
  rt.submit("ours", change, update(a(1)));
  std::thread([&] { rt.submit("theirs", change, update(a(1))); }).join();
  rt.submit("ours", change, update(a(1)));
  EXPECT_EQ(fence_text(rt), "");
}

TEST_F(order, accumulates_of_several_threads_need_no_order) {
  fill(rt, a(0), 0.0);
  for (int k = 0; k < 3; ++k) elsewhere([&] { rt.submit("add", change, accumulate(a(0))); });
  rt.submit("add", change, accumulate(a(0)));
  rt.fence();
  EXPECT_EQ(a(0).read()[0], 4);
  elsewhere([&] { rt.submit("add", change, accumulate(a(0))); });
  rt.submit("look", look, read(a(0)));
  EXPECT_THAT(fence_text(rt), HasSubstr("with the intents accumulate and read"));
}

TEST_F(order, epochs_between_barriers_of_the_program_are_told_with_an_order_point) {
  constexpr int workers = 3, epochs = 5;
  auto blocks = rt.make_array<double>("B", {workers * 4}, {4});
  for (int k = 0; k < workers; ++k) fill(rt, blocks(k), 0.0);
  std::barrier<> meet(workers);
  order_point barrier;
  const auto work = [&](int self, int wrong_epoch) {
    for (int e = 0; e < epochs; ++e) {  // each puts into another block per epoch
      const int target = e == wrong_epoch && self == 1 ? 0 : (self + e) % workers;
      rt.submit("put", change, update(blocks(target)));
      rt.order_before(barrier);
      meet.arrive_and_wait();
      rt.order_after(barrier);
      meet.arrive_and_wait();
    }
  };
  const auto all = [&](int wrong_epoch) {
    std::vector<std::thread> threads;
    for (int k = 0; k < workers; ++k) threads.emplace_back(work, k, wrong_epoch);
    for (std::thread& t : threads) t.join();
  };
  all(-1);
  EXPECT_EQ(fence_text(rt), "");
  all(3);  // in epoch 3 block 0 is worker 0's
  EXPECT_THAT(fence_text(rt), HasSubstr("B(0) is used by two threads or tasks with the intents update and update"));
}

TEST_F(order, tasks_that_submit_are_ordered_by_what_they_depend_on) {
  auto log = rt.make_array<double>("log", {8}, {8});
  rt.submit(
      "parent 1",
      [&](view<double> x) {
        put(x);
        rt.submit("child", put, write(log(0)));
      },
      write(a(0)));
  rt.submit(
      "parent 2",
      [&](view<double> x) {
        change(x);
        rt.submit("child", change, update(log(0)));
      },
      update(a(0)));
  EXPECT_EQ(fence_text(rt), "") << "the second parent waits for the first";
  int first = 0, second = 0;
  rt.submit(
      "parent 3",
      [&](view<double> x) {
        change(x);
        rt.submit("left", change, update(log(0)));
        first = __LINE__ - 1;
      },
      update(a(0)));
  rt.submit(
      "parent 4",
      [&](view<double> x) {
        put(x);
        rt.submit("right", change, update(log(0)));
        second = __LINE__ - 1;
      },
      write(a(1)));
  const std::string text = fence_text(rt);
  EXPECT_THAT(text, HasSubstr("log(0) is used by two threads or tasks with the intents update and update"));
  EXPECT_THAT(text, HasSubstr(" submitted at " + at(__FILE__, first)));
  EXPECT_THAT(text, HasSubstr(" submitted at " + at(__FILE__, second)));
}

TEST_F(order, a_block_kept_to_one_thread_and_used_by_another_is_named) {
  a.keep_to_this_thread();
  const int kept = __LINE__ - 1;
  rt.submit("mine", put, write(a(0)));
  int line = 0;
  elsewhere([&] {
    rt.submit("theirs", look, read(a(0)));
    line = __LINE__ - 1;
  });
  EXPECT_EQ(
      fence_text(rt),
      "A(0) is used from a thread other than the one that array A is kept to\n"
      "  at: task 'theirs' submitted at " +
          at(__FILE__, line) +
          ", A(0) read, version 1\n"
          "  and: array A kept to one thread at " +
          at(__FILE__, kept) +
          "\n"
          "  hint: submit from that thread alone, or do not call keep_to_this_thread: linking takes no lock then");
}

TEST_F(order, a_block_of_a_group_kept_to_one_thread_and_used_by_another_is_named) {
  block_group<double> group(rt, "G", {4});
  const block_of<double> kept = group.make(shape{8}, 2), open = group.make(shape{8}, 3);
  group.keep_to_this_thread(kept);
  rt.submit("mine", put, write(kept));
  rt.fence();
  rt.submit("mine, open to all", put, write(open));
  rt.fence();
  elsewhere([&] {
    rt.submit("theirs", look, read(kept));
    rt.submit("theirs, open to all", look, read(open));
  });
  const std::string text = fence_text(rt);
  EXPECT_THAT(text, HasSubstr("G(2) is used from a thread other than the one that array G is kept to\n"));
  EXPECT_THAT(text, Not(HasSubstr("G(3) is used from a thread other")));
  group.destroy(kept);
  group.destroy(open);
}

TEST_F(order, arrays_that_adopt_the_same_memory_must_wait_for_each_other) {
  runtime alone{
      testing::validating(testing::host_only(1))};  // one worker: what nothing orders must not really run at once
  std::vector<double> memory(24, 1.0);
  auto b = alone.adopt("B", std::span(memory).first(16), 8);
  auto c = alone.adopt("C", std::span(memory).subspan(12), 12);
  alone.submit("one", look, read(b(1)));
  const int one = __LINE__ - 1;
  alone.submit("two", look, read(c(0)));
  EXPECT_EQ(fence_text(alone), "") << "nobody writes";
  alone.submit(
      "three", [](view<const double>) {}, read(b(1)));
  const int three = __LINE__ - 2;
  alone.submit(
      "four", [](view<double> x) { put(x); }, write(c(0)));
  const int four = __LINE__ - 2;
  (void)one;
  EXPECT_EQ(fence_text(alone),
            "C(0) and B(1) are the same memory, and nothing makes this use wait for the earlier one\n"
            "  at: task 'four' submitted at " +
                at(__FILE__, four) +
                ", C(0) write, version 2\n"
                "  and: task 'three' submitted at " +
                at(__FILE__, three) +
                ", B(1) read, version 1\n"
                "  hint: adopt the memory once; or destroy the first array and fence before the second one is used");
}

TEST_F(order, memory_adopted_again_after_a_fence_is_fine) {
  std::vector<double> memory(8, 1.0);
  for (int k = 0; k < 3; ++k) {
    {
      auto b = rt.adopt("B", std::span(memory), 8);
      rt.submit("change", change, update(b(0)));
    }
    EXPECT_EQ(fence_text(rt), "");
  }
  EXPECT_EQ(memory[0], 4);
}

TEST_F(order, memory_of_a_view_cannot_be_adopted) {
  fill(rt, a(0), 1.0);
  int line = 0, seen = 0;
  {
    auto x = a(0).update();
    seen = __LINE__ - 1;
    auto b = rt.adopt("B", std::span(x.data(), 8), 8);
    line = __LINE__ - 1;
  }
  const std::string text = fence_text(rt);
  EXPECT_THAT(
      text, HasSubstr("B(0) adopts memory that belongs to a view or task of another array\n  at: array B adopted at " +
                      at(__FILE__, line)));
  EXPECT_THAT(text, HasSubstr("and: view taken at " + at(__FILE__, seen) + ", A(0) update, version 2"));
}

TEST_F(order, a_task_on_a_destroyed_array_is_named_and_does_not_run) {
  bool ran = false;
  block_of<double> stale = a(0);
  int made = 0, line = 0, last = 0;
  {
    auto b = rt.make_array<double>("B", {8}, {8});
    made = __LINE__ - 1;
    stale = b(0);
    rt.submit("fill", put, write(b(0)));
    last = __LINE__ - 1;
  }
  rt.submit(
      "late",
      [&](view<double> x) {
        ran = true;
        change(x);
      },
      update(stale));
  line = __LINE__ - 7;
  EXPECT_EQ(fence_text(rt),
            "block 0 of array B is used, and the array is destroyed\n"
            "  at: task 'late' submitted at " +
                at(__FILE__, line) +
                ", B update\n"
                "  and: array B destroyed, after the thread's call at " +
                at(__FILE__, last) + ", array B made at " + at(__FILE__, made) +
                "\n"
                "  hint: an array must live until the last task or view that uses it has been asked for");
  EXPECT_FALSE(ran);
  auto c = rt.make_array<double>("C", {8}, {8});
  EXPECT_NE(&c(0).record(), &stale.record()) << "an old handle means a new block";
  EXPECT_THROW((void)stale.read(), error);
  EXPECT_EQ(rt.findings().back().fault, validate::fault::after_free);
}

TEST_F(order, elements_of_a_view_used_after_its_end_are_noticed) {
  fill(rt, a(0), 1.0);
  double* kept = nullptr;
  int line = 0;
  {
    auto x = a(0).update();
    line = __LINE__ - 1;
    kept = x.data();
  }
  kept[2] = 5;
  EXPECT_EQ(fence_text(rt),
            "the elements of a view were written after it had ended: element 2 of 8\n"
            "  at: view taken at " +
                at(__FILE__, line) +
                ", A(0) update, version 2\n"
                "  hint: keep no pointer to elements; take a view, or submit a task, whenever they are needed");
  rt.submit(
      "use",
      [kept](view<double> x) {
        for (double& v : x) v = kept[0];
      },
      write(a(1)));
  const int used = __LINE__ - 6;
  const std::string text = fence_text(rt);
  EXPECT_THAT(text,
              HasSubstr("task 'use' computed 8 of 8 elements of A(1) from memory of a task or view that had ended"));
  EXPECT_THAT(text, HasSubstr("at " + at(__FILE__, used)));
  EXPECT_THAT(text, HasSubstr("and: view taken at " + at(__FILE__, line)));
}

TEST_F(order, a_block_destroyed_twice_is_destroyed_once) {
  {
    auto b = rt.make_array<double>("B", {8}, {8});
    rt.submit("fill", put, write(b(0)));
    rt.inside().scheduler->destroy_later(b(0).record());
  }
  EXPECT_THAT(fence_text(rt), HasSubstr("a block of array B is destroyed twice"));
}

TEST_F(order, a_recording_that_outlives_its_arrays_is_not_replayed) {
  std::optional<recording> r;
  int made = 0, recorded = 0;
  {
    auto b = rt.make_array<double>("B", {8}, {8});
    made = __LINE__ - 1;
    fill(rt, b(0), 1.0);
    r.emplace(rt.record([&] {
      rt.submit("step", change, update(b(0)));
      recorded = __LINE__ - 1;
    }));
    rt.replay(*r);
    EXPECT_EQ(fence_text(rt), "");
  }
  rt.replay(*r);
  const std::string text = fence_text(rt);
  EXPECT_THAT(text, HasSubstr("block 0 of array B is used, and the array is destroyed\n  at: task 'step' recorded at " +
                              at(__FILE__, recorded)));
  EXPECT_THAT(text, HasSubstr("array B made at " + at(__FILE__, made)));
}

TEST(validation, an_array_that_outlives_its_runtime_is_named_and_harmless) {
  std::optional<array<double>> left;
  int made = 0;
  ::testing::internal::CaptureStderr();
  {
    runtime rt(testing::validating(testing::host_only()));
    left.emplace(rt.make_array<double>("A", {8}, {8}));
    made = __LINE__ - 1;
    rt.submit("fill", put, write((*left)(0)));
    rt.fence();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "validation found, and no fence has told:\n"
            "1. outlives its runtime: array A is still there while its runtime is destroyed\n"
            "  at: array A made at " +
                at(__FILE__, made) +
                "\n"
                "  hint: declare arrays after the runtime, so that they are destroyed before it\n");
  left.reset();
}

}  // namespace
}  // namespace tessera
