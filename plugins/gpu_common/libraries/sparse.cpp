#include "plugins/gpu_common/libraries/sparse.hpp"

#include <algorithm>
#include <cstddef>

#include "plugins/gpu_common/api/scalars.hpp"
#include "plugins/gpu_common/libraries/sparse_functions.hpp"

namespace tessera::gpu {
namespace {

constexpr std::int64_t most = INT32_MAX;
constexpr int base_zero = 0;  // with both

/// A function's name for an element type.
std::string for_type(std::string name, char letter) {
  std::replace(name.begin(), name.end(), '?', letter);
  return name;
}

/// Scratch memory of one call: the caller's if that is enough, else taken and given back in the stream's order, so that
/// nothing waits.
class scratch {
 public:
  scratch(const library_product& product, std::size_t bytes, stream_t stream) : m_stream(stream) {
    if (product.asked != nullptr) {
      *product.asked = bytes;
      m_missing = true;
      return;
    }
    if (bytes == 0) return;
    if (product.workspace != nullptr && product.workspace_bytes >= bytes) {
      m_memory = product.workspace;
    } else if (product.recording) {
      m_missing = true;
    } else if (kind_of(allocate_in_order(&m_memory, bytes, stream)) != error_kind::none) {
      clear_error();
      m_memory = nullptr;
      m_missing = true;
    } else {
      m_own = true;
    }
  }
  ~scratch() {
    if (m_own) release_in_order(m_memory, m_stream);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  bool missing() const noexcept { return m_missing; }
  void* memory() const noexcept { return m_memory; }

 private:
  stream_t m_stream;
  void* m_memory = nullptr;
  bool m_own = false, m_missing = false;
};

}  // namespace

sparse_library::sparse_library(const sparse_dialect& dialect, const library_search& where)
    : m_dialect(dialect), m_library(dialect.files, where) {
  const std::string why = m_library ? missing() : m_library.complaint();
  m_usable = why.empty();
  m_has_tiles = m_usable && dialect.make_bsr != nullptr && m_library.symbol(dialect.make_bsr) != nullptr;
  if (m_usable)
    m_found = std::string(dialect.title) + " (" + m_library.name() + ")";
  else
    m_lost = std::string(dialect.title) + " (" + why + ")";
}

/// Why the library that was loaded is none of ours; "" if it is.
std::string sparse_library::missing() const {
  const sparse_dialect& d = m_dialect;
  if (d.property != nullptr) {
    const auto ask = m_library.function<property_function>(d.property);
    int major = 0, minor = 0;
    if (ask == nullptr || ask(0, &major) != 0 || ask(1, &minor) != 0)
      return m_library.name() + " does not tell its version";
    if (major * 1000 + minor < d.oldest)
      return m_library.name() + " is version " + std::to_string(major) + "." + std::to_string(minor) + "; used from " +
             std::to_string(d.oldest / 1000) + "." + std::to_string(d.oldest % 1000) + " on";
  }
  const char* const names[] = {d.sign,        d.create,      d.destroy,          d.set_stream,       d.make_csr,
                               d.make_matrix, d.drop_sparse, d.drop_matrix,      d.make_vector,      d.drop_vector,
                               d.spmv_size,   d.spmm,        d.make_description, d.drop_description, d.spmm_size};
  const auto absent = [&](const std::string& name) { return m_library.symbol(name) == nullptr; };
  for (const char* name : names)
    if (name != nullptr && absent(name)) return m_library.name() + " has no " + name;
  for (int i = 0; i < 4; ++i)
    if (const std::string name = for_type(d.spmv, d.letters[i]); absent(name))
      return m_library.name() + " has no " + name;
  return {};
}

const char* sparse_library::why_not(const kit::csr_matrix& matrix, const std::int64_t* row_starts,
                                    const std::int32_t* column_indices) const {
  if (matrix.nonzeros == 0 || matrix.rows == 0) return "it is empty";
  if (matrix.rows >= most || matrix.columns > most || matrix.nonzeros > most) return "32 bits do not count it";
  if (matrix.tile_rows != 1 || matrix.tile_columns != 1) {
    if (!m_has_tiles) return "the library has no tiles that are column-major";
    if (matrix.tile_rows != matrix.tile_columns) return "its tiles are no squares";
    if (matrix.rows % matrix.tile_rows != 0 || matrix.columns % matrix.tile_columns != 0)
      return "its last tiles reach over its edge";
  }
  // What a library makes of a place that stands twice is not said.
  const std::int64_t rows = matrix.rows_of_tiles();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t e = row_starts[row] + 1; e < row_starts[row + 1]; ++e)
      if (column_indices[e] <= column_indices[e - 1]) return "its columns do not ascend within rows";
  return nullptr;
}

/// One call, with what it makes and drops. Ends with its first failure.
class sparse_library::attempt {
 public:
  attempt(const sparse_library& library, const library_product& product, void* handle, stream_t stream)
      : m_library(library),
        m_dialect(library.m_dialect),
        m_product(product),
        m_call(product.call),
        m_handle(handle),
        m_stream(stream),
        m_type(m_dialect.types[place_of(m_call.type)]) {}
  ~attempt() {
    for (auto one = m_made.rbegin(); one != m_made.rend(); ++one) one->second(one->first);
  }
  attempt(const attempt&) = delete;
  attempt& operator=(const attempt&) = delete;

