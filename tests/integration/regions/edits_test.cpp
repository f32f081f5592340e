// Edits of the tree of locations while regions run, and fences of a part of it.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tessera/machine.hpp"
#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

using test_support::error_of;

/// LocA { LocH (2 cores), LocI (1 core), Left { D0 }, Right { D1 } }
const std::string types = R"(
[topology]
synthetic = "core:3 pu:1"
[[loctype]]
name = "node"
kind = "unified"
[[loctype]]
name = "two"
kind = "cpu"
cores = 2
[[loctype]]
name = "one"
kind = "cpu"
cores = 1
[[loctype]]
name = "gpu"
kind = "gpu"
plugin = "cuda_emulated"
[[location]]
name = "LocA"
type = "node"
[[location]]
name = "LocH"
type = "two"
[[location]]
name = "LocI"
type = "one"
[[location]]
name = ["D0", "D1"]
type = "gpu"
[[location]]
name = ["Left", "Right"]
type = "virtual"
)";
const std::string arrangement = R"(
[[hierarchy]]
parent = "LocA"
children = ["LocH", "LocI", "Left", "Right"]
[[hierarchy]]
parent = "Left"
children = ["D0"]
[[hierarchy]]
parent = "Right"
children = ["D1"]
)";

machine edited_machine(unsigned workers = 3) {
  return testing::machine_of(
      "plugins = [\"host\", \"cuda_emulated\"]\nhistory = \"off\"\n[plugin.cuda_emulated]\ndevices = 2\n"
      "memory_limit = \"16 MiB\"\n" +
          types + arrangement,
      workers);
}

struct edited_regions : ::testing::Test {
  runtime rt{edited_machine()};
  location_model model{rt};

  /// The leaves that the last launch of a region ran on.
  std::vector<std::string> leaves_of(const std::string& region) const {
    std::vector<std::string> names;
    for (const region_row& row : model.regions())
      if (row.name == region)
        for (const region_share& s : row.shares) names.push_back(s.leaf);
    return names;
  }
  void count(const array<std::int64_t>& x, const region_options& options = {.policy = policy::flatten}) {
    model.region("count", options, iterate(0, x.extents()[0]), update(x),
                 with_kernel([](auto i, auto x) { x[i] += i; }, "(i, x) { x[i] += i; }"));
  }
};

using leaf_names = std::vector<std::string>;

TEST_F(edited_regions, fence_of_a_part_does_not_wait_for_the_others) {
  auto x = model.make_array<std::int64_t>("x", {1}, {.at = "LocH"}),
       y = model.make_array<std::int64_t>("y", {1000}, {.at = "LocI"});
  std::atomic<bool> started{false}, open{false}, ended{false};
  model.region("long", {.policy = policy::any}, iterate(0, 1), update(x), [&](auto i, auto x) {
    started = true;
    while (!open) std::this_thread::yield();
    x[i] = 7;
    ended = true;
  });
  while (!started) std::this_thread::yield();  // by a worker: this thread runs no task here
  count(y);
  std::atomic<int> ran{0};
  model.region("there", iterate(0, 1000), read(y), [&](auto, auto) { ++ran; });
  model.fence({.at = "LocI"});
  EXPECT_EQ(ran, 1000);
  EXPECT_FALSE(ended);
  open = true;
  model.fence({.at = "LocH"});
  EXPECT_TRUE(ended);
  EXPECT_EQ(x.read()[0], 7);
}

TEST_F(edited_regions, fence_of_a_part_waits_for_replays_and_reports_failures_later) {
  auto x = model.make_array<std::int64_t>("x", {100}, {.at = "LocI"});
  std::atomic<int> ran{0};
  const auto body = [&](auto i, auto x) {
    x[i] = 1;
    ++ran;
  };
  model.region("fill", iterate(0, 100), write(x), body);
  model.fence({.at = "LocI"});
  EXPECT_EQ(ran, 100);
  recording r = rt.record([&] { model.region("fill", iterate(0, 100), write(x), body); });
  ran = 0;
  rt.replay(r);
  rt.replay(r);
  model.fence({.at = "LocI"});
  EXPECT_EQ(ran, 200);
  model.region("fails", iterate(0, 100), read(x), [](auto, auto) { throw std::runtime_error("no"); });
  model.fence({.at = "LocA"});
  EXPECT_EQ(error_of([&] { model.fence(); }).kind(), error_kind::task);
}

