// What the translator refuses: message, line and column, and the hint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/directives/translate.hpp"

namespace {

using directive_test::translate;
using testing::HasSubstr;

/// A source that is refused.
struct refusal {
  const char* name;
  const char* source;   ///< statements, from line 4 on
  const char* message;  ///< "line:column: error: ..."
  const char* hint;     ///< of the note; "": none
};
void PrintTo(const refusal& r, std::ostream* to) { *to << r.name; }

class refused : public testing::TestWithParam<refusal> {};

TEST_P(refused, with_message_line_and_column) {
  const refusal& r = GetParam();
  const auto made = translate(std::string("struct pair { double *x; double n; };\n"
                                          "double f(double*); void swap(int&, int&);\n"
                                          "void p(double* x, double* y, int* k, int n, pair* s, double t) {\n") +
                              r.source + "\n}\n");
  EXPECT_EQ(made.code, 4) << made.messages;
  EXPECT_THAT(made.messages, HasSubstr(std::string("t.cpp:") + r.message));
  EXPECT_THAT(made.messages, HasSubstr(r.hint));
  EXPECT_EQ(made.text, "") << "nothing is written";
}

INSTANTIATE_TEST_SUITE_P(
    texts, refused,
    testing::Values(
        refusal{"unknown_directive", "#pragma gecko regoin\n", "4:15: error: unknown directive 'gecko regoin'",
                "note: did you mean 'region'?"},
        refusal{"unknown_clause", "#pragma gecko region axec_pol(any)\n",
                "4:22: error: 'gecko region' has no clause 'axec_pol'", "did you mean 'exec_pol'?"},
        refusal{"unknown_policy",
                "#pragma gecko region exec_pol(\"statik\")\nfor (int i = 0; i < n; ++i) x[i] = 1;\n"
                "#pragma gecko region end",
                "4:31: error: unknown policy 'statik'", "did you mean 'static'?"},
        refusal{"policy_of_another_sum",
                "#pragma gecko region exec_pol(\"percentage:60,30\")\nfor (int i = 0; i < n; ++i) x[i] = 1;\n"
                "#pragma gecko region end",
                "4:31: error: policy percentage: the shares sum to 90, not 100", ""},
        refusal{"policy_without_quotes",
                "#pragma gecko region exec_pol(percentage:[60,30])\nfor (int i = 0; i < n; ++i) x[i] = 1;\n"
                "#pragma gecko region end",
                "4:31: error: policy percentage: the shares sum to 90, not 100", ""},
        refusal{"policy_without_its_list",
                "#pragma gecko region exec_pol(\"range\")\nfor (int i = 0; i < n; ++i) x[i] = 1;\n"
                "#pragma gecko region end",
                "4:31: error: policy range needs a list", "for example range:[1000,24]"},
        refusal{"an_index_that_is_a_truth_value",
                "#pragma gecko region\nfor (bool i = false; i != true; i += 1) x[i] = 1;\n#pragma gecko region end",
                "5:11: error: the loop's index 'i' has type bool, which counts no further than 1", ""},
        refusal{"an_index_of_128_bits",
                "#pragma gecko region\nfor (__int128 i = 0; i < n; ++i) x[i] = 1;\n#pragma gecko region end",
                "5:15: error: the loop's index 'i' has type __int128, which no region counts in", ""},
        refusal{"a_step_that_is_a_fraction",
                "#pragma gecko region\nfor (int i = 0; i < n; i += 1.5) x[i] = 1;\n#pragma gecko region end",
                "5:29: error: the loop's step has type double", "steps of an integer type"},
        refusal{"a_step_of_0",
                "#pragma gecko region\nfor (int i = 0; i < 10; i += 0) x[i] = 1;\n#pragma gecko region end",
                "5:17: error: the loop over 'i' adds 0 to its index and does not end", "a bound that it reaches"},
        refusal{"a_bound_beyond_the_index",
                "#pragma gecko region\nfor (unsigned char i = 0; i < 300; ++i) x[i] = 1;\n#pragma gecko region end",
                "5:27: error: the loop over 'i' does not end before its index wraps around, from 255 to 0",
                "or give it another type"},
        refusal{
            "a_fraction_that_is_not_met",
            "#pragma gecko region\nfor (int i = 0; i != 2.5f; ++i) x[i] = 1;\n#pragma gecko region end",
            "5:17: error: the loop over 'i' does not end before its index leaves the range of its type: 2147483647 is "
            "the last one",
            "a bound that it reaches"},
        refusal{
            "a_head_in_a_macro",
            "#define COND i < n\n#pragma gecko region\nfor (int i = 0; COND; ++i) x[i] = 1;\n#pragma gecko region end",
            "6:17: error: a part of the loop's head is in a macro", "write it out"},
        refusal{"collapsed_loops_with_one_name",
                "#pragma gecko region collapse(2)\nfor (int i = 0; i < n; ++i) for (int i = 0; i < 8; ++i) x[i] = 1;\n"
                "#pragma gecko region end",
                "5:38: error: two of the collapsed loops have an index named 'i'", "a name of its own"},
        refusal{"a_row_that_ends_at_a_fraction",
                "#pragma gecko region collapse(2)\nfor (int i = 0; i < n; ++i) for (int j = 0; j < 2.5; ++j) x[i * 3 + "
                "j] = "
                "1;\n#pragma gecko region end",
                "5:59: error: 'x' is written where other iterations may use it", ""},
        refusal{"an_element_by_a_fraction",
                "#pragma gecko region\nfor (int i = 0; i < n; ++i) { const int q = i * 1.0; x[q] = 1; }\n#pragma gecko "
                "region end",
                "5:54: error: 'x' is written where other iterations may use it", ""},
        refusal{"a_range_with_a_fraction", "#pragma gecko memory allocate(x[0:1.5]) type(double)\n",
                "4:33: error: '1.5' is no whole number", "for example x[0:n]"},
        refusal{"a_range_of_a_variable_with_a_fraction", "#pragma gecko memory allocate(x[0:t]) type(double)\n",
                "4:31: error: 't' is no whole number, its type is double", ""},
        refusal{"a_distance_below_0", "#pragma gecko memory allocate(x[0:n]) type(double) distance(far:-1)\n",
                "4:61: error: distance '-1' above is no whole number from 0 on", "far:n"},
        refusal{"allocated_twice", "#pragma gecko memory allocate(x[0:n], x[0:n]) type(double)\n",
                "4:39: error: 'x' stands here twice", ""},
        refusal{"freed_twice", "#pragma gecko memory free(x, y, x)\n", "4:33: error: 'x' stands here twice", ""},
        refusal{"freed_number", "#pragma gecko memory free(x, t)\n",
                "4:30: error: 't' is no pointer and no array, its type is double", ""},
        refusal{"registered_number", "#pragma gecko memory register(t[0:1]) type(double)\n",
                "4:31: error: 't' is no pointer and no array, its type is double", ""},
        refusal{"copied_number", "#pragma gecko memory copy from(x[0:n]) to(t[0:n])\n",
                "4:43: error: 't' is no pointer and no array, its type is double", ""},
        refusal{"moved_number", "#pragma gecko memory move(n) to(A)\n",
                "4:27: error: 'n' is no pointer and no array, its type is int", ""},
        refusal{"allocated_into_a_constant",
                "double* const c = x;\n#pragma gecko memory allocate(c[0:n]) type(double)\n",
                "5:31: error: the pointer 'c' is constant", "declare it: double* c;"},
        refusal{"cores_below_0", "#pragma gecko loctype name(\"g\") kind(\"cpu\") num_cores(-2)\n",
                "4:55: error: 'num_cores' is -2 and wants a whole number from 0 on", ""},
        refusal{"start_below_0", "#pragma gecko location name(\"g\") type(\"cpu\") start(-1)\n",
                "4:52: error: 'start' is -1 and wants a whole number from 0 on", ""},
        refusal{"rows_of_variable_length",
                "double a[40][n];\n#pragma gecko region\nfor (int i = 0; i < 40; ++i) for (int j = 0; j < n; ++j) "
                "a[i][j] = 1;\n"
                "#pragma gecko region end",
                "6:58: error: the rows of 'a' have a length that is a variable", "a[i * columns + j]"},
        refusal{"rows_of_variable_length_registered",
                "double a[40][n];\n#pragma gecko memory register(a[0:40][0:n]) type(double)",
                "5:31: error: the rows of 'a' have a length that is a variable", "by a pointer to the first one"},
        refusal{"missing_clause", "#pragma gecko memory allocate(x[0:n])\n",
                "4:15: error: 'gecko memory allocate' wants the clause 'type'", "for example #pragma gecko memory"},
        refusal{"unknown_variable", "#pragma gecko memory allocate(z[0:n]) type(double)\n",
                "4:31: error: there is no variable 'z' here", "declare it: double* z;"},
        refusal{"another_type", "#pragma gecko memory allocate(x[0:n]) type(float)\n",
                "4:31: error: 'x' points to double, and its type is float here", ""},
        refusal{"continued_line", "#pragma gecko \\\n  region att(A)\n",
                "5:10: error: 'gecko region' has no clause 'att'", "did you mean 'at'?"},
        refusal{"chain_without_type",
                "#pragma pointerchain region begin declare(s->x)\n#pragma pointerchain region end",
                "4:43: error: the type of the chain 's->x' is missing", "for example s->x{double*}"},
        refusal{
            "chain_of_another_type",
            "#pragma pointerchain region begin declare(s->x{float*})\ns->x[0] = 1;\n#pragma pointerchain region end",
            "4:43: error: the chain 's->x' has type double *, not float*", ""},
        refusal{"chain_that_begins_elsewhere",
                "#pragma pointerchain region begin declare(s->x[1:n]{double*})\n#pragma pointerchain region end",
                "4:47: error: the chain 's->x' begins at 1", "its ranges begin at 0"},
        refusal{"chain_of_a_number_with_a_range",
                "#pragma pointerchain region begin declare(s->n[0:n]{double})\n#pragma pointerchain region end",
                "4:47: error: the chain 's->n' has a range, and no pointer's type", "s->n[0:n]{double*}"},
        refusal{"chain_of_bits",
                "struct bits { int n : 4; } b, *p = &b;\n#pragma pointerchain region begin declare(p->n{int})\n"
                "  p->n = 1;\n#pragma pointerchain region end",
                "6:6: error: 'n' is a bit-field, which no chain follows", "copy it into a variable"},
        refusal{"made_again_without_distance", "#pragma gecko memory allocate(x[0:n]) type(double) realloc\n",
                "4:52: error: 'realloc' without 'distance'", "for example distance(near) realloc"},
        refusal{"made_again_and_kept",
                "#pragma gecko memory allocate(x[0:n]) type(double) distance(near) realloc auto\n",
                "4:75: error: 'realloc' and 'auto' exclude each other", "'auto' is what is done without both"},
        refusal{"too_many_loops",
                "#pragma gecko region collapse(4)\nfor (int i = 0; i < n; ++i) x[i] = 1;\n#pragma gecko region end",
                "4:31: error: collapse of '4' loops", "a region has 1, 2 or 3"}),
    [](const auto& of) { return of.param.name; });

/// Loops that cannot be collapsed.
INSTANTIATE_TEST_SUITE_P(
    collapse, refused,
    testing::Values(
        refusal{"no_second_loop",
                "#pragma gecko region collapse(2)\nfor (int i = 0; i < n; ++i) x[i] = 1;\n#pragma gecko region end",
                "5:29: error: this is not one loop, which 'collapse' wants here",
                "each is all that the one around it has"},
        refusal{"something_in_between",
                "#pragma gecko region collapse(2)\nfor (int i = 0; i < n; ++i) {\n  y[i] = 0;\n"
                "  for (int j = 0; j < 4; ++j) x[i * 4 + j] = 1;\n}\n#pragma gecko region end",
                "5:29: error: this is not one loop", ""},
        refusal{"a_triangle",
                "#pragma gecko region collapse(2)\nfor (int i = 0; i < n; ++i)\n"
                "  for (int j = 0; j < i; ++j) x[i * n + j] = 1;\n#pragma gecko region end",
                "6:23: error: the range of a collapsed loop depends on 'i'", "collapse fewer loops"},
        refusal{"steps_of_two",
                "#pragma gecko region collapse(2)\nfor (int i = 0; i < n; ++i)\n"
                "  for (int j = 0; j < 4; j += 2) x[i * 4 + j] = 1;\n#pragma gecko region end",
                "6:26: error: a collapsed loop counts in another way than up by one", "write ++i"},
        refusal{"iterations_that_meet",
                "#pragma gecko region collapse(2)\nfor (int i = 0; i < n; ++i)\n"
                "  for (int j = 0; j < 4; ++j) x[i] += y[i * 4 + j];\n#pragma gecko region end",
                "6:31: error: 'x' is written where other iterations may use it: with collapse, each element belongs to",
                "collapse fewer loops"},
        refusal{"the_next_element_is_read",
                "#pragma gecko region collapse(2)\nfor (int i = 0; i < n; ++i)\n"
                "  for (int j = 1; j < 4; ++j) x[i * 4 + j] = x[i * 4 + j - 1];\n#pragma gecko region end",
                "6:31: error: 'x' is written where other iterations may use it: with collapse", ""}),
    [](const auto& of) { return of.param.name; });

INSTANTIATE_TEST_SUITE_P(
    structure, refused,
    testing::Values(
        refusal{"no_end", "#pragma gecko region\nfor (int i = 0; i < n; ++i) x[i] = 1;",
                "4:1: error: this region has no end", "write #pragma gecko region end"},
        refusal{"no_begin", "#pragma gecko region end\n", "4:1: error: there is no region to end", ""},
        refusal{"nested", "#pragma gecko region\n#pragma gecko region\n", "5:1: error: a region inside of another one",
                ""},
        refusal{"no_loop", "#pragma gecko region\n#pragma gecko region end\n", "4:1: error: this region has no loop",
                ""},
        refusal{"no_for", "#pragma gecko region\n  x[0] = 1;\n#pragma gecko region end",
                "5:3: error: this statement of a region is no 'for' loop", "a region holds its loops alone"},
        refusal{"end_in_another_block",
                "#pragma gecko region\nfor (int i = 0; i < n; ++i) x[i] = 1;\n{\n#pragma gecko region end\n}",
                "7:1: error: this region begins in another block", ""},
        refusal{"in_a_statement", "if (n > 0)\n#pragma gecko pause\n  x = y;",
                "5:1: error: a directive inside of a statement", "between the statements of a block"},
        refusal{"outside", "}\n#pragma gecko pause\nvoid q() {", "5:1: error: a directive outside of a function", ""},
        refusal{"in_a_template", "}\ntemplate <class T> void q() {\n#pragma gecko pause",
                "6:1: error: a directive in a template is not translated", "in a function that is none"},
        refusal{"in_a_constructor_of_a_template",
                "}\ntemplate <class T> struct s {\n  s() {\n#pragma gecko pause\n  }\n};\nvoid r() {",
                "7:1: error: a directive in a template is not translated", ""},
        refusal{"in_a_generic_lambda", "auto g = [](auto m) {\n#pragma gecko pause\n  (void)m;\n};",
                "5:1: error: a directive in a template is not translated", ""},
        refusal{"chain_without_end", "#pragma pointerchain region begin declare(s->x{double*})\n s->x[0] = 1;",
                "4:1: error: this region of pointerchain has no end", ""}),
    [](const auto& of) { return of.param.name; });

TEST(directives, in_pragma_operators_are_refused) {
  const auto made = translate("void p() {\n_Pragma(\"gecko pause\")\n}\n");
  EXPECT_EQ(made.code, 4);
  EXPECT_THAT(made.messages, HasSubstr("error: a directive in _Pragma or in a macro is not translated"));
  EXPECT_THAT(made.messages, HasSubstr("write it as #pragma"));
}

TEST(directives, of_a_misspelt_family_are_warned_of) {
  const auto made = translate(
      "#pragma once_more\n#pragma omp parallel\n#pragma GCC ivdep\nint main() {\n#  pragma gecco region\n}\n");
  EXPECT_EQ(made.code, 0);
  EXPECT_THAT(made.messages, HasSubstr("t.cpp:5:11: warning: unknown pragma 'gecco', which is skipped: did you mean "
                                       "'gecko'?"));
  EXPECT_THAT(made.messages, testing::Not(HasSubstr("'omp'")));
  EXPECT_THAT(made.messages, testing::Not(HasSubstr("'once_more'")));
}

TEST(directives, in_capital_letters_are_warned_of) {
  EXPECT_THAT(translate("int main() {\n#pragma GECKO region\n}\n").messages,
              HasSubstr("t.cpp:2:9: warning: unknown pragma 'GECKO', which is skipped: did you mean 'gecko'?"));
}

/// A reduction that none of the region's loops has a step of.
TEST(directives, reductions_without_a_step_are_warned_of) {
  const auto region = [](const std::string& second) {
    return translate(
        "void p(double* x, int n, double t) {\n#pragma gecko region reduction(+:t)\n"
        "for (int i = 0; i < n; ++i) x[i] = i;\n" +
        second + "\n#pragma gecko region end\n}\n");
  };
  const auto none = region("");
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.messages, HasSubstr("t.cpp:2:34: warning: the region has no step of the reduction of 't'"));
  EXPECT_THAT(none.text, testing::Not(HasSubstr("region_result")));
  const auto one = region("for (int i = 0; i < n; ++i) t += i;");
  EXPECT_THAT(one.messages, testing::Not(HasSubstr("no step")));
  EXPECT_THAT(one.text, HasSubstr("region_result"));
}

