// What declarations of locations promise: directories of stores, numbers that bound arrays, arrays that are files.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
constexpr std::int64_t mega = 131072;  // elements of 8 bytes in 1 MiB

bool has(const error& e, const std::string& text) { return std::string(e.what()).find(text) != std::string::npos; }

struct scratch_folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tessera_declared_" + std::to_string(getpid()));
  scratch_folder() { std::filesystem::create_directories(path); }
  ~scratch_folder() { std::filesystem::remove_all(path); }
};

std::string location_of(const char* name, const char* type) {
  return "[[location]]\nname = \"" + std::string(name) + "\"\ntype = \"" + type + "\"\n";
}
std::string below(const char* parent, const char* children) {
  return "[[hierarchy]]\nparent = \"" + std::string(parent) + "\"\nchildren = [" + children + "]\n";
}

/// The host with a store in a directory: machine, with LocH (cores) and LocS (of 8 MiB) below it.
machine with_store(const std::string& plugin_path, const std::string& type_path, const std::string& more = "") {
  return testing::machine_of("plugins = [\"host\", \"disk\"]\n[plugin.disk]\ncapacity = \"64 MiB\"\n" +
                             (plugin_path.empty() ? std::string() : "path = \"" + plugin_path + "\"\n") +
                             "[[loctype]]\nname = \"scratch\"\nkind = \"storage\"\nsize = \"8 MiB\"\n" +
                             (type_path.empty() ? std::string() : "path = \"" + type_path + "\"\n") +
                             "[[loctype]]\nname = \"cores\"\nkind = \"cpu\"\n" + location_of("LocS", "scratch") +
                             location_of("LocH", "cores") + more);
}

TEST(declared_stores, are_bound_by_the_path_of_their_plugin) {
  const scratch_folder folder;
  const std::string path = folder.path.string();
  const machine made = with_store(path, path + "/./");
  EXPECT_EQ(made.tree.at(*made.tree.find("LocS")).properties.folder, std::filesystem::canonical(folder.path).string());
  const error other = error_of([&] { with_store(path, path + "/other"); });
  EXPECT_EQ(other.kind(), error_kind::configuration);
  EXPECT_TRUE(has(other, "storage at " + path + "/other")) << other.what();
  EXPECT_TRUE(has(other, "at " + std::filesystem::canonical(folder.path).string() + ")")) << other.what();
  const error unset = error_of([&] { with_store("", path); });
  EXPECT_TRUE(has(unset, "plugin.disk.path is not set")) << unset.what();
}

TEST(declared_capability, is_not_known_of_emulated_devices) {
  const error e = error_of([] {
    testing::machine_of(
        "plugins = [\"host\", \"cuda_emulated\"]\n[[loctype]]\nname = \"tesla\"\nkind = \"gpu\"\nmatch = "
        "\"cc>=8.0\"\n" +
        location_of("LocG", "tesla"));
  });
  EXPECT_EQ(e.kind(), error_kind::configuration);
  EXPECT_TRUE(has(e, "gpu with cc>=8.0")) << e.what();
  EXPECT_TRUE(has(e, "cc not known")) << e.what();
}

/// machine > LocA (16 MiB) > LocB (a group) > LocH (cores), LocG (a simulated device of which 4 MiB are declared)
struct declared_memory : ::testing::Test {
  runtime rt{testing::machine_of(
      "plugins = [\"host\", \"sim\"]\nhistory = \"off\"\n[[plugin.sim.device]]\nmemory = \"64 MiB\"\n"
      "[[loctype]]\nname = \"node\"\nkind = \"unified\"\nmemory = \"16 MiB\"\n"
      "[[loctype]]\nname = \"cores\"\nkind = \"cpu\"\n"
      "[[loctype]]\nname = \"device\"\nkind = \"accelerator\"\nmemory = \"4 MiB\"\n" +
      location_of("LocA", "node") + location_of("LocB", "virtual") + location_of("LocH", "cores") +
      location_of("LocG", "device") + below("LocA", "\"LocB\"") + below("LocB", "\"LocH\", \"LocG\""))};
  location_model model{rt};

  array<double> made(const char* name, std::int64_t megabytes, const char* at) {
    return model.make_array<double>(name, {megabytes * mega}, {.at = at});
  }
};

