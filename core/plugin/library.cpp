#include "core/plugin/library.hpp"

#include <sys/stat.h>

#include <boost/dll/shared_library.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::plugin {
namespace {

using file_identity = std::pair<dev_t, ino_t>;  // of a loaded file: stays taken while it is mapped

struct library_table {
  std::mutex guard;
  std::map<file_identity, boost::dll::shared_library> libraries;
};

/// Never destroyed: the one deliberate global of the runtime.
library_table& table() {
  static library_table* const kept = std::make_unique<library_table>().release();
  return *kept;
}

std::string hint_for(const std::string& text) {
  if (text.find("__asan") != std::string::npos || text.find("__tsan") != std::string::npos)
    return "the plugin is built with a sanitizer and this program is not: use builds of one kind";
  if (text.find("undefined symbol") != std::string::npos)
    return "link the plugin with every library it uses; -Wl,-z,defs shows what is missing when it is built";
  if (text.find("cannot open shared object file") != std::string::npos)
    return "install the library that is missing, or set LD_LIBRARY_PATH; ldd shows which one it is";
  return "ldd and nm -D on the file show what it needs";
}

}  // namespace

void* load_symbol(const std::filesystem::path& path, const std::string& name) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0)
    throw error(error_kind::plugin, "the file cannot be found", path.string(), "check the path");
  library_table& all = table();
  const std::lock_guard lock(all.guard);
  boost::dll::shared_library& library = all.libraries[{facts.st_dev, facts.st_ino}];
  if (!library.is_loaded()) {
    // The throwing form: the other loses the linker's text. Lazy binding, the default, would end the process at the
    // first call of a missing symbol.
    using boost::dll::load_mode::rtld_local, boost::dll::load_mode::rtld_now;
    try {
      library.load(std::filesystem::canonical(path), rtld_now | rtld_local);
    } catch (const std::exception& failure) {
      std::string text = failure.what();
      if (const auto prefix = text.find("failed"); text.starts_with("boost::dll") && prefix != std::string::npos) {
        text.erase(0, prefix + 6);
        text.erase(0, text.find_first_not_of(" :("));
        // "dlerror system message: <the linker's words>): <the text of an errno that dlopen never set>"
        constexpr std::string_view announcement = "dlerror system message: ";
        if (text.starts_with(announcement)) text.erase(0, announcement.size());
        if (const auto end = text.rfind("): "); end != std::string::npos) text.erase(end);
        else if (text.ends_with(')')) text.pop_back();
      }
      throw error(error_kind::plugin, "the shared library cannot be loaded: " + text, path.string(), hint_for(text));
    }
  }
  if (!library.has(name)) return nullptr;
  return reinterpret_cast<void*>(&library.get<void()>(name));
}

}  // namespace tessera::plugin