TEST(directives, in_headers_are_refused) {
  const plugin_test::folder folder;
  const std::string header = folder.write("loops.hpp",
                                          "inline void p(double* x, int n) {\n#pragma gecko region\n"
                                          "for (int i = 0; i < n; ++i) x[i] = 1;\n#pragma gecko region end\n}\n");
  const auto made = translate("#include \"" + header + "\"\nvoid q() {}\n");
  EXPECT_EQ(made.code, 4);
  EXPECT_THAT(made.messages, HasSubstr("loops.hpp:2:9: error: a directive in a header is not translated"));
  EXPECT_THAT(made.messages, HasSubstr("directives stand in the translated source"));
}

#define REGION "#pragma gecko region\n"
#define END "\n#pragma gecko region end"
INSTANTIATE_TEST_SUITE_P(
    loops, refused,
    testing::Values(refusal{"index_from_outside", REGION "int i;\nfor (i = 0; i < n; ++i) x[i] = 1;" END,
                            "5:1: error: this statement of a region is no 'for' loop", ""},
                    refusal{"no_declaration", "int i;\n" REGION "for (i = 0; i < n; ++i) x[i] = 1;" END,
                            "6:1: error: the loop does not begin with a declaration of its index",
                            "a region wants for (int i"},
                    refusal{"index_of_no_integer", REGION "for (double t = 0; t < n; ++t) x[0] = 1;" END,
                            "5:13: error: the loop's index 't' has type double, which is no integer type",
                            "a region wants for (int i"},
                    refusal{"condition", REGION "for (int i = 0; x[i] < n; ++i) x[i] = 1;" END,
                            "5:17: error: the loop's condition does not compare its index with a bound", ""},
                    refusal{"product", REGION "for (int i = 1; i < n; i *= 2) x[i] = 1;" END,
                            "5:24: error: the loop does not add a step to its index", ""},
                    refusal{"away", REGION "for (int i = 0; i < n; --i) x[i] = 1;" END,
                            "5:24: error: the loop's step leads away from its bound", ""},
                    refusal{"changed_index", REGION "for (int i = 0; i < n; ++i) { x[i] = 1; i++; }" END,
                            "5:1: error: the loop changes its index in its body", ""},
                    refusal{"break", REGION "for (int i = 0; i < n; ++i) if (x[i] > 0) break;" END,
                            "5:43: error: 'break' leaves the loop of a region", "'continue' ends one of them"},
                    refusal{"return", REGION "for (int i = 0; i < n; ++i) return;" END,
                            "5:29: error: 'return' leaves the loop of a region", ""}),
    [](const auto& of) { return of.param.name; });

