// Descriptions of machines: what is read, and what is refused with its place.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "hierarchy/simulation/duration.hpp"

namespace tessera::hierarchy {
namespace {

const std::string good = R"(name = "one"
[host]
cores = 4
peak_f64 = "40 GFLOP/s"
memory_bandwidth = "10 GB/s"
[[device]]
name = "gpu"
count = 2
memory = "80 GB"
peak_f64 = "10 TFLOP/s"
memory_bandwidth = "1 TB/s"
launch = "5 us"
[device.efficiency]
gemm = [[100, 0.2], [1000, 0.8]]
potrf = [[100, 0.1]]
[[link]]
between = ["gpu", "host"]
bandwidth = "50 GB/s"
latency = "10 us"
[runtime]
submit = "100 ns"
)";

std::string message_of(const std::string& text) {
  try {
    parse_machine(text, "m.toml");
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::configuration);
    return e.what();
  }
  return "nothing was wrong";
}

std::string with(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(machine_description, is_read) {
  const machine_description m = parse_machine(good, "m.toml");
  EXPECT_EQ(m.name, "one");
  EXPECT_EQ(m.host.cores, 4u);
  EXPECT_EQ(m.host.domains, 1u);
  EXPECT_EQ(m.host.core.peak_f64, 40e9);
  EXPECT_EQ(m.host.core.peak_f32, 80e9);
  ASSERT_EQ(m.devices.size(), 1u);
  EXPECT_EQ(m.device_count(), 2u);
  EXPECT_EQ(m.devices[0].memory_bytes, 80'000'000'000u);
  EXPECT_EQ(m.devices[0].speed.overhead_ns, 5000u);
  EXPECT_EQ(m.links[0].latency_ns, 10000u);
  EXPECT_EQ(m.runtime.submit_ns, 100u);
  EXPECT_EQ(m.runtime.device_task_ns, 1500u);
  const auto& of = m.devices[0].speed.efficiency;
  EXPECT_DOUBLE_EQ(of[0].at(10), 0.2);
  EXPECT_DOUBLE_EQ(of[0].at(std::sqrt(1e5)), 0.5);  // in the middle of the logarithms
  EXPECT_DOUBLE_EQ(of[0].at(1e6), 0.8);
  EXPECT_DOUBLE_EQ(of[1].at(1e6), 0.8) << "syrk is as gemm";
  EXPECT_DOUBLE_EQ(of[3].at(1e6), 0.1);
  EXPECT_DOUBLE_EQ(m.host.core.efficiency[0].at(5), 1);
}

TEST(machine_description, mistakes_have_their_place_and_a_hint) {
  const struct {
    std::string what, by, message, more;
  } cases[] = {
      {"cores = 4", "coers = 4", "m.toml:3:1", "did you mean 'cores'?"},
      {"cores = 4", "cores = 0", "m.toml:3:1", "must be 1 to 65000"},
      {"cores = 4", "cores = \"4\"", "m.toml:3:1", "wants an integer"},
      {"cores = 4", "cores = 64999", "m.toml", "65000 threads"},
      {"peak_f64 = \"40 GFLOP/s\"", "", "m.toml:2", "has no peak_f64"},
      {"\"40 GFLOP/s\"", "\"fast\"", "m.toml:4:1", "wants a rate"},
      {"\"40 GFLOP/s\"", "\"-1 GFLOP/s\"", "m.toml:4:1", "wants a rate"},
      {"\"80 GB\"", "80", "m.toml:9:1", "wants a size"},
      {"\"5 us\"", "\"5\"", "m.toml:12:1", "wants a duration"},
      {"[[100, 0.2], [1000, 0.8]]", "[[100, 0.2], [90, 0.8]]", "m.toml:14", "ascend"},
      {"[[100, 0.2], [1000, 0.8]]", "[[100, 1.2]]", "m.toml:14", "at most 1"},
      {"[[100, 0.2], [1000, 0.8]]", "[[100]]", "m.toml:14", "pairs"},
      {"potrf = [[100, 0.1]]", "getrf = [[100, 0.1]]", "m.toml:15:1", "no key 'getrf'"},
      {"[\"gpu\", \"host\"]", "[\"gpv\", \"host\"]", "m.toml:16", "did you mean 'gpu'?"},
      {"[\"gpu\", \"host\"]", "[\"gpu\", \"gpu\"]", "m.toml:6", "no link to the host"},
      {"[\"gpu\", \"host\"]", "[\"host\", \"host\"]", "m.toml:16", "need no link"},
      {"[\"gpu\", \"host\"]", "\"gpu\"", "m.toml:17:1", "two names"},
      {"count = 2", "count = 128", "m.toml:8:1", "1 to 127"},
      {"name = \"gpu\"", "name = \"host\"", "m.toml:6", "two places called 'host'"},
      {"[host]\ncores = 4\npeak_f64 = \"40 GFLOP/s\"\nmemory_bandwidth = \"10 GB/s\"\n", "host = 3\n", "m.toml:2:1",
       "host is a table"},
      {"[host]", "[hosts]", "m.toml:2:2", "did you mean 'host'?"},
      {"[host]", "[hosts]\n[host.efficiency]\ngemm = [[1, 1]]\n[other]", "m.toml:2:2", "no key 'hosts'"},
      {"\"40 GFLOP/s\"", "\"12 GiB/s\"", "m.toml:4:1", "above 0 such as \"67 TFLOP/s\", not \"12 GiB/s\""},
      {"\"40 GFLOP/s\"", "\"12 GiB/s\"", "m.toml:4:1", "it is of operations, in FLOP/s"},
      {"\"50 GB/s\"", "\"50 GFLOP/s\"", "m.toml:18:1", "above 0 such as \"64 GB/s\", not \"50 GFLOP/s\""},
      {"\"40 GFLOP/s\"", "inf", "m.toml:4:1", "a rate above 0"},
      {"\"80 GB\"", "\"0 B\"", "m.toml:9:1", "wants a size above 0 such as \"80 GB\", not \"0 B\""},
      {"\"5 us\"", "\"-1 us\"", "m.toml:12:1", "from 0 on such as \"5 us\", not \"-1 us\""},
      {"[runtime]", "[runtim]", "m.toml:20", "did you mean 'runtime'?"},
      {"cores = 4", "cores = ", "m.toml:3", "not TOML"},
      {"cores = 4", "cores = 4\ndomains = 2", "m.toml:2", "has no bandwidth"},
  };
  for (const auto& c : cases) {
    const std::string said = message_of(with(good, c.what, c.by));
    EXPECT_NE(said.find(c.message), said.npos) << c.by << "\n" << said;
    EXPECT_NE(said.find(c.more), said.npos) << c.by << "\n" << said;
  }
  EXPECT_NE(message_of(good + "[[link]]\nbetween = [\"host\", \"gpu\"]\nbandwidth = \"1 GB/s\"\n").find("linked twice"),
            std::string::npos);
}

TEST(machine_description, those_that_are_shipped_are_right) {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TESSERA_SOURCE_DIR "/configs/machines")) {
    if (entry.path().extension() != ".toml") continue;
    ++found;
    EXPECT_NO_THROW(read_machine(entry.path().string())) << entry.path();
  }
  EXPECT_GE(found, 3u);
}

