#pragma once
// Memory for arrays: fresh pages, or those of a file.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace tessera::hierarchy {

/// Pages of the process, unmapped with the object. Those of 4 MiB and more begin a number of pages behind a boundary of
/// huge pages that differs from one to the next (core/bytes/colours.hpp); what lies in front of fresh ones, less than
/// 1 MiB, may be in memory without being used.
class array_memory {
 public:
  /// Fresh ones, zero when they are touched first. Throws tessera::error (memory). @param name of the array
  static std::shared_ptr<array_memory> fresh(std::uint64_t bytes, const std::string& name);
  /// Those of a file of so many bytes, which is made when it is missing and extended when it is empty. One that was
  /// missing is removed again with the object, unless keep_file was called. Throws tessera::error, and the file is as
  /// it was: input (another size, no file that can be mapped, no permission), output (no room for it), usage (mapped
  /// already by this process: what two arrays write to it would have no order).
  static std::shared_ptr<array_memory> of_file(const std::filesystem::path& file, std::uint64_t bytes,
                                               const std::string& name);
  /// Whether it is mapped by this process now.
  static bool is_mapped(const std::filesystem::path& file);
  ~array_memory();
  array_memory(const array_memory&) = delete;
  array_memory& operator=(const array_memory&) = delete;

  void* data() const noexcept { return m_data; }  ///< the first byte; null: there are none
  void keep_file() noexcept;                      ///< it stays when the object ends
  /// Something that ends no sooner than the pages.
  void keep(std::shared_ptr<const void> with) noexcept { m_kept = std::move(with); }
  /// What was written is in the file, and on its disk. Throws tessera::error (output).
  void flush() const;

 private:
  class claim;
  explicit array_memory(std::unique_ptr<claim> file) noexcept;
  /// @param descriptor  of the file whose pages they are; -1: fresh ones
  bool map(std::uint64_t bytes, int descriptor) noexcept;

  std::shared_ptr<const void> m_kept;
  std::unique_ptr<claim> m_claim;  // null: of no file. Ends behind the pages
  std::byte* m_data = nullptr;
  std::uint64_t m_bytes = 0, m_ahead = 0;  // ahead: pages that are mapped in front of the first byte
};

}  // namespace tessera::hierarchy
