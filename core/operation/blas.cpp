#include "core/operation/blas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/operation/batch_call.hpp"
#include "core/operation/device_call.hpp"
#include "core/operation/scalar.hpp"

namespace tessera::operation {
namespace {

tsr_type abi(element_type type) { return static_cast<tsr_type>(type); }

template <tsr_blas_operation Operation>
bool supported_by_blas(const plugin::device& device, element_type type) {
  return device.blas() != nullptr &&
         plugin::affirmed("supports", [&] { return device.blas()->supports(device.handle(), Operation, abi(type)); });
}

template <class Arguments>
Arguments with_size() {
  Arguments arguments{};
  arguments.struct_size = sizeof(Arguments);
  return arguments;
}

[[noreturn]] void mismatch(const char* name, const std::string& what) {
  throw error(error_kind::usage, fmt::format("{}: {}", name, what));
}

void require_same_type(const char* name, const context& c) {
  if (c.operands[0].type != c.operands[1].type)
    mismatch(name, fmt::format("blocks of type {} and {}", name_of(c.operands[0].type), name_of(c.operands[1].type)));
}

/// The request of a task, without its scalars and addresses.
tsr_gemm gemm_request(const context& c) {
  const auto& given = c.arguments_as<gemm_arguments>();
  const operand &a = c.operands[0], &b = c.operands[1], &out = c.operands[2];
  require_same_type("gemm", c);
  const bool ta = given.transpose_a != TSR_NO_TRANSPOSE, tb = given.transpose_b != TSR_NO_TRANSPOSE;
  const std::int64_t m = a.extent(ta ? 1 : 0), k = a.extent(ta ? 0 : 1), n = b.extent(tb ? 0 : 1);
  if (b.extent(tb ? 1 : 0) != k || out.extent(0) != m || out.extent(1) != n || out.type != a.type)
    mismatch("gemm", fmt::format("shapes {}x{} and {}x{} do not multiply into {}x{}", m, k, b.extent(tb ? 1 : 0), n,
                                 out.extent(0), out.extent(1)));
  auto g = with_size<tsr_gemm>();
  g.type = abi(a.type);
  g.transpose_a = given.transpose_a;
  g.transpose_b = given.transpose_b;
  g.m = m, g.n = n, g.k = k;
  g.lda = std::max<std::int64_t>(a.extent(0), 1);
  g.ldb = std::max<std::int64_t>(b.extent(0), 1);
  g.ldc = std::max<std::int64_t>(m, 1);
  g.batch = 1;
  return g;
}

void enqueue_gemm(const context& c) {
  const auto& given = c.arguments_as<gemm_arguments>();
  tsr_gemm g = gemm_request(c);
  const scalar alpha(c.operands[0].type, given.alpha), beta(c.operands[0].type, given.beta);
  g.alpha = alpha.data();
  g.beta = beta.data();
  g.a = c.operands[0].address, g.b = c.operands[1].address, g.c = c.operands[2].address;
  check(c, c.device->blas()->gemm(c.device->handle(), c.stream, &g), "gemm", c.operands[0].type,
        supported_by_blas<TSR_BLAS_GEMM>);
}

bool enqueue_gemms(std::span<const context> tasks) {
  const context& c = tasks.front();
  const auto& given = c.arguments_as<gemm_arguments>();
  tsr_gemm g = gemm_request(c);
  const scalar alpha(c.operands[0].type, given.alpha), beta(c.operands[0].type, given.beta);
  g.alpha = alpha.data();
  g.beta = beta.data();
  boost::container::small_vector<tsr_address, 64> addresses[3];
  for (std::size_t which = 0; which < 3; ++which)
    for (const context& one : tasks) addresses[which].push_back(one.operands[which].address);
  g.a_array = addresses[0].data(), g.b_array = addresses[1].data(), g.c_array = addresses[2].data();
  g.batch = static_cast<std::int64_t>(tasks.size());
  return taken(*c.device, c.device->blas()->gemm_batched(c.device->handle(), c.stream, &g), "gemm_batched");
}

bool can_multiply_many(const plugin::device& device, element_type type) {
  return device.blas()->gemm_batched != nullptr && supported_by_blas<TSR_BLAS_GEMM_BATCHED>(device, type);
}

void enqueue_syrk(const context& c) {
  const auto& given = c.arguments_as<syrk_arguments>();
  const operand &a = c.operands[0], &out = c.operands[1];
  require_same_type("syrk", c);
  const std::int64_t n = a.extent(0), k = a.extent(1);
  if (out.extent(0) != n || out.extent(1) != n)
    mismatch("syrk", fmt::format("A is {}x{} and C is {}x{}", n, k, out.extent(0), out.extent(1)));
  const scalar alpha(a.type, given.alpha), beta(a.type, given.beta);
  auto s = with_size<tsr_syrk>();
  s.type = abi(a.type);
  s.triangle = TSR_LOWER;
  s.transpose = TSR_NO_TRANSPOSE;
  s.n = n, s.k = k;
  s.alpha = alpha.data();
  s.beta = beta.data();
  s.a = a.address, s.c = out.address;
  s.lda = s.ldc = std::max<std::int64_t>(n, 1);
  check(c, c.device->blas()->syrk(c.device->handle(), c.stream, &s), "syrk", a.type, supported_by_blas<TSR_BLAS_SYRK>);
}

void enqueue_trsm(const context& c) {
  const auto& given = c.arguments_as<trsm_arguments>();
  const operand &a = c.operands[0], &b = c.operands[1];
  require_same_type("trsm", c);
  const std::int64_t m = b.extent(0), n = b.extent(1);
  if (a.extent(0) != n || a.extent(1) != n)
    mismatch("trsm", fmt::format("A is {}x{} and B is {}x{}", a.extent(0), a.extent(1), m, n));
  const scalar alpha(a.type, given.alpha);
  auto t = with_size<tsr_trsm>();
  t.type = abi(a.type);
  t.side = TSR_RIGHT;
  t.triangle = TSR_LOWER;
  t.transpose = TSR_TRANSPOSE;
  t.m = m, t.n = n;
  t.alpha = alpha.data();
  t.a = a.address, t.b = b.address;
  t.lda = std::max<std::int64_t>(n, 1);
  t.ldb = std::max<std::int64_t>(m, 1);
  check(c, c.device->blas()->trsm(c.device->handle(), c.stream, &t), "trsm", a.type, supported_by_blas<TSR_BLAS_TRSM>);
}

void enqueue_potrf(const context& c) {
  const operand &a = c.operands[0], &info = c.operands[1];
  if (a.extent(0) != a.extent(1)) mismatch("potrf", fmt::format("A is {}x{}", a.extent(0), a.extent(1)));
  if (info.type != element_type::i32 || info.bytes < 4) mismatch("potrf", "info must be one element of type i32");
  auto p = with_size<tsr_potrf>();
  p.type = abi(a.type);
  p.triangle = TSR_LOWER;
  p.n = a.extent(0);
  p.a = a.address;
  p.lda = std::max<std::int64_t>(p.n, 1);
  p.info = info.address;
  check(c, c.device->blas()->potrf(c.device->handle(), c.stream, &p), "potrf", a.type,
        supported_by_blas<TSR_BLAS_POTRF>);
}

void enqueue_axpy(const context& c) {
  const operand &x = c.operands[0], &y = c.operands[1];
  require_same_type("axpy", c);
  if (x.bytes != y.bytes)
    throw error(error_kind::usage,
                fmt::format("axpy: x has {} elements and y {}", x.extents->count(), y.extents->count()), {},
                "give it blocks that are cut alike");
  const scalar alpha(x.type, c.arguments_as<axpy_arguments>().alpha);
  auto v = with_size<tsr_vector_operation>();
  v.type = abi(x.type);
  v.n = x.extents->count();
  v.alpha = alpha.data();
  v.x = x.address, v.y = y.address;
  v.incx = v.incy = 1;
  check(c, c.device->blas()->axpy(c.device->handle(), c.stream, &v), "axpy", x.type, supported_by_blas<TSR_BLAS_AXPY>);
}

void enqueue_scal(const context& c) {
  const operand& x = c.operands[0];
  const scalar alpha(x.type, c.arguments_as<scal_arguments>().alpha);
  auto v = with_size<tsr_vector_operation>();
  v.type = abi(x.type);
  v.n = x.extents->count();
  v.alpha = alpha.data();
  v.x = x.address;
  v.incx = v.incy = 1;
  check(c, c.device->blas()->scal(c.device->handle(), c.stream, &v), "scal", x.type, supported_by_blas<TSR_BLAS_SCAL>);
}

double extent_of(const block::access& a, std::size_t d) {
  return d < a.block->extents->rank() ? static_cast<double>((*a.block->extents)[d]) : 1.0;
}
double complex_factor(const block::access& a) {
  return a.block->type == element_type::c64 || a.block->type == element_type::c128 ? 4.0 : 1.0;
}
double gemm_work(const void* arguments, std::span<const block::access> b) {
  const bool transposed = static_cast<const gemm_arguments*>(arguments)->transpose_a != TSR_NO_TRANSPOSE;
  return 2 * extent_of(b[2], 0) * extent_of(b[2], 1) * extent_of(b[0], transposed ? 0 : 1) * complex_factor(b[0]);
}
double syrk_work(const void*, std::span<const block::access> b) {
  return extent_of(b[0], 0) * extent_of(b[0], 0) * extent_of(b[0], 1) * complex_factor(b[0]);
}
double trsm_work(const void*, std::span<const block::access> b) {
  return extent_of(b[1], 0) * extent_of(b[1], 1) * extent_of(b[1], 1) * complex_factor(b[0]);
}
double potrf_work(const void*, std::span<const block::access> b) {
  return extent_of(b[0], 0) * extent_of(b[0], 0) * extent_of(b[0], 0) / 3 * complex_factor(b[0]);
}
double vector_work(const void*, std::span<const block::access> b) {
  return 2 * static_cast<double>(b[0].block->extents->count());
}

}  // namespace

definition gemm() {
  return {.name = "gemm",
          .enqueue = enqueue_gemm,
          .available = supported_by_blas<TSR_BLAS_GEMM>,
          .work = gemm_work,
          .batch = {.enqueue = enqueue_gemms, .available = can_multiply_many}};
}
definition syrk() {
  return {.name = "syrk",
          .signature = {intent::read, intent::update},
          .enqueue = enqueue_syrk,
          .available = supported_by_blas<TSR_BLAS_SYRK>,
          .work = syrk_work};
}
definition trsm() {
  return {.name = "trsm",
          .signature = {intent::read, intent::update},
          .enqueue = enqueue_trsm,
          .available = supported_by_blas<TSR_BLAS_TRSM>,
          .work = trsm_work};
}
definition potrf() {
  return {.name = "potrf",
          .signature = {intent::update, intent::write},
          .enqueue = enqueue_potrf,
          .available = supported_by_blas<TSR_BLAS_POTRF>,
          .work = potrf_work};
}
definition axpy() {
  return {.name = "axpy", .enqueue = enqueue_axpy, .available = supported_by_blas<TSR_BLAS_AXPY>, .work = vector_work};
}
definition scal() {
  return {.name = "scal",
          .signature = {intent::update},
          .enqueue = enqueue_scal,
          .available = supported_by_blas<TSR_BLAS_SCAL>,
          .work = vector_work};
}

}  // namespace tessera::operation
