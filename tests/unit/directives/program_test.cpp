// What translated programs call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "tessera/directives.hpp"

namespace {

namespace directives = tessera::directives;
using testing::HasSubstr;

/// Each test has a runtime of its own.
class program : public testing::Test {
 protected:
  void TearDown() override { directives::stop(); }
};

template <class Function>
std::string refused(const Function& call) {
  try {
    call();
  } catch (const tessera::error& e) {
    EXPECT_EQ(e.kind(), tessera::error_kind::usage);
    return e.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

TEST_F(program, an_array_goes_to_a_region_and_comes_back_with_pause) {
  double* const x = directives::allocate<double>("x", {100});
  for (int i = 0; i < 100; ++i) x[i] = i;
  for (int round = 0; round < 3; ++round) {
    directives::model().region("twice", tessera::iterate(0, 100), tessera::update(directives::array(x)),
                               [](auto i, auto v) { v[i] *= 2; });
    directives::pause();
    EXPECT_EQ(x[99], 99 * (2 << round));
    x[0] = round;  // the program's: the next region sees it
  }
  EXPECT_EQ(x[0], 2);
}

TEST_F(program, arrays_may_have_no_elements) {
  double* const x = directives::allocate<double>("x", {0});
  double* const y = directives::allocate<double>("y", {0, 3});
  EXPECT_NE(x, nullptr);
  EXPECT_NE(x, y);
  directives::model().region("none", tessera::iterate(0, 0), tessera::read(directives::array(x)),
                             tessera::write(directives::array(y, 3)), [](auto, auto, auto) {});
  directives::copy(x, 0, 0, x, 0, 0);
  directives::pause();
  std::vector<float> none;
  directives::register_memory("none", none.data(), {0});
  directives::unregister_memory(none.data(), "none");
  directives::free(x, "x");
  directives::free(y, "y");
}

TEST_F(program, arrays_are_found_by_their_first_elements) {
  double* const x = directives::allocate<double>("x", {10, 4});
  EXPECT_THAT(refused([&] { (void)directives::array(x + 4, 4); }), HasSubstr("inside of array 'x'"));
  EXPECT_THAT(refused([&] { (void)directives::array(x); }),
              HasSubstr("rows of array 'x' have 4 elements, and the region's subscripts mean single elements"));
  EXPECT_EQ(directives::array(x, 0).extents()[0], 10);
  EXPECT_THAT(refused([&] { (void)directives::array(reinterpret_cast<float*>(x), 4); }),
              HasSubstr("elements of type f64, not f32"));
  const double other = 0;
  EXPECT_THAT(refused([&] { (void)directives::array(&other); }), HasSubstr("there is no array at this address"));
  directives::free(x);
  EXPECT_THAT(refused([&] { directives::free(x); }), HasSubstr("there is no array"));
}

/// What is wrong with a declaration is found when the machine starts, and is told of the directive.
TEST_F(program, mistakes_in_declarations_have_their_places) {
  const auto error_of_start = [](const auto& declare) {
    declare();
    try {
      (void)directives::model();
    } catch (const tessera::error& e) {
      directives::stop();
      return std::string(e.what());
    }
    ADD_FAILURE() << "it starts";
    return std::string();
  };
  const auto here = [](const char* directive, std::source_location at) {
    return std::string(directive) + " at " + at.file_name() + ":" + std::to_string(at.line());
  };
  const std::source_location at = std::source_location::current();
  EXPECT_THAT(error_of_start([&] {
                directives::declare_type({.name = "good", .kind = "cpu"});
                directives::declare_type({.name = "g", .kind = "cpu", .cores = -2}, at);
                directives::declare_locations({"a"}, "good");
              }),
              HasSubstr(here("loctype", at)));
  EXPECT_THAT(error_of_start([&] {
                directives::declare_type({.name = "good", .kind = "cpu"});
                directives::declare_locations({"a"}, "goood", {}, at);
              }),
              HasSubstr(here("location", at)));
  EXPECT_THAT(error_of_start([&] { directives::config("nosuch.toml", at); }), HasSubstr(here("config", at)));
  directives::stop();
  EXPECT_THROW(
      try { (void)directives::allocate<double>("x", {4}, {.file = "/tmp"}, at); } catch (const tessera::error& e) {
        EXPECT_THAT(e.what(), HasSubstr(here("memory allocate", at)));
        throw;
      },
      tessera::error);
}

TEST_F(program, distances_are_whole_numbers_from_0_on) {
  EXPECT_EQ(directives::levels(3L), 3U);
  EXPECT_THAT(refused([] { (void)directives::levels(-1); }), HasSubstr("distance(far:-1)"));
}

TEST_F(program, what_is_wrong_is_told_with_the_variable_and_its_place) {
  const auto says = [](const std::string& said, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_THAT(said, HasSubstr(part));
    EXPECT_THAT(said, HasSubstr("program_test.cpp:"));
  };
  double* const x = directives::allocate<double>("x", {10});
  double other = 0, *none = nullptr;
  says(refused([&] { (void)directives::array(&other, 1, "other"); }), {"'other' points to no array", "region at "});
  says(refused([&] { (void)directives::array(none, 1, "none"); }), {"'none' is null: there is no array", "region at "});
  says(refused([&] { (void)directives::array(x, 3, "x"); }), {"rows of array 'x'", "region at "});
  says(refused([&] { directives::free(&other, "other"); }), {"'other' points to no array", "memory free at "});
  says(refused([&] { directives::unregister_memory(x, "x"); }), {"was allocated", "memory unregister at "});
  says(refused([&] { directives::move(none, "machine", "none"); }), {"'none' is null", "memory move at "});
  says(refused([&] { directives::move(x, "Nowhere", "x"); }),
       {"there is no location 'Nowhere'", "array 'x', moved at "});
  says(refused([&] { directives::copy(x, 5, 6, x, 0, 6); }), {"elements 5 to 11 of array 'x'", "memory copy at "});
  says(refused([&] { directives::copy(x, 0, 1, &other, 0, 1); }), {"'to' points to no array", "memory copy at "});
  says(refused([&] { directives::copy(x, 0, 1, x, 0, 2); }), {"from 1 elements to 2", "memory copy at "});
  says(refused([&] { directives::pause("Nowhere"); }), {"there is no location 'Nowhere'", "pause at "});
  says(refused([&] { directives::draw("Nowhere", "t.svg"); }), {"there is no location 'Nowhere'", "draw at "});
  says(refused([&] { (void)directives::allocate<double>("y", {-5}); }), {"array 'y' has extents -5", "program_test"});
  says(refused([&] { directives::declare_type({.name = "late", .kind = "cpu"}); }), {"'loctype' after", "loctype at "});
  try {
    directives::draw("", "/nowhere/t.svg");
    ADD_FAILURE() << "not refused";
  } catch (const tessera::error& e) {
    EXPECT_EQ(e.kind(), tessera::error_kind::output);
    says(e.what(), {"cannot write /nowhere/t.svg: No such file", "draw at ", "hint"});
  }
  struct owner {
    double* values;
  };
  owner of{nullptr};
  const auto follow = [&] { return tessera::chain(of, &owner::values)[8]; };
  says(refused([&] { (void)directives::followed("of->values", follow); }), {"is null", "chain 'of->values' at "});
}

TEST_F(program, memory_is_one_array_at_a_time) {
  std::array<int, 20> memory{};
  directives::register_memory("first", memory.data() + 5, {10});
  EXPECT_THAT(refused([&] { directives::register_memory("second", memory.data() + 14, {2}); }),
              testing::AllOf(HasSubstr("would have memory that array 'first' has"), HasSubstr("program_test.cpp:")));
  EXPECT_THAT(refused([&] { directives::register_memory("around", memory.data(), {20}); }),
              HasSubstr("would have memory that array 'first' has"));
  directives::register_memory("beside", memory.data() + 15, {5});
  EXPECT_THAT(refused([&] { directives::free(memory.data() + 5); }), HasSubstr("was registered, not allocated"));
  directives::unregister_memory(memory.data() + 5);
  int* const made = directives::allocate<int>("made", {3});
  EXPECT_THAT(refused([&] { directives::unregister_memory(made); }), HasSubstr("was allocated, not registered"));
}

TEST_F(program, copies_check_their_ranges) {
  double *const x = directives::allocate<double>("x", {10}), *const y = directives::allocate<double>("y", {5});
  x[9] = 1;
  directives::copy(x + 2, 5, 3, y, 2, 3);
  EXPECT_EQ(y[4], 1);
  EXPECT_THAT(refused([&] { directives::copy(x, 0, 6, y, 0, 6); }), HasSubstr("elements 0 to 6 of array 'y'"));
  EXPECT_THAT(refused([&] { directives::copy(x, 0, 2, y, 0, 3); }), HasSubstr("from 2 elements to 3"));
  EXPECT_THAT(refused([&] { directives::copy(x, -1, 2, y, 0, 2); }), HasSubstr("of array 'x'"));
}

TEST_F(program, copies_of_arrays_that_regions_use_are_regions) {
  double *const x = directives::allocate<double>("x", {10, 4}), *const y = directives::allocate<double>("y", {20, 4});
  const auto number = [&] {
    directives::model().region("number", tessera::iterate(0, 10), tessera::write(directives::array<2>(x, 4)),
                               [](auto i, auto v) {
                                 for (int j = 0; j < 4; ++j) v(i, j) = double(4 * i + j);
                               });
  };
  const auto copies = [] {
    std::uint64_t launches = 0;
    for (const auto& row : directives::model().regions())
      if (row.name == "copy") launches += row.launches;
    return launches;
  };
  number();
  directives::copy(x, 8, 12, y, 4, 12);
  EXPECT_EQ(copies(), 1u);
  directives::copy(x + 1, 0, 4, y, 0, 4);  // a part of two rows: at once
  EXPECT_EQ(copies(), 1u);
  EXPECT_EQ(y[3], 4);
  EXPECT_EQ(y[15], 19);
  number();
  directives::copy(y, 4, 8, y, 40, 8);
  EXPECT_EQ(copies(), 1u) << "the program has it";
  directives::copy(x, 0, 40, y, 40, 40);
  directives::pause();
  EXPECT_EQ(copies(), 2u);
  EXPECT_EQ(y[79], 39);
}

TEST_F(program, the_machine_is_declared_before_it_is_used) {
  directives::declare_type({.name = "shared", .kind = "unified", .memory = "1 GiB"});
  directives::declare_locations({"LocA"}, "shared");
  directives::declare_locations({"LocB"}, "virtual");
  directives::declare_type({.name = "core", .kind = "cpu", .cores = 1});
  directives::declare_locations({"LocH"}, "core");
  directives::edit_hierarchy("+", {"LocB"}, "LocA");
  directives::edit_hierarchy("+", {"LocH"}, "LocB");
  EXPECT_THAT(refused([] { directives::edit_hierarchy("*", {"LocB"}, "LocA"); }), HasSubstr("begin with '*'"));
  float* const x = directives::allocate<float>("x", {8}, {.location = "LocB"});
  directives::move(x, "LocA");
  EXPECT_EQ(directives::array(x).location(), "LocA");
  EXPECT_THAT(refused([] { directives::declare_type({.name = "late", .kind = "cpu"}); }), HasSubstr("'loctype' after"));
}

/// A location LocA with a core H0 and a location LocB, which has a core H1.
void declare_two_cores() {
  directives::declare_type({.name = "shared", .kind = "unified", .memory = "1 GiB"});
  directives::declare_type({.name = "core", .kind = "cpu", .cores = 1});
  directives::declare_locations({"LocA"}, "shared");
  directives::declare_locations({"LocB"}, "virtual");
  directives::declare_locations({"H0", "H1"}, "core");
  directives::edit_hierarchy("+", {"H0", "LocB"}, "LocA");
  directives::edit_hierarchy("+", {"H1"}, "LocB");
}
void add_one(double* x, const char* policy) {
  directives::model().region("one more", {.policy = tessera::region_policy::from_text(policy)},
                             tessera::iterate(0, 100), tessera::update(directives::array(x)),
                             [](auto i, auto v) { v[i] += 1; });
}
std::vector<std::string> leaves_of_last() {
  std::vector<std::string> names;
  const auto rows = directives::model().regions();
  for (const auto& share : rows.back().shares) names.push_back(share.leaf);
  return names;
}

TEST_F(program, the_tree_is_edited_while_regions_run) {
  declare_two_cores();
  double *const x = directives::allocate<double>("x", {100}), *const held = directives::allocate<double>("held", {100});
  held[5] = 5;
  add_one(x, "flatten");
  EXPECT_THAT(leaves_of_last(), testing::ElementsAre("H0", "H1"));
  EXPECT_THAT(refused([] { directives::edit_hierarchy("-", {"H1"}, "LocA"); }), HasSubstr("'H1' is below 'LocB'"));
  directives::edit_hierarchy("-", {"LocB"}, "LocA");
  add_one(x, "static");
  EXPECT_THAT(leaves_of_last(), testing::ElementsAre("H0"));
  EXPECT_THAT(refused([] { directives::pause("LocB"); }), HasSubstr("location 'LocB' is detached"));
  directives::edit_hierarchy("+", {"H1"}, "LocA");  // it was below another one
  add_one(x, "flatten");
  EXPECT_THAT(leaves_of_last(), testing::ElementsAre("H0", "H1"));
  held[6] = 6;
  EXPECT_EQ(held[5], 5);
  directives::pause();
  EXPECT_EQ(x[99], 3);
  EXPECT_THAT(refused([] { directives::edit_hierarchy("+", {"LocZ"}, "LocA"); }), HasSubstr("LocZ"));
  EXPECT_THAT(refused([] { directives::edit_hierarchy("-", {"H0"}, "LocA", {.all = true}); }),
              HasSubstr("there is no location 'H0[0]'"));
  EXPECT_THAT(refused([] { directives::config("tree.csv"); }), HasSubstr("'config' with the CSV file"));
}

TEST_F(program, distances_follow_regions) {
  declare_two_cores();
  double *const x = directives::allocate<double>("x", {100}, {.distance = tessera::array_distance::near()}),
                *const above =
                    directives::allocate<double>("above", {100}, {.distance = tessera::array_distance::far(1)});
  std::vector<double> memory(100, 1);
  directives::register_memory("m", memory.data(), {100}, {.distance = tessera::array_distance::near()});
  directives::model().region("at H1", {.at = "H1"}, tessera::iterate(0, 100), tessera::update(directives::array(x)),
                             tessera::update(directives::array(above)),
                             tessera::update(directives::array(memory.data())),
                             [](auto i, auto v, auto w, auto m) { v[i] += 1, w[i] += 2, m[i] += 3; });
  EXPECT_EQ(directives::array(x).location(), "H1");
  EXPECT_EQ(directives::array(memory.data()).location(), "H1");
  EXPECT_EQ(directives::array(above).location(), "LocB");
  directives::pause();
  EXPECT_EQ(x[99] + above[99] + memory[99], 7);
  directives::unregister_memory(memory.data());
}

TEST_F(program, arrays_that_are_made_again_have_an_address_and_nothing_else) {
  using form = tessera::array_distance::form;
  double* const t =
      directives::allocate<double>("t", {100}, {.distance = tessera::array_distance::near(form::realloc)});
  double* const x = directives::allocate<double>("x", {100});
  for (int round = 1; round <= 3; ++round) {
    directives::model().region("scratch", tessera::iterate(0, 100), tessera::write(directives::array(t)),
                               tessera::update(directives::array(x)), [](auto i, auto own, auto to) {
                                 own[i] = double(i);
                                 to[i] += own[i];
                               });
    directives::pause();
    EXPECT_EQ(x[99], 99.0 * round);
  }
  EXPECT_THAT(refused([&] { directives::copy(t, 0, 1, x, 0, 1); }), HasSubstr("'t' is made again for each region"));
  directives::free(t);
}

TEST_F(program, chains_with_a_range_are_memory_of_the_program) {
  struct owner {
    double* values;
  };
  double* const x = directives::allocate<double>("x", {40});
  std::vector<double> memory(40);
  owner of_array{x + 4}, of_memory{memory.data()};
  EXPECT_THAT(refused([&] { (void)directives::elements(tessera::chain(of_array, &owner::values)[8]); }),
              HasSubstr("of which array 'x' has some"));
  const auto rows = tessera::chain(of_memory, &owner::values)[{10, 4}];
  EXPECT_THAT(refused([&] { (void)directives::elements(rows); }), HasSubstr("rows of the chain have 4 elements"));
  EXPECT_EQ(&directives::elements(rows, 4), &rows);
  EXPECT_EQ(&directives::elements(rows, 0), &rows);
}

TEST_F(program, directives_belong_to_one_thread) {
  (void)directives::model();
  std::string message;
  std::thread([&] { message = refused([] { (void)directives::model(); }); }).join();
  EXPECT_THAT(message, HasSubstr("in another thread"));
}

}  // namespace
