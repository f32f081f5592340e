#include "plugins/opencl/clblast.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plugins/gpu_common/api/scalars.hpp"
#include "plugins/opencl/queue.hpp"

namespace tessera::gpu::opencl {
namespace {

// CLBlast's C interface (clblast_c.h of 1.4 and younger): the values of its enumerations are those of CBLAS.
constexpr int column_major = 102, as_it_is = 111, transposed = 112, conjugate_transposed = 113;

template <class Element>
using gemm = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, Element, cl_mem, std::size_t, std::size_t,
                     cl_mem, std::size_t, std::size_t, Element, cl_mem, std::size_t, std::size_t, cl_command_queue*,
                     cl_event*);
template <class Element>
using gemm_strided = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, Element, cl_mem, std::size_t,
                             std::size_t, std::size_t, cl_mem, std::size_t, std::size_t, std::size_t, Element, cl_mem,
                             std::size_t, std::size_t, std::size_t, std::size_t, cl_command_queue*, cl_event*);
template <class Element>
struct products {
  gemm<Element> one = nullptr;
  gemm_strided<Element> many = nullptr;
};

struct clblast {
  void* handle = ::dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);  // never closed, like drivers
  products<cl_float> f32;
  products<cl_double> f64;
  products<cl_float2> c64;
  products<cl_double2> c128;
  int (*clear_cache)() = nullptr;

  clblast() {
    if (handle == nullptr) return;
    take(f32, "CLBlastSgemm", "CLBlastSgemmStridedBatched");
    take(f64, "CLBlastDgemm", "CLBlastDgemmStridedBatched");
    take(c64, "CLBlastCgemm", "CLBlastCgemmStridedBatched");
    take(c128, "CLBlastZgemm", "CLBlastZgemmStridedBatched");
    clear_cache = reinterpret_cast<int (*)()>(::dlsym(handle, "CLBlastClearCache"));
  }
  bool complete() const noexcept {
    const auto has = [](const auto& of) { return of.one != nullptr && of.many != nullptr; };
    return clear_cache != nullptr && has(f32) && has(f64) && has(c64) && has(c128);
  }

 private:
  template <class Element>
  void take(products<Element>& to, const char* one, const char* many) {
    to.one = reinterpret_cast<gemm<Element>>(::dlsym(handle, one));
    to.many = reinterpret_cast<gemm_strided<Element>>(::dlsym(handle, many));
  }
};

std::atomic<clblast_use> use_now{clblast_use::gpus};
std::atomic<bool> was_asked{false};

const clblast* library_there() {
  was_asked.store(true, std::memory_order_relaxed);
  static const clblast* const made = new clblast;  // stays: drivers call into what it compiled until the process ends
  return made->complete() ? made : nullptr;
}

/// A matrix as BLAS describes one: in a buffer, elements of a column beside each other, or those of a row and
/// transposed.
struct stored {
  cl_mem buffer = nullptr;
  std::size_t offset = 0, ld = 1, step = 0;  // elements
  int transpose = as_it_is;
};

std::optional<stored> stored_as(const matrix& m, std::int64_t rows, std::int64_t columns, std::int64_t step,
                                std::size_t element_bytes, const buffer_map& buffers) {
  stored made;
  std::int64_t ld = 0;
  if (m.row_step == 1 && (columns == 1 || m.column_step >= rows)) {
    if (m.conjugated) return std::nullopt;  // conjugated and not transposed
    ld = columns == 1 ? rows : m.column_step;
  } else if (m.column_step == 1 && (rows == 1 || m.row_step >= columns)) {
    made.transpose = m.conjugated ? conjugate_transposed : transposed;
    ld = rows == 1 ? columns : m.row_step;
  } else {
    return std::nullopt;
  }
  const place at = buffers.find(m.data);
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  if (at.buffer == nullptr || at.offset % element_bytes != 0 || step < 0 || step % bytes != 0) return std::nullopt;
  made.buffer = at.buffer;
  made.offset = at.offset / element_bytes;
  made.ld = static_cast<std::size_t>(ld);
  made.step = static_cast<std::size_t>(step / bytes);
  return made;
}

template <class Element>
Element element_at(const void* bytes) {
  Element value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class Element>
error_t enqueue(const products<Element>& by, const product& p, const stored& a, const stored& b, const stored& c,
                queue& stream) {
  const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n), k = static_cast<std::size_t>(p.k);
  const auto alpha = element_at<Element>(p.alpha), beta = element_at<Element>(p.beta);
  cl_command_queue native = stream.native();
  return stream.enqueue("CLBlast's gemm", [&](cl_event* event) {
    if (p.batch == 1)
      return by.one(column_major, a.transpose, b.transpose, m, n, k, alpha, a.buffer, a.offset, a.ld, b.buffer,
                    b.offset, b.ld, beta, c.buffer, c.offset, c.ld, &native, event);
    return by.many(column_major, a.transpose, b.transpose, m, n, k, alpha, a.buffer, a.offset, a.ld, a.step, b.buffer,
                   b.offset, b.ld, b.step, beta, c.buffer, c.offset, c.ld, c.step, static_cast<std::size_t>(p.batch),
                   &native, event);
  });
}

/// Below it a launch of ours is over before CLBlast has arranged its operands.
constexpr std::int64_t min_extent = 64;

}  // namespace

clblast_use clblast_use_of(std::string_view word) noexcept {
  return word == "always" ? clblast_use::always : word == "never" ? clblast_use::never : clblast_use::gpus;
}

void set_clblast_use(clblast_use use) noexcept { use_now.store(use, std::memory_order_relaxed); }

void forget_clblast_kernels() {
  if (!was_asked.load(std::memory_order_relaxed)) return;
  if (const clblast* const library = library_there()) library->clear_cache();
}

std::optional<error_t> multiply_by_clblast(const product& p, stream_t stream) {
  const clblast_use use = use_now.load(std::memory_order_relaxed);
  const device_state& device = stream->device();
  if (use == clblast_use::never || (use == clblast_use::gpus && device.facts.device_class != TSR_DEVICE_GPU))
    return std::nullopt;
  if (p.lower || p.pointers != nullptr || std::min({p.m, p.n, p.k}) < min_extent || is_zero(p.type, p.alpha))
    return std::nullopt;
  const clblast* const library = library_there();
  if (library == nullptr) return std::nullopt;
  const std::size_t bytes = kit::element_bytes(p.type);
  const auto a = stored_as(p.a, p.m, p.k, p.step_a, bytes, device.buffers);
  const auto b = stored_as(p.b, p.k, p.n, p.step_b, bytes, device.buffers);
  const auto c = stored_as(p.c, p.m, p.n, p.step_c, bytes, device.buffers);
  if (!a || !b || !c || c->transpose != as_it_is) return std::nullopt;
  error_t answer;
  switch (p.type) {
    case TSR_F32:
      answer = enqueue(library->f32, p, *a, *b, *c, *stream);
      break;
    case TSR_F64:
      answer = enqueue(library->f64, p, *a, *b, *c, *stream);
      break;
    case TSR_C64:
      answer = enqueue(library->c64, p, *a, *b, *c, *stream);
      break;
    case TSR_C128:
      answer = enqueue(library->c128, p, *a, *b, *c, *stream);
      break;
    default:
      return std::nullopt;
  }
  // What it refuses (a device that lacks something, no temporary memory) is ours to do; a device that broke fails there
  // as well.
  if (kind_of(answer) != error_kind::none) return std::nullopt;
  return answer;
}

}  // namespace tessera::gpu::opencl
