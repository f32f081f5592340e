#pragma once
// A vendor's library's handle for one stream.
#include "plugins/gpu_common/api/runtime.hpp"
#include "plugins/gpu_common/libraries/shared_library.hpp"

namespace tessera::gpu {

/// Where a type is in libraries' lists of F32, F64, C64, C128.
inline std::size_t place_of(tsr_type type) { return type - TSR_F32; }
static_assert(TSR_F64 == TSR_F32 + 1 && TSR_C64 == TSR_F32 + 2 && TSR_C128 == TSR_F32 + 3);

/// Made when it is first asked for. One thread at a time, as the stream; ends before it.
class library_handle {
 public:
  library_handle() = default;
  ~library_handle() {
    if (m_value != nullptr) m_end(m_value);
  }
  library_handle(const library_handle&) = delete;
  library_handle& operator=(const library_handle&) = delete;

  /// Made by these functions of the library and tied to its stream; null where that fails, which is not tried again.
  void* made(const shared_library& library, const char* create, const char* destroy, const char* set_stream,
             stream_t stream) {
    if (m_value != nullptr || m_refused) return m_value;
    const auto begin = library.function<int (*)(void**)>(create);
    const auto tie = library.function<int (*)(void*, stream_t)>(set_stream);
    m_end = library.function<int (*)(void*)>(destroy);
    m_refused = true;
    if (begin == nullptr || tie == nullptr || m_end == nullptr) return nullptr;
    void* value = nullptr;
    if (begin(&value) != 0) return nullptr;
    if (tie(value, stream) != 0) {
      m_end(value);
      return nullptr;
    }
    m_refused = false;
    return m_value = value;
  }

 private:
  void* m_value = nullptr;
  int (*m_end)(void*) = nullptr;
  bool m_refused = false;
};

}  // namespace tessera::gpu
