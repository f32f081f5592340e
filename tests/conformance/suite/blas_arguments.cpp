// What BLAS entries refuse: arguments that can never be right, and operands that do not fit their memory. What only
// reads is tried before what writes, and what may crash a plugin that does not look comes last; the operands hold zeros
// (and a unit diagonal), so that a call that should have been refused changes little.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/conformance/suite/numbers.hpp"
#include "tests/conformance/suite/watch.hpp"

namespace tessera::conformance {
namespace {

/// Both are refusals of what no memory holds: a call that overflows lies outside its allocation, and can never be
/// right.
constexpr tsr_status beyond_counting = -1;
constexpr std::int64_t order = 4, elements = order * order, huge = std::int64_t{1} << 61;

/// One operand of a call: the field with its address, and what the call touches of it.
template <class Call>
struct operand {
  const char* name;
  tsr_address Call::*address;
  std::uint64_t bytes;
  bool written;
};
template <class Call>
struct size {
  const char* name;
  std::int64_t Call::*value;
};
template <class Call>
struct scalar {
  const char* name;
  const void* Call::*value;
};

/// An entry, a call of it that is right, and what there is to get wrong.
template <class Call>
struct entry {
  const char* name;
  tsr_status (*call)(tsr_device*, tsr_stream*, const Call*);
  Call right{};
  std::vector<operand<Call>> operands{};
  std::vector<size<Call>> extents{};    ///< negative: INVALID_ARGUMENT; huge, where nothing leads: refused
  std::vector<size<Call>> leading{};    ///< below the rows: INVALID_ARGUMENT; huge: refused
  std::vector<size<Call>> distances{};  ///< huge: refused, with either sign where they are increments
  bool signed_distances = false;
  std::vector<scalar<Call>> scalars{};
};

/// Tries the mistakes of one entry after the other on a device.
class attempt {
 public:
  attempt(const queue& stream, std::string type) : m_stream(stream), m_type(std::move(type)) {}

  /// `safe`: those mistakes that a plugin which does not look at them survives; else the others.
  template <class Call>
  void make(const entry<Call>& one, bool safe) {
    safe ? make_safe(one) : make_fatal(one);
  }

 private:
  template <class Call>
  void make_safe(const entry<Call>& one) {
    expect_answer(one, one.right, TSR_OK, "operands that end with their allocations");
    for (const auto& extent : one.extents)
      with(one, TSR_INVALID_ARGUMENT, fmt::format("{} = -1", extent.name),
           [&](Call& call) { call.*extent.value = -1; });
    for (const auto& ld : one.leading) {
      with(one, TSR_INVALID_ARGUMENT, fmt::format("{} = {} for {} rows", ld.name, order - 1, order),
           [&](Call& call) { call.*ld.value = order - 1; });
      with(one, TSR_INVALID_ARGUMENT, fmt::format("{} = -{}", ld.name, order),
           [&](Call& call) { call.*ld.value = -order; });
    }
    for (const bool written : {false, true})
      for (const auto& operand : one.operands)
        if (operand.written == written)
          with(one, TSR_OUT_OF_RANGE,
               fmt::format("{} whose last element lies behind the end of its allocation", operand.name),
               [&](Call& call) { (call.*operand.address).offset += operand.bytes; });
  }

