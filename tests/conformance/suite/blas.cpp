// Every BLAS entry, for every claimed type, against the definition, at random shapes.
#include <algorithm>

#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {
namespace {

/// Runs `one(device, blas, T{}, random)` `rounds` times for every device and type that claims the operation.
template <class One>
void each_claimed(const subject& what, tsr_blas_operation operation, int rounds, One&& one) {
  const opened all(what);
  bool any = false, tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_blas_table* blas = device.blas();
    if (blas == nullptr) return;
    any = true;
    for_each_number([&](auto zero) {
      using T = decltype(zero);
      if (!blas->supports(device.handle(), operation, number<T>::type)) return;
      tried = true;
      const queue stream(device);
      in_rounds(what, number<T>::name, rounds, [&](random_source& random) { one(stream, *blas, zero, random); });
    });
  });
  if (!tried)
    skip(any ? "the BLAS table claims this operation for none of the types that are checked"
             : "no device offers the table BLAS");
}

/// op(A)(i, j)
template <class T>
T at(const std::vector<T>& a, std::int64_t ld, tsr_transpose transpose, std::int64_t i, std::int64_t j,
     std::int64_t from = 0) {
  const auto element = [&](std::int64_t r, std::int64_t c) { return a[static_cast<std::size_t>(from + r + c * ld)]; };
  switch (transpose) {
    case TSR_NO_TRANSPOSE:
      return element(i, j);
    case TSR_TRANSPOSE:
      return element(j, i);
    default:
      return conjugate(element(j, i));
  }
}

std::int64_t leading(random_source& random, std::int64_t rows) {
  return std::max<std::int64_t>(rows, 1) + static_cast<std::int64_t>(random.general ? 1 : random() % 3) * 2;
}

std::size_t elements(std::int64_t ld, std::int64_t columns) { return static_cast<std::size_t>(ld * columns); }

template <class T>
std::optional<buffer> blas_scratch(const queue& stream, const tsr_blas_table& blas, tsr_blas_operation op,
                                   T& arguments) {
  if (blas.workspace == nullptr) return std::nullopt;
  return scratch(stream.owner(), arguments.workspace,
                 [&](std::uint64_t* bytes) { return blas.workspace(stream.owner().handle(), op, &arguments, bytes); });
}

enum class batches {
  one,
  strided,
  pointers
};

