// Bodies that devices cannot run: what is said, at the first submission, also where there is no device.
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsequence-point"    // what is refused here
#pragma GCC diagnostic ignored "-Wunused-parameter"  // of an empty body
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double scale_of_file = 0.5;
#define TESSERA_TEST_TWICE(x) ((x)*2)

struct bodies_refused : ::testing::Test {
  runtime rt{testing::host_only()};
  location_model model{rt};
  std::int64_t n = 100;
  array<double> x = model.make_array<double>("x", {100});

  /// What the region of a body says; the place is the line of the call.
  template <class Body>
  std::string refusal(const Body& body) {
    std::string said;
    try {
      model.region("r", iterate(0, n), update(x), body);
      ADD_FAILURE() << "no error was thrown";
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::usage);
      said = e.what();
    }
    EXPECT_THAT(said, AllOf(HasSubstr("the body of region 'r' cannot run on devices: "), HasSubstr("refused_test.cpp:"),
                            HasSubstr("hint: "), HasSubstr("docs/kernels.md")));
    return said;
  }
};

TEST_F(bodies_refused, for_calls_of_the_library_that_devices_do_not_have) {
  const int line = __LINE__ + 1;
  const std::string said = refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = std::lerp(1.0, 2.0, x[i]); }));
  EXPECT_THAT(said, AllOf(HasSubstr("it uses 'std::lerp', which devices do not have, in \"{ x[i] = std::lerp(1.0"),
                          HasSubstr("TESSERA_BODY at "), HasSubstr("refused_test.cpp:" + std::to_string(line)),
                          HasSubstr("functions: abs, acos, asin")));
}

TEST_F(bodies_refused, for_functions_of_the_program) {
  const auto twice = [](double v) { return 2 * v; };
  (void)twice;
  struct own {
    static double half(double v) { return v / 2; }
  };
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = own::half(x[i]); })),
              HasSubstr("'own' is no index, use, capture or variable of the body"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = double(size_of(element_type::f64)); })),
              HasSubstr("it calls 'size_of', and devices have no such function"));
}

TEST_F(bodies_refused, where_a_capture_is_missing) {
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = scale_of_file * x[i]; })),
              AllOf(HasSubstr("'scale_of_file' is no index, use, capture or variable of the body"),
                    HasSubstr("const auto value = scale_of_file;")));
  [[maybe_unused]] constexpr int local = 3;  // which a lambda need not capture
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = local * x[i]; })), HasSubstr("'local' is no index"));
}

TEST_F(bodies_refused, for_texts_pointers_and_members) {
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = sizeof("(") > 1 ? 1.0 : 0.0; })),
              HasSubstr("it has 'sizeof', which devices do not"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = *"(,<"; })), HasSubstr("it follows a pointer"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = ","[0]; })), HasSubstr("it has the text \",\""));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = ')'; })), HasSubstr("it has the text ')'"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { *&x[i] = 1; })), HasSubstr("it follows a pointer"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     auto& v = x[i];
                                     v = 1;
                                   })),
              HasSubstr("it declares a reference"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = double(x.extent(0)); })),
              AllOf(HasSubstr("it uses the member 'extent' of array 'x'"), HasSubstr("capture extents")));
}

TEST_F(bodies_refused, for_types_that_are_no_numbers) {
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     const std::vector<int> v{1, 2};
                                     x[i] = v[0];
                                   })),
              HasSubstr("'std::vector' is no type of numbers that devices have, in"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     const std::pair<int, double> two(1, 2.0);
                                     x[i] = two.second;
                                   })),
              HasSubstr("'std::pair' is no type of numbers that devices have"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     const intent how = intent::read;
                                     x[i] = double(how);
                                   })),
              HasSubstr("'intent' is no type of numbers that devices have"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     const long double v = 1;
                                     x[i] = double(v);
                                   })),
              HasSubstr("it has a number of type long double"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     const char v = 1;
                                     x[i] = v;
                                   })),
              HasSubstr("it has a number of type char"));
}

