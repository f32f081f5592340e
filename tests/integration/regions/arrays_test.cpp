// Where the elements of region arrays are: memory of the program, files, tiles that change.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "hierarchy/region/storage.hpp"
#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

struct scratch_file {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tessera_regions_" + std::to_string(getpid()) + ".bin");
  scratch_file() { std::filesystem::remove(path); }
  ~scratch_file() { std::filesystem::remove(path); }
};

TEST(region_arrays, in_memory_of_the_program_are_changed_in_place) {
  std::vector<double> memory(1000);
  std::iota(memory.begin(), memory.end(), 0.0);
  runtime rt(testing::host_only());
  {
    location_model model(rt);
    auto x = model.adopt("x", std::span(memory), {1000});
    model.region("negate", iterate(0, 1000), update(x), [](auto i, auto x) { x[i] = -x[i]; });
    EXPECT_EQ(x.read().elements().data(), memory.data());
  }
  rt.fence();
  EXPECT_EQ(memory[999], -999);
}

TEST(region_arrays, in_memory_of_the_program_that_cannot_come_home_are_an_error_of_the_pause) {
  std::vector<double> memory(1000, 1);
  runtime rt(
      testing::machine_of("plugins = [\"host\", \"sim\"]\ncopy_retries = 0\nplacement = \"eager\"\nhistory = "
                          "\"off\"\n[[plugin.sim.device]]\nmemory = \"64 MiB\"\n[[plugin.sim.inject]]\n"
                          "device = \"sim0\"\nkind = \"copy_fails\"\nat = 1\n"));
  location_model model(rt);
  auto x = model.adopt("x", std::span(memory), {1000});
  model.region("set", {.at = "sim0"}, iterate(0, 1000), write(x),
               with_kernel([](auto i, auto to) { to[i] = 2; }, "(i, to) { to[i] = 2; }"));
  const error e = error_of([&] { model.fence(); });
  EXPECT_NE(e.message().find("the copy of x(0)"), std::string::npos) << e.message();
}

TEST(region_arrays, in_memory_of_the_program_are_paused_while_another_thread_looks_at_them) {
  std::vector<double> memory(1000, 1);
  runtime rt(testing::host_only(2));
  location_model model(rt);
  auto x = model.adopt("x", std::span(memory), {1000});
  std::atomic<bool> holds{false}, paused{false};
  std::thread other([&] {
    const auto held = x.rows(0, 500).update();
    holds = true;
    while (!paused) std::this_thread::yield();
  });
  while (!holds) std::this_thread::yield();
  model.fence();  // which waits for regions, and for no views
  paused = true;
  other.join();
}

TEST(region_arrays, that_are_large_do_not_all_lie_whole_large_pages_apart) {
  constexpr std::uintptr_t large_page = 2 << 20;
  runtime rt(testing::host_only());
  location_model model(rt);
  const std::int64_t n = 1 << 22;
  auto a = model.make_array<double>("a", {n}), b = model.make_array<double>("b", {n}),
       c = model.make_array<double>("c", {n});
  model.region("fill", iterate(0, n), write(a), write(b), write(c),
               [](auto i, auto x, auto y, auto z) { x[i] = y[i] = z[i] = 1; });
  const auto place = [&](auto& x) { return reinterpret_cast<std::uintptr_t>(x.read().elements().data()) % large_page; };
  const std::uintptr_t first = place(a), second = place(b), third = place(c);
  EXPECT_FALSE(first == second && second == third) << first;
}