template <class T>
void one_gemm(const queue& stream, const tsr_blas_table& blas, random_source& random, batches how) {
  const device& device = stream.owner();
  const std::uint32_t space = compute_space(device);
  tsr_gemm g{};
  g.struct_size = sizeof g;
  g.type = number<T>::type;
  g.transpose_a = static_cast<tsr_transpose>(random() % 3);
  g.transpose_b = static_cast<tsr_transpose>(random() % 3);
  g.m = random_size(random), g.n = random_size(random), g.k = random_size(random);
  const std::int64_t batch = how == batches::one ? 1 : static_cast<std::int64_t>(random() % 4);
  const std::int64_t rows_a = g.transpose_a == TSR_NO_TRANSPOSE ? g.m : g.k, columns_a = g.m + g.k - rows_a;
  const std::int64_t rows_b = g.transpose_b == TSR_NO_TRANSPOSE ? g.k : g.n, columns_b = g.k + g.n - rows_b;
  g.lda = leading(random, rows_a), g.ldb = leading(random, rows_b), g.ldc = leading(random, g.m);
  const auto size_a = static_cast<std::int64_t>(elements(g.lda, columns_a)) + 2,
             size_b = static_cast<std::int64_t>(elements(g.ldb, columns_b)) + 1,
             size_c = static_cast<std::int64_t>(elements(g.ldc, g.n)) + 3;
  const T alpha = random_scalar<T>(random), beta = random_scalar<T>(random);
  const auto total = static_cast<std::size_t>(std::max<std::int64_t>(batch, 1));
  const auto a = random_numbers<T>(random, static_cast<std::size_t>(size_a) * total),
             b = random_numbers<T>(random, static_cast<std::size_t>(size_b) * total);
  auto c = random_numbers<T>(random, static_cast<std::size_t>(size_c) * total);
  if (beta == T(0))  // C is not read: rubbish in it may not spread
    for (std::size_t q = 0; q < total; ++q)
      for (std::int64_t j = 0; j < g.n; ++j)
        for (std::int64_t i = 0; i < g.m; ++i)
          c[q * static_cast<std::size_t>(size_c) + static_cast<std::size_t>(i + j * g.ldc)] = not_a_number<T>();
  const buffer on_a = uploaded(stream, space, a), on_b = uploaded(stream, space, b), on_c = uploaded(stream, space, c);
  g.alpha = &alpha, g.beta = &beta;
  g.a = on_a.at(0), g.b = on_b.at(0), g.c = on_c.at(0);
  g.batch = how == batches::one ? 1 : batch;
  g.stride_a = size_a * static_cast<std::int64_t>(sizeof(T)),
  g.stride_b = size_b * static_cast<std::int64_t>(sizeof(T)),
  g.stride_c = size_c * static_cast<std::int64_t>(sizeof(T));
  std::vector<tsr_address> as, bs, cs;
  for (auto* list : {&as, &bs, &cs}) list->reserve(1);  // also of no product: a list that is NULL may be refused
  for (std::int64_t q = 0; q < batch; ++q) {
    as.push_back(on_a.at(static_cast<std::uint64_t>(q * g.stride_a)));
    bs.push_back(on_b.at(static_cast<std::uint64_t>(q * g.stride_b)));
    cs.push_back(on_c.at(static_cast<std::uint64_t>(q * g.stride_c)));
  }
  g.a_array = as.data(), g.b_array = bs.data(), g.c_array = cs.data();

  const std::string call = fmt::format("gemm {}x{}x{} op {}{} ld {} {} {} batch {} alpha {}{:+}i beta {}{:+}i", g.m,
                                       g.n, g.k, g.transpose_a, g.transpose_b, g.lda, g.ldb, g.ldc, batch,
                                       std::real(alpha), std::imag(alpha), std::real(beta), std::imag(beta));
  const auto operation = how == batches::one       ? TSR_BLAS_GEMM
                         : how == batches::strided ? TSR_BLAS_GEMM_STRIDED
                                                   : TSR_BLAS_GEMM_BATCHED;
  const auto work = blas_scratch(stream, blas, operation, g);
  const auto entry = how == batches::one ? blas.gemm : how == batches::strided ? blas.gemm_strided : blas.gemm_batched;
  expect_ok(entry(device.handle(), stream.handle(), &g), call);
  stream.finish();

  for (std::int64_t q = 0; q < batch; ++q)
    for (std::int64_t j = 0; j < g.n; ++j)
      for (std::int64_t i = 0; i < g.m; ++i) {
        T sum(0);
        for (std::int64_t p = 0; p < g.k; ++p)
          sum += at(a, g.lda, g.transpose_a, i, p, q * size_a) * at(b, g.ldb, g.transpose_b, p, j, q * size_b);
        T& to = c[static_cast<std::size_t>(q * size_c + i + j * g.ldc)];
        to = alpha * sum + (beta == T(0) ? T(0) : beta * to);
      }
  expect_near(downloaded<T>(stream, on_c, c.size()), c, 64 * epsilon<T> * static_cast<double>(g.k + 4), call);
}

void gemm(const subject& what) {
  each_claimed(what, TSR_BLAS_GEMM, 40, [](const queue& s, const tsr_blas_table& t, auto zero, auto& r) {
    one_gemm<decltype(zero)>(s, t, r, batches::one);
  });
}
void gemm_strided(const subject& what) {
  each_claimed(what, TSR_BLAS_GEMM_STRIDED, 20, [](const queue& s, const tsr_blas_table& t, auto zero, auto& r) {
    one_gemm<decltype(zero)>(s, t, r, batches::strided);
  });
}
void gemm_batched(const subject& what) {
  each_claimed(what, TSR_BLAS_GEMM_BATCHED, 20, [](const queue& s, const tsr_blas_table& t, auto zero, auto& r) {
    one_gemm<decltype(zero)>(s, t, r, batches::pointers);
  });
}