TEST_F(declared_memory, bounds_the_arrays_at_a_location_and_below) {
  const error much = error_of([&] { made("x", 17, "LocA"); });
  EXPECT_EQ(much.kind(), error_kind::memory);
  for (const char* part :
       {"array 'x' asks for 17 MiB at location 'LocA'", "16 MiB of memory that are declared for 'LocA'",
        "text:", "arrays have 0 B", "declared_test.cpp:", "map_file"})
    EXPECT_TRUE(has(much, part)) << part << " is not in " << much.what();
  auto x = made("x", 10, "LocA");
  const error above = error_of([&] { made("y", 7, "LocH"); });
  EXPECT_TRUE(has(above, "at location 'LocH'") && has(above, "for 'LocA'") && has(above, "arrays have 10 MiB"))
      << above.what();
  auto y = made("y", 6, "LocH");  // what was refused has left nothing
  EXPECT_THROW(made("z", 1, "LocB"), error);
  model.make_array<double>("free", {64 * mega});  // at the machine, which declares nothing
  model.region("set", iterate(0, 6 * mega), write(y), [](auto i, auto y) { y[i] = 1; });
  model.fence();
}

TEST_F(declared_memory, is_given_back_when_arrays_end) {
  for (int k = 0; k < 20; ++k) {  // without a fence: what has ended is waited for
    auto x = made("x", 9, "LocA");
    model.region("set", iterate(0, 9 * mega), write(x), [](auto i, auto x) { x[i] = 1; });
  }
  model.fence();
  auto x = made("x", 16, "LocA"), same = x;
  x = model.make_array<double>("other", {1});
  EXPECT_THROW(made("y", 1, "LocA"), error);  // the other handle keeps it
  same = x;
  made("y", 16, "LocA");
}

TEST_F(declared_memory, counts_an_array_where_it_is) {
  auto x = made("x", 6, "LocH");
  const error device = error_of([&] { x.move("LocG"); });
  EXPECT_EQ(device.kind(), error_kind::memory);
  EXPECT_TRUE(has(device, "for 'LocG'")) << device.what();
  EXPECT_EQ(x.location(), "LocH");
  x.move("LocA");  // it counts once at LocA
  x.move("LocB");
  auto y = made("y", 10, "LocA");
  auto z = model.make_array<double>("z", {mega});
  EXPECT_THROW(z.move("LocH"), error);
  EXPECT_EQ(z.location(), "machine");
  x.move("machine");
  z.move("LocH");
  model.copy(z.rows(0, mega), y.rows(0, mega));
  model.fence();
}

