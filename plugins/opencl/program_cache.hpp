#pragma once
// One compiled program on disk.
#include <filesystem>
#include <string>

namespace tessera::gpu::opencl {

/// A file in `folder`, named after a hash of `key`, which it holds too. Whatever is wrong with it, it counts as absent,
/// and so it does where others could have written it (kept_file.hpp); what cannot be written is not kept. Several
/// processes may read and write at once.
class program_cache {
 public:
  /// `key`: all that the compiled form depends on. Without a folder there is no cache.
  program_cache(const std::filesystem::path& folder, std::string key);

  /// The bytes written last; "" when there are none that are right.
  std::string read() const;
  void write(const std::string& binary) const;

  const std::filesystem::path& file() const noexcept { return m_file; }

 private:
  std::string m_key;
  std::filesystem::path m_file;  ///< empty: no cache
};

/// Where programs are kept unless the user says otherwise: $XDG_CACHE_HOME/tessera/opencl, else
/// ~/.cache/tessera/opencl;
/// "" when neither variable is there.
std::string usual_cache_folder();

}  // namespace tessera::gpu::opencl
