#pragma once
// A vendor's library, taken where it is found while the program runs: a plugin that is linked to none loads at once,
// and on machines that have none.
#include <string>
#include <vector>

namespace tessera::gpu {

/// Where vendors' libraries are looked for.
struct library_search {
  std::string folder;      ///< first, if it is not empty
  bool system_too = true;  ///< then wherever the dynamic linker looks
};

/// Loaded once, never unloaded. Movable.
class shared_library {
 public:
  shared_library() = default;
  /// The first of `names` that loads. Not loaded otherwise; complaint() says why.
  shared_library(const std::vector<std::string>& names, const library_search& where);

  explicit operator bool() const noexcept { return m_handle != nullptr; }
  const std::string& name() const noexcept { return m_name; }  ///< as it was found: "libcublas.so.13"
  const std::string& complaint() const noexcept { return m_complaint; }

  /// A function, or null.
  void* symbol(const std::string& name) const noexcept;
  template <class Function>
  Function function(const std::string& name) const noexcept {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  void* m_handle = nullptr;
  std::string m_name, m_complaint;
};

}  // namespace tessera::gpu