TEST_F(edited_regions, leave_a_branch_and_come_back) {
  auto x = model.make_array<std::int64_t>("x", {1200});
  count(x);
  EXPECT_EQ(leaves_of("count"), (leaf_names{"LocH", "LocI", "D0", "D1"}));
  model.detach("Left");
  EXPECT_FALSE(model.attached("Left"));
  EXPECT_FALSE(rt.attached(rt.at("D0")));  // its device holds nothing any more
  count(x);
  EXPECT_EQ(leaves_of("count"), (leaf_names{"LocH", "LocI", "D1"}));
  model.detach("LocH");
  count(x);
  EXPECT_EQ(leaves_of("count"), (leaf_names{"LocI", "D1"}));
  model.attach("Left", "Right");
  model.attach("LocH");
  count(x);
  EXPECT_EQ(leaves_of("count"), (leaf_names{"LocI", "D1", "D0", "LocH"}));
  count(x, {.policy = policy::flatten, .at = "Right"});
  EXPECT_EQ(leaves_of("count"), (leaf_names{"D1", "D0"}));
  const auto seen = x.read();
  for (std::int64_t i = 0; i < 1200; ++i) ASSERT_EQ(seen[i], 5 * i) << i;
}

/// What only a device has comes home, and arrays that were placed there move up.
TEST_F(edited_regions, keep_what_a_leaving_branch_has) {
  auto x = model.make_array<std::int64_t>("x", {1000}, {.at = "D0"}),
       y = model.make_array<std::int64_t>("y", {1000}, {.at = "Right"});
  for (int k = 0; k < 10; ++k) count(x), count(y);
  model.detach("Left");
  EXPECT_EQ(x.location(), "LocA");
  EXPECT_EQ(y.location(), "Right");
  count(x);
  EXPECT_EQ(x.read()[999], 11 * 999);
  model.attach("Left");
  x.move("Left");
  EXPECT_EQ(x.location(), "Left");
  count(x);
  EXPECT_EQ(leaves_of("count"), (leaf_names{"D0"}));
  EXPECT_EQ(x.read()[999], 12 * 999);
}

TEST_F(edited_regions, follow_their_arrays_when_a_branch_moves) {
  auto x = model.make_array<std::int64_t>("x", {1000}, {.at = "Left"}),
       y = model.make_array<std::int64_t>("y", {1000}, {.at = "Right"});
  const auto add = [&] {
    model.region("add", {.policy = policy::flatten}, iterate(0, 1000), read(x), update(y),
                 with_kernel([](auto i, auto x, auto y) { y[i] += x[i] + 1; }, "(i, x, y) { y[i] += x[i] + 1; }"));
  };
  EXPECT_NE(std::string(error_of(add).what()).find("no location can use its arrays together"), std::string::npos);
  model.reparent("Right", "Left");
  add();
  EXPECT_EQ(leaves_of("add"), (leaf_names{"D1"}));
  model.reparent("Right", "LocA");
  EXPECT_EQ(error_of(add).kind(), error_kind::usage);
  EXPECT_EQ(y.read()[999], 1);
}

