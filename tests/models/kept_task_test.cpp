// The task that a thread keeps is run once, and by somebody.
#include "core/schedule/kept_task.hpp"

#include <memory>

#include "core/schedule/event_count.hpp"
#include "tests/models/orders.hpp"
#include "tests/models/planted.hpp"

namespace tessera::models {
namespace {

struct kept_and_tasks {
  schedule::kept_task kept;
  std::array<task::record, 2> tasks;
  std::array<plain<int>, 2> filled, taken;
  std::size_t number_of(const task::record* t) const { return static_cast<std::size_t>(t - tasks.data()); }
  bool put(std::size_t k) {
    filled[k].set(1);
    return kept.put(tasks[k]);
  }
  void take() {
    if (const task::record* const t = kept.take()) {
      const std::size_t k = number_of(t);
      require(filled[k].get() == 1, "the task's fields");
      taken[k].set(taken[k].get() + 1);
    }
  }
};

void one_puts_two_take(scenario& s) {
  auto m = std::make_shared<kept_and_tasks>();
  s.thread([m] { require(m->put(0), "there is room"), m->take(); });
  s.thread([m] { m->take(); });
  s.thread([m] { m->take(); });
  s.at_the_end([m] {
    m->take();
    require(m->taken[0].get() == 1, "the task once");
  });
}

/// Its thread keeps one while a worker gives one back.
void two_put(scenario& s) {
  auto m = std::make_shared<kept_and_tasks>();
  auto put = std::make_shared<std::array<plain<int>, 2>>();
  for (std::size_t k = 0; k < 2; ++k)
    s.thread([m, put, k] {
      (*put)[k].set(m->put(k) ? 1 : 0);
      m->take();
    });
  s.at_the_end([m, put] {
    m->take();
    for (std::size_t k = 0; k < 2; ++k) require(m->taken[k].get() == (*put)[k].get(), "what was put in, once");
  });
}

TEST(kept_task, is_taken_once) {
  expect_right(one_puts_two_take);
  expect_right(two_put);
}

TEST(kept_task, needs_its_orders) {
  expect_found(one_puts_two_take, {"kept_task::put", action::exchange}, "data race");
  expect_found(one_puts_two_take, {"kept_task::take", action::exchange}, "data race");
}

/// worker_pool::note_kept_task, and of worker_loop what is between spinning and sleeping, watch_kept included (core/
/// schedule/worker_pool.hpp and .cpp). A worker that watches may find something else to do.
struct watched_task {
  bool hands_on = true;
  schedule::event_count work;
  atomic<int> kept{0}, other{0}, spinning{0}, watched{0}, ran{0};

  void keep() {
    kept.store(1, release);
    full_fence();
    if (spinning.load(relaxed) == 0 && work.has_sleepers()) work.notify_one();
  }
  bool take(atomic<int>& from) { return from.load(relaxed) != 0 && from.exchange(0, acquire) != 0; }
  /// The thread has not submitted anything when it is seen for the second time.
  bool watch(bool& found_other) {
    if (kept.load(relaxed) == 0 || watched.exchange(1, acquire) != 0) return false;
    found_other = take(other);
    const bool found = found_other || take(kept);
    watched.store(0, release);
    full_fence();
    return found;
  }
  /// Until it has run one task.
  void worker() {
    for (;;) {
      spinning.fetch_add(1, seq_cst);
      bool found_other = false;
      const bool found = watch(found_other);
      const bool last_spinner = spinning.fetch_sub(1, seq_cst) == 1;
      if (found) {
        if (last_spinner && hands_on) work.notify_one();
        ran.fetch_add(1, relaxed);
        return;
      }
      const std::uint32_t key = work.prepare();
      if (take(other)) {
        work.cancel();
        ran.fetch_add(1, relaxed);
        return;
      }
      if (watched.load(relaxed) == 0 && kept.load(relaxed) != 0) {
        work.cancel();
        continue;
      }
      work.wait(key);
    }
  }
};

void a_kept_task_and_a_sleepy_worker(scenario& s) {
  auto m = std::make_shared<watched_task>();
  s.thread([m] { m->keep(); });
  s.thread([m] { m->worker(); });
  s.at_the_end([m] { require(m->ran.load() == 1, "somebody has run it"); });
}

template <bool HandsOn>
void the_watch_is_handed_on(scenario& s) {
  auto m = std::make_shared<watched_task>();
  m->hands_on = HandsOn;
  m->other.store(1, relaxed);
  m->kept.store(1, relaxed);
  for (int k = 0; k < 2; ++k) s.thread([m] { m->worker(); });
  s.at_the_end([m] { require(m->ran.load() == 2, "both tasks were run"); });
}

TEST(kept_task, somebody_looks_after_it) {
  expect_right(a_kept_task_and_a_sleepy_worker);
  expect_found(a_kept_task_and_a_sleepy_worker, {"watched_task::keep", action::fence}, "nothing is left");
  expect_right(the_watch_is_handed_on<true>);
  const report silent = explore(the_watch_is_handed_on<false>);
  EXPECT_NE(silent.failure.find("nothing is left"), std::string::npos) << "who watches leaves without a word";
}

}  // namespace
}  // namespace tessera::models