TEST(region_arrays, of_a_file_keep_their_contents) {
  const scratch_file file;
  {
    runtime rt(testing::host_only());
    location_model model(rt);
    auto x = model.map_file<std::int64_t>("x", file.path, {100, 10});
    model.region("fill", iterate({0, 100}, {0, 10}), write(x), [](auto i, auto j, auto x) { x(i, j) = 10 * i + j; });
    model.fence();
    std::ifstream seen(file.path, std::ios::binary);
    seen.seekg(8 * 777);
    std::int64_t element = 0;
    seen.read(reinterpret_cast<char*>(&element), 8);
    EXPECT_EQ(element, 777);
    model.region("add", iterate({0, 100}, {0, 10}), update(x), [](auto i, auto j, auto x) { x(i, j) += 1; });
  }
  runtime rt(testing::host_only());
  location_model model(rt);
  auto x = model.map_file<std::int64_t>("x", file.path, {1000});
  EXPECT_EQ(x.read()[999], 1000);
  const error e = error_of([&] { (void)model.map_file<std::int64_t>("y", file.path, {999}); });
  EXPECT_EQ(e.kind(), error_kind::input);
  EXPECT_NE(std::string(e.what()).find("it has 8000 bytes, and the array's elements take 7992"), std::string::npos)
      << e.what();
}

TEST(region_arrays, of_a_file_refuse_what_cannot_be_mapped) {
  runtime rt(testing::host_only());
  location_model model(rt);
  EXPECT_EQ(error_of([&] { (void)model.map_file<double>("x", "/", {10}); }).kind(), error_kind::input);
  EXPECT_EQ(error_of([&] { (void)model.map_file<double>("x", "/no/such/folder/file", {10}); }).kind(),
            error_kind::input);
  EXPECT_EQ(error_of([&] { (void)model.map_file<double>("x", "/dev/null", {10}); }).kind(), error_kind::input);
  const scratch_file file;
  std::ofstream(file.path).close();
  EXPECT_EQ(error_of([&] { (void)model.map_file<double>("x", file.path, {10}, {.at = "nowhere"}); }).kind(),
            error_kind::usage);
  EXPECT_EQ(std::filesystem::file_size(file.path), 0u);
}