INSTANTIATE_TEST_SUITE_P(
    races, refused,
    testing::Values(
        refusal{"scalar", REGION "for (int i = 0; i < n; ++i) t += x[i];" END,
                "5:29: error: 't' is written by all iterations at once", "add reduction(+:t) to the region"},
        refusal{"scalar_by_reference",
                "auto g = [](double& v) { v = 1; };\n(void)g;\n" REGION
                "for (int i = 0; i < n; ++i) { ++t; x[i] = 1; }" END,
                "7:33: error: 't' is written by all iterations at once", ""},
        refusal{"address", REGION "for (int i = 0; i < n; ++i) x[i] = f(&t);" END,
                "5:39: error: 't' is written by all iterations at once", ""},
        refusal{"static_local", REGION "for (int i = 0; i < n; ++i) { static int c; x[i] = 1; }" END,
                "5:42: error: 'c' is static: all iterations share it", ""},
        refusal{"neighbour", REGION "for (int i = 1; i < n; ++i) x[i] = x[i - 1];" END,
                "5:36: error: 'x' is written by other iterations while this one reads it: this is -1 rows",
                "exec_pol(any)"},
        refusal{"hidden_index",
                REGION "for (int i = 0; i < n; ++i) { y[i] = 0; for (int i = 0; i < 3; ++i) x[i] = 1; }" END,
                "5:69: error: 'x' is written where other iterations may use it", "exec_pol(any)"},
        refusal{"index_of_few_bits", REGION "for (int i = 0; i < n; ++i) x[(unsigned char)i] += 1;" END,
                "5:29: error: 'x' is written where other iterations may use it", "exec_pol(any)"},
        refusal{"neighbour_by_reference",
                REGION "for (int i = 0; i < n; ++i) { double& next = x[i + 1]; next = y[i]; }" END,
                "5:46: error: 'x' is written where other iterations may use it: this is 1 rows", "exec_pol(any)"},
        refusal{"row_of_another_iteration", REGION "for (int i = 5; i < n; ++i) x[i] -= x[4];" END,
                "5:37: error: 'x' is written by other iterations while this one reads it", "to another array"},
        refusal{"elements_of_a_structure", REGION "for (int i = 0; i < n; ++i) s[i].n = 1;" END,
                "5:29: error: 's' has elements of type pair, which arrays of regions do not have", "for each member"},
        refusal{"neighbour_behind_a_comma", REGION "for (int i = 0; i < n; ++i) (y[i] = 1, x[i + 1]) = 2;" END,
                "5:40: error: 'x' is written where other iterations may use it: this is 1 rows", ""},
        refusal{"scatter", REGION "for (int i = 0; i < n; ++i) x[k[i]] = 1;" END,
                "5:29: error: 'x' is written where other iterations may use it", "exec_pol(any)"},
        refusal{
            "other_row", REGION "for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) x[i * n + j + 1] = 1;" END,
            "5:57: error: 'x' is written where other iterations may use it: it is not known that the subscript stays "
            "in a row of n elements",
            ""},
        refusal{"through_a_pointer", REGION "for (int i = 0; i < n; ++i) s->n = x[i];" END,
                "5:29: error: a write through a pointer in the loop of a region", "pointerchain"},
        refusal{"pointer_alone", REGION "for (int i = 0; i < n; ++i) x[i] = *(y + i);" END,
                "5:38: error: 'y' is used other than by a subscript", "is y[i]"},
        refusal{"address_of_an_element", REGION "for (int i = 0; i < n; ++i) x[i] = f(&y[i]);" END,
                "5:39: error: 'y' is used other than by a subscript", ""},
        refusal{"pointer_to_a_function", REGION "for (int i = 0; i < n; ++i) x[i] = f(y);" END,
                "5:38: error: 'y' is used other than by a subscript", ""},
        refusal{"chain_without_pointerchain", REGION "for (int i = 0; i < n; ++i) y[i] = s->x[i];" END,
                "5:36: error: 's' is used other than by a subscript",
                "for arrays that chains like s->x lead to there is pointerchain"},
        refusal{"object", "pair o{};\n" REGION "for (int i = 0; i < n; ++i) x[i] = o.n;" END,
                "6:36: error: 'o' is an object, which a region does not copy", ""},
        refusal{"reduction_used", "#pragma gecko region reduction(+:t)\nfor (int i = 0; i < n; ++i) x[i] = t;" END,
                "5:36: error: 't' is a reduction, and used in another way here", ""},
        refusal{"reduction_mixed", "#pragma gecko region reduction(+:t)\nfor (int i = 0; i < n; ++i) t *= x[i];" END,
                "5:29: error: 't' is reduced with + and joined with * here", ""},
        refusal{"reduction_type",
                "bool b = false;\n#pragma gecko region reduction(||:b)\n"
                "for (int i = 0; i < n; ++i) b = b || x[i] > 0;" END,
                "5:35: error: 'b' has type bool, which no reduction has", ""},
        refusal{"reduction_twice",
                "#pragma gecko region reduction(+:t) reduction(min:t)\nfor (int i = 0; i < n; ++i) t += x[i];" END,
                "4:51: error: 't' has a reduction already", "name it once"},
        refusal{"reduction_of_a_constant",
                "const int c = 3;\n#pragma gecko region reduction(+:t, c)\nfor (int i = 0; i < n; ++i) t += x[i];" END,
                "5:37: error: 'c' is constant: no reduction can change it", ""},
        refusal{"reduction_of_truth_values_and_bits",
                "int b = 5;\n#pragma gecko region reduction(&&:b)\n"
                "for (int i = 0; i < n; ++i) { b = b && x[i] > 0; b &= y[i] > 0; }" END,
                "6:50: error: 'b' is joined with &= here, and with && before", "in one way"},
        refusal{"not_in_the_list",
                "#pragma gecko region variable_list(x)\nfor (int i = 0; i < n; ++i) x[i] = y[i];" END,
                "5:36: error: array 'y' is not in the region's variable_list", ""}),
    [](const auto& of) { return of.param.name; });

