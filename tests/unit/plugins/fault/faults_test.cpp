// Injected faults, seen through the C ABI of devices that inject them into themselves; the layer uses the same code.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "plugins/fault/rules.hpp"
#include "tests/unit/plugins/sparse_matrix.hpp"

namespace tessera::test {
namespace {

/// Two simulated devices with one rule.
std::vector<given_option> with_rule(std::string kind, std::vector<given_option> more = {}) {
  std::vector<given_option> all{text("device[0].name", "left"), text("device[1].name", "right"),
                                text("inject[0].kind", std::move(kind))};
  for (given_option& one : more) {
    one.name = "inject[0]." + one.name;
    all.push_back(std::move(one));
  }
  return all;
}

tsr_status compute(const opened_plugin::device& d, const owned_stream& s, std::atomic<int>* runs) {
  const auto function = [](void* argument, void* const*) -> tsr_status {
    if (argument != nullptr) ++*static_cast<std::atomic<int>*>(argument);
    return TSR_OK;
  };
  return d.table->host_task(d.handle, s.handle, function, runs, nullptr, 0, 0);
}

/// What progress has told when `ticket` is reached: each failure with its point.
std::vector<std::pair<std::uint64_t, tsr_status>> told_until(const opened_plugin::device& d, tsr_ticket ticket) {
  std::vector<std::pair<std::uint64_t, tsr_status>> told;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (;;) {
    std::uint64_t value = 0, failed = 0;
    const tsr_status status = d.table->stream_progress(d.handle, ticket.stream, &value, &failed);
    if (status != TSR_OK) told.emplace_back(failed, status);
    if (value >= ticket.value && (status == TSR_OK || status == TSR_DEVICE_LOST)) return told;
    if (std::chrono::steady_clock::now() > limit) throw std::runtime_error("not reached");
    std::this_thread::yield();
  }
}

TEST(injected_faults, strike_where_and_when_they_were_told_to) {
  opened_plugin plugin("sim", with_rule("kernel_refused", {text("device", "right"), integer("at", 2)}));
  ASSERT_EQ(plugin.status, TSR_OK);
  const auto &left = plugin.devices.at(0), &right = plugin.devices.at(1);
  const owned_stream a(left), b(right);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(compute(left, a, nullptr), TSR_OK);
  EXPECT_EQ(compute(right, b, nullptr), TSR_OK);
  EXPECT_EQ(compute(right, b, nullptr), TSR_INTERNAL);
  EXPECT_NE(opened_plugin::last_error().find("'right': kernel_refused (a computation, call 2)"), std::string::npos)
      << opened_plugin::last_error();
  EXPECT_EQ(compute(right, b, nullptr), TSR_OK);
}

TEST(injected_faults, on_the_timeline_are_told_once_each_and_in_order) {
  opened_plugin plugin("sim", with_rule("kernel_fails", {integer("every", 2), text("status", "data_loss")}));
  ASSERT_EQ(plugin.status, TSR_OK);
  const auto& d = plugin.devices.at(0);
  const owned_stream s(d);
  std::atomic<int> runs{0};
  std::vector<std::pair<std::uint64_t, tsr_status>> expected;
  tsr_ticket last{};
  for (int k = 1; k <= 6; ++k) {
    ASSERT_EQ(compute(d, s, &runs), TSR_OK);
    last = s.signal();
    if (k % 2 == 0) expected.emplace_back(last.value, TSR_DATA_LOSS);
  }
  EXPECT_EQ(told_until(d, last), expected);
  EXPECT_EQ(runs, 3) << "failed work is not done";
  EXPECT_TRUE(told_until(d, s.signal()).empty());
}

TEST(injected_faults, of_the_device_keep_their_place_among_them) {
  opened_plugin plugin("sim", with_rule("kernel_fails", {integer("at", 3)}));
  const auto& d = plugin.devices.at(0);
  const owned_stream s(d);
  const auto own = [](void*, void* const*) -> tsr_status { return TSR_ABORTED; };
  ASSERT_EQ(d.table->host_task(d.handle, s.handle, own, nullptr, nullptr, 0, 0), TSR_OK);
  const tsr_ticket first = s.signal();
  ASSERT_EQ(compute(d, s, nullptr), TSR_OK);
  s.signal();
  ASSERT_EQ(compute(d, s, nullptr), TSR_OK);  // the injected one
  const tsr_ticket third = s.signal();
  ASSERT_EQ(d.table->host_task(d.handle, s.handle, own, nullptr, nullptr, 0, 0), TSR_OK);
  const tsr_ticket last = s.signal();
  ASSERT_EQ(d.table->stream_host_wait(d.handle, last, ~0ull), TSR_OK);
  const std::vector<std::pair<std::uint64_t, tsr_status>> expected{
      {first.value, TSR_ABORTED}, {third.value, TSR_INTERNAL}, {last.value, TSR_ABORTED}};
  EXPECT_EQ(told_until(d, last), expected);
}

TEST(injected_faults, lose_a_device_for_good) {
  opened_plugin plugin("sim", with_rule("lost", {text("device", "left"), text("on", "alloc"), integer("at", 2)}));
  const auto &left = plugin.devices.at(0), &right = plugin.devices.at(1);
  const owned_stream s(left), other(right);
  ASSERT_EQ(compute(left, s, nullptr), TSR_OK);
  const tsr_ticket before = s.signal();
  tsr_memory* memory = nullptr;
  ASSERT_EQ(left.table->mem_alloc(left.handle, 0, 4096, &memory), TSR_OK);
  EXPECT_EQ(left.table->mem_alloc(left.handle, 0, 4096, &memory), TSR_DEVICE_LOST);
  EXPECT_EQ(left.table->health(left.handle), TSR_DEVICE_LOST);
  EXPECT_EQ(compute(left, s, nullptr), TSR_DEVICE_LOST);
  const auto told = told_until(left, before);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].second, TSR_DEVICE_LOST);
  EXPECT_EQ(left.table->mem_free(left.handle, memory), TSR_DEVICE_LOST);
  EXPECT_EQ(right.table->health(right.handle), TSR_OK);
  EXPECT_EQ(compute(right, other, nullptr), TSR_OK);
}

