#pragma once
// A run on one thread without a scheduler: its parts, and an owner that runs what is ready when a test or a wait says
// so. Beside the host there may be a device, whose copies move when they are told to; tasks run on the host alone.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/schedule/adopted_write_back.hpp"
#include "core/schedule/replay_player.hpp"
#include "core/schedule/runtime_tasks.hpp"
#include "core/schedule/view_requests.hpp"
#include "core/task/flow.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {

/// Plays scheduler and program.
struct played_run final : program_owner, task_owner, task::reduction_source {
  explicit played_run(const std::vector<std::string>& devices = {}, std::uint64_t host_blocks = 0)
      : machine(devices, 16, false, 4 * 4096, host_blocks), mine(threads.publish(threads.make())) {
    mine.is_program = true;
    places.push_back(std::make_unique<placement::place>());
    places[0]->space = 0;
    places[0]->location = tree.root();
    places[0]->device = &machine.devices[0]->device();
    placer.begin(places);
    pool.prepare(std::vector<std::vector<std::uint32_t>>(1), false);
    host.begin({.single_space = devices.empty()});
    engine.begin(catalog, false);
  }
  ~played_run() {
    finish();
    machine.end();
  }
  static location::properties root() {
    location::properties root;
    root.name = "machine";
    return root;
  }

  /// A task of the program, submitted: its line in `calls` is its name.
  task::record& submit(const operation::definition& what, const std::vector<std::pair<block::record*, intent>>& uses) {
    task::record& t = make(what, uses);
    submitted_one(t);
    return t;
  }
  /// The same, not committed yet.
  task::record& make(const operation::definition& what, const std::vector<std::pair<block::record*, intent>>& uses) {
    task::record& t = take_record(mine, what, std::source_location::current());
    t.access_count = static_cast<std::uint8_t>(uses.size());
    for (std::size_t k = 0; k < uses.size(); ++k)
      t.accesses[k] = {.block = uses[k].first, .version = 0, .intent = uses[k].second, .flags = 0, .space = 0};
    return t;
  }
  /// Runs one task that is ready; false: there is none.
  bool step() {
    if (ready.empty()) return false;
    task::record& t = *ready.front();
    ready.pop_front();
    run(mine, t);
    return true;
  }
  /// Everything that can run runs.
  void finish() {
    do {
      while (step()) {
      }
      machine.settle();
    } while (!ready.empty());
  }
  std::vector<std::string> take() { return std::exchange(calls, {}); }