  std::optional<std::string> run() {
    const bool vectors = m_call.b == 1 && m_call.ldx == 1 && m_call.ldy == 1 && m_call.tile_rows == 1;
    const bool done = vectors ? m_dialect.spmv_size != nullptr ? described_vector() : plain_vector()
                      : m_dialect.spmm_size != nullptr ? matrix()
                                                       : staged_matrix();
    if (done) return std::string();
    if (m_failed.empty()) return std::nullopt;
    return m_failed + " failed with status " + std::to_string(m_status);
  }

 private:
  template <class Function, class... Arguments>
  bool call(const char* name, Arguments... arguments) {
    const std::string full = for_type(name, m_dialect.letters[place_of(m_call.type)]);
    m_status = m_library.m_library.template function<Function>(full)(arguments...);
    if (m_status == 0) return true;
    m_failed = full;
    return false;
  }
  /// As call, before anything is enqueued: what the library does not do is no failure.
  template <class Function, class... Arguments>
  bool ask(const char* name, Arguments... arguments) {
    if (call<Function>(name, arguments...)) return true;
    if (m_status == m_dialect.unsupported) m_failed.clear();
    return false;
  }
  template <class Function, class... Arguments>
  void* make(const char* name, const char* drop, Arguments... arguments) {
    void* made = nullptr;
    if (!ask<Function>(name, &made, arguments...)) return nullptr;
    m_made.emplace_back(made, m_library.m_library.template function<drop_function>(drop));
    return made;
  }

  void* sparse() {
    const auto& d = m_dialect;
    void *const starts = const_cast<std::int32_t*>(m_product.starts),
                *const columns = const_cast<std::int32_t*>(m_call.column_indices),
                *const values = const_cast<void*>(m_call.values);
    const std::int64_t side = m_call.tile_rows;
    if (side == 1)
      return make<make_csr_function>(d.make_csr, d.drop_sparse, m_call.rows, m_call.columns, m_call.nonzeros, starts,
                                     columns, values, d.index_32, d.index_32, base_zero, m_type);
    return make<make_bsr_function>(d.make_bsr, d.drop_sparse, m_call.rows / side, m_call.columns / side,
                                   m_call.nonzeros, d.by_columns, side, starts, columns, values, d.index_32, d.index_32,
                                   base_zero, m_type);
  }
  void* dense(std::int64_t rows, std::int64_t ld, const void* data) {
    return make<make_matrix_function>(m_dialect.make_matrix, m_dialect.drop_matrix, rows, m_call.b, ld,
                                      const_cast<void*>(data), m_type, m_dialect.by_rows);
  }
  void* vector(std::int64_t size, const void* data) {
    return make<make_vector_function>(m_dialect.make_vector, m_dialect.drop_vector, size, const_cast<void*>(data),
                                      m_type);
  }

  bool described_vector() {
    const auto& d = m_dialect;
    const void *const alpha = m_call.alpha.bytes, *const beta = m_call.beta.bytes;
    void *const a = sparse(), *const x = a != nullptr ? vector(m_call.columns, m_call.x) : nullptr,
                *const y = x != nullptr ? vector(m_call.rows, m_call.y) : nullptr;
    std::size_t bytes = 0;
    if (y == nullptr || !ask<spmv_size_function>(d.spmv_size, m_handle, d.as_is, alpha, a, x, beta, y, m_type,
                                                 d.spmv_algorithm, &bytes))
      return false;
    const scratch buffer(m_product, bytes, m_stream);
    return !buffer.missing() && call<spmv_function>(d.spmv, m_handle, d.as_is, alpha, a, x, beta, y, m_type,
                                                    d.spmv_algorithm, buffer.memory());
  }

  bool plain_vector() {
    if (m_product.asked != nullptr) return false;  // it wants none
    const auto& d = m_dialect;
    void* const description = make<make_description_function>(d.make_description, d.drop_description);
    return description != nullptr &&
           call<csrmv_function>(d.spmv, m_handle, d.as_is, static_cast<int>(m_call.rows),
                                static_cast<int>(m_call.columns), static_cast<int>(m_call.nonzeros),
                                static_cast<const void*>(m_call.alpha.bytes), description, m_call.values,
                                m_product.starts, m_call.column_indices, static_cast<void*>(nullptr), m_call.x,
                                static_cast<const void*>(m_call.beta.bytes), m_call.y);
  }

