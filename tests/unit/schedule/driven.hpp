#pragma once
// A device's driver, played by a test: no thread, no scheduler, and a device that moves when it is told to.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/device/driver.hpp"
#include "core/task/flow.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {

/// Writes down what the driver asks for.
struct notebook : driver_owner {
  virtual ~notebook() = default;
  thread_context& begin_driver(const placement::place&, bool) override { return mine; }
  thread_context& context_of_this_thread() override { return *here; }
  bool place_again(thread_context&, task::record&) override { return false; }
  bool place_elsewhere(thread_context&, task::record& t, placement::place&) override {
    if (!others_can) return false;
    note("elsewhere", t);
    return true;
  }
  void fail(thread_context&, task::record& t, std::shared_ptr<const block::failure> why) override {
    note("failed", t);
    reasons.push_back(why->text);
  }
  void drop(thread_context&, task::record& t) override { note("dropped", t); }
  void give_copies(task::record& t, placement::place&) override { note("copies", t); }
  bool exchange_copies(task::record&, placement::place&) override { return false; }
  void begun(const task::record&) override {}
  void wait_for_points(task::record& t, std::span<const block::ticket>) override { note("waits", t); }
  void wait_for_memory(task::record& t, placement::place&, const transfer::acquisition&) override {
    note("waits for memory", t);
  }
  void enqueued(thread_context&, task::record& t) override { note("enqueued", t); }
  std::uint64_t window_bytes_of(task::record&) const override { return 0; }
  void retire(thread_context&, task::record& t, std::uint64_t) override { note("retired", t); }
  void device_lost(const placement::place&) override { calls.push_back("device lost"); }
  void device_changed() override { ++changes; }
  void something_ended() override {}
  void nothing_to_do() override {}

  void note(const std::string& what, const task::record& t) {
    calls.push_back(what + " " + std::to_string(t.sequence));
  }
  std::vector<std::string> take() { return std::exchange(calls, {}); }

  thread_context mine{1}, watchdogs{2};
  thread_context* here = &mine;
  bool others_can = true;
  int changes = 0;
  std::vector<std::string> calls, reasons;
};

/// A device of four blocks beside the host, and its driver.
struct driven {
  explicit driven(std::uint64_t blocks = 4)
      : rig({"alpha"}, blocks), placer({&tree, rig.is.get(), nullptr}, "eager"), tree(machine()) {
    place.space = 1;
    place.device = &rig.devices[1]->device();
    place.name = place.device->name();
    place.is_host = false;
    adds.name = "adds";
    adds.enqueue = [](const operation::context& c) {
      if (c.argument_bytes != 0) throw error(error_kind::task, "it does not like its arguments");
    };
    settings.checked_copies = false;
    driver = std::make_unique<device_driver>(driver_setup{.owner = &owner,
                                                          .coherence = rig.is.get(),
                                                          .placer = &placer,
                                                          .settings = &settings,
                                                          .failures = &failed,
                                                          .batches = &batches,
                                                          .points = &points},
                                             place);
    driver->play();
  }
  ~driven() {
    driver.reset();
    rig.end();
  }
  static location::tree machine() {
    location::properties root;
    root.kind = location::kind::machine;
    root.name = "machine";
    return location::tree(root);
  }

  task::record& push(std::vector<block::record*> blocks, intent how = intent::write) {
    tasks.push_back(std::make_unique<task::record>());
    task::record& t = *tasks.back();
    task::renew(t);
    t.operation = &adds;
    t.sequence = tasks.size();
    t.access_count = static_cast<std::uint8_t>(blocks.size());
    for (std::size_t k = 0; k < blocks.size(); ++k) t.accesses[k] = transfer::rig::use(*blocks[k], how);
    place.ready_queue().push(t);
    return t;
  }
  /// Everything that is enqueued ends.
  void settle() {
    for (int k = 0; k < 4; ++k) {
      rig.settle();
      driver->poll_all();
    }
  }
  block::record& block() { return rig.make(); }

  transfer::rig rig;
  placement::placer placer;
  location::tree tree;
  notebook owner;
  placement::place place;
  operation::definition adds;
  config::runtime_settings settings;
  class failures failed;
  batch_counters batches;
  failed_points points;
  std::vector<std::unique_ptr<task::record>> tasks;
  std::unique_ptr<device_driver> driver;
};

}  // namespace tessera::schedule
