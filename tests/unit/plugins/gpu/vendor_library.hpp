#pragma once
// The libraries of tests/vendor, as tests steer them.
#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace tessera::test {

/// One of them. The plugin that loads the same file has the same one.
class vendor_library {
 public:
  explicit vendor_library(const std::filesystem::path& file) : m_handle(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (m_handle == nullptr) throw std::runtime_error(::dlerror());
  }
  /// Since the last question.
  int calls_of(const std::string& function) const {
    return call<int (*)(const char*)>("tessera_calls_of")(function.c_str());
  }
  void fail(const std::string& function, int status = 13) const {
    call<void (*)(const char*, int)>("tessera_fail")(function.c_str(), status);
  }

  template <class Function>
  Function call(const char* name) const {
    return reinterpret_cast<Function>(::dlsym(m_handle, name));
  }

 private:
  void* m_handle;
};

}  // namespace tessera::test