  bool matrix() {
    const auto& d = m_dialect;
    const void *const alpha = m_call.alpha.bytes, *const beta = m_call.beta.bytes;
    void *const a = sparse(), *const x = a != nullptr ? dense(m_call.columns, m_call.ldx, m_call.x) : nullptr,
                *const y = x != nullptr ? dense(m_call.rows, m_call.ldy, m_call.y) : nullptr;
    std::size_t bytes = 0;
    if (y == nullptr || !ask<spmm_size_function>(d.spmm_size, m_handle, d.as_is, d.as_is, alpha, a, x, beta, y, m_type,
                                                 d.spmm_algorithm, &bytes))
      return false;
    const scratch buffer(m_product, bytes, m_stream);
    return !buffer.missing() && call<spmm_function>(d.spmm, m_handle, d.as_is, d.as_is, alpha, a, x, beta, y, m_type,
                                                    d.spmm_algorithm, buffer.memory());
  }

  bool staged_matrix() {
    if (m_product.recording) return false;  // a stage before the last may do more than enqueue
    enum stage {
      buffer_size = 1,
      preprocess = 2,
      compute = 3
    };
    const auto& d = m_dialect;
    const void *const alpha = m_call.alpha.bytes, *const beta = m_call.beta.bytes;
    void *const a = sparse(), *const x = a != nullptr ? dense(m_call.columns, m_call.ldx, m_call.x) : nullptr,
                *const y = x != nullptr ? dense(m_call.rows, m_call.ldy, m_call.y) : nullptr;
    if (y == nullptr) return false;
    const int algorithm = m_call.tile_rows == 1 ? d.spmm_algorithm : d.tiles_algorithm;
    std::size_t bytes = 0;
    if (!ask<staged_spmm_function>(d.spmm, m_handle, d.as_is, d.as_is, alpha, a, x, beta, y, m_type, algorithm,
                                   int{buffer_size}, &bytes, static_cast<void*>(nullptr)))
      return false;
    const scratch buffer(m_product, std::max<std::size_t>(bytes, 4),
                         m_stream);  // without a buffer it would only ask again
    if (buffer.missing()) return false;
    for (const int now : {preprocess, compute})
      if (!call<staged_spmm_function>(d.spmm, m_handle, d.as_is, d.as_is, alpha, a, x, beta, y, m_type, algorithm, now,
                                      &bytes, buffer.memory()))
        return false;
    return true;
  }

  const sparse_library& m_library;
  const sparse_dialect& m_dialect;
  const library_product& m_product;
  const kit::spmm_call& m_call;
  void* const m_handle;
  const stream_t m_stream;
  const int m_type;
  std::vector<std::pair<void*, drop_function>> m_made;
  int m_status = 0;
  std::string m_failed;
};

std::optional<std::string> sparse_library::run(const library_product& product, sparse_handles& handles,
                                               stream_t stream) const {
  const kit::spmm_call& call = product.call;
  // Transposed products of both libraries add atomically: other bits each time, which the table does not allow.
  if (product.starts == nullptr || call.transpose != TSR_NO_TRANSPOSE || call.b == 0 || call.b > most)
    return std::nullopt;
  if (is_zero(call.type, call.alpha.bytes)) return std::nullopt;  // A and X are not read
  for (const void* operand : {call.values, call.x, static_cast<const void*>(call.y)})
    if (reinterpret_cast<std::uintptr_t>(operand) % kit::element_bytes(call.type) != 0) return std::nullopt;
  void* const handle =
      handles.m_handle.made(m_library, m_dialect.create, m_dialect.destroy, m_dialect.set_stream, stream);
  if (handle == nullptr) return std::nullopt;
  auto answer = attempt(*this, product, handle, stream).run();
  if (answer && !answer->empty()) *answer = m_found + ": " + *answer;
  return answer;
}

std::uint64_t sparse_library::workspace(library_product product, sparse_handles& handles, stream_t stream) const {
  if (product.starts == nullptr || product.call.transpose != TSR_NO_TRANSPOSE || product.call.b == 0 ||
      product.call.b > most)
    return 0;
  void* const handle =
      handles.m_handle.made(m_library, m_dialect.create, m_dialect.destroy, m_dialect.set_stream, stream);
  std::uint64_t bytes = 0;
  product.asked = &bytes;
  if (handle != nullptr) attempt(*this, product, handle, stream).run();
  return bytes;
}

void sparse_library::prepare(sparse_handles& handles, stream_t stream) const {
  if (m_usable) handles.m_handle.made(m_library, m_dialect.create, m_dialect.destroy, m_dialect.set_stream, stream);
}

}  // namespace tessera::gpu
