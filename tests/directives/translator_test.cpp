// What the translator makes of loops, its command line, and that Clang reads the public headers and the examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/directives/translate.hpp"

namespace {

using directive_test::contents;
using directive_test::outcome;
using directive_test::run;
using directive_test::translate;
using testing::HasSubstr;
using testing::Not;

/// The uses of the first region of a function: "read x halo(1)", ...
std::vector<std::string> uses_of(const std::string& loop, const std::string& clauses = "") {
  const auto made = translate(
      "#include <math.h>\nstruct pair { double* x; };\n"
      "void p(double* x, double* y, double (*z)[8], int* k, int n, int m, pair* s) {\n"
      "#pragma gecko region " +
      clauses + "\n" + loop + "\n#pragma gecko region end\n}\n");
  EXPECT_EQ(made.code, 0) << made.messages;
  std::vector<std::string> uses;
  if (made.code != 0) return uses;
  const auto told = nlohmann::json::parse(made.json);
  for (const auto& a : told["regions"][0]["arrays"])
    uses.push_back(a["intent"].get<std::string>() + " " + a["name"].get<std::string>() + " " +
                   a["pattern"].get<std::string>());
  return uses;
}
using list = std::vector<std::string>;

TEST(accesses, of_one_dimension) {
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) y[i] = x[i];"), (list{"read x chunk", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 1; i < n; ++i) y[i] = x[i - 1] + x[i + 1];"),
            (list{"read x halo(1)", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) y[i] += x[k[i]];"),
            (list{"read k chunk", "read x whole", "update y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { const int q = i * 0.5; y[i] = x[q]; }"),
            (list{"read x whole", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { const int q = i - 1; y[i] = x[q]; }"),
            (list{"read x halo(1, -1)", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { int q = i; q = q * 2; y[i] = x[q]; }"),
            (list{"read x whole", "write y chunk"}));
}

TEST(accesses, what_is_not_written_always_is_updated) {
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) if (n > 3) y[i] = 1;"), (list{"update y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; i += 2) y[i] = 1;"), (list{"update y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { if (i == 3) continue; y[i] = 1; }"), (list{"update y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) for (int j = 0; j < m; j += 2) y[i * m + j] = 1;"),
            (list{"update y chunk"}));
  for (const char* jump : {"break", "continue"})
    EXPECT_EQ(uses_of(std::string("for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) { if (j == 3) ") + jump +
                      "; y[i * m + j] = 1; }"),
              (list{"update y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) for (int j = 0; j < 8; ++j) if (j + 1 < 8) z[i][j + 1] = 1;"),
            (list{"update z chunk"}));
}

TEST(accesses, of_rows) {
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) y[i * m + j] = x[(i + 1) * m + j];"),
            (list{"read x halo(-1, 1)", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) y[i] += x[j];"),
            (list{"read x whole", "update y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 1; i < n; ++i) for (int j = 0; j < 8; ++j) z[i][j] = j;"), (list{"write z chunk"}));
  EXPECT_EQ(uses_of("for (int i = 1; i < n; ++i) y[i] = z[i - 1][0];"), (list{"read z halo(1, -1)", "write y chunk"}));
}

/// Rows that no iteration reads do not move, and need not be there.
TEST(accesses, on_one_side) {
  EXPECT_EQ(uses_of("for (int i = 1; i < n; ++i) y[i] = x[i - 1] + x[i + 2];"),
            (list{"read x halo(1, 2)", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 2; i < n; ++i) y[i] = x[i] - x[i - 2];"),
            (list{"read x halo(2, 0)", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) y[i] = x[i + 5];"), (list{"read x halo(-5, 5)", "write y chunk"}));
}

/// What is read in each iteration must be there when the program runs.
TEST(accesses, of_each_iteration) {
  const auto pattern_of = [](const std::string& body) {
    const auto made = translate(
        "void p(double* x, double* y, int n, int m) {\n#pragma gecko region\n"
        "for (int i = 1; i < n; ++i) " +
        body + "\n#pragma gecko region end\n}\n");
    const std::size_t at = made.text.find("array(x, ");
    const std::size_t begin = made.text.find("tessera::halo", at);
    return begin == std::string::npos ? made.messages : made.text.substr(begin, made.text.find("), ", begin) - begin);
  };
  EXPECT_EQ(pattern_of("y[i] = x[i - 1] + x[i + 2];"), "tessera::halo(1, 2).surely(-1, 2)");
  EXPECT_EQ(pattern_of("y[i] = x[i + 5];"), "tessera::halo(-5, 5).surely(0, 5)");
  EXPECT_EQ(pattern_of("y[i] = x[i - 1] + (i + 1 < n ? x[i + 1] : 0);"), "tessera::halo(1).surely(-1, 0)");
  EXPECT_EQ(pattern_of("{ if (i + 1 < n) y[i] = x[i + 1]; }"), "tessera::halo(-1, 1)");
  EXPECT_EQ(pattern_of("{ if (i > m) continue; y[i] = x[i + 1]; }"), "tessera::halo(-1, 1)");
  EXPECT_EQ(pattern_of("{ for (int j = 0; j < m; ++j) y[i] = x[i + 1]; }"), "tessera::halo(-1, 1)");
}

TEST(accesses, through_a_reference_are_those_of_what_it_is_for) {
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { double& to = y[i]; to += x[i]; }"),
            (list{"update y chunk", "read x chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { const double& from = x[i]; y[i] = from; }"),
            (list{"read x chunk", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) (i > 3 ? x[i] : y[i]) = 1;"),
            (list{"update x chunk", "update y chunk"}));
}

TEST(accesses, by_numbers_of_few_bits_may_be_anywhere) {
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) y[i] = x[(unsigned char)i];"),
            (list{"read x whole", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { const short q = i; y[i] = x[q]; }"),
            (list{"read x whole", "write y chunk"}));
  EXPECT_EQ(uses_of("for (long i = 0; i < n; ++i) y[(int)i] = x[(unsigned long)i];"),
            (list{"read x chunk", "write y chunk"}));
}

/// What belongs to an iteration alone may be written in any way.
TEST(accesses, beside_what_the_body_has_of_its_own) {
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { double own[4] = {}, *p = own; p[0] = x[i]; *(p + 1) = 2;\n"
                    "for (double& e : own) e *= 2; y[i] = own[0]; }"),
            (list{"read x chunk", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { double own[4], other = 0, *p;\n"
                    "for (p = own; p != own + 4; ++p) *p = x[i]; if (m > 3) p = &other; else (p = own + 1);\n"
                    "*p++ = 1; y[i] = own[0] + other; }"),
            (list{"read x chunk", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { double own = x[i], &r = own; r += 1; (m > 3 ? own : r) = 2;\n"
                    "(own += 1) = 3; y[i] = own; }"),
            (list{"read x chunk", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { struct two { double a, b; } v = {x[i], 1}, w = v;\n"
                    "auto& [a, b] = w; a += 1; y[i] = w.a + b; }"),
            (list{"read x chunk", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { const int& q = i; y[i] = x[q + 1]; }"),
            (list{"read x whole", "write y chunk"}));
}

/// An index of a loop inside that may leave its range is not one that is known.
TEST(accesses, by_indices_that_keep_to_their_range) {
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) for (int j = 0; j != m; ++j) y[i * m + j] = 1;"),
            (list{"write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) for (int j = 0; j < m; j += 2) y[i * m + j] = 1;"),
            (list{"update y chunk"}));
  for (const char* loop :
       {"for (int j = 0; j != m; j += 2)", "for (int j = 0; j < m; j += n)", "for (short j = 0; j < m; ++j)",
        "for (int j = 0; j != 8; --j)", "for (int j = 0; j < 2.5; ++j)", "for (int j = 0; j < 0.5f * m; ++j)",
        "for (unsigned j = 1; j < n; --j)", "for (unsigned j = 0; j < -1; ++j)", "for (int j = 0.5 * m; j < m; ++j)"})
    for (const char* subscript : {"i * m + j", "i + j"})  // which has no rows to stay in
      EXPECT_EQ(uses_of(std::string("for (int i = 0; i < n; ++i) ") + loop + " y[i] += x[" + subscript + "];"),
                (list{"read x whole", "update y chunk"}))
          << loop << " " << subscript;
}

/// Variables of the body are not those that they hide.
TEST(accesses, by_names_that_hide_others) {
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { double t = 0; for (int i = 0; i < 4; ++i) t += x[i]; y[i] = t; }"),
            (list{"read x whole", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { const int q = m; int m = k[i]; ++m;\n"
                    "for (int j = 0; j < m; ++j) y[i] += x[i * q + j]; }"),
            (list{"read k chunk", "read x whole", "update y chunk"}));
}

TEST(accesses, what_an_iteration_wrote_itself_is_not_read_from_before) {
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { x[i] = i; y[i] = x[i] * x[i]; }"),
            (list{"write x chunk", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { y[i] = x[i]; x[i] = i; }"),
            (list{"update x chunk", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) { if (n > 3) x[i] = i; y[i] = x[i]; }"),
            (list{"update x chunk", "write y chunk"}));
  const std::string row = "for (int i = 0; i < n; ++i) { for (int j = 0; j < m; ++j) ";
  EXPECT_EQ(uses_of(row + "x[i * m + j] = j; for (int k = 1; k < m; ++k) y[i * m + k] = x[i * m + k - 1]; }"),
            (list{"write x chunk", "update y chunk"}));
  EXPECT_EQ(uses_of(row + "{ x[i * m + j] = j; y[i * m + j] = x[i * m + j]; } }"),
            (list{"write x chunk", "write y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) for (int j = 0; j < 8; ++j) { z[i][j] = j; y[i * 8 + j] = z[i][0]; }"),
            (list{"update z chunk", "write y chunk"}));
}

TEST(accesses, of_collapsed_loops) {
  const std::string loops = "for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) ";
  EXPECT_EQ(uses_of(loops + "y[i * m + j] = x[i * m + j] + x[j];", "collapse(2)"),
            (list{"read x whole", "write y chunk"}));
  EXPECT_EQ(uses_of(loops + "{ for (int k = 0; k < 3; ++k) y[(i * m + j) * 3 + k] += k; }", "collapse(2)"),
            (list{"update y chunk"}));
  EXPECT_EQ(uses_of("for (int i = 0; i < n; ++i) for (int j = 0; j < 8; ++j) z[i][j] = j;", "collapse(2)"),
            (list{"write z chunk"}));
}

TEST(accesses, in_order_an_array_is_whole) {
  EXPECT_EQ(uses_of("for (int i = 1; i < n; ++i) x[i] = x[i - 1];", "exec_pol(any)"), (list{"update x whole"}));
}

TEST(kernels, plain_arithmetic_has_one_and_a_call_has_none) {
  const auto plain = translate(
      "#include <math.h>\nvoid p(double* x, unsigned n, bool b) {\n#pragma gecko region\n"
      "for (unsigned i = 0; i < n; ++i) { if (b) continue; x[i] = sqrt(x[i]) + i / 2 * 1.5f; }\n"
      "#pragma gecko region end\n}\n");
  EXPECT_EQ(plain.code, 0) << plain.messages;
  EXPECT_EQ(nlohmann::json::parse(plain.json)["regions"][0]["devices"], true);
  EXPECT_THAT(plain.text, HasSubstr("sqrt((double)(x_[((unsigned int)i_)]))"));
  EXPECT_THAT(plain.text, HasSubstr("1.5f"));
  EXPECT_THAT(plain.text, HasSubstr("while (0);"));
  const auto call = translate(
      "double f(double);\nvoid p(double* x, int n) {\n#pragma gecko region\n"
      "for (int i = 0; i < n; ++i) x[i] = f(x[i]);\n#pragma gecko region end\n}\n");
  EXPECT_EQ(call.code, 0);
  EXPECT_THAT(call.messages,
              HasSubstr("4:36: remark: this region runs on the host alone: no kernel has a call of 'f'"));
  EXPECT_EQ(nlohmann::json::parse(call.json)["regions"][0]["host_alone"], "a call of 'f'");
  EXPECT_THAT(call.text, Not(HasSubstr("with_kernel")));
}

/// What C reads otherwise than C++ is not in a kernel, or is written as it is meant.
TEST(kernels, are_c) {
  const auto kernel_of = [](const std::string& body) {
    const auto made = translate(
        "void p(double* x, int* k, int n, unsigned u) {\n#pragma gecko region\n"
        "for (int i = 0; i < n; ++i) { " +
        body + " }\n#pragma gecko region end\n}\n");
    EXPECT_EQ(made.code, 0) << made.messages;
    const std::size_t at = made.text.find("R\"kernel("), end = made.text.find(")kernel\"", at);
    return at == std::string::npos ? made.messages : made.text.substr(at, end - at);
  };
  EXPECT_THAT(kernel_of("x[i] = - -x[i];"), HasSubstr("x_[i_] = - -x_[i_];"));
  EXPECT_THAT(kernel_of("x[i] = i - 1 < u;"), HasSubstr("((unsigned int)(i_ - 1)) < ((unsigned int)u_)"));
  for (const char* body :
       {"int a = 0, b = 0; (n > 3 ? a : b) = i; x[i] = a;", "int a = 0, b = 0; (++b, a) = i; x[i] = a;",
        "int a = 0; (a = 2) += i; x[i] = a;", "int a = 0; ++++a; x[i] = a;"})
    EXPECT_THAT(kernel_of(body), HasSubstr("no kernel has an assignment to what is neither a variable nor an element"))
        << body;
  EXPECT_THAT(kernel_of("int a = 0; (int&)a = i; x[i] = a;"), HasSubstr("no kernel has"));
  EXPECT_THAT(kernel_of("bool a = true; a |= k[i]; x[i] = a;"), HasSubstr("no kernel has a change of a truth value"));
}

TEST(kernels, arrays_of_an_iteration_have_initialisers) {
  const auto made = translate(
      "void p(double* x, int n, const char* t) {\n#pragma gecko region\n"
      "for (int i = 0; i < n; ++i) { double own[3] = {1, 2}; int none[2] = {}; x[i] = own[i % 3] + none[0]; }\n"
      "#pragma gecko region end\n#pragma gecko region\n"
      "for (int i = 0; i < n; ++i) { unsigned char w[] = \"ab\"; x[i] = w[i % 2]; }\n#pragma gecko region end\n}\n");
  ASSERT_EQ(made.code, 0) << made.messages;
  EXPECT_THAT(made.text, HasSubstr("double own_[3] = {"));
  EXPECT_THAT(made.text, HasSubstr("int none_[2] = {0};"));
  EXPECT_THAT(made.messages, HasSubstr("6:45: remark: this region runs on the host alone: no kernel has this "
                                       "initialiser of 'w'"));
}

TEST(lines, errors_of_compilers_are_in_the_source) {
  const auto made = translate(
      "void p(double* x, int n) {\n#pragma gecko region\n  for (int i = 0; i < n;\n       ++i) {\n"
      "    x[i] = 1;\n  }\n#pragma gecko region end\n  int after;\n}\n");
  ASSERT_EQ(made.code, 0) << made.messages;
  EXPECT_THAT(made.text, HasSubstr("t.cpp\"\n            {\n    x[i] = 1;\n  }\n"));
  EXPECT_THAT(made.text, HasSubstr("#line 4 \""));
  EXPECT_THAT(made.text, HasSubstr("\n  int after;\n}\n"));
}

/// Bounds, firsts and steps keep the types that they have in the program.
TEST(loops, have_the_types_of_the_program) {
  const auto head_of = [](const std::string& loop) {
    const auto made = translate(
        "struct few { unsigned n : 3; };\nvoid p(double* x, int n, unsigned u, few f, const float& r) {\n"
        "#pragma gecko region\n" +
        loop + " x[i] = 1;\n#pragma gecko region end\n}\n");
    const std::size_t at = made.text.find("loop<"), end = made.text.find(")), ", at);
    return at == std::string::npos ? made.messages : made.text.substr(at, end - at);
  };
  const std::string test = "::tessera::directives::loop_test::", step = "::tessera::directives::loop_step::";
  EXPECT_EQ(head_of("for (int i = 0; i < 0.5 * n; ++i)"),
            "loop<int>({\"i\", 4, 17}, 0, " + test + "less, +(0.5 * n), " + step + "add, +(1)");
  EXPECT_EQ(head_of("for (char16_t i(u); r >= i; i += f.n)"),
            "loop<char16_t>({\"i\", 4, 21}, u, " + test + "up_to, +(r), " + step + "add, +(f.n)");
  EXPECT_EQ(head_of("for (unsigned i = n; i != u; i = i - n)"),
            "loop<unsigned int>({\"i\", 4, 22}, n, " + test + "differs, +(u), " + step + "subtract, +(n)");
  EXPECT_EQ(head_of("for (long i{}; -1 < i; i--)"),
            "loop<long>({\"i\", 4, 16}, {}, " + test + "greater, +(-1), " + step + "subtract, +(1)");
}

/// An object is refused as one where it is read too.
TEST(objects, are_no_arrays) {
  const auto made = translate(
      "#include <vector>\nvoid p(double* y, int n) {\n  std::vector<double> x(n);\n  struct { double a; void f(); } "
      "s;\n"
      "#pragma gecko region\n  for (int i = 0; i < n; ++i) y[i] = x[i];\n#pragma gecko region end\n}\n");
  EXPECT_EQ(made.code, 4);
  EXPECT_THAT(made.messages, HasSubstr("t.cpp:6:38: error: 'x' is an object, which a region does not copy"));
  EXPECT_THAT(made.messages,
              HasSubstr("note: register its elements: take x.data() into a pointer in front of the region"));
}

/// What stands for a variable in the body has its plain name.
TEST(names, are_those_of_one_variable) {
  const auto body = [](const std::string& text) {
    return translate(
        "double s = 1, *x;\nnamespace a { double s = 2; double z[8][4]; }\nvoid p(double* y, int n) {\n"
        "#pragma gecko region\n  for (int i = 0; i < n; ++i) { " +
        text + " }\n#pragma gecko region end\n}\n");
  };
  const auto both = body("double s = 2; y[i] = ::s + s;");
  EXPECT_EQ(both.code, 4);
  EXPECT_THAT(both.messages, HasSubstr("t.cpp:5:54: error: 's' is the name of two variables in this loop"));
  EXPECT_EQ(body("y[i] = ::s + a::s;").code, 4);
  const auto one = body("::x[i] = a::z[i][2] * a::s;");
  EXPECT_EQ(one.code, 0) << one.messages;
  EXPECT_THAT(one.text, HasSubstr("{ x[i] = z(i, 2) * s; }"));
  EXPECT_THAT(one.text, HasSubstr("array<2>(&a::z[0][0], 4, \"z\")"));
  EXPECT_THAT(one.text, HasSubstr("array(::x, 1, \"x\")"));
  EXPECT_THAT(one.text, HasSubstr("[s = a::s]"));
}

/// Flags as a build has them.
TEST(command, reads_the_flags_of_a_build) {
  const plugin_test::folder folder;
  const std::string flags = (folder.path() / "flags").string();
  std::ofstream(flags)
      << "-Wall\n-Werror\n-std=gnu++23\n-fno-tree-pta\nSHELL:-DA=1 -DB=2\n-fopenmp\n\n-pedantic-errors\n";
  const auto made = translate(
      "#if __cplusplus <= 202002L || A + B != 3 || !defined _OPENMP\n#error \"a flag is missing\"\n#endif\n"
      "void p() { int unused; }\n",
      " --flags '" + flags + "'");
  EXPECT_EQ(made.code, 0) << made.messages;
  EXPECT_THAT(made.messages, HasSubstr("remark: Clang does not know -fno-tree-pta, which it reads"));
  EXPECT_THAT(made.messages, Not(HasSubstr("warning")));
  EXPECT_EQ(run("x.cpp -o - --flags /nowhere/flags").code, 2);
}

/// Macros of the program are not those words of the translation that are spelt as they are.
TEST(macros, of_the_program_do_not_touch_the_translation) {
  const auto made = translate(
      "#define chunk 64\n#define int64_t long\nvoid p(double* x, int n) {\n#pragma gecko region\n"
      "for (int i = 0; i < n - chunk; ++i) x[i] = chunk;\n#pragma gecko region end\n#undef chunk\n#pragma gecko "
      "region\n"
      "for (int i = 0; i < n; ++i) x[i] = 1;\n#pragma gecko region end\n}\n");
  ASSERT_EQ(made.code, 0) << made.messages;
  EXPECT_THAT(made.text, HasSubstr("#undef chunk\n#line 5 "));
  EXPECT_THAT(made.text, HasSubstr("#pragma pop_macro(\"chunk\")\n"));
  const std::size_t behind =
      made.text.rfind("#undef chunk\n#pragma gecko") == std::string::npos ? made.text.rfind("t.cpp:8") : 0;
  EXPECT_EQ(made.text.find("push_macro(\"chunk\")", behind), std::string::npos) << "it is no macro there";
  const auto of_command = translate("void p(double* x) {\n#pragma gecko memory free(x)\n}\n", " -- -Dfree=3");
  EXPECT_THAT(of_command.text,
              HasSubstr("#undef free\n#include <tessera/directives.hpp>\n#pragma pop_macro(\"free\")"));
}

TEST(command, help_names_every_directive) {
  const outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  for (const char* word : {"#pragma gecko memory unregister(x)", "#pragma pointerchain declare", "--output", "--json",
                           "--depfile", "--no-remarks", "Exit codes", "Example:"})
    EXPECT_THAT(help.messages, HasSubstr(word));
}

TEST(command, mistakes) {
  EXPECT_EQ(run("").code, 2);
  EXPECT_EQ(run("missing.cpp -o out.cpp").code, 2);
  const std::string source = TESSERA_SOURCE_DIR "/tests/directives/programs/free.cpp";
  const outcome same = run("'" + source + "' -o '" + source + "'");
  EXPECT_EQ(same.code, 2);
  EXPECT_THAT(same.messages, HasSubstr("would be overwritten"));
  EXPECT_EQ(run("'" + source + "' -o /nowhere/out.cpp").code, 11);
  const outcome unwritten = run("'" + source + "' -o /dev/null --depfile /nowhere/d");
  EXPECT_EQ(unwritten.code, 11);
  EXPECT_THAT(unwritten.messages,
              HasSubstr("cannot write /nowhere/d: No such file or directory\n  hint: check that the folder exists"));
  const auto wrong = translate("void p() { int i = \"\"; }\n");
  EXPECT_EQ(wrong.code, 4);
  EXPECT_THAT(wrong.messages, HasSubstr("t.cpp:1:16: error: cannot initialize"));
}

/// Nothing that is read is written over, and no output by another one.
TEST(command, keeps_what_it_reads) {
  const plugin_test::folder folder;
  const std::string at = folder.path().string() + "/", header = folder.write("part.h", "int part;\n");
  const std::string source = folder.write("whole.cpp", "#include \"part.h\"\nint main() {}\n");
  const std::string flags = folder.write("flags", "-Wall\n");
  std::filesystem::create_symlink(source, at + "other.cpp");
  std::filesystem::create_symlink("new.cpp", at + "link");
  const std::string ok = " -o '" + at + "new.cpp'";
  for (const std::string& kept : {source, header, flags, at + "other.cpp"})
    for (const std::string& words :
         {" -o '" + kept + "'", ok + " --json '" + kept + "'", ok + " --depfile '" + kept + "'"}) {
      const std::string before = directive_test::contents(kept);
      const outcome refused = run("'" + source + "' --flags '" + flags + "'" + words);
      EXPECT_EQ(refused.code, 2) << words;
      EXPECT_THAT(refused.messages, HasSubstr("would be overwritten")) << words;
      EXPECT_EQ(directive_test::contents(kept), before) << words;
      EXPECT_FALSE(std::filesystem::exists(at + "new.cpp")) << words;
    }
  for (const std::string& words : {ok + " --json '" + at + "./new.cpp'", ok + " --depfile '" + at + "link'",
                                   ok + " --json '" + at + "j' --depfile '" + at + "j'"}) {
    const outcome refused = run("'" + source + "'" + words);
    EXPECT_EQ(refused.code, 2) << words;
    EXPECT_THAT(refused.messages, HasSubstr("would both be written to")) << words;
  }
  EXPECT_THAT(run("'" + source + "' -o - --json -").messages, HasSubstr("would both be written to standard output"));
  const outcome done = run("'" + source + "'" + ok + " --depfile '" + at + "d'");
  EXPECT_EQ(done.code, 0) << done.messages;
  const std::string read = directive_test::contents(at + "d");
  EXPECT_THAT(read, testing::StartsWith(at + "new.cpp:"));
  EXPECT_THAT(read, testing::AllOf(HasSubstr(source), HasSubstr(header)));
}

const std::string house =
    " -- -Wall -Wextra -Wpedantic -Wshadow -Werror -I'" TESSERA_SOURCE_DIR "' -I'" TESSERA_SOURCE_DIR
    "/include' -I'" TESSERA_SOURCE_DIR "/libraries/sparse/interface' -I'" TESSERA_SOURCE_DIR "/core/plugin/abi'";

TEST(clang, reads_the_public_headers) {
  std::string all;
  const std::filesystem::path headers = TESSERA_SOURCE_DIR "/include/tessera";
  for (const auto& header : std::filesystem::recursive_directory_iterator(headers))
    if (header.is_regular_file())
      all += "#include <tessera/" + std::filesystem::relative(header.path(), headers).string() + ">\n";
  ASSERT_THAT(all, HasSubstr("<tessera/region.hpp>"));
  const auto made = translate(all + "int unused;\n", house);
  EXPECT_EQ(made.code, 0) << made.messages;
}

class clang_reads : public testing::TestWithParam<std::string> {};
TEST_P(clang_reads, an_example) {
  const outcome made = run("'" TESSERA_SOURCE_DIR "/examples/" + GetParam() + "/main.cpp' -o /dev/null" + house +
                           " '-DEXAMPLE_IMAGE=\"\"'");
  EXPECT_EQ(made.code, 0) << made.messages;
}
std::vector<std::string> examples() {
  std::vector<std::string> found;
  for (const auto& one : std::filesystem::directory_iterator(TESSERA_SOURCE_DIR "/examples"))
    if (std::filesystem::exists(one.path() / "main.cpp")) found.push_back(one.path().filename());
  std::ranges::sort(found);
  return found;
}
INSTANTIATE_TEST_SUITE_P(all, clang_reads, testing::ValuesIn(examples()), [](const auto& of) { return of.param; });

}  // namespace
