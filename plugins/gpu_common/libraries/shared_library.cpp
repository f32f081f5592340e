#include "plugins/gpu_common/libraries/shared_library.hpp"

#include <dlfcn.h>

namespace tessera::gpu {

shared_library::shared_library(const std::vector<std::string>& names, const library_search& where) {
  // Lazily bound: of thousands of functions a dozen are called. Never unloaded: vendors' libraries keep threads.
  const auto load = [&](const std::string& path, const std::string& name) {
    m_handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (m_handle != nullptr) {
      m_name = name;
      return true;
    }
    if (const char* text = ::dlerror(); text != nullptr && m_complaint.empty()) m_complaint = text;
    return false;
  };
  if (!where.folder.empty())
    for (const std::string& name : names)
      if (load(where.folder + "/" + name, name)) return;
  if (where.system_too)
    for (const std::string& name : names)
      if (load(name, name)) return;
  if (m_complaint.empty()) m_complaint = names.front() + ": no folder is given to look in";
}

void* shared_library::symbol(const std::string& name) const noexcept {
  return m_handle != nullptr ? ::dlsym(m_handle, name.c_str()) : nullptr;
}

}  // namespace tessera::gpu
