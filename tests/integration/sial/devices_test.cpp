// Where block statements run: on devices where that is worth it or asked for, in the order of the program, with their
// errors told.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "jobs.hpp"
#include "languages/sial/interpreter/instruction_operations.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_program.hpp"

namespace tessera {
namespace {

using sial::device_use;
using test_support::error_of;
using testing::run_text;
using testing::sial_outcome;

/// Segments of one length, in one table.
sial::init_data segments_of(std::int64_t length, int count = 2) {
  sial::init_data data;
  data.segments[sial::index_kind::mo].assign(static_cast<std::size_t>(count), length);
  return data;
}

const std::string declarations =
    "moindex i = 1:2\nmoindex j = 1:2\nmoindex k = 1:2\nindex n = 1:3\n"
    "temp a[i,k]\ntemp b[k,j]\ntemp c[i,j]\nlocal l[i,j]\ndistributed d[i,j]\nstatic s[i,j]\nscalar x\n";

std::string program(const std::string& statements, const std::string& more_declarations = "") {
  return "sial placed\n" + declarations + more_declarations + statements + "endsial placed\n";
}

/// In the loops over i, j and k.
std::string in_loops(const std::string& statements) {
  return "do i\ndo j\ndo k\n" + statements + "enddo k\nenddo j\nenddo i\n";
}

double scalar_of(const sial_outcome& o, const char* label = "x") { return std::get<double>(o.items.at(label)); }

/// Simulated devices that count the time of their description, so that what the policy decides follows from it.
std::string described(const char* flops) {
  return "plugins = [\"host\", \"sim\"]\n[plugin.sim]\nclock = \"virtual\"\n[[plugin.sim.device]]\nmemory = \"64 "
         "MiB\"\n" +
         fmt::format("flops = \"{}\"\n", flops) +
         "bandwidth_in = \"1000 GiB/s\"\nbandwidth_out = \"1000 GiB/s\"\nlatency = \"1 us\"\n";
}

const std::string one_product =
    in_loops("a[i,k] = 1.0\nb[k,j] = 2.0\nc[i,j] = a[i,k] * b[k,j]\nx += c[i,j] * c[i,j]\n") +
    "set_persistent x \"x\"\n";

TEST(sial_devices, run_what_they_are_asked_to) {
  const sial_outcome o =
      run_text(program(one_product), segments_of(5), {.machine = "sim", .devices = device_use::always});
  EXPECT_EQ(o.counters.on_devices, 24u) << "two fills and a product, eight times";
  EXPECT_EQ(o.counters.in_place, 0u);
  EXPECT_EQ(o.device_tasks, 24u);
  EXPECT_GT(o.device_nanoseconds, 0u);
  EXPECT_EQ(scalar_of(o), 8 * 25 * 100.0);
}

TEST(sial_devices, are_left_alone_when_that_is_asked) {
  const sial_outcome o = run_text(program(one_product), segments_of(200),
                                  {.machine = described("10000 GFLOP/s"), .devices = device_use::never});
  EXPECT_EQ(o.device_tasks, 0u);
  EXPECT_EQ(o.counters.on_devices + o.counters.in_place, 0u) << "nothing is counted where there is no choice";
}

TEST(sial_devices, get_what_the_policy_finds_faster_there) {
  const std::string text =
      program("do i\ndo j\ndo k\na[i,k] = 1.0\nb[k,j] = 2.0\nc[i,j] = a[i,k] * b[k,j]\nenddo k\nenddo j\nenddo i\n");
  const sial_outcome large = run_text(text, segments_of(300), {.machine = described("10000 GFLOP/s")});
  EXPECT_GE(large.counters.on_devices, 8u) << "the products";
  const sial_outcome slow =
      run_text(text, segments_of(300),
               {.machine = described("0.0001 GFLOP/s")});  // a second for a fill: the host's may be slow, too
  EXPECT_EQ(slow.counters.on_devices, 0u);
  EXPECT_EQ(slow.counters.in_place, 24u);
  const sial_outcome small = run_text(text, segments_of(10), {.machine = described("10000 GFLOP/s")});
  EXPECT_EQ(small.counters.on_devices, 0u) << "nothing repays the way there";
}

TEST(sial_devices, gpu_on_prefers_them_and_gpu_off_ends_it) {
  const std::string text = program(in_loops("a[i,k] = 1.0\nb[k,j] = 2.0\ngpu_on\nc[i,j] = a[i,k] * b[k,j]\ngpu_off\n"
                                            "c[i,j] += a[i,k] * b[k,j]\nx += c[i,j] * c[i,j]\n") +
                                   "set_persistent x \"x\"\n");
  for (const unsigned workers : {1u, 2u}) {
    const sial_outcome o = run_text(text, segments_of(5), {.workers = workers, .machine = "sim"});
    EXPECT_EQ(o.counters.on_devices, 8u * workers) << "short as they are";
    EXPECT_EQ(o.counters.in_place, 24u * workers);
    EXPECT_EQ(scalar_of(o), 8 * 25 * 400.0);
  }
}

TEST(sial_devices, where_gpu_on_stands_the_rest_is_the_hosts) {
  const std::string large = in_loops("a[i,k] = 1.0\nb[k,j] = 2.0\nc[i,j] = a[i,k] * b[k,j]\n");
  const sial_outcome o = run_text(program("gpu_on\nx = 1.0\ngpu_off\n" + large), segments_of(300),
                                  {.machine = described("10000 GFLOP/s")});
  EXPECT_EQ(o.counters.on_devices, 0u);
  EXPECT_EQ(o.counters.in_place, 24u);
}

TEST(sial_devices, a_region_ends_with_what_leaves_it) {
  // Out of a loop, out of a procedure out of two loops; a region around both stays open.
  const std::string left =
      "proc leaves\ngpu_on\ndo n\ngpu_on\nif n == 2\nreturn\nendif\ngpu_off\nenddo n\ngpu_off\nendproc leaves\n";
  const std::string around = "do n\ngpu_on\nif n == 2\nexit\nendif\ngpu_off\nenddo n\n";
  const std::string statement = "do i\ndo j\nc[i,j] = 1.0\nenddo j\nenddo i\n";
  const auto on = [&](const std::string& statements) {
    return run_text(program(statements, left), segments_of(3), {.machine = "sim"}).counters.on_devices;
  };
  EXPECT_EQ(on(around + statement), 0u);
  EXPECT_EQ(on("call leaves\n" + statement), 0u);
  EXPECT_EQ(on("gpu_on\ncall leaves\n" + around + statement + "gpu_off\n" + statement), 4u);
}

/// A program whose line with '#!' fails on the device.
void expect_failure(const std::string& text, const std::string& rule, const std::string& what, unsigned workers) {
  const std::size_t mark = text.find("#!");
  const std::string before = text.substr(0, mark),
                    line = fmt::format("test.sialx:{},", 1 + std::ranges::count(before, '\n'));
  const std::string machine =
      "plugins = [\"host\", \"sim\"]\n[plugin.sim]\nclock = \"real\"\n[[plugin.sim.device]]\nmemory = \"64 MiB\"\n"
      "[[plugin.sim.inject]]\n" +
      rule;
  const error e = error_of([&] { run_text(text, segments_of(4), {.workers = workers, .machine = machine}); });
  EXPECT_EQ(e.where().find(line), 0u) << e.what() << "\n" << text;
  EXPECT_NE(e.message().find(what), std::string::npos) << e.what();
}

TEST(sial_devices, failures_name_the_statement) {
  const std::string
      product =
          "do i\ndo j\ndo k\na[i,k] = 1.0\nb[k,j] = 2.0\nc[i,j] = 0.0\ngpu_on\nc[i,j] = a[i,k] * b[k,j]  #!\ngpu_off\n",
      ends = "enddo k\nenddo j\nenddo i\n";
  const std::string fails = "kind = \"kernel_fails\"\nat = 1\n", refused = "kind = \"kernel_refused\"\nat = 1\n";
  for (const unsigned workers : {1u, 3u})
    for (const std::string& rule : {fails, refused}) {
      // Its result is needed: here, by a task, by nobody.
      expect_failure(program(product + "x += c[i,j] * c[i,j]\n" + ends), rule, "contract on", workers);
      expect_failure(program(product + "gpu_on\nc[i,j] *= 2.0\ngpu_off\nput d[i,j] += c[i,j]\n" + ends), rule,
                     "contract on", workers);
      expect_failure(program(product + ends + "sip_barrier\n"), rule, "contract on", workers);
      expect_failure(program(product + ends), rule, "contract on", workers);
      expect_failure(program(product + "s[i,j] = c[i,j]\n" + ends), rule, "contract on", workers);
    }
}

TEST(sial_devices, profiles_tell_what_they_ran) {
  const sial_outcome o =
      run_text(program(one_product), segments_of(5), {.machine = "sim", .devices = device_use::always});
  const std::size_t line = o.profile.find("c[i,j] = a[i,k] * b[k,j]");
  ASSERT_NE(line, std::string::npos) << o.profile;
  EXPECT_NE(o.profile.find("device s"), std::string::npos) << o.profile;
  const sial_outcome none =
      run_text(program(one_product), segments_of(5), {.machine = "sim", .devices = device_use::never});
  EXPECT_EQ(none.profile.find("device s"), std::string::npos) << none.profile;
}

/// As examples/sial_instructions/damping.c, with a count of what ran in place.
std::vector<sial::instruction> damping(std::atomic<int>* in_place = nullptr, const char* text = nullptr) {
  sial::instruction damp{"my_damp",
                         {"urr"},
                         "my.so",
                         [in_place](const sial::instruction_call& c) {
                           if (in_place != nullptr) ++*in_place;
                           const sial_argument &x = c.arguments[0], &y = c.arguments[1];
                           for (std::int64_t k = 0; k < x.elements; ++k)
                             x.data[k] += *c.arguments[2].data * (y.data[k] - x.data[k]);
                         },
                         {}};
  // Its name is one that a compiler's glue might take for itself.
  damp.kernel = {"x",
                 text != nullptr
                     ? text
                     : "KERNEL void x(GLOBAL double* to, long n, GLOBAL double* from, long m, double w) {\n"
                       "  if (INDEX_X < n && INDEX_X < m) to[INDEX_X] += w * (from[INDEX_X] - to[INDEX_X]);\n}\n",
                 0};
  return {damp};
}

class sial_instruction_kernels : public ::testing::TestWithParam<const char*> {};

TEST_P(sial_instruction_kernels, run_where_they_are_asked_to) {
  // Blocks of workers, a part of a static array, a fetched block; a number of the program and one in it.
  const std::string text = program(
      "do i\ndo j\ns[i,j] = 4.0\nenddo j\nenddo i\npardo i, j\nput d[i,j] = 2.0\nendpardo i, j\nsip_barrier\nw = 0.5\n"
      "do i\ndo j\nc[i,j] = 1.0\nl[i,j] = 3.0\nget d[i,j]\nexecute my_damp c[i,j] l[i,j] w\nexecute my_damp c[i,j] "
      "d[i,j] 0.25\n"
      "execute my_damp s[i,j] c[i,j] w\nexecute my_damp l[i,j] l[i,j] w\nx += c[i,j] * s[i,j]\nx += l[i,j] * "
      "l[i,j]\nenddo j\nenddo i\nset_persistent x \"x\"\n",
      "special my_damp urr\nscalar w\nallocate l\n");
  for (const unsigned workers : {1u, 2u}) {
    std::atomic<int> in_place = 0;
    const sial_outcome o = run_text(
        text, segments_of(7),
        {.workers = workers, .machine = GetParam(), .devices = device_use::always, .instructions = damping(&in_place)});
    EXPECT_EQ(in_place, static_cast<int>(4 * workers)) << "the one whose arguments are the same block";
    EXPECT_DOUBLE_EQ(scalar_of(o), 4 * 49 * (2.0 * 3.0 + 9.0));
    std::atomic<int> at_home = 0;
    EXPECT_DOUBLE_EQ(scalar_of(run_text(text, segments_of(7),
                                        {.workers = workers,
                                         .machine = GetParam(),
                                         .devices = device_use::never,
                                         .instructions = damping(&at_home)})),
                     4 * 49 * (2.0 * 3.0 + 9.0));
    EXPECT_EQ(at_home, static_cast<int>(16 * workers));
  }
}

TEST_P(sial_instruction_kernels, that_do_not_compile_name_the_statement) {
  const error e = error_of([&] {
    run_text(
        program("do i\ndo j\nc[i,j] = 1.0\nl[i,j] = 1.0\nexecute my_damp c[i,j] l[i,j] 0.5\nx += c[i,j] * "
                "c[i,j]\nenddo j\nenddo i\n",
                "special my_damp urr\nallocate l\n"),
        segments_of(3),
        {.machine = GetParam(), .devices = device_use::always, .instructions = damping(nullptr, "KERNEL void x( {")});
  });
  EXPECT_EQ(e.where().find("test.sialx:19,"), 0u) << e.what();
  EXPECT_NE(e.message().find("my.so:1"), std::string::npos) << e.what();
}

TEST_P(sial_instruction_kernels, that_are_shorter_than_a_hand_over_stay) {
  const auto run = [](std::int64_t length) {
    const std::string text = program(
        "do n\ndo i\ndo j\nl[i,j] = 3.0\nc[i,j] = 1.0\nexecute my_damp c[i,j] l[i,j] 0.5\nx += c[i,j] * c[i,j]\nenddo "
        "j\nenddo i\nenddo n\n"
        "set_persistent x \"x\"\n",
        "special my_damp urr\nallocate l\n");
    std::atomic<int> in_place = 0;
    const sial_outcome o =
        run_text(text, segments_of(length),
                 {.machine = GetParam(), .devices = device_use::best, .instructions = damping(&in_place)});
    EXPECT_DOUBLE_EQ(scalar_of(o), static_cast<double>(3 * 4 * length * length) * 4.0);
    return in_place.load();
  };
  EXPECT_EQ(run(63), 12) << "3969 elements";
  EXPECT_LT(run(65), 12) << "4225 elements: the device is tried";
}

TEST(sial_devices, instructions_of_one_name_with_other_kernels_are_other_operations) {
  const auto programs = testing::program_from_text(
      program("do i\ndo j\nc[i,j] = 1.0\nl[i,j] = 1.0\nexecute my_damp c[i,j] l[i,j] 0.5\nenddo j\nenddo i\n",
              "special my_damp urr\nallocate l\n"));
  const sial::code& code = programs.all[0].instructions;
  runtime rt(testing::host_only(1));
  const auto operation_of = [&](const char* text) {
    sial::instruction_registry known;
    known.add(damping(nullptr, text));
    const auto all = sial::instruction_operations(rt, code, known);
    EXPECT_EQ(all.size(), 1u);
    return all.at(0);
  };
  const operation::definition* const first = operation_of("KERNEL void x() {}");
  const operation::definition* const second = operation_of("KERNEL void x() { }");
  const operation::definition* const third = operation_of("KERNEL void x() {  }");
  EXPECT_EQ(first->name, "execute my_damp urr bbn");
  EXPECT_EQ(second->name, "execute my_damp urr bbn (2)");
  EXPECT_EQ(third->kernel.text.source, "KERNEL void x() {  }");
  EXPECT_EQ(operation_of("KERNEL void x() {}"), first);
  EXPECT_EQ(operation_of("KERNEL void x() { }"), second);
  EXPECT_EQ(operation_of("KERNEL void x() {  }"), third);
}

INSTANTIATE_TEST_SUITE_P(on, sial_instruction_kernels, ::testing::Values("cuda_emulated"));
#ifdef TESSERA_TEST_OPENCL
INSTANTIATE_TEST_SUITE_P(on_opencl, sial_instruction_kernels, ::testing::Values("opencl"));
#endif

/// Statements in any order over a few blocks: of those that devices can run and those that they cannot.
std::string random_program(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
  };
  const auto local = [&] { return pick({"p", "q", "r"}); };
  std::string text =
      "sial random\nmoindex i = 1:2\nmoindex j = 1:2\nmoindex k = 1:2\nindex n = 1:3\nindex m = 1:2\n"
      "local p[i,j]\nlocal q[i,j]\nlocal r[i,j]\n"
      "temp t[i,j]\ntemp u[j,i]\ntemp v[i,k]\ntemp w[k,j]\nstatic s[i,j]\ndistributed d[i,j]\n"
      "scalar x\nscalar sum\nspecial fill_block_sequential wr\nspecial my_damp urr\nallocate p\nallocate q\nallocate "
      "r\n";
  text += "pardo i, j\nput d[i,j] = 1.0\nendpardo i, j\nsip_barrier\n";
  for (int section = 0; section < 3; ++section) {
    text += "do i\ndo j\n";
    text += "t[i,j] = " + local() + "[i,j]\n";
    for (int k = 0; k < 25; ++k) {
      const std::string a = pick({"p[i,j]", "q[i,j]", "r[i,j]", "t[i,j]"}),
                        b = pick({"p[i,j]", "q[i,j]", "r[i,j]", "t[i,j]", "s[i,j]"}), c = local() + "[i,j]";
      const std::string how = pick({"=", "=", "+=", "-="});
      text += pick({a + " = 1.0\n", a + " += 0.5\n", a + " *= 0.25\n", a + " " + how + " " + b + "\n",
                    a + " " + how + " " + b + " + " + c + "\n", a + " " + how + " " + b + " - " + c + "\n",
                    a + " " + how + " 0.5 * " + b + "\n", "u[j,i] = " + b + "\n" + a + " = u[j,i]\n",
                    "s[i,j] = " + b + "\n", "s[i,j] += 0.5 * " + b + "\n", "s[i,j] *= 0.25\n",
                    "do k\nv[i,k] = 0.25\nw[k,j] = 0.5\n" + a + " += v[i,k] * w[k,j]\nv[i,k] = 0.125\n" + a +
                        " -= v[i,k] * w[k,j]\nenddo k\n",
                    "do n\nu[j,i] = " + b + "\nu[j,i] *= 0.5\n" + a + " = u[j,i]\nenddo n\n",
                    "x = " + a + " * " + b + "\nsum += 0.001 * x\n",
                    "if sum > 1000.0\nsum = 1.0\nendif\n" + a + " *= 0.125\n",
                    "execute fill_block_sequential u[j,i] 0.125\n" + a + " = u[j,i]\n",
                    "execute my_damp " + a + " " + b + " 0.25\n", "deallocate " + c + "\n" + c + " = 0.75\n"});
    }
    text +=
        "enddo j\nenddo i\ndo i\ndo j\np[i,j] *= 0.001\nq[i,j] *= 0.001\nr[i,j] *= 0.001\ns[i,j] *= 0.001\nenddo "
        "j\nenddo i\n";
    const std::string how = pick({"=", "+="}), from = pick({"t", "t", "p"});
    text += "pardo i, j\nt[i,j] = 0.5 * p[i,j]\nt[i,j] += q[i,j]\nput d[i,j] " + how + " " + from + "[i,j]\n" +
            (how == "=" ? "" : "put d[i,j] += t[i,j]\nt[i,j] *= 2.0\n") + "endpardo i, j\nsip_barrier\n";
    text +=
        "do i\ndo j\nget d[i,j]\nr[i,j] += d[i,j]\nt[i,j] = d[i,j]\ns[i,j] += t[i,j]\nenddo j\nenddo i\nsip_barrier\n";
  }
  return text + "set_persistent s \"s\"\nset_persistent sum \"sum\"\nendsial random\n";
}

void expect_near(double a, double b, const std::string& text) {
  ASSERT_LE(std::abs(a - b), 1e-10 * std::max({1.0, std::abs(a), std::abs(b)})) << text;
}

void expect_same(const sial_outcome& a, const sial_outcome& b, const std::string& text) {
  expect_near(scalar_of(a, "sum"), scalar_of(b, "sum"), text);
  const auto &x = std::get<sial::kept_values>(a.items.at("s")).values,
             &y = std::get<sial::kept_values>(b.items.at("s")).values;
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t k = 0; k < x.size(); ++k) expect_near(x[k], y[k], text);
}

