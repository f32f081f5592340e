#pragma once
// Where allocations lie: files, and ranges in them.
#include <tessera/plugin.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "plugins/disk/cells.hpp"
#include "plugins/disk/settings.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::disk {

/// An open file, removed with its last user.
class file {
 public:
  /// Creates `path` with `bytes` bytes that belong to it. Fails as status_of says, with a record.
  static tsr_status create(const kit::reporter& report, std::string path, std::uint64_t bytes, bool direct,
                           std::shared_ptr<file>& out);
  file(int descriptor, std::string path) : m_descriptor(descriptor), m_path(std::move(path)) {}
  ~file();
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  int descriptor() const noexcept { return m_descriptor; }
  const std::string& path() const noexcept { return m_path; }

 private:
  const int m_descriptor;
  const std::string m_path;
};

/// One allocation. Enqueued work shares it.
struct extent {
  extent(std::uint64_t number_, std::uint64_t bytes_, std::shared_ptr<file> in_, std::uint64_t base_, bool checksums)
      : number(number_),
        bytes(bytes_),
        cells((bytes_ + cell_bytes - 1) / cell_bytes),
        in(std::move(in_)),
        base(base_),
        sums(cells, checksums) {}
  const std::uint64_t number;  ///< of the allocation: for its file's name, and to spread its locks
  const std::uint64_t bytes;   ///< as asked for: what bounds are checked against
  const std::uint64_t cells;
  const std::shared_ptr<file> in;
  const std::uint64_t base;  ///< of its first byte in the file
  cell_table sums;
};

/// Makes allocations. Thread-safe.
class store {
 public:
  virtual ~store() = default;
  /// Fails: RESOURCE_EXHAUSTED and what the system says, with a record; nothing is allocated then.
  virtual tsr_status allocate(std::uint64_t bytes, std::shared_ptr<extent>& out) = 0;
};

/// A file for each allocation.
std::unique_ptr<store> make_files_store(const kit::reporter& report, std::string directory, bool direct,
                                        bool checksums);

/// One file of `capacity` bytes, created here. Fails like file::create.
tsr_status make_single_store(const kit::reporter& report, const std::string& directory, std::uint64_t capacity,
                             bool direct, bool checksums, std::unique_ptr<store>& out);

/// Bytes that are free on the file system of a directory; 0 when it does not say.
std::uint64_t free_bytes_at(const std::string& directory) noexcept;

/// Whether files in the directory can be opened with O_DIRECT and read into aligned memory.
bool takes_direct(const std::string& directory) noexcept;

}  // namespace tessera::disk
