// Built-in matrix operations against loops, at odd shapes, for four types, on the host and on a device.
#include "core/operation/blas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "tests/unit/operation/machines.hpp"

namespace tessera {
namespace {

using namespace tessera::testing;
using ::testing::HasSubstr;

template <class T>
T conjugated(T v) {
  if constexpr (is_complex<T>)
    return std::conj(v);
  else
    return v;
}

template <class T>
wide<T> element(const dense_matrix<T>& m, transpose how, std::int64_t i, std::int64_t j) {
  const wide<T> v = how == transpose::no ? wide<T>(m(i, j)) : wide<T>(m(j, i));
  return how == transpose::conjugate ? conjugated(v) : v;
}

template <class T>
class dense : public ::testing::Test {
 protected:
  std::mt19937_64 random{20240607};
};
using types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(dense, types);

TYPED_TEST(dense, gemm_all_transposes) {
  using T = TypeParam;
  const std::array<std::array<std::int64_t, 3>, 5> shapes{{{1, 1, 1}, {3, 5, 7}, {17, 2, 9}, {1, 31, 4}, {33, 29, 31}}};
  for (const bool device : {false, true}) {
    place at(device);
    for (const auto& [m, n, k] : shapes)
      for (const auto ta : {transpose::no, transpose::yes, transpose::conjugate})
        for (const auto tb : {transpose::no, transpose::yes, transpose::conjugate})
          for (const double factor : {0.0, 0.5}) {
            const auto a = ta == transpose::no ? dense_matrix<T>::random(m, k, this->random)
                                               : dense_matrix<T>::random(k, m, this->random);
            const auto b = tb == transpose::no ? dense_matrix<T>::random(k, n, this->random)
                                               : dense_matrix<T>::random(n, k, this->random);
            const auto c = dense_matrix<T>::random(m, n, this->random);
            const T alpha = random_value<T>(this->random),
                    beta = random_value<T>(this->random) * static_cast<T>(factor);
            auto da = array_of(at.rt, "a", a), db = array_of(at.rt, "b", b), dc = array_of(at.rt, "c", c);
            gemm(at.rt, alpha, da.block(0), ta, db.block(0), tb, beta, dc.block(0), at.here);
            const auto result = dc.block(0).read();
            for (std::int64_t j = 0; j < n; ++j)
              for (std::int64_t i = 0; i < m; ++i) {
                wide<T> sum = 0;
                for (std::int64_t l = 0; l < k; ++l) sum += element(a, ta, i, l) * element(b, tb, l, j);
                const wide<T> expected = wide<T>(alpha) * sum + wide<T>(beta) * wide<T>(c(i, j));
                ASSERT_LE(std::abs(wide<T>(result(i, j)) - expected), tolerance<T>(static_cast<double>(k) + 1))
                    << m << "x" << n << "x" << k << " transposes " << int(ta) << int(tb)
                    << (device ? " device" : " host");
              }
          }
  }
}

TYPED_TEST(dense, syrk_updates_the_lower_triangle_only) {
  using T = TypeParam;
  for (const bool device : {false, true}) {
    place at(device);
    for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{1, 3}, {7, 5}, {19, 33}}) {
      const auto a = dense_matrix<T>::random(n, k, this->random), c = dense_matrix<T>::random(n, n, this->random);
      auto da = array_of(at.rt, "a", a), dc = array_of(at.rt, "c", c);
      syrk(at.rt, -0.5, da.block(0), 2.0, dc.block(0), at.here);
      const auto result = dc.block(0).read();
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          wide<T> sum = 0;
          for (std::int64_t l = 0; l < k; ++l) sum += wide<T>(a(i, l)) * wide<T>(a(j, l));
          if (i >= j) {
            ASSERT_LE(std::abs(wide<T>(result(i, j)) - (-0.5 * sum + 2.0 * wide<T>(c(i, j)))),
                      tolerance<T>(double(k) + 2))
                << i << "," << j;
          } else {
            ASSERT_EQ(result(i, j), c(i, j)) << "above the diagonal";
          }
        }
    }
  }
}

TYPED_TEST(dense, trsm_solves_from_the_right) {
  using T = TypeParam;
  for (const bool device : {false, true}) {
    place at(device);
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 5}, {3, 19}, {31, 13}}) {
      auto l = dense_matrix<T>::random(n, n, this->random);
      for (std::int64_t j = 0; j < n; ++j) l(j, j) += static_cast<T>(static_cast<double>(n) + 2.0);  // well conditioned
      const auto b = dense_matrix<T>::random(m, n, this->random);
      auto dl = array_of(at.rt, "l", l), db = array_of(at.rt, "b", b);
      trsm(at.rt, 1.5, dl.block(0), db.block(0), at.here);
      const auto x = db.block(0).read();
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) {
          wide<T> product = 0;  // X L^T
          for (std::int64_t p = 0; p <= j; ++p) product += wide<T>(x(i, p)) * wide<T>(l(j, p));
          ASSERT_LE(std::abs(product - 1.5 * wide<T>(b(i, j))), tolerance<T>(4 * double(n) + 4)) << i << "," << j;
        }
    }
  }
}