/// A variable of the body that may change says nothing about a subscript.
INSTANTIATE_TEST_SUITE_P(
    changed_variables, refused,
    testing::Values(
        refusal{
            "by_a_reference", REGION "for (int i = 0; i < n; ++i) { int a = i; int& r = a; r = 7; x[a] += 1; }" END,
            "5:61: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "by_a_reference_to_a_reference",
            REGION "for (int i = 0; i < n; ++i) { int a = i; int& r = a; int& q = r; q = 7; x[a] += 1; }" END,
            "5:73: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "by_a_reference_to_what_is_left",
            REGION "for (int i = 0; i < n; ++i) { int a = i; int&& r = static_cast<int&&>(a); r = 7; x[a] += 1; }" END,
            "5:82: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "in_a_condition",
            REGION "for (int i = 0; i < n; ++i) { int a = i, b = 0; (n > 3 ? a : b) = 7; x[a] += 1; }" END,
            "5:70: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "behind_a_comma", REGION "for (int i = 0; i < n; ++i) { int a = i, b = 0; (++b, a) = 7; x[a] += 1; }" END,
            "5:63: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "twice", REGION "for (int i = 0; i < n; ++i) { int a = i; (a += 1) = 7; x[a] += 1; }" END,
            "5:56: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "and_counted", REGION "for (int i = 0; i < n; ++i) { int a = i; ++(a = 7); x[a] += 1; }" END,
            "5:53: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "by_a_cast", REGION "for (int i = 0; i < n; ++i) { int a = i; (int&)a = 7; x[a] += 1; }" END,
            "5:55: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "by_a_pointer", REGION "for (int i = 0; i < n; ++i) { int a = i; int* r = &a; ++*r; x[a] += 1; }" END,
            "5:61: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "by_a_pointer_to_one_of_two",
            REGION
            "for (int i = 0; i < n; ++i) { int a = i, b = 0; int* r = &(n > 3 ? a : b); *r = 7; x[a] += 1; }" END,
            "5:84: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "by_a_function", REGION "for (int i = 0; i < n; ++i) { int a = i, b = 7; swap(a, b); x[a] += 1; }" END,
            "5:61: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "by_a_member_of_a_structure",
            REGION
            "for (int i = 0; i < n; ++i) { struct by { int& to; }; int a = i; by r{a}; r.to = 7; x[a] += 1; }" END,
            "5:85: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "as_a_part",
            REGION "for (int i = 0; i < n; ++i) { struct two { int a, b; } v = {i, 0}; auto& [a, b] = v; a = 7; x[a] "
                   "+= 1; }" END,
            "5:93: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "in_a_range",
            REGION "for (int i = 0; i < n; ++i) { int a[2] = {i, 0}; for (int& r : a) r = 7; x[a[0]] += 1; }" END,
            "5:74: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "in_a_branch",
            REGION "for (int i = 0; i < n; ++i) { int a = i; if (n > 3) { while (a > 7) --a; } x[a] += 1; }" END,
            "5:76: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "in_a_bound",
            REGION "for (int i = 0; i < n; ++i) { int a = i; for (int j = 0; j < (a = 7); ++j) x[a] += 1; }" END,
            "5:76: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "in_a_step",
            REGION "for (int i = 0; i < n; ++i) { int a = i; for (int j = 0; j < n; j += (a = 7)) x[a] += 1; }" END,
            "5:79: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "the_index_of_a_loop_inside",
            REGION "for (int i = 0; i < n; ++i) { for (int j = 0; j < n; ++j) { int& r = j; r += n; x[i * n + j] += 1; "
                   "} }" END,
            "5:81: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "the_index_of_a_loop_inside_in_a_condition",
            REGION "for (int i = 0; i < n; ++i) { for (int j = 0; j < n; ++j) { (n > 3 ? j : j) += n; x[i * n + j] += "
                   "1; } }" END,
            "5:83: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{"the_bound_of_a_loop_inside",
                REGION "for (int i = 0; i < n; ++i) { int m = n; for (int j = 0; j < m; ++j) { int& r = m; ++r; x[i * "
                       "n + j] += 1; } }" END,
                "5:89: error: 'x' is written where other iterations may use it: it is not known", "exec_pol(any)"}),
    [](const auto& of) { return of.param.name; });