class sial_random_statements : public ::testing::TestWithParam<const char*> {};

TEST_P(sial_random_statements, agree_with_the_host) {
  for (std::uint64_t seed = 1; seed <= (testing::slow_down > 1 ? 4 : 12); ++seed) {
    const std::string text = random_program(seed);
    const sial::init_data data = segments_of(static_cast<std::int64_t>(1 + seed % 7));
    const auto workers = static_cast<unsigned>(1 + seed % 3);
    const bool deterministic = seed % 4 == 0;
    SCOPED_TRACE(fmt::format("seed {}, {} workers", seed, workers));
    const sial_outcome host =
        run_text(text, data, {.workers = workers, .deterministic = deterministic, .instructions = damping()});
    const testing::sial_job_settings on_devices{workers, deterministic, GetParam(), device_use::always, damping()};
    const sial_outcome placed = run_text(text, data, on_devices);
    EXPECT_GT(placed.counters.on_devices, 100u);
    expect_same(host, placed, text);
  }
}

std::string name_of(const ::testing::TestParamInfo<const char*>& of) {
  std::string text = of.param;
  std::ranges::replace(text, ' ', '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(on, sial_random_statements, ::testing::Values("sim", "two sims", "cuda_emulated"), name_of);
#ifdef TESSERA_TEST_OPENCL
INSTANTIATE_TEST_SUITE_P(on_opencl, sial_random_statements, ::testing::Values("opencl"), name_of);
#endif

TEST(sial_devices, deterministic_runs_give_the_same_bits) {
  const std::string text = random_program(99);
  for (const device_use use : {device_use::best, device_use::always}) {
    std::vector<double> first;
    std::uint64_t on_devices = 0;
    for (int run = 0; run < 3; ++run) {
      const sial_outcome o = run_text(
          text, segments_of(37),
          {.workers = 2, .deterministic = true, .machine = "two sims", .devices = use, .instructions = damping()});
      const auto& s = std::get<sial::kept_values>(o.items.at("s")).values;
      if (run == 0) first = s, on_devices = o.counters.on_devices;
      EXPECT_EQ(s, first);
      EXPECT_EQ(o.counters.on_devices, on_devices) << "and the same places";
    }
  }
}

}  // namespace
}  // namespace tessera