TYPED_TEST(dense, potrf_factors_the_lower_triangle) {
  using T = TypeParam;
  for (const bool device : {false, true}) {
    place at(device);
    for (const std::int64_t n : {1, 2, 7, 33}) {
      const auto g = dense_matrix<T>::random(n, n, this->random);
      dense_matrix<T> a(n, n);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          wide<T> sum = i == j ? static_cast<double>(n) : 0.0;
          for (std::int64_t l = 0; l < n; ++l) sum += wide<T>(g(i, l)) * conjugated(wide<T>(g(j, l)));
          a(i, j) = i >= j ? static_cast<T>(sum) : T(7);  // the upper triangle is not to be looked at
        }
      auto da = array_of(at.rt, "a", a);
      auto info = at.rt.make_array<std::int32_t>("info", {1}, {1});
      potrf(at.rt, da.block(0), info.block(0), at.here);
      EXPECT_EQ(info.block(0).read()[0], 0);
      const auto l = da.block(0).read();
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = j; i < n; ++i) {
          wide<T> product = 0;
          for (std::int64_t p = 0; p <= j; ++p) product += wide<T>(l(i, p)) * conjugated(wide<T>(l(j, p)));
          ASSERT_LE(std::abs(product - wide<T>(a(i, j))), tolerance<T>(4 * double(n) + 4)) << i << "," << j;
        }
    }
  }
}

TYPED_TEST(dense, potrf_names_the_pivot_that_fails) {
  using T = TypeParam;
  for (const bool device : {false, true}) {
    place at(device);
    for (const std::int64_t n : {1, 5, 40})
      for (const std::int64_t bad : {std::int64_t{0}, n / 2, n - 1}) {
        dense_matrix<T> a(n, n);
        for (std::int64_t j = 0; j < n; ++j) a(j, j) = T(j == bad ? -1 : 2);
        auto da = array_of(at.rt, "a", a);
        auto info = at.rt.make_array<std::int32_t>("info", {1}, {1});
        potrf(at.rt, da.block(0), info.block(0), at.here);
        EXPECT_EQ(info.block(0).read()[0], bad + 1) << "of " << n << (device ? " on the device" : "");
      }
    EXPECT_NO_THROW(at.rt.fence()) << "a number, not a failed task";
  }
}

TYPED_TEST(dense, axpy_and_scal) {
  using T = TypeParam;
  for (const bool device : {false, true}) {
    place at(device);
    for (const std::int64_t n : {1, 3, 1001}) {
      const auto x = dense_matrix<T>::random(n, 1, this->random), y = dense_matrix<T>::random(n, 1, this->random);
      const T alpha = random_value<T>(this->random), beta = random_value<T>(this->random);
      auto dx = array_of(at.rt, "x", x), dy = array_of(at.rt, "y", y);
      scal(at.rt, beta, dy.block(0), at.here);
      axpy(at.rt, alpha, dx.block(0), dy.block(0), at.here);
      const auto result = dy.block(0).read();
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_LE(std::abs(wide<T>(result[i]) - (wide<T>(alpha) * wide<T>(x(i, 0)) + wide<T>(beta) * wide<T>(y(i, 0)))),
                  tolerance<T>(2));
    }
  }
}

TEST(dense_errors, shapes_and_types_that_do_not_fit_are_named) {
  for (const bool device : {false, true}) {
    place at(device);
    const auto fails = [&](auto&& submit, const std::string& text) {
      submit();
      try {
        at.rt.fence();
        FAIL() << "accepted: " << text;
      } catch (const error& e) {
        EXPECT_THAT(e.what(), HasSubstr(text));
        EXPECT_EQ(e.kind(), error_kind::usage);
      }
    };
    // Fresh blocks each time: a failed task spoils what it should have written.
    std::deque<tiled_matrix<double>> kept;
    const auto make = [&](std::int64_t m, std::int64_t n) {
      kept.push_back(array_of(at.rt, "x", dense_matrix<double>(m, n)));
      return kept.back().block(0);
    };
    const auto no = transpose::no, yes = transpose::yes;
    fails([&] { gemm(at.rt, 1.0, make(3, 4), no, make(4, 5), no, 0.0, make(4, 4), at.here); },
          "do not multiply into 4x4");
    fails([&] { gemm(at.rt, 1.0, make(3, 4), yes, make(4, 5), no, 0.0, make(3, 5), at.here); }, "do not multiply");
    fails([&] { syrk(at.rt, 1.0, make(3, 4), 1.0, make(4, 4), at.here); }, "A is 3x4 and C is 4x4");
    fails([&] { trsm(at.rt, 1.0, make(4, 4), make(3, 5), at.here); }, "A is 4x4 and B is 3x5");
    fails([&] { axpy(at.rt, 1.0, make(3, 4), make(3, 5), at.here); }, "x has 12 elements and y 15");
    auto info = at.rt.make_array<std::int32_t>("info", {1}, {1});
    fails([&] { potrf(at.rt, make(3, 4), info.block(0), at.here); }, "A is 3x4");
    auto single = array_of(at.rt, "single", dense_matrix<float>(4, 4));
    const operation::trsm_arguments arguments;
    const std::vector<block_access> mixed{read(single.block(0)), update(make(4, 4))};
    fails([&] { at.rt.submit_operation(*at.rt.builtin().trsm, &arguments, sizeof arguments, mixed, at.here); },
          "type f32 and f64");
    auto wrong = at.rt.make_array<std::int64_t>("wrong", {1}, {1});
    const std::vector<block_access> bad_info{update(make(4, 4)), write(wrong.block(0))};
    fails([&] { at.rt.submit_operation(*at.rt.builtin().potrf, nullptr, 0, bad_info, at.here); }, "i32");
  }
}

}  // namespace
}  // namespace tessera