  // program_owner
  thread_context& context_of_this_thread() override { return mine; }
  bool left_behind() const noexcept override { return forked; }
  void commit_unbounded(thread_context&, task::record& t) override { submitted_one(t); }
  void run(thread_context&, task::record& t) override {
    if (t.operation->special != nullptr) return run_special(t);
    if (!host.prepare(mine, t)) return;
    calls.push_back(t.operation->name);
    host.execute(mine, t);
    complete(t);
  }
  void begun(const task::record&) override {}
  void release_successors(thread_context&, task::record& t) override { release(t); }
  void retire(thread_context&, task::record& t, std::uint64_t) override {
    threads.keep_finished(mine, t);
    mine.retired.store(mine.retired.load() + 1);
  }
  void destroy_later(block::record& b) override { submit(operations.destroy, {{&b, intent::write}}); }
  void run_tasks_until(thread_context&, const predicate& enough, std::uint32_t) override {
    for (int rounds = 0; !enough(); ++rounds) {
      ASSERT_LT(rounds, 100'000) << "nothing makes the condition true";
      if (meanwhile) meanwhile();
      if (!step()) machine.settle();
    }
  }
  void run_one_task(thread_context&) override { step(); }

  // task_owner
  bool place_again(thread_context&, task::record&) override { return false; }
  void fail(thread_context&, task::record& t, std::shared_ptr<const block::failure> why) override {
    calls.push_back("failed: " + why->text);
    if (operations.is_view(t)) {
      host_access& view = host_access::of(t);
      view.why = why;
      release(t);
      retire(mine, t, 0);
      host_views::refuse(view);
      return;
    }
    machine.is->poison(t.all_accesses(), why);
    complete(t);
  }
  void give_copies(task::record&, placement::place&) override {}
  bool exchange_copies(task::record&, placement::place&) override { return false; }
  void wait_for_points(task::record& t, std::span<const block::ticket> points) override {
    calls.push_back(t.operation->name + " waits");
    aside.wait_for_points(t, points, nullptr);
  }
  void wait_for_memory(task::record& t, placement::place&, const transfer::acquisition& lacking) override {
    calls.push_back(t.operation->name + " waits for memory");
    aside.wait_for_memory(t, nullptr, lacking, nullptr);
  }
  void something_ended() override { ++endings; }

  // task::reduction_source
  task::record& make_reduction(block::record&, block::accumulation&) override { std::abort(); }
  void reduction_linked(task::record&, bool) override {}

  transfer::rig machine;
  location::tree tree{root()};
  thread_table threads;
  thread_context& mine;
  std::vector<std::unique_ptr<placement::place>> places;
  moving_cost cost;
  operation::catalog catalog;
  const runtime_operations operations{catalog};
  class failures failed;
  host_views held;
  adopted_write_back write_back{*machine.is};
  submissions counted{threads, 1024, 0};
  replay_leftovers leftovers;
  recorded_blocks used;
  std::deque<task::record*> ready;
  std::vector<std::string> calls;
  std::function<void()> meanwhile;  // while a thread waits
  bool forked = false;
  int endings = 0;

  placement::placer placer{{&tree, machine.is.get(), nullptr}, "eager"};
  worker_queues queues{{.threads = &threads, .places = &places, .tree = &tree, .cost = &cost}};
  worker_pool pool{
      {.queues = &queues, .placer = &placer, .places = &places, .coherence = machine.is.get(), .window_tasks = 1024}};
  parking aside{{.coherence = machine.is.get(), .resume = [this](task::record& t) { start(t); }, .copies_came = [] {}}};
  driver_table drivers;
  memory_deadlock memory{
      {.coherence = machine.is.get(), .threads = &threads, .drivers = &drivers, .set_aside = &aside, .wake = [] {}}};
  view_deadlock deadlock{{.owner = this, .threads = &threads, .pool = &pool, .queues = &queues, .memory = &memory}};
  host_runner host{
      {.owner = this, .coherence = machine.is.get(), .placer = &placer, .places = &places, .failures = &failed}};
  runtime_tasks own{{.owner = this,
                     .host = &host,
                     .coherence = machine.is.get(),
                     .places = &places,
                     .blocks = &machine.table,
                     .failures = &failed,
                     .views = &held,
                     .write_back = &write_back,
                     .operations = &operations}};
  waits waiting{{.owner = this,
                 .threads = &threads,
                 .submitted = &counted,
                 .pool = &pool,
                 .views = &held,
                 .write_back = &write_back,
                 .operations = &operations,
                 .leftovers = &leftovers,
                 .failures = &failed,
                 .coherence = machine.is.get()}};
  view_requests views{{.owner = this,
                       .operations = &operations,
                       .views = &held,
                       .host = &host,
                       .pool = &pool,
                       .queues = &queues,
                       .deadlock = &deadlock,
                       .waiting = &waiting,
                       .coherence = machine.is.get(),
                       .failures = &failed}};
  replay_engine engine{{.threads = &threads, .placer = &placer, .coherence = machine.is.get(), .places = &places}};
  replay_player player{{.owner = this,
                        .engine = &engine,
                        .blocks = &used,
                        .submitted = &counted,
                        .threads = &threads,
                        .leftovers = &leftovers,
                        .deadlock = &deadlock,
                        .pool = &pool,
                        .reductions = this,
                        .start = [this](thread_context&, task::record& t) { start(t); }}};

 private:
  void submitted_one(task::record& t) {
    t.sequence = counted.add(mine);
    if (task::link(t, *this)) start(t);
  }
  void start(task::record& t) {
    t.place = 0;
    if (operations.is_view(t)) return views.hand_over(mine, t);
    if ((t.flags & task::flag_replayed) != 0) engine.prepare(t);
    ready.push_back(&t);
  }
  void release(task::record& t) {
    const auto go = [this](task::record& successor) { start(successor); };
    if ((t.flags & task::flag_replayed) != 0)
      engine.release_successors(mine, t, go);
    else
      task::release_successors(t, go);
  }
  void complete(task::record& t) {
    release(t);
    retire(mine, t, 0);
  }
  void run_special(task::record& t) {
    switch (own.run(mine, t)) {
      case runtime_tasks::progress::waits:
        return;
      case runtime_tasks::progress::try_later:
        calls.push_back(t.operation->name + " later");
        machine.settle();
        ready.push_back(&t);
        return;
      case runtime_tasks::progress::over:
        break;
    }
    release(t);
    own.end(t);
    retire(mine, t, 0);
  }
};

}  // namespace tessera::schedule