// Rule R10: whoever hears DEVICE_LOST may use the memory of pending work again at once.

TEST(injected_faults, lose_a_device_when_nothing_of_it_runs_any_more) {
  opened_plugin plugin("sim", with_rule("lost", {text("on", "alloc"), integer("at", 1)}));
  const auto& d = plugin.devices.at(0);
  const owned_stream busy(d), behind(d);
  static std::atomic<int> begun{0};
  begun = 0;
  int plain_memory = 0;  // not atomic: the thread sanitizer sees work that goes on
  const auto work = [](void* memory, void* const*) -> tsr_status {
    ++begun;
    for (int k = 0; k < 1000; ++k) {
      *static_cast<int*>(memory) += 1;
      std::this_thread::yield();
    }
    return TSR_OK;
  };
  for (int k = 0; k < 20; ++k)
    ASSERT_EQ(d.table->host_task(d.handle, busy.handle, work, &plain_memory, nullptr, 0, 0), TSR_OK);
  const tsr_ticket end = busy.signal();
  ASSERT_EQ(d.table->stream_wait(d.handle, behind.handle, end), TSR_OK);
  std::atomic<int> called{0};
  ASSERT_EQ(d.table->stream_callback(
                d.handle, behind.handle, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &called),
            TSR_OK);
  while (begun == 0) std::this_thread::yield();
  tsr_memory* memory = nullptr;
  EXPECT_EQ(d.table->mem_alloc(d.handle, 0, 64, &memory), TSR_DEVICE_LOST);
  const int then = plain_memory;
  plain_memory = -1;
  for (int k = 0; k < 1000; ++k) std::this_thread::yield();
  EXPECT_EQ(plain_memory, -1);
  EXPECT_EQ(then % 1000, 0) << "no piece of work was in the middle";
  EXPECT_EQ(called, 1) << "callbacks that are due are called";
  const auto told = told_until(d, end);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].second, TSR_DEVICE_LOST);
}

