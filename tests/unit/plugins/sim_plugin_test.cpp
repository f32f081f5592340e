// The sim plugin, driven through its C ABI: checked memory, modelled time, lost devices.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <future>

#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera::test {
namespace {

using devices = std::vector<opened_plugin::device>;

given_option rate(std::string name, double value) { return {std::move(name), TSR_OPTION_RATE, 0, value, {}}; }
given_option duration(std::string name, std::int64_t ns) { return {std::move(name), TSR_OPTION_DURATION, ns, 0, {}}; }

tsr_memory* allocate(const opened_plugin::device& d, std::uint64_t size) {
  tsr_memory* memory = nullptr;
  opened_plugin::check(d.table->mem_alloc(d.handle, 0, size, &memory));
  return memory;
}

std::uint64_t ask(const opened_plugin::device& d, tsr_query_key key) {
  std::uint64_t value = 0;
  opened_plugin::check(d.table->query(d.handle, key, 0, &value));
  return value;
}

tsr_status copy(const opened_plugin::device& d, const owned_stream& s, tsr_space_ref to_space, tsr_address to,
                tsr_space_ref from_space, tsr_address from, std::uint64_t size) {
  const auto c = flat_copy(to_space, to, from_space, from, size);
  return d.table->copy(d.handle, s.handle, &c);
}

tsr_status nothing(void*, void* const*) { return TSR_OK; }

/// Two devices with round numbers and a virtual clock: 1 byte per nanosecond in, half of that out, 100 ns latency,
/// 1 operation per nanosecond; a link from 0 to 1 only.
struct virtual_pair : testing::Test {
  opened_plugin plugin{
      "sim",
      {text("clock", "virtual"), bytes("device[0].memory", 1 << 20), rate("device[0].bandwidth_in", 1e9),
       rate("device[0].bandwidth_out", 5e8), duration("device[0].latency", 100), rate("device[0].flops", 1e9),
       integer("device[0].compute_streams", 1), bytes("device[1].memory", 1 << 20), rate("device[1].bandwidth_in", 1e9),
       duration("device[1].latency", 0), rate("device[1].flops", 2e9), text("device[1].name", "fast"),
       integer("link[0].from", 0), integer("link[0].to", 1), rate("link[0].bandwidth", 4e9),
       duration("link[0].latency", 10)}};
  const opened_plugin::device &a = plugin.devices.at(0), &b = plugin.devices.at(1);
  std::vector<char> host = std::vector<char>(100000);
};

TEST_F(virtual_pair, are_described_as_the_options_say) {
  EXPECT_STREQ(a.description.name, "sim0");
  EXPECT_STREQ(b.description.name, "fast");
  EXPECT_TRUE(a.description.capabilities & TSR_DEVICE_VIRTUAL_CLOCK);
  tsr_space_desc space{};
  ASSERT_EQ(a.table->spaces(a.handle, 0, &space), TSR_OK);
  EXPECT_EQ(space.bytes, 1u << 20);
  EXPECT_EQ(space.kind, static_cast<tsr_space_kind>(TSR_SPACE_DEVICE));
  EXPECT_EQ(space.capabilities & (TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE), 0u);
  tsr_link_desc link{};
  ASSERT_EQ(a.table->link(a.handle, {a.handle, 0}, {b.handle, 0}, &link), TSR_OK);
  EXPECT_EQ(link.link_class, static_cast<tsr_link_class>(TSR_LINK_PEER));
  EXPECT_EQ(link.bandwidth, 4e9);
  EXPECT_EQ(link.latency, 10);
  EXPECT_EQ(a.table->link(a.handle, {b.handle, 0}, {a.handle, 0}, &link), TSR_UNIMPLEMENTED) << "no link back";
  ASSERT_EQ(a.table->link(a.handle, {a.handle, 0}, plain, &link), TSR_OK);
  EXPECT_EQ(link.bandwidth, 5e8);
}

TEST_F(virtual_pair, a_copy_takes_bytes_over_bandwidth_plus_latency) {
  const owned_stream s(a);
  tsr_memory* memory = allocate(a, 100000);
  ASSERT_EQ(copy(a, s, {a.handle, 0}, at(memory), plain, at(host.data()), 100000), TSR_OK);
  s.finish();
  EXPECT_EQ(ask(a, TSR_QUERY_CLOCK_NS), 100100u);
  ASSERT_EQ(copy(a, s, plain, at(host.data()), {a.handle, 0}, at(memory), 100000), TSR_OK);
  s.finish();
  EXPECT_EQ(ask(a, TSR_QUERY_CLOCK_NS), 100100u + 200000 + 100);
}

TEST_F(virtual_pair, copies_of_one_direction_queue_and_those_of_both_overlap) {
  const owned_stream s(a), t(a), u(a);
  tsr_memory* memory = allocate(a, 200000);
  std::vector<char> more(100000);
  ASSERT_EQ(copy(a, s, {a.handle, 0}, at(memory), plain, at(host.data()), 50000), TSR_OK);
  ASSERT_EQ(copy(a, t, {a.handle, 0}, at(memory, 50000), plain, at(host.data()), 50000), TSR_OK);
  ASSERT_EQ(copy(a, u, plain, at(more.data()), {a.handle, 0}, at(memory, 100000), 25000), TSR_OK);
  s.finish();
  t.finish();
  u.finish();
  EXPECT_EQ(ask(a, TSR_QUERY_CLOCK_NS), 100100u) << "two of 50000 one after the other; the one out beside them";
}

TEST_F(virtual_pair, waits_carry_modelled_time_between_devices) {
  const owned_stream s(a), t(b);
  tsr_memory *on_a = allocate(a, 40000), *on_b = allocate(b, 40000);
  std::memset(host.data(), 7, 40000);
  ASSERT_EQ(copy(a, s, {a.handle, 0}, at(on_a), plain, at(host.data()), 40000), TSR_OK);  // 40100
  const auto ready = s.signal();
  ASSERT_EQ(b.table->stream_wait(b.handle, t.handle, ready), TSR_OK);
  ASSERT_EQ(copy(b, t, {b.handle, 0}, at(on_b), {a.handle, 0}, at(on_a), 40000), TSR_OK);         // + 10000 + 10
  ASSERT_EQ(b.table->host_task(b.handle, t.handle, nothing, nullptr, nullptr, 0, 3000), TSR_OK);  // + 1500
  std::vector<char> back(40000);
  ASSERT_EQ(copy(b, t, plain, at(back.data()), {b.handle, 0}, at(on_b), 40000), TSR_OK);
  const auto before_copy_out = 40100 + 10010 + 1500;
  t.finish();
  EXPECT_EQ(back, std::vector<char>(40000, 7));
  EXPECT_GT(ask(b, TSR_QUERY_CLOCK_NS), static_cast<std::uint64_t>(before_copy_out));
  EXPECT_EQ(ask(b, TSR_QUERY_BUSY_NS), 1500u);
  EXPECT_EQ(ask(a, TSR_QUERY_CLOCK_NS), 40100u);
  EXPECT_EQ(copy(a, s, {a.handle, 0}, at(on_a), {b.handle, 0}, at(on_b), 8), TSR_UNIMPLEMENTED) << "no link back";
}

TEST_F(virtual_pair, computations_share_the_compute_units) {
  const owned_stream s(a), t(a);
  for (const auto* stream : {&s, &t})
    ASSERT_EQ(a.table->host_task(a.handle, stream->handle, nothing, nullptr, nullptr, 0, 5000), TSR_OK);
  s.finish();
  t.finish();
  EXPECT_EQ(ask(a, TSR_QUERY_CLOCK_NS), 10000u) << "one unit, two computations of 5000";
  EXPECT_EQ(ask(a, TSR_QUERY_BUSY_NS), 10000u);
}

TEST_F(virtual_pair, blas_is_timed_by_its_operations) {
  const owned_stream s(a);
  tsr_memory* memory = allocate(a, 3 * 800);
  const double zero_fill = 1.0, one = 1, zero = 0;
  ASSERT_EQ(a.tensor->fill(a.handle, s.handle, TSR_F64, 300, at(memory), &zero_fill), TSR_OK);
  s.finish();
  const auto before = ask(a, TSR_QUERY_CLOCK_NS);
  tsr_gemm g{};
  g.struct_size = sizeof g;
  g.type = TSR_F64;
  g.m = g.n = g.k = g.lda = g.ldb = g.ldc = 10;
  g.alpha = &one;
  g.beta = &zero;
  g.a = at(memory);
  g.b = at(memory, 800);
  g.c = at(memory, 1600);
  ASSERT_EQ(a.blas->gemm(a.handle, s.handle, &g), TSR_OK);
  s.finish();
  EXPECT_EQ(ask(a, TSR_QUERY_CLOCK_NS) - before, 2000u);
  double result[100];
  ASSERT_EQ(copy(a, s, plain, at(result), {a.handle, 0}, at(memory, 1600), sizeof result), TSR_OK);
  s.finish();
  for (const double x : result) EXPECT_EQ(x, 10.0);
}

TEST_F(virtual_pair, kernels_refuse_host_pointers_and_other_devices_memory) {
  const owned_stream s(a);
  tsr_memory *mine = allocate(a, 4096), *others = allocate(b, 4096);
  double x = 1;
  tsr_vector_operation v{};
  v.struct_size = sizeof v;
  v.type = TSR_F64;
  v.n = v.incx = v.incy = 1;
  v.alpha = &x;
  v.x = at(mine);
  EXPECT_EQ(a.blas->scal(a.handle, s.handle, &v), TSR_OK);
  v.x = at(&x);
  EXPECT_EQ(a.blas->scal(a.handle, s.handle, &v), TSR_INVALID_ARGUMENT);
  EXPECT_NE(opened_plugin::last_error().find("host pointer"), std::string::npos) << opened_plugin::last_error();
  v.x = at(others);
  EXPECT_EQ(a.blas->scal(a.handle, s.handle, &v), TSR_INVALID_ARGUMENT);
  v.x = at(mine, 4089);
  EXPECT_EQ(a.blas->scal(a.handle, s.handle, &v), TSR_OUT_OF_RANGE);
  EXPECT_EQ(a.table->mem_free(a.handle, others), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(a.table->mem_free(a.handle, mine), TSR_OK);
  v.x = at(mine);
  EXPECT_EQ(a.blas->scal(a.handle, s.handle, &v), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(a.table->mem_free(a.handle, mine), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(copy(a, s, {a.handle, 0}, at(&x), plain, at(&x), 8), TSR_INVALID_ARGUMENT) << "a pointer as device memory";
  EXPECT_EQ(copy(a, s, plain, at(others), {b.handle, 0}, at(others), 8), TSR_UNIMPLEMENTED) << "not this device's";
}

TEST_F(virtual_pair, capacity_is_kept_and_fresh_memory_is_poisoned) {
  tsr_memory *first = allocate(a, 1 << 19), *second = nullptr;
  EXPECT_EQ(a.table->mem_alloc(a.handle, 0, (1 << 19) + 1, &second), TSR_RESOURCE_EXHAUSTED);
  second = allocate(a, 1 << 19);
  tsr_memory* third = nullptr;
  EXPECT_EQ(a.table->mem_alloc(a.handle, 0, 1, &third), TSR_RESOURCE_EXHAUSTED);
  EXPECT_EQ(ask(a, TSR_QUERY_FREE_BYTES), 0u);
  const owned_stream s(a);
  double d[4];
  ASSERT_EQ(copy(a, s, plain, at(d), {a.handle, 0}, at(first, 8), sizeof d), TSR_OK);
  s.finish();
  float f[8];
  std::memcpy(f, d, sizeof f);
  for (const double x : d) EXPECT_TRUE(std::isnan(x));
  for (const float x : f) EXPECT_TRUE(std::isnan(x));
  EXPECT_EQ(a.table->mem_free(a.handle, first), TSR_OK);
  EXPECT_EQ(a.table->mem_free(a.handle, second), TSR_OK);
  EXPECT_EQ(ask(a, TSR_QUERY_FREE_BYTES), 1u << 20);
  EXPECT_EQ(ask(a, TSR_QUERY_LIVE_ALLOCATIONS), 0u);
}

TEST_F(virtual_pair, a_lost_device_stays_lost_and_its_neighbour_lives) {
  const owned_stream t(b);
  tsr_stream *s = nullptr, *other = nullptr;
  ASSERT_EQ(a.table->stream_create(a.handle, 0, &s), TSR_OK);
  ASSERT_EQ(a.table->stream_create(a.handle, 0, &other), TSR_OK);
  std::promise<void> gate;
  const auto lose = [](void* argument, void* const*) -> tsr_status {
    static_cast<std::promise<void>*>(argument)->get_future().wait();
    return TSR_DEVICE_LOST;
  };
  tsr_memory* memory = allocate(a, 64);
  tsr_ticket before{}, failing{}, later{}, elsewhere{};
  ASSERT_EQ(a.table->stream_signal(a.handle, s, &before), TSR_OK);
  ASSERT_EQ(a.table->stream_host_wait(a.handle, before, ~0ull), TSR_OK);
  ASSERT_EQ(a.table->host_task(a.handle, s, lose, &gate, nullptr, 0, 0), TSR_OK);
  ASSERT_EQ(a.table->stream_signal(a.handle, s, &failing), TSR_OK);
  ASSERT_EQ(a.table->stream_signal(a.handle, s, &later), TSR_OK);
  ASSERT_EQ(a.table->stream_wait(a.handle, other, failing), TSR_OK);
  ASSERT_EQ(a.table->stream_signal(a.handle, other, &elsewhere), TSR_OK);
  ASSERT_EQ(b.table->stream_wait(b.handle, t.handle, failing), TSR_OK);
  const auto on_b = t.signal();
  std::atomic<int> called{0};
  ASSERT_EQ(a.table->stream_callback(
                a.handle, other, [](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &called),
            TSR_OK);
  gate.set_value();
  EXPECT_EQ(a.table->stream_host_wait(a.handle, later, ~0ull), TSR_DEVICE_LOST);
  for (int i = 0; i < 3; ++i) {
    std::uint64_t value = 0, failed = 0;
    EXPECT_EQ(a.table->stream_progress(a.handle, s, &value, &failed), TSR_DEVICE_LOST) << "sticky";
    EXPECT_EQ(value, later.value);
    EXPECT_EQ(failed, failing.value);
    EXPECT_EQ(a.table->stream_progress(a.handle, other, &value, &failed), TSR_DEVICE_LOST);
    EXPECT_EQ(value, elsewhere.value);
    EXPECT_EQ(failed, elsewhere.value);
  }
  EXPECT_EQ(a.table->health(a.handle), TSR_DEVICE_LOST);
  tsr_memory* more = nullptr;
  EXPECT_EQ(a.table->mem_alloc(a.handle, 0, 64, &more), TSR_DEVICE_LOST);
  EXPECT_EQ(b.table->stream_host_wait(b.handle, on_b, ~0ull), TSR_OK) << "a wait passes when its ticket fails";
  EXPECT_EQ(b.table->health(b.handle), TSR_OK);
  EXPECT_EQ(a.table->mem_free(a.handle, memory), TSR_DEVICE_LOST);
  EXPECT_EQ(a.table->stream_destroy(a.handle, other), TSR_DEVICE_LOST);
  EXPECT_EQ(called, 1) << "callbacks come also when work failed";
  EXPECT_EQ(plugin.table->device_close(plugin.plugin, a.handle), TSR_OK);
  EXPECT_EQ(plugin.open_device(0).table->health(plugin.devices[0].handle), TSR_INVALID_ARGUMENT) << "the old handle";
}

TEST(sim_plugin, a_real_clock_takes_real_time) {
  opened_plugin plugin("sim", {bytes("device[0].memory", 1 << 20), rate("device[0].bandwidth_in", 2e5),
                               duration("device[0].latency", 1000000)});
  const auto& d = plugin.devices.at(0);
  const owned_stream s(d);
  tsr_memory* memory = allocate(d, 100000);
  const std::vector<char> host(100000);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(copy(d, s, {d.handle, 0}, at(memory), plain, at(host.data()), 100000), TSR_OK);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500)) << "enqueueing does not wait";
  s.finish();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(501));
}

TEST(sim_plugin, shutdown_does_not_wait_for_modelled_time) {
  const auto begin = std::chrono::steady_clock::now();
  {
    opened_plugin plugin("sim",
                         {bytes("device[0].memory", 1 << 20), duration("device[0].latency", 3600ll * 1000000000)});
    const auto& d = plugin.devices.at(0);
    tsr_stream* left_open = nullptr;
    ASSERT_EQ(d.table->stream_create(d.handle, 0, &left_open), TSR_OK);
    tsr_memory* memory = allocate(d, 64);
    const char host[64] = {};
    const auto c = flat_copy({d.handle, 0}, at(memory), plain, at(host), 64);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(d.table->copy(d.handle, left_open, &c), TSR_OK);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << "three hours are modelled";
}

TEST(sim_plugin, has_one_device_without_options) {
  opened_plugin plugin("sim");
  ASSERT_EQ(plugin.devices.size(), 1u);
  EXPECT_EQ(ask(plugin.devices[0], TSR_QUERY_FREE_BYTES), 1u << 30);
  tsr_stream* stream = nullptr;
  EXPECT_EQ(plugin.devices[0].table->stream_create(plugin.devices[0].handle, TSR_STREAM_INLINE, &stream),
            TSR_UNIMPLEMENTED);
}

TEST(sim_plugin, refuses_machines_that_cannot_be) {
  const std::vector<std::vector<given_option>> bad = {
      {text("clock", "wrong")},
      {text("device[0].name", "x"), text("device[1].name", "x")},
      {text("device[0].name", std::string(64, 'n'))},
      {bytes("device[0].memory", 0)},
      {rate("device[0].bandwidth_in", 0)},
      {integer("link[0].from", 0), integer("link[0].to", 1)},
      {integer("link[0].from", 0), integer("link[0].to", 0)},
      {integer("link[0].from", 0)},
  };
  for (const auto& options : bad) {
    const opened_plugin plugin("sim", options);
    EXPECT_EQ(plugin.status, TSR_INVALID_ARGUMENT) << options[0].name;
    EXPECT_EQ(plugin.plugin, nullptr);
  }
}

TEST(sim_plugin, many_streams_pass_a_token_in_order) {
  opened_plugin plugin(
      "sim", {text("clock", "virtual"), bytes("device[0].memory", 1 << 20), bytes("device[1].memory", 1 << 20)});
  constexpr int rounds = 200;
  std::vector<std::unique_ptr<owned_stream>> streams;
  for (int i = 0; i < 6; ++i)
    streams.push_back(std::make_unique<owned_stream>(plugin.devices[static_cast<std::size_t>(i % 2)]));
  std::vector<int> order;
  struct step {
    std::vector<int>* order;
    int number;
  };
  std::vector<step> steps;
  for (int i = 0; i < rounds; ++i) steps.push_back({&order, i});
  tsr_ticket last{};
  for (int i = 0; i < rounds; ++i) {
    const auto which = static_cast<std::size_t>(i) % streams.size();
    const auto& d = plugin.devices[which % 2];
    ASSERT_EQ(d.table->stream_wait(d.handle, streams[which]->handle, last), TSR_OK);
    const auto append = [](void* argument, void* const*) -> tsr_status {
      auto& s = *static_cast<step*>(argument);
      s.order->push_back(s.number);
      return TSR_OK;
    };
    ASSERT_EQ(d.table->host_task(d.handle, streams[which]->handle, append, &steps[static_cast<std::size_t>(i)], nullptr,
                                 0, 10),
              TSR_OK);
    last = streams[which]->signal();
  }
  for (auto& stream : streams) stream->finish();
  ASSERT_EQ(order.size(), static_cast<std::size_t>(rounds));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

/// One device with a launch latency of 1000 ns on a virtual clock.
struct launching : testing::Test {
  opened_plugin plugin{
      "sim",
      {text("clock", "virtual"), rate("device[0].flops", 1e9), duration("device[0].launch_latency", 1000),
       integer("device[0].compute_streams", 1), bytes("device[0].memory", 1 << 20)}};
  const opened_plugin::device& a = plugin.devices.at(0);
  int ran = 0;
  static tsr_status count(void* argument, void* const*) {
    ++*static_cast<int*>(argument);
    return TSR_OK;
  }
  void kernels(const owned_stream& on, int number) {
    for (int k = 0; k < number; ++k)
      opened_plugin::check(a.table->host_task(a.handle, on.handle, count, &ran, nullptr, 0, 100));
  }
};

TEST_F(launching, a_graph_waits_once_and_single_kernels_each_for_themselves) {
  const owned_stream s(a);
  kernels(s, 10);
  s.finish();
  EXPECT_EQ(ran, 10);
  const auto singly = ask(a, TSR_QUERY_CLOCK_NS);
  EXPECT_EQ(singly, 10u * (1000 + 100));

  tsr_graph* graph = nullptr;
  opened_plugin::check(a.graph->capture_begin(a.handle, s.handle));
  kernels(s, 10);
  opened_plugin::check(a.graph->capture_end(a.handle, s.handle, &graph));
  s.finish();
  EXPECT_EQ(ran, 10) << "recorded, not run";
  EXPECT_EQ(ask(a, TSR_QUERY_CLOCK_NS), singly);
  for (int k = 0; k < 3; ++k) opened_plugin::check(a.graph->launch(a.handle, s.handle, graph));
  s.finish();
  EXPECT_EQ(ran, 40);
  EXPECT_EQ(ask(a, TSR_QUERY_CLOCK_NS) - singly, 3u * (1000 + 10 * 100));
  opened_plugin::check(a.graph->destroy(a.handle, graph));
  EXPECT_EQ(a.graph->launch(a.handle, s.handle, graph), TSR_INVALID_ARGUMENT) << "a destroyed graph is recognised";
  EXPECT_EQ(a.graph->destroy(a.handle, graph), TSR_INVALID_ARGUMENT);
}

TEST_F(launching, a_kernel_that_fails_ends_the_launch) {
  const owned_stream s(a);
  tsr_graph* graph = nullptr;
  opened_plugin::check(a.graph->capture_begin(a.handle, s.handle));
  kernels(s, 1);
  opened_plugin::check(a.table->host_task(
      a.handle, s.handle, [](void*, void* const*) { return tsr_status{TSR_INTERNAL}; }, nullptr, nullptr, 0, 1));
  kernels(s, 1);
  opened_plugin::check(a.graph->capture_end(a.handle, s.handle, &graph));
  opened_plugin::check(a.graph->launch(a.handle, s.handle, graph));
  const tsr_ticket ticket = s.signal();
  a.table->stream_host_wait(a.handle, ticket, ~0ull);
  std::uint64_t value = 0, failed = 0;
  EXPECT_EQ(a.table->stream_progress(a.handle, s.handle, &value, &failed), TSR_INTERNAL);
  EXPECT_EQ(failed, ticket.value);
  EXPECT_EQ(ran, 1);
}

TEST_F(launching, graphs_and_recordings_end_with_the_device) {
  tsr_stream* stream = nullptr;
  opened_plugin::check(a.table->stream_create(a.handle, TSR_STREAM_COMPUTE, &stream));
  opened_plugin::check(a.graph->capture_begin(a.handle, stream));
  opened_plugin::check(a.table->host_task(a.handle, stream, count, &ran, nullptr, 0, 1));
  EXPECT_EQ(a.table->stream_destroy(a.handle, stream), TSR_FAILED_PRECONDITION);
  EXPECT_NE(opened_plugin::last_error().find("records a graph"), std::string::npos);
  // and nobody ends it: shutdown does
}

const tsr_jit_table* jit_of(const opened_plugin& plugin, const opened_plugin::device& d) {
  const void* found = nullptr;
  return plugin.table->extension(plugin.plugin, d.handle, TSR_EXTENSION_JIT, 1, &found) == TSR_OK
             ? static_cast<const tsr_jit_table*>(found)
             : nullptr;
}

/// Modelled nanoseconds of a kernel that computes for a while, on a device with a virtual clock.
std::uint64_t time_of_kernel(const opened_plugin& plugin, const opened_plugin::device& d) {
  constexpr const char* text =
      "KERNEL void work(GLOBAL double* x, long n) {\n"
      "  double v = INDEX_X;\n"
      "  for (long k = 0; k < n; ++k) v = sqrt(v + k);\n"
      "  x[INDEX_X] = v;\n}\n";
  const tsr_jit_table* const jit = jit_of(plugin, d);
  void* image = nullptr;
  std::uint64_t size = 0;
  opened_plugin::check(jit->compile(d.handle, "tessera-c", text, "", &image, &size));
  tsr_module* module = nullptr;
  tsr_kernel* kernel = nullptr;
  opened_plugin::check(d.table->module_load(d.handle, image, size, &module));
  jit->release(d.handle, image);
  opened_plugin::check(d.table->kernel_get(d.handle, module, "work", &kernel));
  const tsr_address to = at(allocate(d, 64 * sizeof(double)));
  const std::int64_t n = 20'000;
  const void* const arguments[] = {&to, &n};
  const std::uint32_t sizes[] = {sizeof to, sizeof n};
  tsr_launch how{};
  how.struct_size = sizeof how;
  how.grid[0] = 2, how.grid[1] = how.grid[2] = 1;
  how.group[0] = 32, how.group[1] = how.group[2] = 1;
  how.arguments = arguments;
  how.argument_sizes = sizes;
  how.argument_count = 2;
  const owned_stream s(d);
  const std::uint64_t before = ask(d, TSR_QUERY_BUSY_NS);
  opened_plugin::check(d.table->launch(d.handle, s.handle, kernel, &how));
  s.finish();
  return ask(d, TSR_QUERY_BUSY_NS) - before;
}

/// Processor time varies, but not by a factor of thousands.
TEST(sim_kernels, take_the_time_of_the_host_over_their_speed) {
  const given_option slow{"device[0].kernel_speed", TSR_OPTION_FLOAT, 0, 1e-3, {}},
      fast{"device[1].kernel_speed", TSR_OPTION_FLOAT, 0, 1e3, {}};
  const opened_plugin plugin("sim", {text("clock", "virtual"), slow, fast});
  const std::uint64_t long_time = time_of_kernel(plugin, plugin.devices.at(0)),
                      short_time = time_of_kernel(plugin, plugin.devices.at(1));
  EXPECT_GT(short_time, 0u);
  EXPECT_GT(long_time, 1000 * short_time);
}

TEST(sim_kernels, are_not_offered_without_a_compiler) {
  const opened_plugin without("sim", {text("compiler", "/nowhere/cc")}), with("sim");
  EXPECT_EQ(jit_of(without, without.devices.at(0)), nullptr);
  EXPECT_NE(jit_of(with, with.devices.at(0)), nullptr);
}

TEST(sim_kernels, refuse_a_speed_of_nothing) {
  const opened_plugin plugin("sim", {{"device[0].kernel_speed", TSR_OPTION_FLOAT, 0, 0, {}}});
  EXPECT_EQ(plugin.status, TSR_INVALID_ARGUMENT);
  EXPECT_NE(opened_plugin::last_error().find("kernel_speed"), std::string::npos) << opened_plugin::last_error();
}

}  // namespace
}  // namespace tessera::test