TEST_F(edited_regions, refuse_what_cannot_be_edited) {
  const auto refuses = [&](const char* text, const auto& edit) {
    const auto before = model.tree();
    const error e = error_of(edit);
    EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    EXPECT_NE(e.where().find("edits_test.cpp:"), std::string::npos) << e.what();
    EXPECT_FALSE(e.hint().empty()) << e.what();
    EXPECT_EQ(model.tree(), before);
  };
  refuses("cannot go below 'D0': that would be a cycle", [&] { model.reparent("Left", "D0"); });
  refuses("cannot go below 'Left': that would be a cycle", [&] { model.reparent("Left", "Left"); });
  refuses("location 'D0' executes, and can have nothing below it", [&] { model.reparent("Right", "D0"); });
  refuses("is the root of the tree, which has no parent", [&] { model.reparent("machine", "Left"); });
  refuses("is the root of the tree, which stays", [&] { model.detach("machine"); });
  refuses("hint: did you mean 'Left'?", [&] { model.detach("Lefd"); });
  refuses("there is no location 'Lefd'", [&] { model.attach("Lefd"); });
  refuses("there is no location 'Lefd'", [&] { model.reparent("Lefd", "Right"); });
  refuses("there is no location 'Lefd'", [&] { model.fence({.at = "Lefd"}); });
  refuses("there is no location 'Lefd'", [&] { (void)model.attached("Lefd"); });
  refuses("location 'Left' is attached already", [&] { model.attach("Left", "Right"); });
  refuses("no core of the host would be left", [&] { model.detach("LocA"); });
  model.detach("Left");
  refuses("location 'Left' is detached", [&] { model.detach("Left"); });
  refuses("location 'D0' is below 'Left', which is detached", [&] { model.attach("D0"); });
  refuses("location 'Left' is detached", [&] { model.make_array<double>("z", {10}, {.at = "Left"}); });
  refuses("location 'Left' is detached", [&] { model.attach("Left", "Left"); });
  model.detach("Right");
  model.attach("Left");
  model.reparent("Right", "Left");  // one that is detached comes back so
  EXPECT_TRUE(model.attached("D1"));
  auto x = model.make_array<std::int64_t>("x", {10});
  {
    const auto held = x.write();
    refuses("detach while this thread holds host views", [&] { model.detach("Left"); });
    refuses("fence while this thread holds host views", [&] { model.fence({.at = "LocI"}); });
  }
  refuses("detach inside a recording", [&] { (void)rt.record([&] { model.detach("Left"); }); });
  std::string inside;
  rt.submit(
      "edit", [&](task_blocks) { inside = error_of([&] { model.detach("Left"); }).what(); },
      std::vector<block_access>{});
  rt.fence();
  EXPECT_NE(inside.find("detach inside a task"), std::string::npos) << inside;
}

struct edited_file : edited_regions {
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("tessera_tree_" + std::to_string(::getpid()) + ".toml");
  ~edited_file() override { std::filesystem::remove(file); }
  void write(const std::string& text) const { std::ofstream(file) << text; }
};

TEST_F(edited_file, is_read_again) {
  auto x = model.make_array<std::int64_t>("x", {1200}), y = model.make_array<std::int64_t>("y", {60}, {.at = "Right"});
  count(x);
  write(types + R"(
[[location]]
name = "Pair"
type = "virtual"
[[hierarchy]]
parent = "LocA"
children = ["Pair", "LocI"]
[[hierarchy]]
parent = "Pair"
children = ["D1", "LocH"]
[[hierarchy]]
parent = "LocI"
children = ["Left"]
[[hierarchy]]
parent = "Left"
children = ["D0"]
)");
  model.arrange(read_tree(rt, file));
  EXPECT_EQ(model.tree()->path(*model.tree()->find("D1")), "machine/LocA/Pair/D1");
  EXPECT_EQ(model.tree()->path(*model.tree()->find("D0")), "machine/LocA/LocI/Left/D0");
  count(x, {.policy = policy::flatten, .at = "Pair"});
  EXPECT_EQ(leaves_of("count"), (leaf_names{"D1", "LocH"}));
  auto z = model.make_array<std::int64_t>("z", {10}, {.at = "Pair"});
  write(types + arrangement);
  model.arrange(read_tree(rt, file));
  EXPECT_FALSE(model.attached("Pair"));
  EXPECT_EQ(z.location(), "LocA");
  count(x);
  EXPECT_EQ(leaves_of("count"), (leaf_names{"LocH", "LocI", "D0", "D1"}));
  EXPECT_EQ(x.read()[1199], 3 * 1199);
}

TEST_F(edited_file, that_does_not_fit_changes_nothing) {
  const auto refuses = [&](const std::string& text, const std::string& toml) {
    write(toml);
    const auto before = model.tree();
    const error e = error_of([&] { model.arrange(read_tree(rt, file)); });
    EXPECT_EQ(e.kind(), error_kind::configuration) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    EXPECT_EQ(model.tree(), before);
  };
  const std::string below = "[[hierarchy]]\nparent = \"LocA\"\nchildren = [\"LocH\", \"LocI\"]\n";
  std::string renamed = types, swapped = types;
  renamed.replace(renamed.find("\"D0\""), 4, "\"E0\"");
  refuses("there is no 'E0' in this run", renamed + below);
  swapped.replace(swapped.find("\"D0\", \"D1\""), 10, "\"D1\", \"D0\"");
  refuses("location 'D1' would be another device", swapped + below);
  refuses("a cycle", types + arrangement + "[[hierarchy]]\nparent = \"D0\"\nchildren = [\"LocA\"]\n");
  std::string other = types;
  other.replace(other.find("\"LocI\"\ntype = \"one\""), 19, "\"LocI\"\ntype = \"virtual\"");
  write(other + below);
  EXPECT_NO_THROW(model.arrange(read_tree(rt, file)));  // a group of cores may become another group
}

