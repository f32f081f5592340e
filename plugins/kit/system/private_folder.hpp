#pragma once
// A folder for temporary files that nobody else can read or write.
#include <string>

namespace tessera::kit {

/// Made with mkdtemp (mode 0700) in $TMPDIR or /tmp; removed with all that is in it at the end of the scope.
class private_folder {
 public:
  private_folder();
  ~private_folder();
  private_folder(const private_folder&) = delete;
  private_folder& operator=(const private_folder&) = delete;

  explicit operator bool() const noexcept { return !m_path.empty(); }
  const std::string& path() const noexcept { return m_path; }
  const std::string& complaint() const noexcept { return m_complaint; }  ///< why there is none

 private:
  std::string m_path, m_complaint;
};

}  // namespace tessera::kit
