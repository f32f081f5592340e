#include "hierarchy/region/array_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::hierarchy {
namespace {

/// Closes a descriptor.
class open_file {
 public:
  explicit open_file(const std::string& path) : m_descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {}
  ~open_file() {
    if (m_descriptor >= 0) close(m_descriptor);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  int get() const noexcept { return m_descriptor; }

 private:
  int m_descriptor;
};

}  // namespace

array_memory::array_memory(void* data, std::uint64_t bytes, std::string file) noexcept
    : m_data(data), m_bytes(bytes), m_file(std::move(file)) {}

array_memory::~array_memory() {
  if (m_data != nullptr) munmap(m_data, m_bytes);
}

std::shared_ptr<array_memory> array_memory::fresh(std::uint64_t bytes, const std::string& name) {
  if (bytes == 0) return std::shared_ptr<array_memory>(new array_memory(nullptr, 0, {}));
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    throw error(error_kind::memory, fmt::format("no address space for the {} bytes of array '{}'", bytes, name));
  madvise(data, bytes, MADV_HUGEPAGE);  // where it fails, pages are small
  return std::shared_ptr<array_memory>(new array_memory(data, bytes, {}));
}

std::shared_ptr<array_memory> array_memory::of_file(const std::filesystem::path& file, std::uint64_t bytes,
                                                    const std::string& name) {
  const std::string path = file.string();
  const auto refuse = [&](error_kind kind, std::string_view what) {
    throw error(kind, fmt::format("array '{}' cannot be mapped to its file: {}", name, what), path);
  };
  const open_file opened(path);
  if (opened.get() < 0) refuse(error_kind::input, std::strerror(errno));
  struct stat facts {};
  if (fstat(opened.get(), &facts) != 0) refuse(error_kind::input, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) refuse(error_kind::input, "it is no regular file");
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (size != 0 && size != bytes)
    refuse(error_kind::input, fmt::format("it has {} bytes, and the array's elements take {}", size, bytes));
  if (bytes == 0) return std::shared_ptr<array_memory>(new array_memory(nullptr, 0, path));
  if (size == 0)  // with room on the disk, so that no write to the pages can fail for want of it
    if (const int why = posix_fallocate(opened.get(), 0, static_cast<off_t>(bytes)); why != 0)
      refuse(error_kind::output, std::strerror(why));
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened.get(), 0);
  if (data == MAP_FAILED) refuse(error_kind::memory, std::strerror(errno));
  return std::shared_ptr<array_memory>(new array_memory(data, bytes, path));
}

void array_memory::flush() const {
  if (m_file.empty() || m_data == nullptr) return;
  if (msync(m_data, m_bytes, MS_SYNC) != 0)
    throw error(error_kind::output, fmt::format("what was written to a mapped file: {}", std::strerror(errno)), m_file);
}

}  // namespace tessera::hierarchy