void vectors(const subject& what, tsr_blas_operation operation) {
  each_claimed(what, operation, 30, [&](const queue& stream, const tsr_blas_table& blas, auto zero, auto& random) {
    using T = decltype(zero);
    const device& device = stream.owner();
    const std::uint32_t space = compute_space(device);
    tsr_vector_operation v{};
    v.struct_size = sizeof v;
    v.type = number<T>::type;
    v.n = random_size(random, 3000);
    v.incx = random_increment(random), v.incy = random_increment(random);
    const auto n = static_cast<std::size_t>(v.n), ix = static_cast<std::size_t>(v.incx),
               iy = static_cast<std::size_t>(v.incy);
    if (random() % 2 == 0) v.incx = -v.incx;
    if (random() % 2 == 0) v.incy = -v.incy;
    const auto place = [n](std::size_t i, std::size_t step, std::int64_t increment) {
      return (increment < 0 ? n - 1 - i : i) * step;
    };
    auto x = random_numbers<T>(random, n * ix + 3), y = random_numbers<T>(random, n * iy + 3);
    const T alpha = random_scalar<T>(random);
    const buffer on_x = uploaded(stream, space, x), on_y = uploaded(stream, space, y);
    const buffer result = uploaded(stream, space, std::vector<T>{T(77), T(77)});
    v.alpha = &alpha;
    v.x = on_x.at(0), v.y = on_y.at(0), v.result = result.at(0);
    const auto work = blas_scratch(stream, blas, operation, v);
    const double tolerance = 64 * epsilon<T> * static_cast<double>(v.n + 4);
    const std::string call = fmt::format("n {} incx {} incy {}", v.n, v.incx, v.incy);
    const auto entry = operation == TSR_BLAS_AXPY   ? blas.axpy
                       : operation == TSR_BLAS_SCAL ? blas.scal
                       : operation == TSR_BLAS_DOT  ? blas.dot
                                                    : blas.nrm2;
    expect_ok(entry(device.handle(), stream.handle(), &v), call);
    stream.finish();
    T dot(0);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      T &at_x = x[place(i, ix, v.incx)], &at_y = y[place(i, iy, v.incy)];
      dot += conjugate(at_x) * at_y;
      squares += static_cast<double>(std::norm(at_x));
      if (operation == TSR_BLAS_AXPY) at_y += alpha * at_x;
      if (operation == TSR_BLAS_SCAL) at_x *= alpha;
    }
    expect_near(downloaded<T>(stream, on_x, x.size()), x, operation == TSR_BLAS_SCAL ? 8 * epsilon<T> : 0,
                call + ": x");
    expect_near(downloaded<T>(stream, on_y, y.size()), y, operation == TSR_BLAS_AXPY ? 8 * epsilon<T> : 0,
                call + ": y");
    const T got = downloaded<T>(stream, result, 2)[0];
    if (operation == TSR_BLAS_DOT) expect_near<T>({got}, {dot}, tolerance, call + ": dot");
    if (operation == TSR_BLAS_NRM2)  // a real number, also for complex vectors
      expect(std::abs(static_cast<double>(std::real(got)) - std::sqrt(squares)) <= tolerance,
             "{}: nrm2 is {}, expected {}", call, std::real(got), std::sqrt(squares));
  });
}
void axpy(const subject& what) { vectors(what, TSR_BLAS_AXPY); }
void scal(const subject& what) { vectors(what, TSR_BLAS_SCAL); }
void dot(const subject& what) { vectors(what, TSR_BLAS_DOT); }
void nrm2(const subject& what) { vectors(what, TSR_BLAS_NRM2); }

