// Statements of C++ in the language of kernels.
#include "hierarchy/region/body_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::hierarchy {
namespace {

using ::testing::HasSubstr;

const std::vector<body_name> all_names{
    {"i", body_name::kind::index, body_number::i64},  {"x", body_name::kind::array, body_number::f64},
    {"f", body_name::kind::array, body_number::f32},  {"b", body_name::kind::array, body_number::u8},
    {"s", body_name::kind::result, body_number::f64}, {"n", body_name::kind::number, body_number::i64},
    {"u", body_name::kind::number, body_number::u32}, {"yes", body_name::kind::number, body_number::boolean}};

/// On one line, without the brackets around it.
std::string made_of(const std::string& statements) {
  std::string text = statements_for_devices(statements, all_names).text, made;
  std::ranges::replace(text, '\n', ' ');
  for (const char c : text)
    if (c != ' ' || (!made.empty() && made.back() != ' ')) made += c;
  EXPECT_TRUE(made.starts_with("{ { ") && made.ends_with("} }"));
  return made.substr(4, made.size() - 8);
}
/// What is wrong with it.
std::string fault_of(const std::string& statements) {
  try {
    return "none: " + statements_for_devices(statements, all_names).text;
  } catch (const body_fault& fault) {
    return fault.what;
  }
}

TEST(body_text, renames_what_might_be_a_word_of_a_language_of_devices) {
  EXPECT_EQ(made_of("double kernel = n; x[i] = kernel;"), "double kernel_ = n_; x_[i_] = kernel_;");
}

TEST(body_text, keeps_what_belongs_together) {
  EXPECT_EQ(made_of("x[i] = (n + 1) * i - n * (i + 2) / 3;"), "x_[i_] = ((n_ + 1) * i_) - ((n_ * (i_ + 2)) / 3);");
  EXPECT_EQ(made_of("x[i] = i - n - 1;"), "x_[i_] = (i_ - n_) - 1;");
  EXPECT_EQ(made_of("x[i] = - -n;"), "x_[i_] = -(-n_);");
  EXPECT_EQ(made_of("x[i] = yes ? n : yes ? i : 0;"), "x_[i_] = yes_ ? n_ : (yes_ ? i_ : 0);");
  EXPECT_EQ(made_of("if (yes) if (n > 0) x[i] = 1; else x[i] = 2;"),
            "if (yes_) if (n_ > 0) { x_[i_] = 1; } else x_[i_] = 2;");
}

TEST(body_text, finds_the_types_of_auto) {
  EXPECT_EQ(made_of("auto a = n;"), "long a_ = n_;");
  EXPECT_EQ(made_of("const auto a = 1, c = 2;"), "int a_ = 1, c_ = 2;");
  EXPECT_EQ(made_of("auto a = f[i] * f[i];"), "float a_ = f_[i_] * f_[i_];");
  EXPECT_EQ(made_of("auto a = f[i] * 2;"), "float a_ = f_[i_] * 2;");
  EXPECT_EQ(made_of("auto a = f[i] * 2.0;"), "double a_ = f_[i_] * 2.0;");
  EXPECT_EQ(made_of("auto a = b[i] + b[i];"), "int a_ = b_[i_] + b_[i_];");
  EXPECT_EQ(made_of("auto a = b[i];"), "unsigned char a_ = b_[i_];");
  EXPECT_EQ(made_of("auto a = u + 1;"), "unsigned int a_ = u_ + 1;");
  EXPECT_EQ(made_of("auto a = u + n;"), "long a_ = u_ + n_;");
  EXPECT_EQ(made_of("auto a = n < i;"), "int a_ = (n_ < i_);");
  EXPECT_EQ(made_of("auto a = u << n;"), "unsigned int a_ = u_ << n_;");
  EXPECT_EQ(made_of("auto a = yes ? 1 : 2.5f;"), "float a_ = yes_ ? 1 : 2.5f;");
  EXPECT_EQ(made_of("auto a = std::sqrt(f[i]);"), "float a_ = sqrt(f_[i_]);");
  EXPECT_EQ(made_of("auto a = sqrt(n);"), "double a_ = sqrt(((double)(n_)));");
  EXPECT_EQ(made_of("using real = tessera::element_of<decltype(f)>; real a = 0;"), "float a_ = 0;");
}

TEST(body_text, has_numbers_as_c_has_them) {
  EXPECT_EQ(made_of("auto a = 1'000'000;"), "int a_ = 1000000;");
  EXPECT_EQ(made_of("auto a = 3'000'000'000;"), "long a_ = 3000000000L;");
  EXPECT_EQ(made_of("auto a = 0xffffffff;"), "unsigned int a_ = 4294967295U;");
  EXPECT_EQ(made_of("auto a = 0b101u;"), "unsigned int a_ = 5U;");
  EXPECT_EQ(made_of("auto a = 017;"), "int a_ = 15;");
  EXPECT_EQ(made_of("auto a = 5LL;"), "long a_ = 5L;");
  EXPECT_EQ(made_of("auto a = 5uz;"), "unsigned long a_ = 5UL;");
  EXPECT_EQ(made_of("auto a = 1.5e-3f;"), "float a_ = 1.5e-3f;");
  EXPECT_EQ(made_of("auto a = 0x1p-3;"), "double a_ = 0x1p-3;");
  EXPECT_EQ(made_of("auto a = .5;"), "double a_ = .5;");
  EXPECT_EQ(made_of("auto a = (__builtin_inff ()), c = 1 / a;"), "float a_ = ((1.0f / 0.0f)), c_ = 1 / a_;");
  EXPECT_EQ(made_of("x[i] = -(__builtin_huge_val ());"), "x_[i_] = -((1.0 / 0.0));");
}

TEST(body_text, has_truth_values_as_integers) {
  EXPECT_EQ(made_of("bool a = n;"), "int a_ = (n_ != 0);");
  EXPECT_EQ(made_of("bool a = true; a = n & 2; a |= yes;"), "int a_ = 1; a_ = ((n_ & 2) != 0); a_ |= yes_;");
  EXPECT_EQ(made_of("x[i] = bool(n);"), "x_[i_] = (n_ != 0);");
  EXPECT_EQ(made_of("auto a = isnan(x[i]);"), "int a_ = (isnan(x_[i_]) != 0);");
  EXPECT_THAT(fault_of("bool a = true; a += 1;"), HasSubstr("'+=' of a truth value"));
  // Of C++ these work on the bits of the number, and then look whether it is 0.
  EXPECT_EQ(made_of("bool a = true; a &= n; a |= n;"), "int a_ = 1; a_ &= n_; a_ |= (n_ != 0);");
  EXPECT_EQ(fault_of("bool a = true; a ^= n;"), "'^=' of a truth value and a number");
  EXPECT_EQ(made_of("bool a = true; a ^= yes;"), "int a_ = 1; a_ ^= yes_;");
}

TEST(body_text, knows_signs_that_are_words) {
  EXPECT_EQ(made_of("x[i] = not yes and n > 0 or n not_eq 3;"), "x_[i_] = ((!yes_) && (n_ > 0)) || (n_ != 3);");
  EXPECT_EQ(made_of("auto a = n bitand 3 bitor 4 xor compl n; a or_eq 2;"),
            "long a_ = (n_ & 3) | (4 ^ (~n_)); a_ |= 2;");
}

TEST(body_text, leaves_out_what_says_that_a_name_is_not_used) {
  EXPECT_EQ(made_of("(void)x; x[i] = 1;"), "; x_[i_] = 1;");
  EXPECT_EQ(made_of("(void)n, (void)s; x[i] = 1;"), "; x_[i_] = 1;");
  EXPECT_EQ(made_of("int k = 0; (void)k++;"), "int k_ = 0; k_++;");
  EXPECT_EQ(fault_of("(void)other;"), "'other' is no index, use, capture or variable of the body");
  EXPECT_EQ(fault_of("x[i] = (void)n;"), "it has 'void', which devices do not");
}

/// C++ computes the right side of an assignment first; C, and the languages of devices, in any order.
TEST(body_text, refuses_what_depends_on_the_order_of_operands) {
  const auto refused = [](const std::string& name, const std::string& sign) {
    return "'" + name + "' changes on one side of '" + sign + "' and is used on the other";
  };
  EXPECT_EQ(fault_of("int k = 0; x[k] = k++;"), refused("k", "="));
  EXPECT_EQ(fault_of("int k = 0; x[k++] = k;"), refused("k", "="));
  EXPECT_EQ(fault_of("int k = 0; k = k++;"), refused("k", "="));
  EXPECT_EQ(fault_of("int k = 0; k += k++;"), refused("k", "+="));
  EXPECT_EQ(fault_of("int k = 0; x(k++, k) = 1;"), refused("k", "x"));
  EXPECT_EQ(fault_of("int k = 0; k = k++ << k;"), refused("k", "<<"));
  EXPECT_EQ(fault_of("int k = 0, m[2]; m[k] = (k = 1) + 1;"), refused("k", "="));
  EXPECT_EQ(fault_of("x[i] += x[i]++;"), refused("x", "+="));
  EXPECT_EQ(fault_of("int k = 0; x[i] = fmod(k++, k);"), refused("k", "fmod"));
  EXPECT_EQ(fault_of("int k = 0; int m[2] = {k++, k};"), "a value of an array of the body changes something");
  EXPECT_EQ(fault_of("int k = 0, m[2]; x[i] = std::max(m[k++], 3);"), "an argument of 'max' changes something");
  EXPECT_EQ(made_of("int k = 0; x[k++] = n; x[i] = x[n] = 0; bool a = n && k++ && k;"),
            "int k_ = 0; x_[k_++] = n_; x_[i_] = x_[n_] = 0; int a_ = ((n_ && (k_++)) && k_);");
}

TEST(body_text, casts) {
  EXPECT_EQ(made_of("x[i] = static_cast<double>(n + 1);"), "x_[i_] = ((double)(n_ + 1));");
  EXPECT_EQ(made_of("x[i] = double(n) / (float)(i);"), "x_[i_] = ((double)(n_)) / ((float)((i_)));");
  EXPECT_EQ(made_of("x[i] = std::uint32_t{5};"), "x_[i_] = ((unsigned int)(5));");
  EXPECT_EQ(made_of("auto a = (unsigned long long)(1);"), "unsigned long a_ = ((unsigned long)((1)));");
}

TEST(body_text, writes_minima_and_maxima_out) {
  EXPECT_EQ(made_of("x[i] = std::max(n, i + 1);"), "x_[i_] = (n_ < (i_ + 1) ? (i_ + 1) : n_);");
  EXPECT_EQ(made_of("x[i] = std::max<int>(n, 3);"), "x_[i_] = (((int)(n_)) < 3 ? 3 : ((int)(n_)));");
  EXPECT_EQ(made_of("x[i] = min(n, i);"), "x_[i_] = (i_ < n_ ? i_ : n_);");
  EXPECT_EQ(made_of("x[i] = abs(n);"), "x_[i_] = (n_ < 0 ? -n_ : n_);");
  EXPECT_EQ(made_of("x[i] = abs(f[i]);"), "x_[i_] = fabs(f_[i_]);");
  EXPECT_EQ(made_of("x[i] = pow(f[i], 2);"), "x_[i_] = pow(((double)(f_[i_])), ((double)(2)));");
  EXPECT_EQ(made_of("x[i] = ldexp(f[i], n);"), "x_[i_] = ldexp(f_[i_], ((int)(n_)));");
}

TEST(body_text, ends_an_iteration_behind_all_loops) {
  const std::string made = statements_for_devices("{ for (;;) { if (yes) return; } }", all_names).text;
  EXPECT_THAT(made, HasSubstr("goto tessera_end;"));
  EXPECT_TRUE(made.ends_with("} tessera_end: ; }")) << made;
}

TEST(body_text, knows_whether_there_are_doubles) {
  EXPECT_FALSE(statements_for_devices("f[i] = 2 * f[i] + 1.5f;", all_names).doubles);
  EXPECT_TRUE(statements_for_devices("f[i] = 2.0 * f[i];", all_names).doubles);
  EXPECT_TRUE(statements_for_devices("f[i] = static_cast<double>(f[i]);", all_names).doubles);
  EXPECT_TRUE(statements_for_devices("f[i] = sqrt(n);", all_names).doubles);
}

/// Names of parameters, and their types behind a colon.
std::vector<std::string> listed(const std::string& list) {
  std::vector<std::string> all;
  for (const body_parameter& p : parameters_in(list)) all.push_back(p.type.empty() ? p.name : p.name + ": " + p.type);
  return all;
}

TEST(body_text, tells_names_and_types_of_lists) {
  using strings = std::vector<std::string>;
  EXPECT_EQ(listed("()"), strings{});
  EXPECT_EQ(listed("(scale, n)"), (strings{"scale", "n"}));
  EXPECT_EQ(listed("(auto i, const auto& x, double& s, auto)"),
            (strings{"i: auto", "x: const auto &", "s: double &", ": auto"}));
  EXPECT_EQ(listed("(tessera::view<const double, 2> x, std::int64_t i, std::int64_t)"),
            (strings{"x: tessera :: view < const double , 2 >", "i: std :: int64_t", ": std :: int64_t"}));
  EXPECT_EQ(listed("(view<std::complex<float>> x, [[maybe_unused]] auto y)"),
            (strings{"x: view < std :: complex < float >>", "y: [ [ maybe_unused ] ] auto"}));
}

TEST(body_text, refuses_what_no_text_of_a_kernel_can_be) {
  EXPECT_EQ(fault_of("x[i] = unknown;"), "'unknown' is no index, use, capture or variable of the body");
  EXPECT_EQ(fault_of("{ double a = 1; } x[i] = a;"), "'a' is no index, use, capture or variable of the body");
  EXPECT_EQ(fault_of("for (int k = 0; k < 2; ++k) ; x[i] = k;"),
            "'k' is no index, use, capture or variable of the body");
  EXPECT_EQ(fault_of("double x = 1;"), "'x' is a name of the loop, and of a variable in its body");
  EXPECT_EQ(fault_of("double tessera_at = 1;"), "names that begin with tessera_ are reserved");
  EXPECT_EQ(fault_of("x = 1;"), "array 'x' is used without an index");
  EXPECT_EQ(fault_of("x[f[i]] = 1;"), "an index of array 'x' is a fraction");
  EXPECT_EQ(fault_of("n = 1;"), "it assigns to what is neither a variable nor an element nor a result");
  EXPECT_EQ(fault_of("++i;"), "'++' of what is neither a variable nor an element nor a result");
  EXPECT_EQ(fault_of("break;"), "'break' is in no loop of the body");
  EXPECT_EQ(fault_of("return n;"), "it returns a value");
  EXPECT_EQ(fault_of("double m[n];"), "the length of an array of the body is no number");
  EXPECT_EQ(fault_of("double m[2]; x[i] = m;"), "the array 'm' of the body is used without an index");
  EXPECT_EQ(fault_of("auto a;"), "'a' has no value, of which it would have its type");
  EXPECT_EQ(fault_of("{ x[i] = 1;"), "a brace is not closed");
  EXPECT_EQ(fault_of("x[i] = (1;"), "there is ';' where ')' is expected behind an expression");
  EXPECT_EQ(fault_of("x[i] = 1 +"), "the body ends in the middle of an expression");
  EXPECT_EQ(fault_of("if (int k = 1) x[i] = k;"), "a condition declares a variable");
  EXPECT_EQ(fault_of("sqrt(1, 2);"), "it calls 'sqrt' with 2 arguments");
  EXPECT_EQ(fault_of("x[i] = 5.0L;"), "5.0L is a long double");
  EXPECT_EQ(fault_of("s->a = 1;"), "it follows a pointer");
  EXPECT_EQ(fault_of("T a = 1;"), "'T' is no type of numbers that devices have");
  EXPECT_EQ(fault_of("x[i] = 1.5_km;"), "1.5_km is no number that devices have");
  EXPECT_EQ(fault_of("x[i] = 15_km;"), "15_km is no number that devices have");
  EXPECT_EQ(fault_of("x[i] = 1e3h;"), "1e3h is no number that devices have");
  EXPECT_EQ(fault_of("x[i] = R\"(a)\"[0];"), "it has the text R\"(a)\"");
  EXPECT_EQ(fault_of("x[i] = u8'c';"), "it has the text u8'c'");
  EXPECT_EQ(fault_of("again: x[i] = 1;"), "it has the label 'again'");
  EXPECT_EQ(fault_of("for (auto v : {1, 2}) x[i] = v;"), "it has a loop over a range");
  EXPECT_EQ(fault_of("typedef double real;"), "it has 'typedef', which devices do not");
  EXPECT_EQ(fault_of("static_assert(1 > 0);"), "it has 'static_assert', which devices do not");
  EXPECT_EQ(fault_of("x[i] = static_cast<const double&>(x[i]);"), "'&' is where the type of static_cast should end");
  EXPECT_EQ(fault_of("x[i] = static_cast<void>(n);"), "'void' is no type of numbers that devices have");
}

/// However it is cut, nothing but a fault is thrown.
TEST(body_text, survives_texts_that_are_cut_off) {
  const std::string whole =
      "{ const auto a = std::max<double>(x[i + 1], 2.5e3); int m[2] = {1, 2}; for (int k = 0; k < 2; ++k) { if (yes) "
      "continue; else s += a * m[k]; } do { x(i, n) -= static_cast<double>(u); } while (false); \"text\" 'c' }";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    for (const std::size_t skipped : {std::size_t{0}, std::size_t{1}, length / 2}) try {
        (void)statements_for_devices(whole.substr(skipped, length), all_names);
      } catch (const body_fault& fault) {
        EXPECT_FALSE(fault.what.empty());
        EXPECT_LE(fault.at, length);
      }
  }
}

}  // namespace
}  // namespace tessera::hierarchy
