#pragma once
// Libraries like the vendors', for emulated GPUs: the functions of cuBLAS, cuSOLVER, rocBLAS and rocSOLVER that plugins
// call, computed by OpenBLAS in the order of the emulator's streams. So what a plugin makes of its arguments is tested
// without a GPU.
#include <tessera/plugin.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "plugins/gpu_common/api/emulator/runtime.hpp"
#include "plugins/kit/kernels/blas_call.hpp"

namespace tessera::test::vendor {

struct handle {
  gpu::stream_t stream = nullptr;
};

/// How often each function was called, and which shall fail.
struct record {
  std::mutex mutex;
  std::map<std::string, int> calls;
  std::string failing;
  int status = 13;  // that the failing function answers with
  static record& of_this_library() {
    static record one;
    return one;
  }
};

/// Counts a call; the status it answers with: 0, or another one where it was told to fail.
inline int note(const char* function) {
  record& all = record::of_this_library();
  const std::lock_guard lock(all.mutex);
  ++all.calls[function];
  return all.failing == function ? all.status : 0;
}

inline int create(void** out, const char* function) {
  if (const int wrong = note(function)) return wrong;
  *out = std::make_unique<handle>().release();
  return 0;
}
inline int destroy(void* one, const char* function) {
  const std::unique_ptr<handle> owner(static_cast<handle*>(one));
  return note(function);
}
inline int set_stream(void* one, gpu::stream_t stream, const char* function) {
  static_cast<handle*>(one)->stream = stream;
  return note(function);
}

template <class Call>
int enqueue(void* one, const char* function, Call call) {
  if (const int wrong = note(function)) return wrong;
  static_cast<handle*>(one)->stream->run([call = std::move(call)] { kit::run(call); });
  return 0;
}

inline kit::scalar scalar_of(tsr_type type, const void* value) {
  kit::scalar made;
  std::memcpy(made.bytes, value, kit::element_bytes(type));
  return made;
}

/// A matrix product without operands: those follow.
inline kit::gemm_call product(tsr_type type, tsr_transpose transpose_a, tsr_transpose transpose_b, int m, int n,
                              int k) {
  kit::gemm_call call{};
  call.type = type;
  call.transpose_a = transpose_a;
  call.transpose_b = transpose_b;
  call.m = m, call.n = n, call.k = k;
  call.batch = 1;
  return call;
}

}  // namespace tessera::test::vendor