TEST_F(bodies_refused, for_statements_that_kernels_do_not_have) {
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     if (i < 0) throw 1;
                                     x[i] = 1;
                                   })),
              AllOf(HasSubstr("it has 'throw', which devices do not"), HasSubstr("note a mistake in an element")));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     switch (i) {
                                       default:
                                         x[i] = 1;
                                     }
                                   })),
              HasSubstr("it has 'switch', which devices do not"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     for (const int v : {1, 2}) x[i] += v;
                                   })),
              HasSubstr("it has a loop over a range"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     static double last = 0;
                                     x[i] = last;
                                   })),
              HasSubstr("it has 'static', which devices do not"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = [](double v) { return v; }(1.0); })),
              HasSubstr("it has a function of its own"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     i = 3;
                                     x[i] = 1;
                                   })),
              HasSubstr("it assigns to what is neither a variable nor an element nor a result"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     int k = 0;
                                     x[i] = std::max(k++, 3);
                                   })),
              HasSubstr("an argument of 'max' changes something"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     x[i] = std::max({1, 2, 3});
                                   })),
              HasSubstr("a function gets a list in braces"));
}

/// The place has a column: two bodies of one line are told apart.
TEST_F(bodies_refused, with_file_line_and_column) {
  const std::string said = refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = std::lgamma(1.0); }));
  EXPECT_THAT(said, ::testing::ContainsRegex("TESSERA_BODY at .*refused_test\\.cpp:" + std::to_string(__LINE__ - 1) +
                                             ":[1-9][0-9]*"));
}

/// On the host such an index would be another number than on a device, where it is of std::int64_t.
TEST_F(bodies_refused, for_indices_of_other_types) {
  EXPECT_THAT(refusal(TESSERA_BODY((), (unsigned i, auto x), { x[i] = i - 1; })),
              AllOf(HasSubstr("its index 'i' is of type 'unsigned', and indices of devices are of std::int64_t, in "
                              "\"(unsigned i, auto x)\""),
                    HasSubstr("write auto i, and convert where it is used: double(i)")));
  EXPECT_THAT(refusal(TESSERA_BODY((), (const double i, auto x), { x[std::int64_t(i)] = i / 2; })),
              HasSubstr("its index 'i' is of type 'const double'"));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto... all), { ((all[i] = 1), ...); })),
              AllOf(HasSubstr("its parameter 'all' is a pack"), HasSubstr("name each use")));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x, int more = 0), { x[i] = more; })),
              HasSubstr("it has 3 parameters, and the region 1 indices and 1 uses"));
  model.region("r", iterate(0, n), write(x), TESSERA_BODY((), (const std::int64_t i, auto x), { x[i] = double(i); }));
  EXPECT_EQ(x.read()[7], 7.0);
}

TEST_F(bodies_refused, for_operands_whose_order_matters) {
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     std::int64_t k = i;
                                     x[k] = double(k++);
                                   })),
              AllOf(HasSubstr("'k' changes on one side of '=' and is used on the other"), HasSubstr("two statements")));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     int k = 0;
                                     const int m[2] = {k++, k++};
                                     x[i] = m[0];
                                   })),
              HasSubstr("a value of an array of the body changes something"));
}

TEST_F(bodies_refused, for_odd_statements_in_words_that_say_what_to_write) {
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     for (const auto v : {1, 2}) x[i] += v;
                                   })),
              AllOf(HasSubstr("it has a loop over a range"), HasSubstr("for (std::int64_t k = 0; k < n; ++k)")));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     typedef double real;
                                     x[i] = real(1);
                                   })),
              AllOf(HasSubstr("it has 'typedef'"), HasSubstr("using real = double;")));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     if constexpr (sizeof(x) > 0) x[i] = 1;
                                   })),
              AllOf(HasSubstr("it has 'if constexpr'"), HasSubstr("write if")));
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     (void)[](int){};
                                     x[i] = 1;
                                   })),
              HasSubstr("it has a function of its own"));
  const auto half = [](double v) { return v / 2; };
  (void)half;
  EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x),
                                   {
                                     (void)scale_of_file;
                                     x[i] = 1;
                                   })),
              AllOf(HasSubstr("'scale_of_file' is no index, use, capture or variable of the body"),
                    HasSubstr("name it among the captures")));
}