/// Random edits with loops and moves of arrays in between, against one thread that knows no tree. What an edit or a
/// region refuses, it refuses without a change.
TEST(random_edits, lose_nothing) {
  const char* const wanted = std::getenv("TESSERA_TEST_EDITS");
#if defined(__SANITIZE_THREAD__)
  constexpr int usual = 200;  // 20 ms each
#else
  constexpr int usual = 10'000 / static_cast<int>(testing::slow_down);
#endif
  const int edits = wanted != nullptr ? std::atoi(wanted) : usual;
  const char* const given = std::getenv("TESSERA_TEST_SEED");
  const auto seed = given != nullptr ? static_cast<std::uint32_t>(std::atoi(given)) : std::random_device{}();
  SCOPED_TRACE("TESSERA_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return random() % n; };

  runtime rt(edited_machine(2));
  location_model model(rt);
  constexpr std::int64_t n = 600;
  std::vector<array<std::int64_t>> arrays;
  std::vector<std::vector<std::int64_t>> oracle(3, std::vector<std::int64_t>(n, 0));
  for (const char* name : {"x", "y", "z"}) arrays.push_back(model.make_array<std::int64_t>(name, {n}));
  const leaf_names locations{"LocA", "LocH", "LocI", "Left", "Right", "D0", "D1"}, policies{"static", "flatten", "any"};
  const auto any_of_them = [&] { return locations[below(locations.size())]; };

  int done = 0, refused = 0;
  const auto attempt = [&](const std::string& which, const auto& edit) {
    const auto place = [&](const auto& tree) {
      const auto found = tree->find(which);
      return found && model.attached(which) ? tree->path(*found) : std::string();
    };
    const auto before = model.tree();
    const std::string from = place(before);
    try {
      edit();
      if (place(model.tree()) != from) ++done;  // not where a branch moves to where it is
    } catch (const error& e) {
      ++refused;
      ASSERT_EQ(e.kind(), error_kind::usage) << e.what();
      ASSERT_EQ(model.tree(), before) << e.what();
    }
  };
  const auto loop = [&] {
    const std::size_t from = below(3), to = (from + 1 + below(2)) % 3;
    const std::string at = below(2) == 0 ? std::string() : any_of_them();
    try {
      model.region("mix", {.policy = region_policy::from_text(policies[below(3)]), .at = at}, iterate(0, n),
                   read(arrays[from]), update(arrays[to]),
                   with_kernel([](auto i, auto a, auto b) { b[i] = (3 * b[i] + a[i] + i) & 0xffff; },
                               "(i, a, b) { b[i] = (3 * b[i] + a[i] + i) & 0xffff; }"));
    } catch (const error& e) {
      ASSERT_TRUE(e.kind() == error_kind::usage || e.kind() == error_kind::configuration) << e.what();
      return;
    }
    for (std::int64_t i = 0; i < n; ++i)
      oracle[to][static_cast<std::size_t>(i)] =
          (3 * oracle[to][static_cast<std::size_t>(i)] + oracle[from][static_cast<std::size_t>(i)] + i) & 0xffff;
  };
  // Three of five are refused.
  for (int k = 0; done < edits && k < 16 * edits && !::testing::Test::HasFatalFailure(); ++k) {
    const std::string which = any_of_them();
    const std::size_t kind = below(8);
    if (kind < 4 ? model.attached(which) : kind == 4)
      attempt(which, [&] { model.detach(which); });
    else if (kind < 6)
      attempt(which, [&] { model.attach(which, below(2) == 0 ? std::string() : any_of_them()); });
    else
      attempt(which, [&] { model.reparent(which, any_of_them()); });
    if (below(4) == 0) {
      try {
        arrays[below(3)].move(below(3) == 0 ? any_of_them() : "machine");
      } catch (const error& e) {
        ASSERT_EQ(e.kind(), error_kind::usage) << e.what();
      }
    }
    for (std::size_t loops = below(3); loops > 0; --loops) loop();
    if (below(64) == 0) {
      const std::size_t one = below(3);
      const auto seen = arrays[one].read();
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_EQ(seen[i], oracle[one][static_cast<std::size_t>(i)]) << i << " after " << done << " edits";
    }
    if (below(128) == 0 && model.attached("LocI")) model.fence({.at = "LocI"});
  }
  EXPECT_EQ(done, edits);
  EXPECT_GT(refused, 0);
  model.fence();
  for (std::size_t which = 0; which < 3; ++which) {
    const auto seen = arrays[which].read();
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], oracle[which][static_cast<std::size_t>(i)]) << i;
  }
}