/// Subscripts that are not surely those of the iteration's own row.
INSTANTIATE_TEST_SUITE_P(
    subscripts, refused,
    testing::Values(
        refusal{
            "what_cancels", REGION "for (int i = 0; i < n; ++i) { x[i + k[i] - k[i]] += 1; }" END,
            "5:31: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "what_functions_give_cancels",
            REGION "for (int i = 0; i < n; ++i) { x[i + (int)f(0) - (int)f(0)] += 1; }" END,
            "5:31: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "what_is_caught",
            REGION "for (int i = 0; i < n; ++i) { try { f(0); } catch (int m) { for (int j = 0; j < m; ++j) x[i * m + "
                   "j] += 1; } }" END,
            "5:89: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "steps_that_miss_the_bound",
            REGION "for (int i = 0; i < n; ++i) { for (int j = 0; j != n; j += 2) x[i * n + j] += 1; }" END,
            "5:63: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "steps_of_any_sign",
            REGION "for (int i = 0; i < n; ++i) { for (int j = 0; j < n; j += k[0]) x[i * n + j] += 1; }" END,
            "5:65: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "an_index_of_few_bits_inside",
            REGION "for (int i = 0; i < n; ++i) { for (signed char j = 0; j < n; ++j) x[i * n + j] += 1; }" END,
            "5:67: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "numbers_that_wrap", REGION "for (int i = 0; i < n; ++i) { x[(unsigned)i * 65536U * 65536U] += 1; }" END,
            "5:31: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "a_narrow_number", REGION "for (int i = 0; i < n; ++i) { x[(int)(i * 4294967296L)] += 1; }" END,
            "5:31: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{"behind_a_dimension",
                "double(*z)[8] = nullptr;\n" REGION "for (int i = 0; i < n; ++i) { z[i][8] += 1; }" END,
                "6:31: error: 'z' is written where other iterations may use it: an index is outside of its dimension",
                "exec_pol(any)"},
        refusal{"a_loop_behind_a_dimension",
                "double(*z)[8] = nullptr;\n" REGION
                "for (int i = 0; i < n; ++i) { for (int j = 0; j <= 8; ++j) z[i][j] += 1; }" END,
                "6:60: error: 'z' is written where other iterations may use it: an index is outside of its dimension",
                "exec_pol(any)"},
        refusal{
            "a_half", REGION "for (int i = 0; i < n; ++i) { x[i / 2] += 1; }" END,
            "5:31: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{
            "a_remainder", REGION "for (int i = 0; i < n; ++i) { x[i % 2] += 1; }" END,
            "5:31: error: 'x' is written where other iterations may use it: the subscript has a part that is not known",
            "exec_pol(any)"},
        refusal{"a_square", REGION "for (int i = 0; i < n; ++i) { x[i * i] += 1; }" END,
                "5:31: error: 'x' is written where other iterations may use it: the subscript does not follow the "
                "loop's index",
                "exec_pol(any)"},
        refusal{"from_behind", REGION "for (int i = 0; i < n; ++i) { x[n - i] += 1; }" END,
                "5:31: error: 'x' is written where other iterations may use it: the subscript does not go forward with "
                "the loop's index",
                "exec_pol(any)"},
        refusal{"one_before", REGION "for (int i = 0; i < n; ++i) { x[(unsigned)(i - 1)] += 1; }" END,
                "5:31: error: 'x' is written where other iterations may use it: this is -1 rows", "exec_pol(any)"}),
    [](const auto& of) { return of.param.name; });

