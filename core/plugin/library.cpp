#include "core/plugin/library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/dll/shared_library.hpp>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "core/base/error.hpp"

namespace tessera::plugin {
namespace {

using file_identity = std::pair<dev_t, ino_t>;  // of a loaded file: stays taken while it is mapped

struct library_table {
  std::mutex guard;
  std::map<file_identity, boost::dll::shared_library> libraries;
  std::vector<boost::dll::shared_library> strangers;  // that came in the place of what was checked
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

/// The device and the number of the file that is mapped at an address, as the kernel writes them in its list of
/// mappings; "": it does not say.
std::string file_mapped_at(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights, offset, device, number;
    if (words >> std::hex >> begin >> dash >> end && at >= begin && at < end &&
        words >> rights >> offset >> device >> number)
      return device + " " + number;
  }
  return {};
}

/// Whether a library came from the open file. Both are looked up in the list of mappings: what fstat says of a file
/// differs from it on some file systems (overlays, subvolumes).
bool came_from(const boost::dll::shared_library& library, int descriptor) {
  link_map* map = nullptr;
  if (::dlinfo(library.native(), RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return true;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const own = ::mmap(nullptr, page, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (own == MAP_FAILED) return true;
  const std::string checked = file_mapped_at(own), loaded = file_mapped_at(map->l_ld);
  ::munmap(own, page);
  return checked.empty() || loaded.empty() || checked == loaded;
}

}  // namespace

void* load_symbol(const std::filesystem::path& path, const std::string& name) {
  return load_symbol(trusted_file(path), name);
}

void* load_symbol(const trusted_file& file, const std::string& name) {
  const std::filesystem::path& path = file.path();
  struct stat facts {};
  if (::fstat(file.descriptor(), &facts) != 0)
    throw error(error_kind::plugin, "the file cannot be examined", path.string(), "check the path");
  library_table& all = table();
  const std::lock_guard lock(all.guard);
  boost::dll::shared_library& library = all.libraries[{facts.st_dev, facts.st_ino}];
  if (!library.is_loaded()) {
    // The throwing form: the other loses the linker's text. Lazy binding, the default, would end the process at the
    // first call of a missing symbol.
    using boost::dll::load_mode::rtld_local, boost::dll::load_mode::rtld_now;
    try {
      library.load(file.real(), rtld_now | rtld_local);
    } catch (const std::exception& failure) {
      std::string text = failure.what();
      if (const auto prefix = text.find("failed"); text.starts_with("boost::dll") && prefix != std::string::npos) {
        text.erase(0, prefix + 6);
        text.erase(0, text.find_first_not_of(" :("));
        // "dlerror system message: <the linker's words>): <the text of an errno that dlopen never set>"
        constexpr std::string_view announcement = "dlerror system message: ";
        if (text.starts_with(announcement)) text.erase(0, announcement.size());
        if (const auto end = text.rfind("): "); end != std::string::npos)
          text.erase(end);
        else if (text.ends_with(')'))
          text.pop_back();
      }
      throw error(error_kind::plugin, "the shared library cannot be loaded: " + text, path.string(), hint_for(text));
    }
    if (!came_from(library, file.descriptor())) {
      all.strangers.push_back(std::exchange(
          library, boost::dll::shared_library()));  // nothing of it is called; closing it would run more of it
      throw error(error_kind::plugin, "the file was replaced: what the linker has under this name is another one",
                  path.string(), "start the program again when nothing is installed there any more");
    }
  }
  if (!library.has(name)) return nullptr;
  return reinterpret_cast<void*>(&library.get<void()>(name));
}

}  // namespace tessera::plugin
