// What translated programs call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

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
    directives::model().region("twice", tessera::iterate(0, 100), tessera::inout(directives::array(x)),
                               [](auto i, auto v) { v[i] *= 2; });
    directives::pause();
    EXPECT_EQ(x[99], 99 * (2 << round));
    x[0] = round;  // the program's: the next region sees it
  }
  EXPECT_EQ(x[0], 2);
}

TEST_F(program, arrays_are_found_by_their_first_elements) {
  double* const x = directives::allocate<double>("x", {10, 4});
  EXPECT_THAT(refused([&] { (void)directives::array(x + 4, 4); }), HasSubstr("inside of array 'x'"));
  EXPECT_THAT(refused([&] { (void)directives::array(x); }), HasSubstr("rows of array 'x' have 4 elements"));
  EXPECT_EQ(directives::array(x, 0).extents().rows, 10);
  EXPECT_THAT(refused([&] { (void)directives::array(reinterpret_cast<float*>(x), 4); }),
              HasSubstr("elements of type f64, not f32"));
  const double other = 0;
  EXPECT_THAT(refused([&] { (void)directives::array(&other); }), HasSubstr("there is no array at this address"));
  directives::free(x);
  EXPECT_THAT(refused([&] { directives::free(x); }), HasSubstr("there is no array"));
}

TEST_F(program, memory_is_one_array_at_a_time) {
  std::array<int, 20> memory{};
  directives::register_memory("first", memory.data() + 5, {10});
  EXPECT_THAT(refused([&] { directives::register_memory("second", memory.data() + 14, {2}); }),
              HasSubstr("would have memory that array 'first' has"));
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

TEST_F(program, the_machine_is_declared_before_it_is_used) {
  directives::declare_type({.name = "shared", .kind = "unified", .memory = "1 GiB"});
  directives::declare_locations({"LocA"}, "shared");
  directives::declare_locations({"LocB"}, "virtual");
  directives::declare_type({.name = "core", .kind = "cpu", .cores = 1});
  directives::declare_locations({"LocH"}, "core");
  directives::declare_hierarchy("+", {"LocB"}, "LocA");
  directives::declare_hierarchy("+", {"LocH"}, "LocB");
  EXPECT_THAT(refused([] { directives::declare_hierarchy("*", {"LocB"}, "LocA"); }), HasSubstr("begin with '*'"));
  float* const x = directives::allocate<float>("x", {8}, {.ancestor = 0});
  float* const fixed = directives::allocate<float>("fixed", {8}, {.location = "LocB"});
  directives::place_by_distance("", {x, fixed});
  EXPECT_EQ(directives::array(x).location(), "LocB");
  directives::place_by_distance("LocH", {x, fixed});
  EXPECT_EQ(directives::array(x).location(), "LocH");
  directives::move(x, "LocA");
  EXPECT_EQ(directives::array(x).location(), "LocA");
  EXPECT_THAT(refused([] { directives::config("other.toml"); }), HasSubstr("'config' after the first array or region"));
  EXPECT_THAT(refused([] { directives::declare_type({.name = "late", .kind = "cpu"}); }), HasSubstr("'loctype' after"));
}

TEST_F(program, directives_belong_to_one_thread) {
  (void)directives::model();
  std::string message;
  std::thread([&] { message = refused([] { (void)directives::model(); }); }).join();
  EXPECT_THAT(message, HasSubstr("in another thread"));
}

}  // namespace
