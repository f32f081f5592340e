#pragma once
// Compiled kernels on disk.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "core/plugin/device.hpp"

namespace tessera::operation {

/// A folder of images, each in a file named after a hash of its key, which the file holds too. A file that is damaged,
/// or that somebody else could have written, counts as absent; what cannot be written is not kept. Images are code: the
/// folder is made for its owner alone. Thread-safe; several processes may use one folder at once, since files are
/// renamed into their places whole.
class image_cache {
 public:
  /// `level` as for runtime_settings::log: 1 is information, 2 a warning.
  using log_function = std::function<void(int level, const std::string& line)>;

  /// `folder` empty: nothing is kept. `limit`: bytes of all files, above which those that were not used for longest are
  /// removed.
  explicit image_cache(std::filesystem::path folder, std::uint64_t limit = 256ull << 20, log_function log = {});

  /// What an image depends on. "" when the device does not say: then nothing is kept.
  static std::string key_of(const plugin::device& device, std::string_view plugin_version, std::string_view language,
                            std::string_view options, std::string_view source);

  /// The image written last under a key; "" when there is none that is right.
  std::string read(const std::string& key) const;
  /// Keeps an image under a key, instead of one that was there.
  void write(const std::string& key, std::string_view image) const;
  /// The image was not what it should be.
  void remove(const std::string& key) const;

  /// Where a key's image is; empty when nothing is kept.
  std::filesystem::path file_of(std::string_view key) const;

 private:
  void make_room() const;
  void tell_once(const std::string& line) const;
  std::filesystem::path m_folder;
  std::uint64_t m_limit;
  log_function m_log;
  mutable std::mutex m_mutex;  // of m_told
  mutable bool m_told = false;
};

/// What runtime.kernel_cache means: "auto" is $XDG_CACHE_HOME/tessera/kernels, or ~/.cache/tessera/kernels, or nothing
/// when neither is known; "off" nothing; else a folder.
std::filesystem::path image_cache_folder(std::string_view setting);

}  // namespace tessera::operation