/// What looks odd and is not: the same numbers, with and without a device.
TEST_F(bodies_refused, not_for_what_both_forms_can_do) {
  const double scale = 2;
  const unsigned carried = 3, n_carried = 4;
  model.region("empty", iterate(0, n), update(x), TESSERA_BODY((), (auto i, auto x), {}));
  model.region("no braces", iterate(0, n), write(x), TESSERA_BODY((), (auto i, auto x), x[i] = double(i);));
  model.region("unused", iterate(0, n), update(x), TESSERA_BODY((scale), (auto i, auto x), {
                 (void)i, (void)x, (void)scale;
                 x(i) += scale;
               }));
  model.region("words", iterate(0, n), update(x), TESSERA_BODY((carried, n_carried), (auto i, auto x), {
                 if (not(carried > n_carried) and i >= 0) x[i] += double(n_carried - carried);
               }));
  EXPECT_EQ(x.read()[7], 10.0);
}

TEST_F(bodies_refused, as_tasks_too) {
  auto b = rt.make_array<double>("b", {100}, {100});
  const std::string said = test_support::message_of(
      [&] {
        rt.submit("t", loop(iterate(0, 100), TESSERA_BODY((), (auto i, auto b), { b[i] = std::lgamma(1.0); })),
                  write(b(0)));
      },
      error_kind::usage);
  EXPECT_THAT(said, AllOf(HasSubstr("the body of task 't' cannot run on devices: it uses 'std::lgamma'"),
                          HasSubstr("TESSERA_BODY at "), HasSubstr("refused_test.cpp:")));
  EXPECT_THAT(test_support::message_of(
                  [&] {
                    rt.submit("t", loop(iterate(0, 100, 0), TESSERA_BODY((), (auto i, auto b), { b[i] = 1; })),
                              write(b(0)));
                  },
                  error_kind::usage),
              HasSubstr("a loop of a task with a step of 0"));
}

TEST_F(bodies_refused, not_for_macros_which_are_expanded_in_both_forms) {
  model.region("r", iterate(0, n), write(x),
               TESSERA_BODY((), (auto i, auto x), { x[i] = TESSERA_TEST_TWICE(double(i)); }));
  EXPECT_EQ(x.read()[7], 14.0);
}

/// A device that gets nothing is told of, once, when a region without a form for it is launched again.
TEST(bodies_of_the_host_alone, are_told_of_where_devices_could_help) {
  std::vector<std::string> warnings;
  machine with = testing::with_sims(1, "64 MiB", false, 2, "history = \"off\"\n");
  with.log = [&](int level, const std::string& line) {
    if (level >= 2) warnings.push_back(line);
  };
  runtime rt(std::move(with));
  location_model model(rt);
  auto x = model.make_array<double>("x", {100});
  for (int k = 0; k < 4; ++k) {
    model.region("one", iterate(0, 100), write(x), TESSERA_BODY((), (auto i, auto x), { x[i] = 1; }));
    model.region("any", {.policy = policy::any}, iterate(0, 100), write(x), [](auto i, auto x) { x[i] = 1; });
    EXPECT_THAT(warnings, ::testing::SizeIs(k < 2 ? 0 : 1));
    model.region("host", iterate(0, 100), write(x), [](auto i, auto x) { x[i] = 1; });
  }
  model.fence();
  ASSERT_THAT(warnings, ::testing::SizeIs(1));
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("'host'"), HasSubstr("refused_test.cpp:"), HasSubstr("without sim0"),
                                 HasSubstr("TESSERA_BODY")));
}

TEST_F(bodies_refused, again_at_each_submission) {
  for (int k = 0; k < 2; ++k)
    EXPECT_THAT(refusal(TESSERA_BODY((), (auto i, auto x), { x[i] = std::tgamma(2.0); })),
                HasSubstr("it uses 'std::tgamma'"));
}

}  // namespace
}  // namespace tessera
