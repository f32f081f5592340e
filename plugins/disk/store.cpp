#include "plugins/disk/store.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "plugins/disk/directory.hpp"

namespace tessera::disk {
namespace {

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + cell_bytes - 1) / cell_bytes * cell_bytes; }

/// Takes the space now, so that a full disk is known here and not when the data comes. 0, or an errno.
int reserve(const kit::reporter& report, int descriptor, const std::string& path, std::uint64_t bytes) {
  // Growing a file beyond the process's limit raises a signal that would end the program, so look first.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) return EFBIG;
  int error = 0;
  do {
    error = ::fallocate(descriptor, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error != EOPNOTSUPP && error != ENOSYS) return error;
  report.log(0, "%s: the file system cannot reserve space; a full disk will show when data is written", path.c_str());
  return ::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}

class files_store final : public store {
 public:
  files_store(const kit::reporter& report, std::string directory, bool direct, bool checksums)
      : m_report(report), m_directory(std::move(directory)), m_direct(direct), m_checksums(checksums) {}

  tsr_status allocate(std::uint64_t bytes, std::shared_ptr<extent>& out) override {
    const auto number = m_next.fetch_add(1, std::memory_order_relaxed);
    std::shared_ptr<file> own;
    const std::string path = m_directory + "/slab-" + std::to_string(number) + private_directory::data_suffix;
    if (const auto status = file::create(m_report, path, rounded(bytes), m_direct, own)) return status;
    out = std::make_shared<extent>(number, bytes, std::move(own), 0, m_checksums);
    return TSR_OK;
  }

 private:
  const kit::reporter m_report;
  const std::string m_directory;
  const bool m_direct, m_checksums;
  std::atomic<std::uint64_t> m_next{0};
};

/// The free ranges of a file: first fit, neighbours joined. Thread-safe.
class free_ranges {
 public:
  explicit free_ranges(std::uint64_t bytes) { m_free.emplace(0, bytes); }
  bool take(std::uint64_t bytes, std::uint64_t& out_offset) {
    const std::lock_guard lock(m_mutex);
    for (auto at = m_free.begin(); at != m_free.end(); ++at) {
      if (at->second < bytes) continue;
      const auto [offset, length] = *at;
      m_free.erase(at);
      if (length > bytes) m_free.emplace(offset + bytes, length - bytes);
      out_offset = offset;
      return true;
    }
    return false;
  }
  void give(std::uint64_t offset, std::uint64_t bytes) {
    const std::lock_guard lock(m_mutex);
    auto after = m_free.upper_bound(offset);
    if (after != m_free.end() && offset + bytes == after->first) {
      bytes += after->second;
      after = m_free.erase(after);
    }
    if (after != m_free.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    m_free.emplace_hint(after, offset, bytes);
  }

 private:
  std::mutex m_mutex;
  std::map<std::uint64_t, std::uint64_t> m_free;  // offset -> bytes
};

class single_store final : public store {
 public:
  single_store(const kit::reporter& report, std::shared_ptr<file> whole, std::uint64_t capacity, bool checksums)
      : m_report(report),
        m_file(std::move(whole)),
        m_free(std::make_shared<free_ranges>(capacity)),
        m_checksums(checksums) {}

  tsr_status allocate(std::uint64_t bytes, std::shared_ptr<extent>& out) override {
    std::uint64_t offset = 0;
    if (!m_free->take(rounded(bytes), offset))
      return m_report.fail(TSR_RESOURCE_EXHAUSTED, "no free range of %llu bytes in %s; what is free lies in pieces",
                           static_cast<unsigned long long>(bytes), m_file->path().c_str());
    const giver give{m_free, offset, rounded(bytes)};
    std::unique_ptr<extent> fresh;
    try {
      fresh =
          std::make_unique<extent>(m_next.fetch_add(1, std::memory_order_relaxed), bytes, m_file, offset, m_checksums);
    } catch (...) {
      give(nullptr);
      throw;
    }
    out = std::shared_ptr<extent>(fresh.release(), give);
    return TSR_OK;
  }

 private:
  /// The range goes back when the last work that uses the allocation has let go of it.
  struct giver {
    std::shared_ptr<free_ranges> to;
    std::uint64_t offset, bytes;
    void operator()(extent* gone) const {
      delete gone;
      to->give(offset, bytes);
    }
  };
  const kit::reporter m_report;
  const std::shared_ptr<file> m_file;
  const std::shared_ptr<free_ranges> m_free;
  const bool m_checksums;
  std::atomic<std::uint64_t> m_next{0};
};

}  // namespace

tsr_status file::create(const kit::reporter& report, std::string path, std::uint64_t bytes, bool direct,
                        std::shared_ptr<file>& out) {
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | (direct ? O_DIRECT : 0);
  const int descriptor = ::open(path.c_str(), flags, 0600);
  int error = descriptor < 0 ? errno : 0;
  if (error == 0) {
    out = std::make_shared<file>(descriptor, path);
    error = reserve(report, descriptor, path, bytes);
  }
  if (error == 0) return TSR_OK;
  out.reset();
  return report.fail(status_of(error), "%s: %llu bytes: %s", path.c_str(), static_cast<unsigned long long>(bytes),
                     std::generic_category().message(error).c_str());
}

file::~file() {
  ::unlink(m_path.c_str());
  ::close(m_descriptor);
}

std::unique_ptr<store> make_files_store(const kit::reporter& report, std::string directory, bool direct,
                                        bool checksums) {
  return std::make_unique<files_store>(report, std::move(directory), direct, checksums);
}

tsr_status make_single_store(const kit::reporter& report, const std::string& directory, std::uint64_t capacity,
                             bool direct, bool checksums, std::unique_ptr<store>& out) {
  std::shared_ptr<file> whole;
  const std::string path = directory + "/space" + private_directory::data_suffix;
  if (const auto status = file::create(report, path, capacity, direct, whole)) return status;
  out = std::make_unique<single_store>(report, std::move(whole), capacity, checksums);
  return TSR_OK;
}

std::uint64_t free_bytes_at(const std::string& directory) noexcept {
  struct statvfs facts {};
  if (::statvfs(directory.c_str(), &facts) != 0) return 0;
  return static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
}

bool takes_direct(const std::string& directory) noexcept {
  const std::string path = directory + "/direct" + private_directory::data_suffix;
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_DIRECT, 0600);
  if (descriptor < 0) return false;
  void* memory = std::aligned_alloc(cell_bytes, cell_bytes);
  const bool works = memory != nullptr && ::ftruncate(descriptor, cell_bytes) == 0 &&
                     ::pread(descriptor, memory, cell_bytes, 0) == static_cast<ssize_t>(cell_bytes);
  std::free(memory);
  ::unlink(path.c_str());
  ::close(descriptor);
  return works;
}

}  // namespace tessera::disk