TEST(simulated_loss, is_told_when_no_stream_works_any_more) {
  opened_plugin plugin("sim", {});
  const auto& d = plugin.devices.at(0);
  const owned_stream busy(d), breaking(d);
  static std::atomic<int> begun{0};
  begun = 0;
  int plain_memory = 0;
  const auto work = [](void* memory, void* const*) -> tsr_status {
    ++begun;
    for (int k = 0; k < 1000; ++k) {
      *static_cast<int*>(memory) += 1;
      std::this_thread::yield();
    }
    return TSR_OK;
  };
  for (int k = 0; k < 20; ++k)
    ASSERT_EQ(d.table->host_task(d.handle, busy.handle, work, &plain_memory, nullptr, 0, 0), TSR_OK);
  const tsr_ticket end = busy.signal();
  while (begun == 0) std::this_thread::yield();
  const auto breaks = [](void*, void* const*) -> tsr_status { return TSR_DEVICE_LOST; };
  ASSERT_EQ(d.table->host_task(d.handle, breaking.handle, breaks, nullptr, nullptr, 0, 0), TSR_OK);
  while (d.table->health(d.handle) == TSR_OK) std::this_thread::yield();
  plain_memory = -1;
  for (int k = 0; k < 1000; ++k) std::this_thread::yield();
  EXPECT_EQ(plain_memory, -1);
  std::uint64_t value = 0, failed = 0;
  EXPECT_EQ(d.table->stream_progress(d.handle, busy.handle, &value, &failed), TSR_DEVICE_LOST);
  EXPECT_EQ(value, end.value);
}

TEST(injected_faults, hang_a_stream_until_it_is_destroyed) {
  opened_plugin plugin("sim", with_rule("hang", {integer("at", 1)}));
  const auto& d = plugin.devices.at(0);
  std::atomic<int> runs{0};
  {
    const owned_stream hung(d), free(d);
    ASSERT_EQ(compute(d, hung, &runs), TSR_OK);
    const tsr_ticket never = hung.signal();
    EXPECT_EQ(d.table->stream_host_wait(d.handle, never, 20'000'000), TSR_DEADLINE_EXCEEDED);
    EXPECT_EQ(runs, 0);
    ASSERT_EQ(compute(d, free, &runs), TSR_OK);
    free.finish();
    EXPECT_EQ(runs, 1) << "another stream works on";
  }
  EXPECT_EQ(runs, 2) << "destroying a stream ends the hang";
}

TEST(injected_faults, slow_copies_do_not_hold_their_caller) {
  opened_plugin plugin("sim", with_rule("slow", {{"latency", TSR_OPTION_DURATION, 60'000'000'000, 0, {}}}));
  const auto& d = plugin.devices.at(0);
  tsr_memory* memory = nullptr;
  ASSERT_EQ(d.table->mem_alloc(d.handle, 0, 64, &memory), TSR_OK);
  char bytes[64] = {};
  const owned_stream s(d);
  const auto c = flat_copy({d.handle, 0}, at(memory), plain, at(bytes), 64);
  ASSERT_EQ(d.table->copy(d.handle, s.handle, &c), TSR_OK);
  EXPECT_EQ(d.table->stream_host_wait(d.handle, s.signal(), 1'000'000), TSR_DEADLINE_EXCEEDED);
}  // destruction does not wait the minute

TEST(injected_faults, allocations_fail_as_often_as_told) {
  opened_plugin plugin("sim", with_rule("alloc_fails", {integer("times", 2)}));
  const auto& d = plugin.devices.at(0);
  tsr_memory* memory = nullptr;
  EXPECT_EQ(d.table->mem_alloc(d.handle, 0, 64, &memory), TSR_RESOURCE_EXHAUSTED);
  EXPECT_EQ(d.table->mem_alloc(d.handle, 0, 64, &memory), TSR_RESOURCE_EXHAUSTED);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(d.table->mem_alloc(d.handle, 0, 64, &memory), TSR_OK);
}

TEST(injected_faults, strike_sparse_products_and_reductions_like_other_computations) {
  opened_plugin plugin("sim", with_rule("kernel_refused", {integer("every", 2)}));
  const auto& d = plugin.devices.at(0);
  ASSERT_NE(d.sparse, nullptr);
  placed_data data(d);
  const tsr_csr csr = data.diagonal(2, 2, 3);
  const tsr_address x = data.put(std::vector<float>{1, 2}), y = data.put(std::vector<float>(2));
  tsr_sparse* matrix = nullptr;
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_OK);
  EXPECT_EQ(data.multiply(matrix, 1, x, y), TSR_OK);
  EXPECT_EQ(data.multiply(matrix, 2, x, y), TSR_INTERNAL);
  EXPECT_NE(opened_plugin::last_error().find("kernel_refused (a computation, call 2)"), std::string::npos)
      << opened_plugin::last_error();
  EXPECT_EQ(data.get<float>(y, 2), (std::vector<float>{3, 6}));
  tsr_reduce r{};
  r.struct_size = sizeof r;
  r.type = TSR_F32;
  r.reduction = TSR_REDUCTION_SUM;
  r.direction = TSR_REDUCTION_PER_COLUMN;
  r.m = r.ld = 2, r.n = 1;
  r.source = x, r.destination = y;
  EXPECT_EQ(d.tensor->reduce(d.handle, data.stream(), &r), TSR_OK);
  EXPECT_EQ(d.tensor->reduce(d.handle, data.stream(), &r), TSR_INTERNAL);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
}

TEST(injected_faults, strike_the_making_of_a_matrix_like_an_allocation) {
  opened_plugin plugin("sim", with_rule("alloc_fails", {integer("at", 4)}));
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  const tsr_csr csr = data.diagonal(2, 2, 3);  // three allocations
  tsr_sparse* matrix = nullptr;
  EXPECT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_RESOURCE_EXHAUSTED);
  EXPECT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_OK);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
}

TEST(injected_faults, strike_the_making_of_a_matrix_of_tiles_too) {
  opened_plugin plugin("sim", with_rule("alloc_fails", {integer("at", 4)}));
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  const tsr_csr csr = data.diagonal(2, 2, 3);
  tsr_bsr bsr{};
  bsr.struct_size = sizeof bsr;
  bsr.type = TSR_F32;
  bsr.rows = bsr.columns = bsr.tiles = 2, bsr.tile_rows = bsr.tile_columns = 1;
  bsr.row_starts = csr.row_starts, bsr.column_indices = csr.column_indices, bsr.values = csr.values;
  tsr_sparse* matrix = nullptr;
  EXPECT_EQ(d.sparse->create_bsr(d.handle, &bsr, &matrix), TSR_RESOURCE_EXHAUSTED);
  EXPECT_EQ(d.sparse->create_bsr(d.handle, &bsr, &matrix), TSR_OK);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_OK);
}