TEST_F(declared_memory, counts_arrays_by_distance_where_a_region_has_them) {
  auto big = model.make_array<double>("big", {12 * mega}, {.distance = array_distance::near()});
  auto small = model.make_array<double>("small", {mega}, {.distance = array_distance::far(1)});
  auto y = made("y", 5, "LocA");
  const auto set = [](auto i, auto big, auto small) { small[i] = big[i] = 1; };
  const std::uint64_t before = rt.tasks_submitted();
  const error e =
      error_of([&] { model.region("set", {.at = "LocH"}, iterate(0, mega), write(big), write(small), set); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_TRUE(has(e, "array 'big' asks for 12 MiB at location 'LocH'")) << e.what();
  EXPECT_EQ(rt.tasks_submitted(), before);
  EXPECT_EQ(big.location(), "machine");
  y = model.make_array<double>("y", {1});
  model.region("set", {.at = "LocH"}, iterate(0, mega), write(big), write(small), set);
  EXPECT_EQ(big.location(), "LocH");
  EXPECT_EQ(small.location(), "LocB");
  model.fence();
  EXPECT_THROW(made("y", 4, "LocA"), error);
}

TEST_F(declared_memory, says_in_bytes_what_is_too_much_by_a_few) {
  const error e = error_of([&] { model.make_array<double>("x", {16 * mega + 1}, {.at = "LocA"}); });
  EXPECT_TRUE(has(e, "asks for 16777224 B") && has(e, "of the 16777216 B of memory") && has(e, "arrays have 0 B"))
      << e.what();
}

/// A body that looks at the room each time that it is copied.
struct copied_body {
  explicit copied_body(std::function<void()> at_copy) : look(std::move(at_copy)) {}
  copied_body(const copied_body& other) : look(other.look) { look(); }
  copied_body(copied_body&&) = default;
  void operator()(auto i, auto x) const { x[i] = 1; }
  std::function<void()> look;
};

/// From the plan on, before the region is submitted: another thread may ask for the same room meanwhile.
TEST_F(declared_memory, is_promised_to_arrays_that_regions_will_place) {
  auto x = model.make_array<double>("x", {12 * mega}, {.distance = array_distance::near()});
  bool had_room = true;
  const copied_body body([&] {
    try {
      made("y", 8, "LocH");
      had_room = true;
    } catch (const error&) {
      had_room = false;
    }
  });
  model.region("set", {.at = "LocH"}, iterate(0, 4), write(x), body);
  EXPECT_FALSE(had_room);
  model.fence();
  EXPECT_THROW(made("y", 8, "LocH"), error);
  made("y", 4, "LocH");
  model.region("refused", {.at = "LocH"}, iterate(0, 4), update(x), body);
  x.move("machine");
  made("y", 16, "LocH");  // nothing is promised any more
  const error e = error_of([&] {
    model.region("throws", {.at = "LocH"}, iterate(0, 4), write(x),
                 copied_body([] { throw error(error_kind::usage, "not to be"); }));
  });
  EXPECT_TRUE(has(e, "not to be")) << e.what();
  made("y", 16, "LocH");
}

/// Of an array that has ended while a region uses it.
TEST_F(declared_memory, is_waited_for_by_regions_and_moves) {
  std::atomic<bool> may_end{false};
  const auto use_and_end = [&] {
    may_end = false;
    auto gone = made("gone", 12, "LocH");
    model.region("use", {.policy = policy::any, .at = "LocH"}, iterate(0, 4), write(gone), [&](auto i, auto gone) {
      while (!may_end) std::this_thread::yield();
      gone[i] = 1;
    });
  };
  const auto let_it_end = [&] {  // when the other thread waits, or has been refused
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    may_end = true;
  };
  auto x = model.make_array<double>("x", {8 * mega}, {.distance = array_distance::near()});
  use_and_end();
  std::thread first(let_it_end);
  EXPECT_NO_THROW(model.region("set", {.at = "LocH"}, iterate(0, 4), write(x), [](auto i, auto x) { x[i] = 2; }));
  first.join();
  EXPECT_EQ(x.location(), "LocH");
  x = model.make_array<double>("x", {8 * mega});
  use_and_end();
  std::thread second(let_it_end);
  EXPECT_NO_THROW(x.move("LocH"));
  second.join();
  EXPECT_THROW(made("y", 9, "LocA"), error);
}

TEST_F(declared_memory, is_not_exceeded_by_edits) {
  model.reparent("LocH", "machine");
  auto x = made("x", 12, "LocH"), y = made("y", 6, "LocA"), small = made("small", 1, "LocG");
  std::vector<double> memory(20 * mega);
  auto foreign = model.adopt("foreign", std::span(memory), {20 * mega}, {.at = "LocH"});
  const error e = error_of([&] { model.reparent("LocH", "LocB"); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  for (const char* part : {"'x' (12 MiB, at 'LocH') would come below location 'LocA'", "of the 16 MiB of memory",
                           "arrays would have 19 MiB", "declared_test.cpp:", "move these arrays"})
    EXPECT_TRUE(has(e, part)) << part << " is not in " << e.what();
  EXPECT_EQ(model.tree()->at(model.tree()->at(*model.tree()->find("LocH")).parent).properties.name, "machine");
  EXPECT_EQ(x.location(), "LocH");
  made("z", 9, "LocA");  // as much as before
  EXPECT_THROW(made("z", 10, "LocA"), error);
  y = model.make_array<double>("y", {1});
  model.reparent("LocH", "LocB");
  EXPECT_THROW(made("z", 4, "LocB"), error);
  model.detach("LocG");  // the array goes to LocB, and counts where it did
  EXPECT_EQ(small.location(), "LocB");
  EXPECT_THROW(made("z", 4, "LocB"), error);
  made("z", 3, "LocB");
}

TEST_F(declared_memory, does_not_count_memory_of_the_program_and_files) {
  const scratch_folder folder;
  std::vector<double> memory(20 * mega);
  auto x = model.adopt("x", std::span(memory), {20 * mega}, {.at = "LocA"});
  auto f = model.map_file<double>("f", folder.path / "f", {20 * mega}, {.at = "LocA"});
  x.move("LocB");
  made("y", 16, "LocA");
}

TEST(arrays_at_stores, are_files_that_stay) {
  const scratch_folder folder;
  const std::string path = folder.path.string();
  const std::filesystem::path file = folder.path / "x.array";
  for (const double expected : {0.0, 3.0}) {
    runtime rt(with_store(path, path));
    location_model model(rt);
    auto x = model.make_array<double>("x", {1000}, {.at = "LocS"});
    auto y = model.make_array<double>("y", {1000}, {.at = "LocH"});
    EXPECT_EQ(x.location(), "LocS");
    EXPECT_EQ(x.read()[999], expected);
    model.region("both", iterate(0, 1000), update(x), write(y), [](auto i, auto x, auto y) { y[i] = x[i] += 3; });
    model.region("one", iterate(0, 1000), read(x), [](auto, auto) {});
    EXPECT_EQ(model.regions().back().location, "machine");  // the nearest location above that executes
    model.fence();
    EXPECT_EQ(y.read()[0], expected + 3);
    EXPECT_EQ(std::filesystem::file_size(file), 8000u);
    x.move("LocS");
    x.move("LocH");  // a file all the same
    model.region("there", iterate(0, 1000), read(x), [](auto, auto) {});
    EXPECT_EQ(model.regions().back().location, "LocH");
    model.fence();
  }
  runtime rt(with_store(path, ""));  // any store, whose directory is known all the same
  location_model model(rt);
  const error size = error_of([&] { model.make_array<double>("x", {999}, {.at = "LocS"}); });
  EXPECT_EQ(size.kind(), error_kind::input);
  EXPECT_TRUE(has(size, "it has 8000 bytes, and the array's elements take 7992")) << size.what();
  EXPECT_TRUE(has(size, file.filename().string())) << size.what();
  const error room = error_of([&] { model.make_array<double>("big", {9 * mega}, {.at = "LocS"}); });
  EXPECT_EQ(room.kind(), error_kind::memory);
  EXPECT_TRUE(has(room, "for 'LocS'")) << room.what();
  EXPECT_TRUE(has(room, "declare a larger size")) << "its arrays are files, and do not move: " << room.what();
  EXPECT_FALSE(std::filesystem::exists(folder.path / "big.array"));
}

TEST(arrays_at_stores, are_no_arrays_in_memory_below_them) {
  const scratch_folder folder;
  const std::string path = folder.path.string();
  runtime rt(with_store(path, path,
                        "[[loctype]]\nname = \"node\"\nkind = \"unified\"\n" + location_of("LocB", "node") +
                            below("LocS", "\"LocB\"") + below("LocB", "\"LocH\"")));
  location_model model(rt);
  auto x = model.make_array<double>("x", {8 * mega}, {.at = "LocS"});  // all that LocS declares
  auto y = model.make_array<double>("y", {9 * mega}, {.at = "LocB"});
  auto far = model.make_array<double>("far", {mega}, {.distance = array_distance::far(2)});
  model.region("all", {.at = "LocH"}, iterate(0, mega), read(x), write(y), write(far),
               [](auto i, auto x, auto y, auto far) { y[i] = far[i] = x[i]; });
  EXPECT_EQ(far.location(), "machine");  // not at LocS, which is two above
  auto z = model.make_array<double>("z", {mega}, {.at = "LocH"});
  z.move("LocB");
  model.reparent("LocH", "machine");
  model.detach("LocB");
  EXPECT_EQ(y.location(), "machine");
  EXPECT_EQ(z.location(), "machine");
  EXPECT_EQ(x.location(), "LocS");
  model.fence();
}

TEST(arrays_at_stores, are_refused_where_they_cannot_be_files) {
  const scratch_folder folder;
  const std::string path = folder.path.string();
  runtime rt(with_store(path, path));
  location_model model(rt);
  const auto refuses = [](const char* text, const char* hint, const auto& call) {
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_TRUE(has(e, text) && has(e, hint)) << e.what();
  };
  refuses("its name is that of no file", "map_file", [&] { model.make_array<double>("../x", {10}, {.at = "LocS"}); });
  std::vector<double> memory(10);
  refuses("in memory of the program is placed at the storage location 'LocS'", "make_array",
          [&] { model.adopt("a", std::span(memory), {10}, {.at = "LocS"}); });
  auto m = model.make_array<double>("m", {10});
  refuses("'LocS' is a storage location", "copy this one", [&] { m.move("LocS"); });
  EXPECT_EQ(m.location(), "machine");
  auto x = model.make_array<double>("x", {10}, {.at = "LocS"});
  refuses("mapped to array 'x' already", "use that array",
          [&] { model.make_array<double>("x", {10}, {.at = "LocS"}); });
  model.copy(m, x);
  model.fence();
  EXPECT_TRUE(std::filesystem::is_regular_file(folder.path / "x.array"));

  runtime other(with_store("", ""));
  location_model unknown(other);
  refuses("whose directory is not known", "in a temporary directory; or use map_file",
          [&] { unknown.make_array<double>("x", {10}, {.at = "LocS"}); });
}

}  // namespace
}  // namespace tessera
