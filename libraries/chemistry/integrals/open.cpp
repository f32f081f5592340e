// Opens the shared library of integrals when it is first needed: what it brings is large, and most runs need none.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "core/base/error.hpp"
#include "libraries/chemistry/integrals/library.hpp"

namespace tessera::chemistry {
namespace {

/// In the folder tessera/ beside libtessera, in a build tree as below a prefix.
std::filesystem::path path_of_library() {
  Dl_info where{};
  const auto known = static_cast<std::string_view (*)(error_kind) noexcept>(&tessera::name_of);
  if (::dladdr(reinterpret_cast<const void*>(known), &where) == 0 || where.dli_fname == nullptr) return {};
  return std::filesystem::path(where.dli_fname).parent_path() / "tessera" / "tessera_integrals.so";
}

struct opened {
  const integral_library* library = nullptr;
  std::string why;  // it could not be opened
};

/// It is never closed: integrals may live as long as the process.
const opened& the_library() {
  static const opened once = [] {
    opened result;
    const std::filesystem::path path = path_of_library();
    if (std::error_code absent; !std::filesystem::exists(path, absent)) return result;
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const entry = handle == nullptr ? nullptr : ::dlsym(handle, integral_library_entry);
    if (entry == nullptr) {
      const char* const why = ::dlerror();
      result.why = why == nullptr ? "it has no entry" : why;
      return result;
    }
    result.library = reinterpret_cast<const integral_library* (*)()>(entry)();
    return result;
  }();
  return once;
}

}  // namespace

std::string_view integrals_library() {
  const opened& found = the_library();
  return found.library == nullptr ? std::string_view() : found.library->name;
}

std::unique_ptr<integrals> make_integrals(std::vector<shell> shells, const molecule& of) {
  const opened& found = the_library();
  if (found.library == nullptr && found.why.empty())
    throw error(error_kind::configuration, "this build has no integrals", "",
                "install libint2 (Debian: libint2-dev) and build again");
  if (found.library == nullptr)
    throw error(error_kind::configuration, fmt::format("the library of integrals cannot be opened: {}", found.why),
                path_of_library().string());
  return found.library->make(std::move(shells), of);
}

}  // namespace tessera::chemistry
