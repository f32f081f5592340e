// Protocols that are spread over functions too large to be explored themselves, restated access by access. A change to
// one of those functions is made to its twin here.
#include <memory>
#include <mutex>

#include "core/base/spin_lock.hpp"
#include "core/schedule/event_count.hpp"
#include "tests/models/orders.hpp"
#include "tests/models/planted.hpp"

namespace tessera::models {
namespace {

/// worker_pool::call_guests (core/schedule/worker_pool.hpp) and waiting_room: a guest enters and then looks, and is
/// called.
struct end_of_work {
  spin_lock mutex;
  plain<int> guests{0};  // in the room, under the mutex
  atomic<int> count{0}, calls{0}, retired{0};
  plain<int> effects{0};

  void last_task_then_nothing() {
    effects.set(1);
    retired.store(1, release);
    full_fence();
    if (count.load(relaxed) == 0) return;
    const std::lock_guard guard(mutex);
    if (guests.get() == 0 || retired.load(acquire) == 0) return;
    calls.fetch_add(1, release);
    calls.notify_one();
  }
  void enter() {
    {
      const std::lock_guard guard(mutex);
      guests.set(1);
      count.store(1, relaxed);
    }
    full_fence();
  }
  void help() {
    enter();
    for (;;) {
      const int seen = calls.load(acquire);
      if (retired.load(acquire) != 0) break;
      while (calls.load(acquire) == seen) calls.wait(seen, acquire);
    }
    require(effects.get() == 1, "the task's effects");
  }
};

void the_last_task(scenario& s) {
  auto m = std::make_shared<end_of_work>();
  s.thread([m] { m->last_task_then_nothing(); });
  s.thread([m] { m->help(); });
}

TEST(protocols, a_thread_that_waits_for_the_last_task_is_woken) {
  expect_right(the_last_task);
  expect_found(the_last_task, {"last_task_then_nothing", action::fence}, "nothing is left");
  expect_found(the_last_task, {"enter", action::fence}, "nothing is left");
}

/// worker_pool::note_task (core/schedule/worker_pool.hpp) and the part of worker_loop() between spinning and sleeping.
struct spinning_and_sleeping {
  schedule::event_count work;
  atomic<int> ready{0}, spinning{0};

  void submit() {
    ready.fetch_add(1, release);
    full_fence();
    if (spinning.load(relaxed) == 0 && work.has_sleepers()) work.notify_one();
  }
  bool find() {
    int there = ready.load(acquire);
    while (there > 0)
      if (ready.compare_exchange_weak(there, there - 1, acquire, acquire)) return true;
    return false;
  }
  void run_one() {
    for (;;) {
      spinning.fetch_add(1, seq_cst);
      const bool found = find();
      const bool last_spinner = spinning.fetch_sub(1, seq_cst) == 1;
      if (found) {
        if (last_spinner) work.notify_one();
        return;
      }
      const std::uint32_t key = work.prepare();
      if (find()) {
        work.cancel();
        return;
      }
      work.wait(key);
    }
  }
};

void a_task_for_a_worker_that_goes_to_sleep(scenario& s) {
  auto m = std::make_shared<spinning_and_sleeping>();
  s.thread([m] { m->submit(); });
  s.thread([m] { m->run_one(); });
}

void two_tasks_for_one_worker(scenario& s) {
  auto m = std::make_shared<spinning_and_sleeping>();
  s.thread([m] { m->submit(), m->submit(); });
  s.thread([m] { m->run_one(), m->run_one(); });
}

TEST(protocols, a_task_is_found_by_a_spinning_worker_or_wakes_a_sleeping_one) {
  expect_right(a_task_for_a_worker_that_goes_to_sleep);
  expect_right(two_tasks_for_one_worker);
  expect_found(a_task_for_a_worker_that_goes_to_sleep, {"submit", action::fence}, "nothing is left");
  expect_found(a_task_for_a_worker_that_goes_to_sleep, {"event_count::prepare", action::fence}, "nothing is left");
}

/// The end of worker_pool::worker_loop (core/schedule/worker_pool.hpp): who goes to sleep last looks whether anything
/// can still happen. Here it can until a thread of the program waits too, in the helper's place.
struct last_to_sleep {
  bool looks_again = true;
  schedule::event_count work;
  atomic<int> busy{1}, rests{0}, waits{0}, given_up{0};