  template <class Call>
  void make_fatal(const entry<Call>& one) {
    for (const auto& operand : one.operands)
      with(one, beyond_counting, fmt::format("{} at an offset of nearly 2^64", operand.name),
           [&](Call& call) { (call.*operand.address).offset = ~std::uint64_t{0} - 7; });
    for (const auto& ld : one.leading)
      with(one, beyond_counting, fmt::format("{} = 2^61, which overflows in bytes", ld.name),
           [&](Call& call) { call.*ld.value = huge; });
    for (const auto& distance : one.distances) {
      with(one, beyond_counting, fmt::format("{} = 2^61, which overflows in bytes", distance.name),
           [&](Call& call) { call.*distance.value = huge; });
      if (one.signed_distances)
        with(one, beyond_counting, fmt::format("{} = -2^61, which overflows in bytes", distance.name),
             [&](Call& call) { call.*distance.value = -huge; });
    }
    if (one.leading.empty())
      for (const auto& extent : one.extents)
        with(one, beyond_counting, fmt::format("{} = 2^61, which overflows in bytes", extent.name),
             [&](Call& call) { call.*extent.value = huge; });
    for (const auto& scalar : one.scalars)
      with(one, TSR_INVALID_ARGUMENT, fmt::format("{} NULL", scalar.name),
           [&](Call& call) { call.*scalar.value = nullptr; });
    for (const auto& operand : one.operands)
      with(one, TSR_INVALID_ARGUMENT, fmt::format("{} a null pointer", operand.name), [&](Call& call) {
        call.*operand.address = {nullptr, 0};
      });
    const device& on = m_stream.owner();
    expect_status_of(one.name, "no arguments (NULL)", TSR_INVALID_ARGUMENT,
                     [&] { return one.call(on.handle(), m_stream.handle(), nullptr); });
    expect_status_of(one.name, "a NULL stream", TSR_INVALID_ARGUMENT,
                     [&] { return one.call(on.handle(), nullptr, &one.right); });
    expect_status_of(one.name, "a NULL device", TSR_INVALID_ARGUMENT,
                     [&] { return one.call(nullptr, m_stream.handle(), &one.right); });
  }

  template <class Call, class Change>
  void with(const entry<Call>& one, tsr_status wanted, const std::string& mistake, Change&& change) {
    Call call = one.right;
    change(call);
    expect_answer(one, call, wanted, mistake);
  }
  template <class Call>
  void expect_answer(const entry<Call>& one, const Call& call, tsr_status wanted, const std::string& mistake) {
    expect_status_of(one.name, mistake, wanted,
                     [&] { return one.call(m_stream.owner().handle(), m_stream.handle(), &call); });
  }
  void expect_status_of(const char* name, const std::string& mistake, tsr_status wanted,
                        const std::function<tsr_status()>& call) {
    m_words = fmt::format("{} of {} with {}", name, m_type, mistake);
    now_trying(m_words.c_str());
    plugin::take_error_details();
    const tsr_status got = call();
    m_stream.finish();
    now_trying("");
    if (wanted == beyond_counting)
      expect_status(got, got == TSR_INVALID_ARGUMENT ? TSR_INVALID_ARGUMENT : TSR_OUT_OF_RANGE, m_words);
    else
      expect_status(got, wanted, m_words);
  }

  const queue& m_stream;
  const std::string m_type;
  std::string m_words;  ///< of the mistake that is being tried
};

/// Memory for three operands and a result, each at the end of its allocation.
template <class T>
class operands_at_the_end {
 public:
  explicit operands_at_the_end(const queue& stream)
      : m_granularity(std::max<std::uint64_t>(granularity_of(stream.owner()), 1)),
        m_bytes((2 * elements * sizeof(T) + m_granularity - 1) / m_granularity * m_granularity),
        a(filled(stream, false)),
        b(filled(stream, false)),
        c(filled(stream, false)),
        unit(filled(stream, true)),
        result(filled(stream, false)) {}

  tsr_address last(const buffer& of, std::uint64_t bytes) const { return of.at(m_bytes - bytes); }

 private:
  static std::uint64_t granularity_of(const device& on) {
    return on.spaces()[compute_space(on)].description.granularity;
  }
  buffer filled(const queue& stream, bool unit_at_the_end) const {
    std::vector<T> values(m_bytes / sizeof(T), T(0));
    if (unit_at_the_end)
      for (std::int64_t i = 0; i < order; ++i)
        values[values.size() - static_cast<std::size_t>(elements - i - i * order)] = T(1);
    buffer made(stream.owner(), compute_space(stream.owner()), m_bytes);
    upload(stream, made, values.data(), values.size() * sizeof(T));
    return made;
  }

  std::uint64_t m_granularity, m_bytes;

 public:
  buffer a, b, c, unit, result;
};

/// All entries that a device claims for a type, with calls that are right.
template <class T>
struct claimed {
  T one = T(1);
  std::vector<entry<tsr_gemm>> products{};
  std::vector<entry<tsr_vector_operation>> vectors{};
  std::vector<entry<tsr_syrk>> updates{};
  std::vector<entry<tsr_trsm>> solves{};
  std::vector<entry<tsr_potrf>> factors{};

