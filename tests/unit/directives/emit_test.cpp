#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "languages/directives/text/emit.hpp"
#include "languages/directives/text/rewrite.hpp"
#include "languages/directives/text/shield.hpp"

namespace {

using namespace tessera::directive;
using testing::HasSubstr;

/// Without the marks around what is the program's.
std::string plain(const std::string& text) {
  return shielded(text, [](const std::string&) { return false; });
}

std::string statement(const std::string& text) {
  return plain(statement_of(parse_directive(text), [](std::string_view name) { return name == "chosen"; }));
}

TEST(emit, statements) {
  EXPECT_EQ(statement("gecko config file(\"a.csv\")"), "::tessera::directives::config(\"a.csv\");");
  EXPECT_EQ(statement("gecko loctype name(\"g\") num_cores(2) kind(cpu) size(\"1GiB\")"),
            "::tessera::directives::declare_type({.name = \"g\", .kind = \"cpu\", .cores = 2, .memory = \"1GiB\"});");
  EXPECT_EQ(statement("gecko location name(A, \"B\") type(g) all"),
            "::tessera::directives::declare_locations({\"A\", \"B\"}, \"g\", {.all = true});");
  EXPECT_EQ(statement("gecko hierarchy children(\"+\", A, chosen) parent(R) start(0) total_count(4)"),
            "::tessera::directives::edit_hierarchy(\"+\", {\"A\", chosen}, \"R\", {.start = 0, .count = 4});");
  EXPECT_EQ(statement("gecko memory allocate(x[0:n][0:m]) type(double) distance(far:2)"),
            "x = ::tessera::directives::allocate<double>(\"x\", "
            "{::tessera::directives::whole_number(n), "
            "::tessera::directives::whole_number(m)}, "
            "{.distance = ::tessera::array_distance::far(::tessera::directives::levels(2))});");
  EXPECT_THAT(statement("gecko memory allocate(x[0:n]) type(float) distance(near) realloc"),
              HasSubstr("{.distance = ::tessera::array_distance::near(::tessera::array_distance::form::realloc)}"));
  EXPECT_THAT(statement("gecko memory allocate(x[0:n]) type(float) distance(far) auto"),
              HasSubstr("{.distance = ::tessera::array_distance::far(1)}"));
  EXPECT_EQ(statement("gecko memory free(x, y)"),
            "::tessera::directives::free(x, \"x\"); ::tessera::directives::free(y, \"y\");");
  EXPECT_EQ(statement("gecko memory copy from(x[0:n]) to(y[1:n])"),
            "::tessera::directives::copy(x, ::tessera::directives::whole_number(0), "
            "::tessera::directives::whole_number(n), y, ::tessera::directives::whole_number(1), "
            "::tessera::directives::whole_number(n));");
  EXPECT_EQ(statement("gecko memory move(x) to(chosen)"), "::tessera::directives::move(x, chosen, \"x\");");
  EXPECT_EQ(statement("gecko pause"), "::tessera::directives::pause();");
  EXPECT_EQ(statement("gecko region pause at(LocA)"), "::tessera::directives::pause(::std::string_view(\"LocA\"));");
  EXPECT_EQ(statement("gecko draw filename(\"t.svg\")"), "::tessera::directives::draw(\"\", \"t.svg\");");
}

TEST(emit, arguments_that_mean_nothing) {
  EXPECT_THROW((void)statement("gecko memory allocate(x[1:n]) type(double)"), syntax_error);
  EXPECT_THROW((void)statement("gecko memory allocate(x[0:n]) type(double) distance(close)"), syntax_error);
  EXPECT_THROW((void)statement("gecko memory allocate(x[0:n]) type(double) distance(near) location(A)"), syntax_error);
  EXPECT_THROW((void)statement("gecko memory allocate(x[0:n]) type(double) distance(near) auto realloc"), syntax_error);
  EXPECT_THROW((void)statement("gecko memory allocate(x[0:n]) type(double) realloc"), syntax_error);
  EXPECT_THROW((void)statement("gecko memory allocate(x[0:n]) type(double) distance(far) realloc file(f)"),
               syntax_error);
  EXPECT_THROW((void)statement("gecko hierarchy children(A) parent(R)"), syntax_error);
  EXPECT_THROW((void)statement("gecko hierarchy children(\"+\") parent(R)"), syntax_error);
  EXPECT_THROW((void)statement("gecko memory copy from(x[0:1][0:2]) to(y[0:2])"), syntax_error);
  EXPECT_THROW((void)statement("gecko loctype name(a) kind(cpu) mem(\"1GB\") size(\"1GB\")"), syntax_error);
}

TEST(emit, types_that_no_machine_has) {
  const auto refused = [](const char* text) {
    try {
      (void)statement(text);
    } catch (const syntax_error& e) {
      return std::string(text).substr(e.at()) + ": " + e.what() + "; " + e.hint();
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused("gecko loctype name(a) kind(gqu)"), "gqu): unknown kind of location 'gqu'; did you mean 'gpu'?");
  EXPECT_THAT(refused("gecko loctype name(a) kind(\"gpu\") num_cores(2)"), HasSubstr("2): a gpu has no cores"));
  EXPECT_THAT(refused("gecko loctype kind(virtual) size(\"1GB\") name(a)"), HasSubstr("\"1GB\") name(a): a virtual"));
  EXPECT_EQ(refused("gecko loctype name(a) kind(gpu) num_cores(0)"), "taken");
  EXPECT_EQ(refused("gecko loctype name(a) kind(\"CC7.0\") plugin(cuda)"), "taken");
  EXPECT_EQ(refused("gecko loctype name(a) kind(kind_of(host)) num_cores(2)"), "taken") << "it is an expression";
}

TEST(emit, policies) {
  const is_variable none = [](std::string_view) { return false; };
  EXPECT_EQ(policy_expression({"\"percentage:[60, 40]\"", 0}, none), "\"percentage:60,40\"");
  EXPECT_EQ(policy_expression({"any", 0}, none), "\"any\"");
  EXPECT_EQ(policy_expression({"percentage:[60,40]", 0}, none), "\"percentage:60,40\"");
  EXPECT_EQ(plain(policy_expression({"ours::policy()", 0}, none)), "ours::policy()");
  EXPECT_EQ(plain(policy_expression({"choose(3)", 0}, none)), "choose(3)");
  try {
    (void)policy_expression({"\"statik\"", 7}, none);
    FAIL();
  } catch (const syntax_error& e) {
    EXPECT_EQ(e.at(), 7u);
    EXPECT_EQ(e.hint(), "did you mean 'static'?");
  }
}

TEST(emit, a_region) {
  region_model r{"f.cpp:3",      "\"LocA\"", "\"any\"", {{"int", "i", "0", "n", "1", "less", false, 4, 17}}, {}, {},
                 {"a", "g = g"}, "",         {}};
  r.arrays = {{"x", "x", "", array_use::intent::read, "halo(1)", "m", 0, 0},
              {"y", "&y[0][0]", "", array_use::intent::write, "chunk", "", 0, 0}};
  r.arrays[0].surely_to = 1;
  r.arrays[1].subscripts = 2;
  r.reductions = {{"s", "double", "max", "tessera_s"}};
  const std::string head = plain(region_head(r));
  EXPECT_THAT(head,
              HasSubstr("region_options{.policy = ::tessera::region_policy::from_text(\"any\"), .at = \"LocA\"}, "
                        "::tessera::directives::iterations("
                        "::tessera::directives::loop<int>({\"i\", 4, 17}, 0, ::tessera::directives::loop_test::less, "
                        "+(n), ::tessera::directives::loop_step::add, +(1))), "
                        "::tessera::read(::tessera::directives::array(x, m, \"x\"), ::tessera::halo(1).surely(0, 1)), "
                        "::tessera::write(::tessera::directives::array<2>(&y[0][0], 1, \"y\"), ::tessera::chunk), "
                        "::tessera::maximum(tessera_s), [a, g = g]("));
  EXPECT_THAT(region_tail(r), HasSubstr("s = ::std::max<double>(s, tessera_s.get());"));
  r.kernel = "(i, x, y, s, a) { }";
  r.kernel_values = {{"a", "a"}};
  EXPECT_THAT(region_head(r), HasSubstr("::tessera::with_kernel([a, g = g]("));
  EXPECT_THAT(region_tail(r), HasSubstr(", R\"kernel((i, x, y, s, a) { })kernel\", a)"));
}

TEST(emit, collapsed_loops_over_a_chain) {
  region_model r;
  r.loops = {{"int", "i", "0", "n", "1", "less", false, 1, 2}, {"long", "j", "m", "1", "2", "down_to", true, 1, 3}};
  r.arrays = {{"c_x", "c_x", "c_x_elements", array_use::intent::update, "chunk", "m", 0, 0}};
  EXPECT_THAT(
      plain(region_head(r)),
      HasSubstr("::tessera::directives::iterations("
                "::tessera::directives::loop<int>({\"i\", 1, 2}, 0, ::tessera::directives::loop_test::less, +(n), "
                "::tessera::directives::loop_step::add, +(1)), "
                "::tessera::directives::loop<long>({\"j\", 1, 3}, m, ::tessera::directives::loop_test::down_to, "
                "+(1), ::tessera::directives::loop_step::subtract, +(2))), "
                "::tessera::update(::tessera::directives::elements(c_x_elements, m), ::tessera::chunk), "
                "[]([[maybe_unused]] const int i, [[maybe_unused]] const long j, "));
}

TEST(emit, chains) {
  const auto plain_chain = [](const chain_path& path, const std::vector<section::range>& ranges) {
    return plain(chain_expression(path, ranges));
  };
  EXPECT_EQ(plain_chain({"s", {{false, "&a::b"}, {false, "&b::x"}}}, {}), "::tessera::chain(s, &a::b, &b::x)");
  EXPECT_EQ(plain_chain({"s", {{false, "&a::b"}, {true, "k"}, {false, "&b::x"}}}, {{"0", "n"}, {"0", "3"}}),
            "::tessera::chain(s, "
            "&a::b).element(k).then(&b::x)[{::tessera::directives::whole_number(n), "
            "::tessera::directives::whole_number(3)}]");
  EXPECT_EQ(plain_chain({"p", {{true, "2"}}}, {}), "::tessera::chain(p).element(2)");
}

/// Macros of the program are hidden around what is not the program's, and there alone.
TEST(shield, own_names_alone) {
  const std::string text = "own(chunk, \"chunk\", " + as_written("n / chunk") + ", R\"kernel(chunk)kernel\")";
  EXPECT_THAT(own_names(text), testing::ElementsAre("chunk", "own"));
  EXPECT_EQ(plain(text), "own(chunk, \"chunk\", n / chunk, R\"kernel(chunk)kernel\")");
  const std::string hidden = shielded(text, [](const std::string& name) { return name == "chunk" || name == "n"; });
  EXPECT_EQ(hidden,
            "\n#pragma push_macro(\"chunk\")\n#undef chunk\n\3own(chunk, \"chunk\", \n#pragma pop_macro(\"chunk\")\n\3"
            "n / chunk\n#pragma push_macro(\"chunk\")\n#undef chunk\n\3, R\"kernel(chunk)kernel\")\n"
            "#pragma pop_macro(\"chunk\")\n\3");
}

TEST(rewrite, what_is_behind_keeps_its_line_and_column) {
  const std::string source = "a\n  b c\nd\n";
  EXPECT_EQ(rewritten(source, "f.cpp", "top\n", {{4, 5, "B", false}, {6, 8, "one\ntwo", true}}),
            "top\n#line 1 \"f.cpp\"\na\n  B \n#line 2 \"f.cpp\"\none\ntwo\n#line 3 \"f.cpp\"\nd\n");
  EXPECT_EQ(rewritten("x\n  /**/ y", "q\"", "", {{4, 8, "z", true}}),
            "#line 1 \"q\\\"\"\nx\n  \n#line 2 \"q\\\"\"\nz\n#line 2 \"q\\\"\"\n       y");
}

}  // namespace
