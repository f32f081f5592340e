#include "plugins/kit/system/private_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tessera::kit {

private_folder::private_folder() {
  const char* const given = ::secure_getenv("TMPDIR");
  std::string pattern =
      (given != nullptr && *given == '/' ? std::string(given) : std::string("/tmp")) + "/tessera-XXXXXX";
  if (::mkdtemp(pattern.data()) != nullptr)
    m_path = pattern;
  else
    m_complaint = pattern + ": " + std::strerror(errno);
}

private_folder::~private_folder() {
  std::error_code failed;
  if (!m_path.empty()) std::filesystem::remove_all(m_path, failed);
}

}  // namespace tessera::kit