/// The index of the loop, too, changes in more ways than one.
INSTANTIATE_TEST_SUITE_P(
    changed_index, refused,
    testing::Values(refusal{"by_a_reference", REGION "for (int i = 0; i < n; ++i) { int& r = i; r = 3; x[i] = 1; }" END,
                            "5:1: error: the loop changes its index in its body",
                            "the iterations of a region are known before it begins"},
                    refusal{"by_a_cast", REGION "for (int i = 0; i < n; ++i) { (int&)i = 3; x[i] = 1; }" END,
                            "5:1: error: the loop changes its index in its body",
                            "the iterations of a region are known before it begins"},
                    refusal{"behind_a_comma", REGION "for (int i = 0; i < n; ++i) { (t, i) = 3; x[i] = 1; }" END,
                            "5:1: error: the loop changes its index in its body",
                            "the iterations of a region are known before it begins"},
                    refusal{"by_a_pointer", REGION "for (int i = 0; i < n; ++i) { int* r = &i; ++*r; x[i] = 1; }" END,
                            "5:1: error: the loop changes its index in its body",
                            "the iterations of a region are known before it begins"},
                    refusal{"by_a_function",
                            REGION "for (int i = 0; i < n; ++i) { int a = 0; swap(i, a); x[i] = 1; }" END,
                            "5:1: error: the loop changes its index in its body",
                            "the iterations of a region are known before it begins"}),
    [](const auto& of) { return of.param.name; });