/// A body whose copy takes until an edit waits for it, and fails then.
struct body_of_a_refused_region {
  std::atomic<bool>* copied = nullptr;
  const location_model* model = nullptr;
  body_of_a_refused_region(std::atomic<bool>& is_copied, const location_model& of) : copied(&is_copied), model(&of) {}
  body_of_a_refused_region(const body_of_a_refused_region& other) : copied(other.copied), model(other.model) {
    *copied = true;
    while (model->attached("LocI")) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that the edit sleeps, most probably
    throw std::length_error("no copy");
  }
  body_of_a_refused_region& operator=(const body_of_a_refused_region&) = delete;
  template <class... Arguments>
  void operator()(Arguments&&...) const {}
};

TEST_F(edited_regions, do_not_wait_for_a_region_that_is_refused_meanwhile) {
  auto x = model.make_array<double>("x", {300});
  std::atomic<bool> copied{false};
  std::thread editor([&] {
    while (!copied) std::this_thread::yield();
    model.detach("LocI");
  });
  const body_of_a_refused_region body(copied, model);
  EXPECT_THROW(model.region("refused", {.policy = policy::flatten}, iterate(0, 300), update(x), body),
               std::length_error);
  editor.join();
  EXPECT_FALSE(model.attached("LocI"));
}

TEST(edited_branches, come_back_without_a_device_that_is_lost) {
  std::string sims = types + arrangement;
  for (std::size_t at = sims.find("cuda_emulated"); at != std::string::npos; at = sims.find("cuda_emulated"))
    sims.replace(at, std::string_view("cuda_emulated").size(), "sim");
  runtime rt(
      testing::machine_of("plugins = [\"host\", \"sim\"]\nhistory = \"off\"\n[plugin.sim]\nclock = \"real\"\n"
                          "[[plugin.sim.device]]\nmemory = \"16 MiB\"\n[[plugin.sim.device]]\nmemory = \"16 MiB\"\n"
                          "[[plugin.sim.inject]]\nkind = \"lost\"\non = \"kernel\"\ndevice = \"sim0\"\nat = 1\n" +
                              sims,
                          3));
  location_model model(rt);
  auto x = model.make_array<std::int64_t>("x", {300});
  const auto submit = [&] {
    model.region("write", {.policy = policy::flatten}, iterate(0, 300), write(x),
                 with_kernel([](auto i, auto x) { x[i] = i; }, "(i, x) { x[i] = i; }"));
  };
  submit();
  try {
    model.fence();
  } catch (const error& e) {  // names what was lost, where it was
    EXPECT_EQ(e.kind(), error_kind::device) << e.what();
  }
  model.detach("Left");
  model.reparent("LocI", "Right");
  model.attach("Left");
  EXPECT_TRUE(model.attached("D0"));
  submit();
  EXPECT_EQ(x.read()[299], 299);
  model.detach("D0");
  EXPECT_NE(std::string(error_of([&] { model.attach("D0"); }).what()).find("is lost"), std::string::npos);
  EXPECT_FALSE(model.attached("D0"));
}

TEST_F(edited_regions, begin_where_the_last_model_ended) {
  model.detach("LocI");
  runtime other{edited_machine()};
  {
    location_model first(other);
    first.detach("Right");
  }
  location_model second(other);
  EXPECT_FALSE(second.attached("D1"));
  EXPECT_TRUE(second.attached("LocI"));  // that was another runtime
  second.attach("Right");
  EXPECT_TRUE(second.attached("D1"));
}