TEST(injected_faults, a_lost_device_takes_its_matrices_back) {
  opened_plugin plugin("sim", with_rule("lost", {text("on", "kernel"), integer("at", 2)}));
  const auto& d = plugin.devices.at(0);
  placed_data data(d);
  const tsr_csr csr = data.diagonal(2, 2, 3);
  const tsr_address x = data.put(std::vector<float>{1, 2}), y = data.put(std::vector<float>(2));
  tsr_sparse* matrix = nullptr;
  ASSERT_EQ(d.sparse->create_csr(d.handle, &csr, &matrix), TSR_OK);
  EXPECT_EQ(data.multiply(matrix, 1, x, y), TSR_OK);
  EXPECT_EQ(data.multiply(matrix, 1, x, y), TSR_DEVICE_LOST);
  tsr_sparse* none = nullptr;
  EXPECT_EQ(d.sparse->create_csr(d.handle, &csr, &none), TSR_DEVICE_LOST);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_DEVICE_LOST);
  EXPECT_EQ(d.sparse->destroy(d.handle, matrix), TSR_INVALID_ARGUMENT);
}

TEST(fault_rules, strike_by_chance_in_the_same_order_for_one_seed) {
  const auto strikes = [](std::uint64_t seed) {
    fault::rule rule;
    rule.fault = fault::kind::copy_fails;
    rule.probability = 0.3;
    fault::judge judge({seed, {rule}});
    std::string line;
    for (int k = 0; k < 200; ++k) line += judge.decide(fault::call::copy, {"d", "sim0"}).strikes != nullptr ? 'x' : '.';
    return line;
  };
  EXPECT_EQ(strikes(5), strikes(5));
  EXPECT_NE(strikes(5), strikes(6));
  const auto count = [](const std::string& line) { return std::count(line.begin(), line.end(), 'x'); }(strikes(5));
  EXPECT_GT(count, 30);
  EXPECT_LT(count, 90);
}

TEST(fault_rules, are_refused_when_they_make_no_sense) {
  for (const auto& bad : {with_rule("explosion"), with_rule("slow"), with_rule("hang", {text("on", "alloc")}),
                          with_rule("lost", {{"probability", TSR_OPTION_FLOAT, 0, 1.5, {}}})}) {
    opened_plugin plugin("sim", bad);
    EXPECT_EQ(plugin.status, TSR_INVALID_ARGUMENT);
    EXPECT_NE(opened_plugin::last_error().find("inject 0"), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::test