bool inside(tsr_triangle triangle, std::int64_t i, std::int64_t j) { return triangle == TSR_LOWER ? i >= j : i <= j; }

void syrk(const subject& what) {
  each_claimed(what, TSR_BLAS_SYRK, 40, [](const queue& stream, const tsr_blas_table& blas, auto zero, auto& random) {
    using T = decltype(zero);
    const device& device = stream.owner();
    tsr_syrk s{};
    s.struct_size = sizeof s;
    s.type = number<T>::type;
    s.triangle = static_cast<tsr_triangle>(random() % 2);
    s.transpose = static_cast<tsr_transpose>(random() % 2);
    s.n = random_size(random), s.k = random_size(random);
    const std::int64_t rows = s.transpose == TSR_NO_TRANSPOSE ? s.n : s.k;
    s.lda = leading(random, rows), s.ldc = leading(random, s.n);
    const T alpha = random_scalar<T>(random), beta = random_scalar<T>(random);
    const auto a = random_numbers<T>(random, elements(s.lda, s.n + s.k - rows) + 1);
    auto c = random_numbers<T>(random, elements(s.ldc, s.n) + 1);
    if (beta == T(0))
      for (std::int64_t j = 0; j < s.n; ++j)
        for (std::int64_t i = 0; i < s.n; ++i)
          if (inside(s.triangle, i, j)) c[static_cast<std::size_t>(i + j * s.ldc)] = not_a_number<T>();
    const buffer on_a = uploaded(stream, compute_space(device), a), on_c = uploaded(stream, compute_space(device), c);
    s.alpha = &alpha, s.beta = &beta, s.a = on_a.at(0), s.c = on_c.at(0);
    const auto work = blas_scratch(stream, blas, TSR_BLAS_SYRK, s);
    const std::string call = fmt::format("syrk n {} k {} triangle {} op {}", s.n, s.k, s.triangle, s.transpose);
    expect_ok(blas.syrk(device.handle(), stream.handle(), &s), call);
    stream.finish();
    for (std::int64_t j = 0; j < s.n; ++j)
      for (std::int64_t i = 0; i < s.n; ++i) {
        if (!inside(s.triangle, i, j)) continue;
        T sum(0);
        for (std::int64_t p = 0; p < s.k; ++p) sum += at(a, s.lda, s.transpose, i, p) * at(a, s.lda, s.transpose, j, p);
        T& to = c[static_cast<std::size_t>(i + j * s.ldc)];
        to = alpha * sum + (beta == T(0) ? T(0) : beta * to);
      }
    expect_near(downloaded<T>(stream, on_c, c.size()), c, 64 * epsilon<T> * static_cast<double>(s.k + 4), call);
  });
}