TEST(durations, are_those_of_the_description) {
  described_speed s;
  s.peak_f64 = 1e9;
  s.peak_f32 = 4e9;
  s.memory_bandwidth = 1e9;
  s.efficiency[0].points = {{10, 0.5}};
  const duration_model d(s);
  EXPECT_EQ(d.compute_ns(timed_operation::gemm, element_type::f64, {10, 10, 10}), 4000u);
  EXPECT_EQ(d.compute_ns(timed_operation::gemm, element_type::f32, {10, 10, 10}), 1000u);
  EXPECT_EQ(d.compute_ns(timed_operation::syrk, element_type::f64, {1, 10, 20}), 2000u);
  EXPECT_EQ(d.compute_ns(timed_operation::trsm, element_type::f64, {20, 10, 1}), 2000u);
  EXPECT_EQ(d.compute_ns(timed_operation::potrf, element_type::f64, {1, 30, 1}), 9000u);
  EXPECT_EQ(d.move_ns(5000), 5000u);
}

TEST(durations, that_were_learnt_come_first) {
  described_speed s;
  s.peak_f64 = s.peak_f32 = 1e9;
  s.memory_bandwidth = 1e9;
  placement::history_cell c;
  c.operation = "gemm";
  c.type = element_type::f64;
  c.place = "cpu";
  c.amount = 2000;
  c.bucket = placement::history::bucket_of(2000);
  c.samples = {7, 5, 6};
  const duration_model d(s, {c});
  EXPECT_TRUE(d.is_learnt(timed_operation::gemm, element_type::f64));
  EXPECT_FALSE(d.is_learnt(timed_operation::syrk, element_type::f64));
  EXPECT_EQ(d.compute_ns(timed_operation::gemm, element_type::f64, {10, 10, 10}), 12000u)
      << "the median of 6 ns per operation";
  EXPECT_EQ(d.compute_ns(timed_operation::gemm, element_type::f32, {10, 10, 10}), 2000u) << "described";
}

}  // namespace
}  // namespace tessera::hierarchy