/// Several threads launch loops while another one edits.
TEST(concurrent_edits, leave_the_loops_of_other_threads_right) {
  runtime rt(edited_machine(2));
  location_model model(rt);
  std::atomic<bool> end{false};
  std::vector<std::int64_t> launches(2, 0);
  std::vector<array<std::int64_t>> arrays;
  for (const char* name : {"x", "y"}) arrays.push_back(model.make_array<std::int64_t>(name, {300}));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (; !end; ++launches[t])
        model.region("count", {.policy = policy::flatten}, iterate(0, 300), update(arrays[t]),
                     with_kernel([](auto i, auto x) { x[i] += i; }, "(i, x) { x[i] += i; }"));
    });
  const int rounds = testing::is_slow ? 12 : 60;
  for (int k = 0; k < rounds; ++k) {
    const char* const which = k % 3 == 0 ? "Left" : k % 3 == 1 ? "D1" : "LocH";
    model.detach(which);
    model.reparent("LocI", k % 2 == 0 ? "Right" : "LocA");
    model.attach(which);
  }
  end = true;
  for (std::thread& t : threads) t.join();
  for (std::size_t t = 0; t < 2; ++t) {
    const auto seen = arrays[t].read();
    for (std::int64_t i = 0; i < 300; ++i) ASSERT_EQ(seen[i], launches[t] * i) << i;
  }
}

/// While an edit waits for a task, which waits for a view, other threads launch regions, fence elsewhere and take
/// views; further edits wait for the first one. A thread that holds views makes none, so none of them waits for
/// another.
TEST(concurrent_edits, do_not_hold_up_others_while_they_wait) {
  for (const unsigned workers : {1U, 3U}) {
    runtime rt(edited_machine(workers));
    location_model model(rt);
    auto x = model.make_array<std::int64_t>("x", {100}, {.at = "LocI"}), y = model.make_array<std::int64_t>("y", {100});
    std::atomic<int> edits{0};
    std::vector<std::thread> editors;
    {
      const auto view = x.read();
      model.region("waits", iterate(0, 100), update(x), [](auto i, auto x) { x[i] = i; });
      editors.emplace_back([&] { model.detach("LocI"), ++edits; });
      while (model.attached("LocI")) std::this_thread::yield();
      for (const char* which : {"Left", "Right"}) editors.emplace_back([&, which] { model.detach(which), ++edits; });
      for (int k = 0; k < 20; ++k) {
        model.region("count", iterate(0, 100), update(y), [](auto i, auto y) { y[i] += i; });
        std::thread([&] { model.fence({.at = "LocH"}); }).join();
      }
      EXPECT_EQ(x.location(), "LocA");
      EXPECT_EQ(error_of([&] { model.attach("LocI"); }).kind(), error_kind::usage);
      EXPECT_EQ(edits, 0);
      EXPECT_EQ(view[99], 0);
    }
    for (std::thread& editor : editors) editor.join();
    EXPECT_EQ(x.read()[99], 99);
    EXPECT_EQ(y.read()[99], 20 * 99);
    EXPECT_FALSE(model.attached("D1"));
  }
}

/// Who asks for a location while it comes sees it, or hears that there is none.
TEST(concurrent_edits, are_seen_as_a_whole) {
  runtime rt(testing::host_only());
  location_model model(rt);
  const std::shared_ptr<const location::tree> begin = model.tree();
  constexpr int rounds = 300;
  std::atomic<int> seen{0}, wrong{0};
  std::jthread looks([&] {
    for (int k = 0; k < rounds; seen = ++k) {
      const std::string name = "group" + std::to_string(k);
      for (bool there = false; !there;) try {
          model.fence({.at = name});
          there = model.attached(name);
        } catch (const error& e) {
          if (e.kind() != error_kind::usage) ++wrong;
        }
    }
  });
  for (int k = 0; k < rounds; ++k) {
    location::tree next = *begin;
    location::properties group;
    group.name = "group" + std::to_string(k);
    (void)next.add(next.root(), std::move(group));
    model.arrange(next);
    while (seen <= k) std::this_thread::yield();
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tessera