void trsm(const subject& what) {
  each_claimed(what, TSR_BLAS_TRSM, 40, [](const queue& stream, const tsr_blas_table& blas, auto zero, auto& random) {
    using T = decltype(zero);
    const device& device = stream.owner();
    tsr_trsm t{};
    t.struct_size = sizeof t;
    t.type = number<T>::type;
    t.side = static_cast<tsr_side>(random() % 2);
    t.triangle = static_cast<tsr_triangle>(random() % 2);
    t.transpose = static_cast<tsr_transpose>(random() % 3);
    t.unit_diagonal = random() % 2 == 0;
    t.m = random_size(random), t.n = random_size(random);
    const std::int64_t order = t.side == TSR_LEFT ? t.m : t.n;
    t.lda = leading(random, order), t.ldb = leading(random, t.m);
    const T alpha = random() % 4 == 0 ? T(0) : random_number<T>(random);
    // Well conditioned; what is not to be read is not a number.
    std::vector<T> a(elements(t.lda, order) + 1, not_a_number<T>());
    for (std::int64_t j = 0; j < order; ++j)
      for (std::int64_t i = 0; i < order; ++i)
        if (i != j && inside(t.triangle, i, j))
          a[static_cast<std::size_t>(i + j * t.lda)] =
              random_number<T>(random) / T(static_cast<typename number<T>::real>(order));
        else if (i == j && !t.unit_diagonal)
          a[static_cast<std::size_t>(i + j * t.lda)] = T(2) + random_number<T>(random) / T(2);
    const auto b = random_numbers<T>(random, elements(t.ldb, t.n) + 1);
    const buffer on_a = uploaded(stream, compute_space(device), a), on_b = uploaded(stream, compute_space(device), b);
    t.alpha = &alpha, t.a = on_a.at(0), t.b = on_b.at(0);
    const auto work = blas_scratch(stream, blas, TSR_BLAS_TRSM, t);
    const std::string call = fmt::format("trsm {}x{} side {} triangle {} op {} unit {}", t.m, t.n, t.side, t.triangle,
                                         t.transpose, t.unit_diagonal);
    expect_ok(blas.trsm(device.handle(), stream.handle(), &t), call);
    stream.finish();
    const auto x = downloaded<T>(stream, on_b, b.size());
    const auto triangular = [&](std::int64_t i, std::int64_t j) {  // op(A)(i, j)
      const bool flipped = t.transpose != TSR_NO_TRANSPOSE;
      if (i == j && t.unit_diagonal) return T(1);
      if (!inside(t.triangle, flipped ? j : i, flipped ? i : j)) return T(0);
      return at(a, t.lda, t.transpose, i, j);
    };
    for (std::int64_t j = 0; j < t.n; ++j)
      for (std::int64_t i = 0; i < t.m; ++i) {
        T sum(0);
        for (std::int64_t p = 0; p < order; ++p)
          sum += t.side == TSR_LEFT ? triangular(i, p) * at(x, t.ldb, TSR_NO_TRANSPOSE, p, j)
                                    : at(x, t.ldb, TSR_NO_TRANSPOSE, i, p) * triangular(p, j);
        const T wanted = alpha * at(b, t.ldb, TSR_NO_TRANSPOSE, i, j);
        expect(near(sum, wanted, 256 * epsilon<T> * static_cast<double>(order + 4)),
               "{}: row {} column {} of the residual is {:.2g}", call, i, j, std::abs(sum - wanted));
      }
    for (std::int64_t j = 0; j < t.n; ++j)
      for (std::int64_t i = t.m; i < t.ldb; ++i)
        expect(x[static_cast<std::size_t>(i + j * t.ldb)] == b[static_cast<std::size_t>(i + j * t.ldb)],
               "{}: it writes between the columns of B", call);
  });
}