TEST(region_arrays, end_when_their_regions_are_done_and_outlive_their_runtime) {
  std::optional<array<double>> left;
  {
    runtime rt(testing::host_only());
    location_model model(rt);
    const int arrays = testing::is_slow ? 20 : 200;
    for (int k = 0; k < arrays; ++k) {  // each of a MiB: the memory of those that ended goes back
      auto x = model.make_array<double>("x", {131'072});
      model.region("fill", iterate(0, 131'072), write(x), [](auto i, auto x) { x[i] = 1; });
      model.region("half", {.policy = policy::range({1000, 130072})}, iterate(0, 131'072), update(x),
                   [](auto i, auto x) { x[i] /= 2; });
    }
    left = model.make_array<double>("left", {10});
    model.region("fill", iterate(0, 10), write(*left), [](auto i, auto x) { x[i] = 1; });
  }
  left.reset();
}

TEST(region_arrays, are_cut_again_only_where_a_region_wants_it) {
  runtime rt(testing::host_only());
  location_model model(rt);
  auto x = model.make_array<double>("x", {1000});
  tiled_memory& tiles = x.handle().rows(std::source_location::current())->tiles();
  const auto submit = [&](std::string_view by, std::int64_t begin = 0, std::int64_t end = 1000) {
    model.region("write", {.policy = region_policy::from_text(by)}, iterate(begin, end), write(x),
                 [](auto i, auto x) { x[i] = double(i); });
  };
  submit("static");
  const std::uint64_t after_first = tiles.changes();
  for (int k = 0; k < 10; ++k) submit("static");
  EXPECT_EQ(tiles.changes(), after_first);
  submit("any");
  EXPECT_EQ(tiles.tiles().size(), 1u);
  for (std::int64_t k = 1; k <= 40; ++k) submit("any", k, 1000 - k);  // a shell of rows remains on each side
  EXPECT_EQ(tiles.tiles().size(), 81u);
  region_result<double> total(rt, "total");
  model.region("sum", {.policy = policy::any}, iterate(0, 1000), read(x), sum(total),
               [](auto i, auto x, double& s) { s += x[i]; });
  EXPECT_EQ(tiles.tiles().size(), 1u);  // read by one task: joined
  EXPECT_EQ(total.get(), 999 * 500.0);
}

TEST(region_arrays, of_no_rows_take_part) {
  runtime rt(testing::host_only());
  location_model model(rt);
  auto none = model.make_array<double>("none", {0});
  region_result<std::int64_t> count(rt, "count");
  model.region("nothing", iterate(0, 0), write(none), [](auto i, auto x) { x[i] = 1; });
  model.region("count", iterate(0, 10), read(none, whole), sum(count), [](auto, auto, std::int64_t& s) { s += 1; });
  EXPECT_EQ(count.get(), 10);
  EXPECT_EQ(none.read().size(), 0);
}

/// A region that waits in its body until it is let go on.
struct held_region {
  std::atomic<bool> begun = false, go_on = false;

  void run(location_model& model, array<std::int64_t> x) {
    model.region("slow", {.policy = policy::any}, iterate(0, x.extents()[0]), update(x), [this](auto i, auto x) {
      begun = true, begun.notify_all();
      go_on.wait(false);
      x[i] += 5;
    });
    begun.wait(false);
  }
  void end() { go_on = true, go_on.notify_all(); }
};

TEST(region_arrays, adopted_again_come_after_the_regions_of_those_that_have_ended) {
  runtime rt(testing::host_only(3));
  location_model model(rt);
  std::vector<std::int64_t> memory(100, 1);
  held_region slow;
  slow.run(model, model.adopt("x", std::span(memory), {100}));  // which ends now
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // so that without an order the next region is first
    slow.end();
  });
  {
    auto y = model.adopt("y", std::span(memory).subspan(20, 50), {50});
    model.region("next", iterate(0, 50), update(y), [](auto i, auto y) { y[i] *= 2; });
  }
  model.region("chained", iterate(0, 10), update(model.array_over("z", std::span(memory).subspan(20, 10))),
               [](auto i, auto z) { z[i] += 1; });
  model.fence();
  for (std::size_t k = 0; k < 100; ++k) ASSERT_EQ(memory[k], k < 20 || k >= 70 ? 6 : k < 30 ? 13 : 12) << k;
}

/// Who looks at all arrays keeps none of them.
TEST(region_arrays, adopted_again_do_not_mind_looks_of_other_threads) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  std::vector<array<std::int64_t>> others;
  for (int k = 0; k < 100; ++k) others.push_back(model.make_array<std::int64_t>("other", {10}));
  const std::shared_ptr<hierarchy::live_tree> tree = hierarchy::live_tree::of(rt);
  std::atomic<int> looks = 60'000 / static_cast<int>(testing::slow_down);
  std::jthread looking([&] {
    for (; looks > 0; --looks) EXPECT_GE(tree->arrays().size(), others.size());
  });
  std::vector<std::int64_t> memory(100, 1);
  int refused = 0;
  while (looks > 0) {
    try {
      (void)model.adopt("x", std::span(memory), {100});
    } catch (const error&) {
      ++refused;
    }
  }
  EXPECT_EQ(refused, 0);
}

/// A fence ends the arrays of all threads, which name them again meanwhile.
TEST(region_arrays, of_the_program_s_memory_are_paused_by_other_threads) {
  runtime rt(testing::with_sims(2, "1 MiB"));
  location_model model(rt);
  const auto loops = [&] {
    std::vector<std::int64_t> memory(200, 0);
    for (std::int64_t k = 1; k <= 100; ++k) {
      model.region("add", iterate(0, 200), update(model.array_over("memory", std::span(memory))),
                   with_kernel([](auto i, auto x) { x[i] += i; }, "(i, x) { x[i] += i; }"));
      if (k % 5 != 0) continue;
      model.fence();
      for (std::int64_t i = 0; i < 200; ++i) ASSERT_EQ(memory[static_cast<std::size_t>(i)], i * k);
    }
  };
  const std::jthread first(loops), second(loops), third(loops);
}

TEST(region_arrays, are_not_adopted_again_where_the_thread_may_not_wait) {
  runtime rt(testing::host_only(3));
  location_model model(rt);
  std::vector<std::int64_t> memory(100, 1), other(10);
  auto seen = model.adopt("seen", std::span(other), {10});
  held_region slow;
  slow.run(model, model.adopt("x", std::span(memory), {100}));
  {
    const auto view = seen.read();
    const error e = error_of([&] { (void)model.adopt("y", std::span(memory).first(50), {50}); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find("array 'y' would have memory of array 'x', which has ended"),
              std::string::npos)
        << e.what();
  }
  slow.end();
  EXPECT_EQ(model.adopt("y", std::span(memory).first(50), {50}).read()[49], 6);
}

/// How long it takes, in seconds.
template <class Function>
double seconds_of(const Function& what) {
  const auto began = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

TEST(region_arrays, are_read_as_a_few_tiles_however_many_there_were) {
  constexpr std::int64_t n = 40'000;
  runtime rt(testing::host_only());
  location_model model(rt);
  auto x = model.make_array<std::int64_t>("x", {n}), y = model.make_array<std::int64_t>("y", {n});
  tiled_memory& tiles = x.handle().rows(std::source_location::current())->tiles();
  model.region("fill", iterate(0, n), write(x), [](auto i, auto x) { x[i] = i; });
  std::vector<std::int64_t> pairs;
  for (std::int64_t k = 2; k <= n; k += 2) pairs.push_back(k);
  const auto shatter = [&] { tiles.cut({0, pairs}, std::source_location::current()); };
  region_result<std::int64_t> total(rt, "total");
  const auto sum_of = [&](std::string_view by, access_pattern rows_read) {
    shatter();
    model.region("sum", {.policy = region_policy::from_text(by)}, iterate(2000, n - 2000), read(x, rows_read),
                 sum(total), [](auto i, auto x, std::int64_t& s) { s += x[i]; });
    EXPECT_LE(tiles.tiles().size(), 2100u);
    return total.get();
  };
  std::int64_t expected = 0;
  for (std::int64_t i = 2000; i < n - 2000; ++i) expected += i;
  for (const access_pattern read : {chunk, halo(1), halo(2000), whole, rows(1000, n - 1000)})
    for (const char* by : {"static", "any", "percentage:30,20,50"}) EXPECT_EQ(sum_of(by, read), expected) << by;
  EXPECT_LT(seconds_of([&] {
              shatter();
              model.region("gather", iterate(0, n), read(x, whole), write(y),
                           [](auto i, auto x, auto y) { y[i] = x[i]; });
              model.fence();
            }),
            5.0);  // tile by tile it took longer
  EXPECT_EQ(y.read()[n - 1], n - 1);
}

TEST(region_arrays, of_the_program_do_not_count_towards_the_limit_of_the_host) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\n[memory]\nhost_limit = \"1 MiB\"\n"));
  location_model model(rt);
  std::vector<double> memory(1 << 20);  // 8 MiB
  auto x = model.adopt("x", std::span(memory), {1 << 20});
  for (const char* by : {"any", "percentage:10,90", "static"})
    model.region("add", {.policy = region_policy::from_text(by)}, iterate(0, 1 << 20), update(x),
                 [](auto i, auto x) { x[i] += 1; });
  EXPECT_EQ(x.read()[(1 << 20) - 1], 3);
}

TEST(region_arrays, over_memory_of_the_program_hide_no_failure_when_their_model_ends) {
  std::vector<double> memory(10);
  runtime rt(testing::host_only());
  {
    location_model model(rt);
    model.region("bad", iterate(0, 10), write(model.array_over("x", std::span(memory))),
                 [](auto, auto) { throw std::runtime_error("three"); });
  }
  const error told = error_of([&] { rt.fence(); });
  EXPECT_NE(std::string(told.what()).find("bad failed: three"), std::string::npos) << told.what();
}

TEST(region_arrays, of_a_file_are_the_only_ones_of_it) {
  const scratch_file file;
  runtime rt(testing::host_only());
  location_model model(rt);
  {
    auto x = model.map_file<double>("x", file.path, {100'000});
    model.region("fill", iterate(0, 100'000), write(x), [](auto i, auto x) { x[i] = double(i); });
    const error e = error_of([&] { (void)model.map_file<double>("y", file.path, {100'000}); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find("mapped to array 'x' already"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(file.path.string()), std::string::npos) << e.what();
    location_model other(rt);
    EXPECT_EQ(error_of([&] { (void)other.map_file<double>("y", file.path, {100'000}); }).kind(), error_kind::usage);
    model.region("fill", iterate(0, 100'000), write(x), [](auto i, auto x) { x[i] = double(i); });
  }
  auto again = model.map_file<double>("y", file.path, {100'000});  // also where regions of the first are under way
  EXPECT_EQ(again.read()[99'999], 99'999);
}

/// A hole in a file has no room on the disk, and a write to its pages would end the process where there is none left.
TEST(region_arrays, of_a_file_with_holes_have_room_for_all_of_it) {
  const scratch_file file;
  constexpr std::uint64_t bytes = 1 << 20;
  std::ofstream(file.path, std::ios::binary).write("12345678", 8);
  std::filesystem::resize_file(file.path, bytes);
  const auto blocks = [&] {
    struct stat facts {};
    EXPECT_EQ(stat(file.path.c_str(), &facts), 0);
    return static_cast<std::uint64_t>(facts.st_blocks) * 512;
  };
  ASSERT_LT(blocks(), bytes) << "this file system has no holes";
  runtime rt(testing::host_only());
  location_model model(rt);
  auto x = model.map_file<std::uint8_t>("x", file.path, {bytes});
  EXPECT_GE(blocks(), bytes);
  EXPECT_EQ(x.read()[7], '8');
  EXPECT_EQ(x.read()[8], '\0');
}

/// Each is compared with those that may have its memory, and no others: else these would take minutes.
TEST(region_arrays, beyond_those_that_a_memory_takes_are_refused_with_their_name_and_place) {
  if (testing::watches_threads) GTEST_SKIP() << "many iterations of what other tests begin";
  runtime rt(testing::host_only());
  location_model model(rt);
  std::vector<double> memory(70'000);
  std::vector<array<double>> all;
  const error e = error_of([&] {
    for (std::size_t k = 0; k < memory.size(); ++k)
      all.push_back(model.adopt("x" + std::to_string(k), std::span(&memory[k], 1), {1}));
  });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_NE(e.message().find("array 'x" + std::to_string(all.size()) + "' cannot be made: space"), std::string::npos)
      << e.what();
  EXPECT_NE(e.where().find("arrays_test.cpp:"), std::string::npos) << e.what();
  EXPECT_GT(all.size(), 65'000u);
  EXPECT_LE(all.size(), 65'536u);
}

/// Those of the library count too, before and after others have come and gone.
TEST(region_arrays, over_memory_of_one_that_the_library_made_are_refused) {
  runtime rt(testing::host_only());
  location_model model(rt);
  std::optional<array<double>> first = model.make_array<double>("first", {100});
  auto second = model.make_array<double>("second", {1000});
  double* const of_second = second.update().begin();
  first.reset();
  for (const std::int64_t from : {0, 500, 999})
    EXPECT_NE(error_of([&] { (void)model.adopt("mine", std::span(of_second + from, 1), {1}); })
                  .message()
                  .find("array 'mine' would have memory that array 'second' has"),
              std::string::npos);
}

TEST(region_arrays, that_were_moved_from_have_no_location) {
  runtime rt(testing::host_only());
  location_model model(rt);
  auto x = model.make_array<double>("x", {10});
  const auto y = std::move(x);
  const error e = error_of([&] { (void)x.location(); });  // NOLINT: what is tested
  EXPECT_NE(e.where().find("arrays_test.cpp:"), std::string::npos) << e.what();
}

TEST(region_arrays, of_a_file_leave_none_where_it_has_no_room) {
  const scratch_file file;
  runtime rt(testing::host_only());
  location_model model(rt);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit less = before;
  less.rlim_cur = 4096;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &less), 0);
  const error missing = error_of([&] { (void)model.map_file<double>("x", file.path, {100'000}); });
  const bool left = std::filesystem::exists(file.path);
  std::ofstream(file.path).close();
  const error empty = error_of([&] { (void)model.map_file<double>("x", file.path, {100'000}); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(missing.kind(), error_kind::output) << missing.what();
  EXPECT_FALSE(left);
  EXPECT_EQ(empty.kind(), error_kind::output);
  EXPECT_TRUE(std::filesystem::exists(file.path));  // it was there before
  EXPECT_EQ(std::filesystem::file_size(file.path), 0u);
  auto x = model.map_file<double>("x", file.path, {100});
  EXPECT_EQ(x.read()[99], 0);
}

TEST(tiled_memory, is_cut_at_more_places_than_a_space_has_slabs) {
  if (testing::watches_threads) GTEST_SKIP() << "many iterations of what other tests begin";
  constexpr std::int64_t places = 70'000;
  runtime rt(testing::host_only());
  std::vector<std::int32_t> memory(4 * places);
  {
    tiled_memory tiles(rt, "x", element_type::i32, memory.data(), nullptr, 4 * places, 1,
                       std::source_location::current());
    const auto cut_each_at = [&](std::int64_t row) {
      std::vector<std::int64_t> ends;
      for (std::int64_t k = 0; k < places; ++k) ends.push_back(4 * k + row), ends.push_back(4 * k + 4);
      tiles.cut({0, ends}, std::source_location::current());
    };
    cut_each_at(1);
    cut_each_at(2);
    EXPECT_EQ(tiles.changes(), 1u + places);
    ASSERT_EQ(tiles.tiles().size(), 2u * places);
    EXPECT_EQ(tiles.tiles()[2].begin, 4);
    EXPECT_EQ(tiles.tiles()[2].end, 6);
    EXPECT_EQ(rt.statistics().spaces[0].statistics.adopted, 1u);
    rt.submit(
        "write", [](view<std::int32_t> v) { v[0] = 5; }, update(block_of<std::int32_t>(rt, *tiles.tiles()[2].record)));
    tiles.cut({0, std::array{4 * places}}, std::source_location::current());
  }
  rt.fence();
  EXPECT_EQ(memory[4], 5);
  EXPECT_EQ(rt.statistics().spaces[0].statistics.adopted, 0u);
}

TEST(tiled_memory, is_as_before_where_it_may_not_be_cut) {
  runtime rt(testing::host_only());
  std::vector<double> memory(40);
  tiled_memory tiles(rt, "x", element_type::f64, memory.data(), nullptr, 40, 1, std::source_location::current());
  tiles.cut({0, std::array<std::int64_t, 2>{10, 40}}, std::source_location::current());
  const std::uint64_t before = rt.tasks_submitted();
  const error e = error_of([&] {
    (void)rt.record([&] { tiles.cut({0, std::array<std::int64_t, 3>{10, 20, 40}}, std::source_location::current()); });
  });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_EQ(rt.tasks_submitted(), before);
  ASSERT_EQ(tiles.tiles().size(), 2u);
  EXPECT_EQ(tiles.changes(), 1u);
}

TEST(tiled_memory, refuses_cuts_that_do_not_cover_it) {
  runtime rt(testing::host_only());
  std::vector<double> memory(40);
  tiled_memory tiles(rt, "x", element_type::f64, memory.data(), nullptr, 10, 4, std::source_location::current());
  const auto cut = [&](std::vector<std::int64_t> ends) { tiles.cut({0, ends}, std::source_location::current()); };
  for (const std::vector<std::int64_t>& wrong :
       std::vector<std::vector<std::int64_t>>{{}, {9}, {11}, {5, 5, 10}, {7, 3, 10}, {0, 10}, {-1, 10}})
    EXPECT_EQ(error_of([&] { cut(wrong); }).kind(), error_kind::usage);
  cut({3, 7, 10});
  const auto part = [&](std::int64_t begin, std::vector<std::int64_t> ends) {
    tiles.cut({begin, ends}, std::source_location::current());
  };
  EXPECT_THAT(error_of([&] { part(4, {7}); }).what(),
              HasSubstr("the tiles of rows 4 to 7 of array x are cut, and rows 3 to 7 have them"));
  for (const auto& [begin, ends] : std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>>{
           {3, {}}, {3, {6}}, {3, {5, 8}}, {2, {7}}, {7, {3}}, {-1, {3}}, {10, {11}}, {10, {}}})
    EXPECT_EQ(error_of([&] { part(begin, ends); }).kind(), error_kind::usage) << begin;
  cut({3, 5, 8, 10});
  ASSERT_EQ(tiles.tiles().size(), 4u);
  EXPECT_EQ(tiles.tiles()[2].begin, 5);
  EXPECT_EQ(tiles.tiles()[2].end, 8);
  EXPECT_EQ(tiles.changes(), 2u);
}

/// Cuts of a few rows each, beside an oracle that has where the tiles end.
TEST(tiled_memory, is_cut_in_parts_as_if_all_of_it_were) {
  constexpr std::int64_t rows = 500;
  runtime rt(testing::host_only());
  std::vector<std::int64_t> memory(rows);
  std::iota(memory.begin(), memory.end(), 0);
  std::mt19937_64 random(5);
  {
    tiled_memory tiles(rt, "x", element_type::i64, memory.data(), nullptr, rows, 1, std::source_location::current());
    std::vector<tiled_memory::tile> room;
    std::set<std::int64_t> oracle{0, rows};
    const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % std::uint64_t(most)); };
    const auto ends_of = [&](std::int64_t first, std::int64_t last) {  // of the tiles that have rows of these
      return std::vector<std::int64_t>(oracle.upper_bound(first), std::next(oracle.lower_bound(last)));
    };
    for (int step = 0; step < 400; ++step) {
      const std::int64_t first = below(rows), last = first + 1 + below(std::min<std::int64_t>(30, rows - first));
      const std::int64_t begin = *std::prev(oracle.upper_bound(first)), end = *oracle.lower_bound(last);
      std::set<std::int64_t> ends{end};
      for (std::int64_t k = below(6); k > 0; --k)
        if (const std::int64_t row = begin + below(end - begin); row > begin) ends.insert(row);
      tiles.cut({begin, std::vector(ends.begin(), ends.end())}, std::source_location::current());
      oracle.erase(oracle.upper_bound(begin), oracle.lower_bound(end));
      oracle.insert(ends.begin(), ends.end());
      const std::int64_t from = below(rows), to = from + 1 + below(rows - from);
      std::vector<std::int64_t> found;
      for (const tiled_memory::tile& t : tiles.tiles_with(from, to, room)) found.push_back(t.end);
      ASSERT_EQ(found, ends_of(from, to)) << step;
      ASSERT_TRUE(tiles.tiles_with(from, from, room).empty());
      if (step % 20 == 0) {
        std::vector<std::int64_t> all;
        for (const tiled_memory::tile& t : tiles.tiles()) all.push_back(t.end);
        ASSERT_EQ(all, ends_of(0, rows)) << step;
      }
      const tiled_memory::tile one = tiles.tiles_with(from, from + 1, room).front();
      rt.submit(
          "more", [](view<std::int64_t> v) { v[0] += 1000; }, update(block_of<std::int64_t>(rt, *one.record)));
    }
  }
  rt.fence();
  for (std::int64_t i = 0; i < rows; ++i) ASSERT_EQ(memory[std::size_t(i)] % 1000, i);
}

}  // namespace
}  // namespace tessera