  claimed(const device& on, const tsr_blas_table& blas, const operands_at_the_end<T>& at) {
    const auto has = [&](tsr_blas_operation operation) {
      return blas.supports(on.handle(), operation, number<T>::type);
    };
    add_products(has, blas, at);
    add_vectors(has, blas, at);
    add_triangles(has, blas, at);
  }
  claimed(const claimed&) = delete;
  claimed& operator=(const claimed&) = delete;

  bool empty() const {
    return products.empty() && vectors.empty() && updates.empty() && solves.empty() && factors.empty();
  }
  void try_all(attempt& with, bool safe) const {
    for (const auto& one_of : vectors) with.make(one_of, safe);
    for (const auto& one_of : products) with.make(one_of, safe);
    for (const auto& one_of : updates) with.make(one_of, safe);
    for (const auto& one_of : solves) with.make(one_of, safe);
    for (const auto& one_of : factors) with.make(one_of, safe);
  }

 private:
  static constexpr std::uint64_t matrix = elements * sizeof(T), vector = order * sizeof(T);

  template <class Has>
  void add_products(Has&& has, const tsr_blas_table& blas, const operands_at_the_end<T>& at) {
    entry<tsr_gemm> plain{"gemm", blas.gemm};
    tsr_gemm& g = plain.right;
    g.struct_size = sizeof g;
    g.type = number<T>::type;
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = order;
    g.alpha = g.beta = &one;
    g.a = at.last(at.a, matrix), g.b = at.last(at.b, matrix), g.c = at.last(at.c, matrix);
    g.batch = 1;
    plain.operands = {{"A", &tsr_gemm::a, sizeof(T), false},
                      {"B", &tsr_gemm::b, sizeof(T), false},
                      {"C", &tsr_gemm::c, sizeof(T), true}};
    plain.extents = {{"m", &tsr_gemm::m}, {"n", &tsr_gemm::n}, {"k", &tsr_gemm::k}};
    plain.leading = {{"lda", &tsr_gemm::lda}, {"ldb", &tsr_gemm::ldb}, {"ldc", &tsr_gemm::ldc}};
    plain.scalars = {{"alpha", &tsr_gemm::alpha}, {"beta", &tsr_gemm::beta}};
    entry<tsr_gemm> strided = plain;
    strided.name = "gemm_strided", strided.call = blas.gemm_strided;
    tsr_gemm& s = strided.right;
    s.batch = 2;
    s.stride_a = s.stride_b = s.stride_c = static_cast<std::int64_t>(matrix);
    s.a = at.last(at.a, 2 * matrix), s.b = at.last(at.b, 2 * matrix), s.c = at.last(at.c, 2 * matrix);
    for (const size<tsr_gemm>& more : {size<tsr_gemm>{"batch", &tsr_gemm::batch},
                                       {"stride_a", &tsr_gemm::stride_a},
                                       {"stride_b", &tsr_gemm::stride_b},
                                       {"stride_c", &tsr_gemm::stride_c}})
      strided.extents.push_back(more);
    strided.distances = {
        {"stride_a", &tsr_gemm::stride_a}, {"stride_b", &tsr_gemm::stride_b}, {"stride_c", &tsr_gemm::stride_c}};
    if (has(TSR_BLAS_GEMM)) products.push_back(std::move(plain));
    if (has(TSR_BLAS_GEMM_STRIDED)) products.push_back(std::move(strided));
  }

  template <class Has>
  void add_vectors(Has&& has, const tsr_blas_table& blas, const operands_at_the_end<T>& at) {
    using call = tsr_vector_operation;
    entry<call> axpy{"axpy", blas.axpy};
    call& v = axpy.right;
    v.struct_size = sizeof v;
    v.type = number<T>::type;
    v.n = order, v.incx = v.incy = 1;
    v.alpha = &one;
    v.x = at.last(at.a, vector), v.y = at.last(at.b, vector), v.result = at.last(at.result, sizeof(T));
    axpy.extents = {{"n", &call::n}};
    axpy.distances = {{"incx", &call::incx}, {"incy", &call::incy}};
    axpy.signed_distances = true;
    axpy.scalars = {{"alpha", &call::alpha}};
    entry<call> scal = axpy, dot = axpy, nrm2 = axpy;
    scal.name = "scal", scal.call = blas.scal;
    dot.name = "dot", dot.call = blas.dot, dot.scalars.clear();
    nrm2.name = "nrm2", nrm2.call = blas.nrm2, nrm2.scalars.clear();
    scal.distances.pop_back(), nrm2.distances.pop_back();
    axpy.operands = {{"x", &call::x, sizeof(T), false}, {"y", &call::y, sizeof(T), true}};
    scal.operands = {{"x", &call::x, sizeof(T), true}};
    dot.operands = {{"x", &call::x, sizeof(T), false},
                    {"y", &call::y, sizeof(T), false},
                    {"result", &call::result, sizeof(T), true}};
    nrm2.operands = {{"x", &call::x, sizeof(T), false}, {"result", &call::result, sizeof(T), true}};
    if (has(TSR_BLAS_AXPY)) vectors.push_back(std::move(axpy));
    if (has(TSR_BLAS_SCAL)) vectors.push_back(std::move(scal));
    if (has(TSR_BLAS_DOT)) vectors.push_back(std::move(dot));
    if (has(TSR_BLAS_NRM2)) vectors.push_back(std::move(nrm2));
  }