void potrf(const subject& what) {
  each_claimed(what, TSR_BLAS_POTRF, 40, [](const queue& stream, const tsr_blas_table& blas, auto zero, auto& random) {
    using T = decltype(zero);
    const device& device = stream.owner();
    tsr_potrf p{};
    p.struct_size = sizeof p;
    p.type = number<T>::type;
    p.triangle = static_cast<tsr_triangle>(random() % 2);
    p.n = random_size(random);
    p.lda = leading(random, p.n);
    const auto m = random_numbers<T>(random, elements(std::max<std::int64_t>(p.n, 1), p.n));
    auto a = random_numbers<T>(random, elements(p.lda, p.n) + 1);
    const auto spd = [&](std::int64_t i, std::int64_t j) {
      T sum = i == j ? T(static_cast<typename number<T>::real>(p.n)) : T(0);
      for (std::int64_t q = 0; q < p.n; ++q)
        sum += at(m, p.n, TSR_NO_TRANSPOSE, i, q) * conjugate(at(m, p.n, TSR_NO_TRANSPOSE, j, q));
      return sum;
    };
    for (std::int64_t j = 0; j < p.n; ++j)
      for (std::int64_t i = 0; i < p.n; ++i)
        if (inside(p.triangle, i, j)) a[static_cast<std::size_t>(i + j * p.lda)] = spd(i, j);
    const std::int64_t bad =
        p.n > 0 && random() % 3 == 0 ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(p.n)) : -1;
    if (bad >= 0) a[static_cast<std::size_t>(bad + bad * p.lda)] = T(-1);
    const buffer on_a = uploaded(stream, compute_space(device), a);
    const buffer info = uploaded(stream, compute_space(device), std::vector<std::int32_t>{-77, -77});
    p.a = on_a.at(0), p.info = info.at(0);
    const auto work = blas_scratch(stream, blas, TSR_BLAS_POTRF, p);
    const std::string call = fmt::format("potrf n {} triangle {} lda {}", p.n, p.triangle, p.lda);
    expect_ok(blas.potrf(device.handle(), stream.handle(), &p), call);
    stream.finish();
    const auto said = downloaded<std::int32_t>(stream, info, 2);
    expect(said[0] == static_cast<std::int32_t>(bad + 1) && said[1] == -77, "{}: info is {}, expected {}", call,
           said[0], bad + 1);
    if (bad >= 0) return;
    const auto f = downloaded<T>(stream, on_a, a.size());
    for (std::int64_t j = 0; j < p.n; ++j)
      for (std::int64_t i = 0; i < p.lda; ++i) {
        const auto here = static_cast<std::size_t>(i + j * p.lda);
        if (i >= p.n || !inside(p.triangle, i, j)) {
          expect(f[here] == a[here], "{}: it writes outside the triangle, at ({}, {})", call, i, j);
          continue;
        }
        T sum(0);
        for (std::int64_t q = 0; q <= std::min(i, j); ++q)
          sum += p.triangle == TSR_LOWER
                     ? at(f, p.lda, TSR_NO_TRANSPOSE, i, q) * conjugate(at(f, p.lda, TSR_NO_TRANSPOSE, j, q))
                     : conjugate(at(f, p.lda, TSR_NO_TRANSPOSE, q, i)) * at(f, p.lda, TSR_NO_TRANSPOSE, q, j);
        expect(near(sum, a[here], 256 * epsilon<T> * static_cast<double>(p.n * (p.n + 4))),
               "{}: the factor's product differs at ({}, {}) by {:.2g}", call, i, j, std::abs(sum - a[here]));
      }
  });
}

void unclaimed_types(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_blas_table* blas = device.blas();
    if (blas == nullptr || blas->gemm == nullptr) return;
    const queue stream(device);
    const buffer memory(device, compute_space(device), 64);
    const std::uint64_t scalar[2] = {0, 0};
    for (tsr_type type = TSR_TYPE_NONE; type <= TSR_BF16 + 1; ++type) {
      if (blas->supports(device.handle(), TSR_BLAS_GEMM, type)) continue;
      tried = true;
      tsr_gemm g{};
      g.struct_size = sizeof g;
      g.type = type;
      g.m = g.n = g.k = g.lda = g.ldb = g.ldc = g.batch = 1;
      g.alpha = g.beta = scalar;
      g.a = memory.at(0), g.b = memory.at(16), g.c = memory.at(32);
      expect_status(blas->gemm(device.handle(), stream.handle(), &g), TSR_UNIMPLEMENTED,
                    fmt::format("gemm of type {}, which is not claimed,", type));
    }
  });
  if (!tried) skip("no device offers the table BLAS with gemm, or gemm is claimed for every type");
}

}  // namespace

std::vector<check> blas_checks() {
  return {{"blas.gemm", gemm},
          {"blas.gemm_strided", gemm_strided},
          {"blas.gemm_batched", gemm_batched},
          {"blas.axpy", axpy},
          {"blas.scal", scal},
          {"blas.dot", dot},
          {"blas.nrm2", nrm2},
          {"blas.syrk", syrk},
          {"blas.trsm", trsm},
          {"blas.potrf", potrf},
          {"blas.unclaimed_types", unclaimed_types}};
}

}  // namespace tessera::conformance
