#include "core/base/same_file.hpp"

#include <system_error>

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// The full name of a file that may be missing, behind all links; empty: there is none.
fs::path full_name(fs::path file) {
  std::error_code none;
  file = fs::absolute(file, none);
  for (int k = 0; k < 40 && fs::is_symlink(file, none); ++k) {
    const fs::path next = fs::read_symlink(file, none);
    if (none) return {};
    file = file.parent_path() / next;  // an absolute one replaces the folder
  }
  const fs::path full = fs::weakly_canonical(file, none);
  return none ? fs::path() : full;
}

}  // namespace

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code none;
  if (fs::exists(a, none) && fs::exists(b, none))
    return fs::is_regular_file(a, none) && fs::equivalent(a, b, none) && !none;
  const fs::path first = full_name(a);
  return !first.empty() && first == full_name(b);
}

}  // namespace tessera