/// What is written, or leaves the loop, by another way than a name.
INSTANTIATE_TEST_SUITE_P(
    other_ways_to_write, refused,
    testing::Values(
        refusal{"part_of_a_sum", REGION "for (int i = 0; i < n; ++i) { x[i] = (t = 1) = 2; }" END,
                "5:39: error: 't' is written by all iterations at once", "add reduction(+:"},
        refusal{"assigned_twice", REGION "for (int i = 0; i < n; ++i) { (t = 1) = 2; }" END,
                "5:32: error: 't' is written by all iterations at once", "add reduction(+:"},
        refusal{"scalar_by_a_cast", REGION "for (int i = 0; i < n; ++i) { (double&)t = 2; }" END,
                "5:40: error: 't' is written by all iterations at once", "add reduction(+:"},
        refusal{"scalar_by_a_member",
                "struct by { double& to; };\n" REGION "for (int i = 0; i < n; ++i) { by r{t}; r.to = 1; }" END,
                "6:36: error: 't' is written by all iterations at once", "add reduction(+:"},
        refusal{"scalar_by_a_constructor",
                "struct by { by(double&); };\n" REGION "for (int i = 0; i < n; ++i) { by r(t); }" END,
                "6:36: error: 't' is written by all iterations at once", "add reduction(+:"},
        refusal{"element_by_a_constructor",
                "struct by { by(double&); };\n" REGION "for (int i = 0; i < n; ++i) { by r(x[0]); }" END,
                "6:36: error: 'x' is written where other iterations may use it: the subscript does not follow the "
                "loop's index",
                "exec_pol(any)"},
        refusal{"element_by_what_is_left",
                REGION "for (int i = 0; i < n; ++i) { double&& r = static_cast<double&&>(x[0]); r = 1; }" END,
                "5:66: error: 'x' is written where other iterations may use it: the subscript does not follow the "
                "loop's index",
                "exec_pol(any)"},
        refusal{"element_that_was_assigned",
                REGION "for (int i = 0; i < n; ++i) { double& r = (x[0] = 2); r = 1; }" END,
                "5:44: error: 'x' is written where other iterations may use it: the subscript does not follow the "
                "loop's index",
                "exec_pol(any)"},
        refusal{"constant_taken_away",
                REGION "for (int i = 0; i < n; ++i) { const double& r = x[0]; const_cast<double&>(r) = 1; }" END,
                "5:55: error: a write to what a cast makes of something else",
                "write arrays as x[...], and variables of the loop by their names"},
        refusal{"constant_of_a_pointer_taken_away",
                REGION "for (int i = 0; i < n; ++i) { const double& r = t; *(double*)&r = 1; }" END,
                "5:52: error: a write through a pointer in the loop of a region", "pointerchain"},
        refusal{"address_of_a_reference", REGION "for (int i = 0; i < n; ++i) { double& r = x[i]; (&r)[1] = 1; }" END,
                "5:49: error: a write through a pointer in the loop of a region", "pointerchain"},
        refusal{"pointer_from_elsewhere",
                "double* g();\n" REGION "for (int i = 0; i < n; ++i) { double* r = g(); r[0] = i; }" END,
                "6:48: error: a write through a pointer in the loop of a region", "pointerchain"},
        refusal{"pointer_that_changes",
                "double* g();\n" REGION
                "for (int i = 0; i < n; ++i) { double a = 0; double* r = &a; r = g(); *r = i; }" END,
                "6:70: error: a write through a pointer in the loop of a region", "pointerchain"},
        refusal{"pointer_that_is_assigned_to_twice",
                "double* g();\n" REGION
                "for (int i = 0; i < n; ++i) { double own[2], *r = own; (r = own) = g(); *r = i; }" END,
                "6:73: error: a write through a pointer in the loop of a region", "pointerchain"},
        refusal{"pointer_that_a_reference_changes",
                "double* g();\n" REGION
                "for (int i = 0; i < n; ++i) { double own[2], *r = own; double*& q = r; q = g(); *r = i; }" END,
                "6:81: error: a write through a pointer in the loop of a region", "pointerchain"},
        refusal{"result_of_a_function", "double& g(int);\n" REGION "for (int i = 0; i < n; ++i) { g(i) = 1; }" END,
                "6:31: error: a write to what a function gives in the loop of a region",
                "write arrays as x[...], and variables of the loop by their names"},
        refusal{"a_static_member",
                "}\nstruct shared { static int all; };\nvoid q(int n) {\n" REGION
                "for (int i = 0; i < n; ++i) { shared one; one.all = i; }" END,
                "8:43: error: 'all' is static: all iterations share it", "declare a variable in the loop"},
        refusal{"a_local_name_of_a_global", REGION "for (int i = 0; i < n; ++i) { extern int all; all = i; }" END,
                "5:47: error: 'all' is written by all iterations at once", "add reduction(+:"},
        refusal{"a_part_of_something_else",
                "pair o{}; auto [ox, on] = o;\n" REGION "for (int i = 0; i < n; ++i) { x[i] = on; }" END,
                "6:38: error: 'on' is a part of something else, which a region does not copy",
                "copy it into a variable in front of the region"},
        refusal{"assembler", REGION "for (int i = 0; i < n; ++i) { asm(\"\" : \"=m\"(x[0])); }" END,
                "5:31: error: assembler in the loop of a region", "call a function that has it"},
        refusal{"statements_in_an_expression", REGION "for (int i = 0; i < n; ++i) { x[({ 0; })] = 1; }" END,
                "5:33: error: statements in an expression in the loop of a region", "write them in front of it"},
        refusal{"throw", REGION "for (int i = 0; i < n; ++i) { throw 1; }" END,
                "5:31: error: 'throw' leaves the loop of a region",
                "all iterations run, at the same time and in any order"},
        refusal{"a_row_alone",
                "double(*z)[8] = nullptr;\n" REGION "for (int i = 0; i < n; ++i) { auto& row = z[0]; row[1] = i; }" END,
                "6:43: error: 'z' wants 2 subscripts here", "pointerchain"},
        refusal{"parts_of_a_row",
                "double(*z)[8] = nullptr;\n" REGION "for (int i = 0; i < n; ++i) { for (double& e : z[0]) e = i; }" END,
                "6:48: error: 'z' wants 2 subscripts here", "pointerchain"},
        refusal{"reduction_seen",
                "#pragma gecko region reduction(+:t)\n"
                "for (int i = 0; i < n; ++i) { x[i] = (t += 1); }" END,
                "5:39: error: 't' is a reduction, and used in another way here",
                "its value is there behind the region"},
        refusal{"reduction_seen_by_a_condition",
                "#pragma gecko region reduction(+:t)\n"
                "for (int i = 0; i < n; ++i) { if (++t > 3) x[i] = 1; }" END,
                "5:37: error: 't' is a reduction, and used in another way here",
                "its value is there behind the region"},
        refusal{"reduction_by_a_reference",
                "#pragma gecko region reduction(+:t)\n"
                "for (int i = 0; i < n; ++i) { double& r = t; r += x[i]; }" END,
                "5:43: error: 't' is a reduction, and used in another way here",
                "its value is there behind the region"},
        refusal{"reduction_of_bits",
                "int b = 3;\n"
                "#pragma gecko region reduction(&&:b)\n"
                "for (int i = 0; i < n; ++i) { b &= k[i]; }" END,
                "6:31: error: 'b' is a reduction, and used in another way here",
                "its value is there behind the region"},
        refusal{"bound_that_has_the_index", REGION "for (int i = 0; i < n + i; ++i) x[i] = 1;" END,
                "5:25: error: the range of the loop depends on its index",
                "a region wants for (int i = first; i < last; i += step), with <, <=, >, >= or !="},
        refusal{"step_that_has_the_index", REGION "for (int i = 1; i < n; i += i) x[i] = 1;" END,
                "5:29: error: the range of the loop depends on its index",
                "a region wants for (int i = first; i < last; i += step), with <, <=, >, >= or !="},
        refusal{"reduction_that_rounds",
                "int b = 10;\n"
                "#pragma gecko region reduction(*:b)\n"
                "for (int i = 0; i < n; ++i) b *= 2.5;" END,
                "6:34: error: 'b' is an integer, and what is joined with it is not: each step rounds",
                "parts of the loop would round otherwise: make the value an integer, or the variable a double"},
        refusal{"reduction_behind_a_declaration",
                "#pragma gecko region reduction(max:t)\n"
                "for (int i = 0; i < n; ++i) { if (double v = x[i + 1]; v > t) t = v; x[i] = 1; }" END,
                "5:46: error: 'x' is written by other iterations while this one reads it: this is 1 rows",
                "exec_pol(any)"},
        refusal{"bound_that_changes", REGION "for (int i = 0; i < n--; ++i) x[i] = 1;" END,
                "5:21: error: the loop's bound or step changes something",
                "the iterations of a region are known before it begins"},
        refusal{"bound_that_the_body_writes", REGION "for (int i = 0; i < k[0]; ++i) k[i] = 1;" END,
                "5:21: error: the loop's bound or step reads 'k', which its body writes",
                "copy it into a variable in front of the region"},
        refusal{"bound_that_is_a_reduction",
                "#pragma gecko region reduction(+:t)\n"
                "for (int i = 0; i < t; ++i) t += 1;" END,
                "5:21: error: 't' is a reduction, and used in another way here",
                "its value is there behind the region"}),
    [](const auto& of) { return of.param.name; });

}  // namespace
