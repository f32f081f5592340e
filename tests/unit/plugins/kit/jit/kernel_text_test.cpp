// What is read of kernels' texts, and what is made of them.
#include "plugins/kit/jit/kernel_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::kit {
namespace {

TEST(kernel_text, finds_kernels_and_their_parameters) {
  const auto found = find_kernels(R"(
// KERNEL void in_a_comment(int a) {}
/* KERNEL void in_another(int a) {} */
#define MACRO KERNEL void in_a_macro(int a) {}
const char* text = "KERNEL void in_a_text(int a) {";
KERNEL void plain(void) { }
KERNEL void none() { }
KERNEL
void
odd(GLOBAL const double*x,   // the input, of course
    GLOBAL float * RESTRICT y /* , */,
    unsigned long n, float a)
{
}
FUNCTION int helper(int a) { return a; }
KERNEL void declared(int a);
KERNEL int wrong(int a) { return a; }
KERNEL void last(int n){})");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].name, "plain");
  EXPECT_TRUE(found[0].parameters.empty());
  EXPECT_EQ(found[1].name, "none");
  EXPECT_EQ(found[2].name, "odd");
  ASSERT_EQ(found[2].parameters.size(), 4u);
  EXPECT_EQ(found[2].parameters[0].name, "x");
  EXPECT_EQ(found[2].parameters[0].type, "GLOBAL const double *");
  EXPECT_TRUE(found[2].parameters[0].pointer);
  EXPECT_EQ(found[2].parameters[1].name, "y");
  EXPECT_TRUE(found[2].parameters[1].pointer);
  EXPECT_EQ(found[2].parameters[2].type, "unsigned long");
  EXPECT_FALSE(found[2].parameters[2].pointer);
  EXPECT_EQ(found[3].name, "last");
}

TEST(kernel_text, survives_any_text) {
  for (const char* text : {"", "KERNEL", "KERNEL void", "KERNEL void f", "KERNEL void f(", "KERNEL void f(int",
                           "KERNEL void f(int a", "KERNEL void f(,) {", "KERNEL void f(int a)", "\"", "/*", "//", "#",
                           "'", "\\", "KERNEL void 1(int a) {}", "KERNEL void f(int (*a)(int)) {}"}) {
    EXPECT_TRUE(find_kernels(text).size() <= 1) << text;
    static_cast<void>(opencl_source(text, true));
    static_cast<void>(host_source(text));
  }
}

TEST(kernel_text, keeps_lines) {
  const std::string text = "KERNEL void f(GLOBAL int* x,\n\n  int n) {\n  x[0] = n;\n}\n";
  const auto lines_of = [](const std::string& of) { return std::count(of.begin(), of.end(), '\n'); };
  for (const std::string& made : {opencl_source(text, true), gpu_source(text)}) {
    const auto begin = made.find("#line 1 \"kernel\"\n");
    ASSERT_NE(begin, made.npos);
    EXPECT_EQ(lines_of(made.substr(begin)), lines_of(text) + 1);
  }
}

TEST(kernel_text, makes_two_parameters_of_a_pointer_in_opencl) {
  const std::string made = opencl_source("KERNEL void f(GLOBAL const int* x, float a) { use(x); }", false);
  EXPECT_NE(made.find("f(__global char* tessera_buffer_x, long tessera_offset_x, float a)"), made.npos) << made;
  EXPECT_NE(made.find("GLOBAL const int * x = (GLOBAL const int *)(tessera_buffer_x + tessera_offset_x);"), made.npos)
      << made;
  EXPECT_EQ(made.find("cl_khr_fp64"), made.npos);
  EXPECT_NE(opencl_source("", true).find("cl_khr_fp64"), made.npos);
}

TEST(kernel_text, sees_barriers) {
  EXPECT_TRUE(has_barrier("x; BARRIER;"));
  EXPECT_FALSE(has_barrier("x; // BARRIER;\n/* BARRIER */ \"BARRIER\" BARRIERS"));
  EXPECT_TRUE(has_barrier("#define WAIT BARRIER\nWAIT;"));
}

TEST(kernel_text, tells_opencl_to_keep_products_and_sums_apart) {
  const std::string text = "#pragma STDC FP_CONTRACT OFF\nKERNEL void f(void) {}";
  EXPECT_TRUE(forbids_contraction(text));
  EXPECT_FALSE(forbids_contraction("KERNEL void f(void) {}"));
  EXPECT_NE(opencl_source(text, true).find("#pragma OPENCL FP_CONTRACT OFF\n"), std::string::npos);
  EXPECT_EQ(opencl_source("KERNEL void f(void) {}", true).find("FP_CONTRACT"), std::string::npos);
}

TEST(kernel_text, splits_options) {
  EXPECT_EQ(split_options("  -DA   -DB=2 "), (std::vector<std::string>{"-DA", "-DB=2"}));
  EXPECT_TRUE(split_options("").empty());
  EXPECT_TRUE(split_options(nullptr).empty());
}

}  // namespace
}  // namespace tessera::kit