  template <class Has>
  void add_triangles(Has&& has, const tsr_blas_table& blas, const operands_at_the_end<T>& at) {
    entry<tsr_syrk> syrk{"syrk", blas.syrk};
    tsr_syrk& s = syrk.right;
    s.struct_size = sizeof s;
    s.type = number<T>::type;
    s.n = s.k = s.lda = s.ldc = order;
    s.alpha = s.beta = &one;
    s.a = at.last(at.a, matrix), s.c = at.last(at.c, matrix);
    syrk.operands = {{"A", &tsr_syrk::a, sizeof(T), false}, {"C", &tsr_syrk::c, sizeof(T), true}};
    syrk.extents = {{"n", &tsr_syrk::n}, {"k", &tsr_syrk::k}};
    syrk.leading = {{"lda", &tsr_syrk::lda}, {"ldc", &tsr_syrk::ldc}};
    syrk.scalars = {{"alpha", &tsr_syrk::alpha}, {"beta", &tsr_syrk::beta}};
    if (has(TSR_BLAS_SYRK)) updates.push_back(std::move(syrk));
    entry<tsr_trsm> trsm{"trsm", blas.trsm};
    tsr_trsm& t = trsm.right;
    t.struct_size = sizeof t;
    t.type = number<T>::type;
    t.unit_diagonal = true;
    t.m = t.n = t.lda = t.ldb = order;
    t.alpha = &one;
    t.a = at.last(at.a, matrix), t.b = at.last(at.b, matrix);
    trsm.operands = {{"A", &tsr_trsm::a, sizeof(T), false}, {"B", &tsr_trsm::b, sizeof(T), true}};
    trsm.extents = {{"m", &tsr_trsm::m}, {"n", &tsr_trsm::n}};
    trsm.leading = {{"lda", &tsr_trsm::lda}, {"ldb", &tsr_trsm::ldb}};
    trsm.scalars = {{"alpha", &tsr_trsm::alpha}};
    if (has(TSR_BLAS_TRSM)) solves.push_back(std::move(trsm));
    entry<tsr_potrf> potrf{"potrf", blas.potrf};
    tsr_potrf& p = potrf.right;
    p.struct_size = sizeof p;
    p.type = number<T>::type;
    p.n = p.lda = order;
    p.a = at.last(at.unit, matrix), p.info = at.last(at.result, sizeof(std::int32_t));
    potrf.operands = {{"A", &tsr_potrf::a, sizeof(T), true}, {"info", &tsr_potrf::info, sizeof(std::int32_t), true}};
    potrf.extents = {{"n", &tsr_potrf::n}};
    potrf.leading = {{"lda", &tsr_potrf::lda}};
    if (has(TSR_BLAS_POTRF)) factors.push_back(std::move(potrf));
  }
};

void arguments(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_blas_table* const blas = device.blas();
    if (blas == nullptr) return;
    for (const bool safe : {true, false})
      for_each_number([&](auto zero) {
        using T = decltype(zero);
        const queue stream(device);
        const operands_at_the_end<T> at(stream);
        const claimed<T> entries(device, *blas, at);
        if (entries.empty()) return;
        tried = true;
        attempt mistakes(stream, number<T>::name);
        entries.try_all(mistakes, safe);
      });
  });
  if (!tried) skip("no device offers BLAS");
}

}  // namespace

std::vector<check> blas_argument_checks() { return {{"blas.arguments", arguments}}; }

}  // namespace tessera::conformance
