#pragma once
// Memory for arrays: fresh pages, or those of a file.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace tessera::hierarchy {

/// Pages of the process, unmapped with the object.
class array_memory {
 public:
  /// Fresh ones, zero when they are touched first. Throws tessera::error (memory). @param name of the array
  static std::shared_ptr<array_memory> fresh(std::uint64_t bytes, const std::string& name);
  /// Those of a file of so many bytes, which is made when it is missing and extended when it is empty. Throws
  /// tessera::error: input (another size, no file that can be mapped, no permission), output (no room for it).
  static std::shared_ptr<array_memory> of_file(const std::filesystem::path& file, std::uint64_t bytes,
                                               const std::string& name);
  ~array_memory();
  array_memory(const array_memory&) = delete;
  array_memory& operator=(const array_memory&) = delete;

  void* data() const noexcept { return m_data; }  ///< the first byte; null: there are none
  /// What was written is in the file, and on its disk. Throws tessera::error (output).
  void flush() const;

 private:
  array_memory(void* data, std::uint64_t bytes, std::string file) noexcept;
  void* m_data;
  std::uint64_t m_bytes;
  std::string m_file;  // "": of no file
};

}  // namespace tessera::hierarchy
