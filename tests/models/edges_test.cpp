// Successors of a task that ends while they are linked: each is told once, or was never told to wait; and it sees what
// the task has done.
#include <memory>

#include "core/task/flow.hpp"
#include "core/task/flow_record.hpp"
#include "tests/models/planted.hpp"

namespace tessera::models {
namespace {

using task::record;

/// Tasks with what they write; `ready` counts how often each was let go.
struct tasks {
  std::array<record, 3> is;
  std::array<plain<int>, 3> made;    // a task's effects
  std::array<plain<int>, 3> filled;  // its fields, which its submitter writes and its runner reads
  std::array<plain<int>, 3> ready;
  tasks() {
    for (record& t : is) task::renew(t);
  }
  std::size_t number_of(const record& t) const { return static_cast<std::size_t>(&t - is.data()); }
  void let_go(const record& t, std::size_t must_see) {
    const std::size_t k = number_of(t);
    require(filled[k].get() == 1, "a successor's fields");
    require(made[must_see].get() == 1, "its predecessor's effects");
    ready[k].set(ready[k].get() + 1);
  }
  /// As a thread that has run task 0.
  void end_first() {
    made[0].set(1);
    task::release_successors(is[0], [this](record& t) { let_go(t, 0); });
  }
  /// As a submitter of task k, which uses what task 0 makes.
  void submit(std::size_t k, block::task_reference first) {
    filled[k].set(1);
    const std::int32_t edges = task::depend(first, is[k]) ? 1 : 0;
    if (task::finish_linking(is[k], edges)) let_go(is[k], 0);
  }
};

void two_submitters(scenario& s) {
  auto m = std::make_shared<tasks>();
  const block::task_reference first = task::reference_to(m->is[0]);
  s.thread([m] { m->end_first(); });
  for (std::size_t k = 1; k < 3; ++k) s.thread([m, k, first] { m->submit(k, first); });
  s.at_the_end([m] {
    for (std::size_t k = 1; k < 3; ++k) require(m->ready[k].get() == 1, "let go once");
  });
}

/// A task with two predecessors, which two threads end.
void two_predecessors(scenario& s) {
  auto m = std::make_shared<tasks>();
  for (std::size_t k = 0; k < 2; ++k)
    s.thread([m, k] {
      m->made[k].set(1);
      task::release_successors(m->is[k], [&](record& t) {
        m->let_go(t, 0);
        m->let_go(t, 1);
      });
    });
  s.thread([m] {
    m->filled[2].set(1);
    std::int32_t edges = 0;
    for (std::size_t k = 0; k < 2; ++k) edges += task::depend(task::reference_to(m->is[k]), m->is[2]) ? 1 : 0;
    if (task::finish_linking(m->is[2], edges)) {
      m->let_go(m->is[2], 0);
      m->let_go(m->is[2], 1);
    }
  });
  s.at_the_end([m] { require(m->ready[2].get() == 2, "let go once, by a thread that saw both"); });
}

/// The record of a task that has ended is used for another one, while a submitter still has a reference to the first.
void an_old_reference(scenario& s) {
  auto m = std::make_shared<tasks>();
  const block::task_reference first = task::reference_to(m->is[0]);
  s.thread([m] {
    m->end_first();
    task::renew(m->is[0]);  // its second life has no successors, and never ends here
  });
  s.thread([m, first] { m->submit(1, first); });
  s.at_the_end([m] { require(m->ready[1].get() == 1, "the second life is no predecessor"); });
}

TEST(edges, two_submitters_and_the_end_of_a_task) { expect_right(two_submitters); }
TEST(edges, a_task_with_two_predecessors) { expect_right(two_predecessors); }
TEST(edges, a_reference_to_an_earlier_life) { expect_right(an_old_reference); }

TEST(edges, need_their_orders) {
  expect_found(two_submitters, {"release_successors", action::exchange}, "data race");
  expect_found(two_submitters, {"depend", action::load}, "data race");
  expect_found(two_submitters, {"depend", action::exchange}, "data race");
  expect_found(two_predecessors, {"finish_linking", action::exchange}, "data race");
  expect_found(an_old_reference, {"renew", action::store}, "data race");
}

/// Nothing here accumulates.
struct no_reductions final : task::reduction_source {
  record& make_reduction(block::record&, block::accumulation&) override { std::abort(); }
  void reduction_linked(record&, bool) override { std::abort(); }
};

/// Whole submissions through task::link: a task per entry of `uses`, each with its accesses; those of one thread in
/// order.
struct submissions {
  struct use {
    std::size_t block;
    intent how;
  };
  std::array<block::record, 2> blocks;
  std::array<plain<int>, 2> contents;  // what tasks read and write: their order is all that keeps them apart
  std::array<record, 4> tasks;
  std::array<plain<int>, 4> runs;
  std::array<std::vector<use>, 4> uses;
  submissions() {
    for (std::uint32_t k = 0; k < blocks.size(); ++k) blocks[k].slot = k;
    for (record& t : tasks) task::renew(t);
  }
  void submit(std::size_t k) {
    record& t = tasks[k];
    for (const use& u : uses[k])
      t.accesses[t.access_count++] = {.block = &blocks[u.block], .version = 0, .intent = u.how, .flags = 0, .space = 0};
    no_reductions none;
    if (task::link(t, none)) run(t);
  }
  void run(record& t) {
    const auto k = static_cast<std::size_t>(&t - tasks.data());
    runs[k].set(runs[k].get() + 1);
    for (const use& u : uses[k]) {
      const int now = contents[u.block].get();
      if (u.how != intent::read) contents[u.block].set(now + 1);
    }
    task::release_successors(t, [this](record& next) { run(next); });
  }
};

std::function<void(scenario&)> submitted_by_two_threads(std::array<std::vector<submissions::use>, 4> uses, int writes) {
  return [uses, writes](scenario& s) {
    auto m = std::make_shared<submissions>();
    m->uses = uses;
    const std::size_t each = uses[2].empty() ? 1 : 2;
    for (std::size_t t = 0; t < 2; ++t)
      s.thread([m, t, each] {
        for (std::size_t k = 0; k < each; ++k) m->submit(t * each + k);
      });
    s.at_the_end([m, each, writes] {
      for (std::size_t k = 0; k < 2 * each; ++k) require(m->runs[k].get() == 1, "each task ran once");
      require(m->contents[0].get() + m->contents[1].get() == writes, "no update was lost");
    });
  };
}

constexpr submissions::use read_a{0, intent::read}, update_a{0, intent::update}, update_b{1, intent::update};

TEST(linking, two_threads_update_the_same_blocks) {
  expect_right(submitted_by_two_threads({{{update_a, update_b}, {update_b, update_a}, {}, {}}}, 4));
}
TEST(linking, a_reader_and_writers_of_one_block) {
  expect_right(submitted_by_two_threads({{{update_a}, {read_a}, {update_a}, {read_a}}}, 2));
}
TEST(linking, needs_its_orders) {
  const auto crossing = submitted_by_two_threads({{{update_a, update_b}, {update_b, update_a}, {}, {}}}, 4);
  expect_found(crossing, {"release_successors", action::exchange}, "data race");
  expect_found(crossing, {"depend", action::load}, "data race");
}

}  // namespace
}  // namespace tessera::models