  bool resolve() {
    if (waits.load(seq_cst) == 0 || given_up.load(acquire) != 0) return false;
    given_up.store(1, release);
    full_fence();
    work.notify_all();
    return true;
  }
  void rest() {
    for (;;) {
      const std::uint32_t key = work.prepare();
      if (given_up.load(acquire) != 0) {
        work.cancel();
        return;
      }
      const int own = rests.fetch_add(1, seq_cst) + 1;
      if (busy.fetch_sub(1, seq_cst) == 1) {
        busy.fetch_add(1, seq_cst);
        if (resolve()) {
          work.cancel();
          continue;
        }
        busy.fetch_sub(1, seq_cst);
        if (looks_again && rests.load(seq_cst) != own) {
          busy.fetch_add(1, seq_cst);
          work.cancel();
          continue;
        }
      }
      work.wait(key);
      busy.fetch_add(1, seq_cst);
    }
  }
  void help() {
    waits.store(1, seq_cst);
    busy.fetch_add(1, seq_cst);
    rest();
  }
};

template <bool LooksAgain>
void the_program_waits_while_a_worker_looks(scenario& s) {
  auto m = std::make_shared<last_to_sleep>();
  m->looks_again = LooksAgain;
  s.thread([m] { m->rest(); });
  s.thread([m] { m->help(); });
}

TEST(protocols, the_last_that_sleeps_sees_that_nothing_can_happen) {
  expect_right(the_program_waits_while_a_worker_looks<true>);
  expect_found(the_program_waits_while_a_worker_looks<true>, {"last_to_sleep::rest", action::exchange},
               "nothing is left");
  const report once = explore(the_program_waits_while_a_worker_looks<false>);
  EXPECT_NE(once.failure.find("nothing is left"), std::string::npos) << "a worker that looks once only";
}

/// space::notify and space::wait_for_memory (core/memory/space.cpp).
struct room_in_a_space {
  spin_lock mutex;
  atomic<int> events{0}, waiter_count{0};
  plain<int> waiters{0};  // in the list, under the mutex
  atomic<int> woken{0};

  void notify() {
    events.fetch_add(1, release);
    full_fence();
    if (waiter_count.load(relaxed) == 0) return;
    int now = 0;
    {
      const std::lock_guard guard(mutex);
      now = waiters.get();
      waiters.set(0);
      waiter_count.store(0, release);
    }
    woken.fetch_add(now, relaxed);
  }
  /// After a reservation that failed, before which `events` was read.
  void wait_for_memory(int seen) {
    const std::lock_guard guard(mutex);
    waiter_count.fetch_add(1, relaxed);
    full_fence();
    if (events.load(acquire) != seen) {
      waiter_count.fetch_sub(1, relaxed);
      woken.fetch_add(1, relaxed);  // it tries again by itself
      return;
    }
    waiters.set(waiters.get() + 1);
  }
};

void one_waits_while_room_is_made(scenario& s) {
  auto m = std::make_shared<room_in_a_space>();
  s.thread([m] { m->notify(); });
  s.thread([m] { m->wait_for_memory(0); });
  s.at_the_end([m] { require(m->woken.load() == 1, "a task that lacks memory tries again after room was made"); });
}

TEST(protocols, a_task_that_lacks_memory_hears_of_room) {
  expect_right(one_waits_while_room_is_made);
  expect_found(one_waits_while_room_is_made, {"notify", action::fence}, "tries again");
  expect_found(one_waits_while_room_is_made, {"wait_for_memory", action::fence}, "tries again");
}

/// stream::poll and poll_once (core/transfer/stream.cpp) where the plugin has called and the work is not done, and the
/// end of device_driver::loop (core/schedule/device/driver.cpp). Who issued the work polls too.
struct called_too_early {
  bool tells = true;
  schedule::event_count driver;
  spin_lock polling;
  atomic<int> poll_asked{0}, must_be_asked{0};

  void poll_once() {
    if (must_be_asked.exchange(1, acq_rel) == 0 && tells) driver.notify_one();
  }
  /// The driver need not poll again: by then it has to ask by itself.
  void poll(bool again) {
    do {
      poll_asked.store(1, release);
      full_fence();
      {
        const std::unique_lock lock(polling, std::try_to_lock);
        if (!lock) return;
        poll_asked.exchange(0, acq_rel);
        poll_once();
      }
      full_fence();
    } while (again && poll_asked.load(relaxed) != 0);
  }
  void drive() {
    for (;;) {
      const std::uint32_t key = driver.prepare();
      poll(false);
      if (must_be_asked.load(acquire) != 0) break;
      driver.wait(key);
    }
    driver.cancel();
  }
};

template <bool Tells>
void work_whose_end_was_told_too_early(scenario& s) {
  auto m = std::make_shared<called_too_early>();
  m->tells = Tells;
  s.thread([m] { m->poll(true); });
  s.thread([m] { m->drive(); });
}

TEST(protocols, who_finds_that_a_plugin_called_too_early_wakes_who_asks_from_now_on) {
  expect_right(work_whose_end_was_told_too_early<true>);
  const report silent = explore(work_whose_end_was_told_too_early<false>);
  EXPECT_NE(silent.failure.find("nothing is left"), std::string::npos) << silent.failure;
}

}  // namespace
}  // namespace tessera::models
