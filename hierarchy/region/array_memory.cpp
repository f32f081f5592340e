#include "hierarchy/region/array_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "core/base/error.hpp"
#include "core/bytes/colours.hpp"

namespace tessera::hierarchy {
namespace {

/// Which file it is, whatever its names.
using file_identity = std::pair<dev_t, ino_t>;

/// The files that this process has mapped, and the arrays that they are. Never destroyed: arrays may end at the very
/// end of the process.
struct mapped_files {
  std::mutex mutex;
  std::map<file_identity, std::string> arrays;
  static mapped_files& all() {
    static auto* const one = new mapped_files;  // NOLINT: as said
    return *one;
  }
};

}  // namespace

/// A file in the hands of an array: opened, no other array's, and removed at the end if it was missing before.
class array_memory::claim {
 public:
  claim(std::string path, std::string array, std::uint64_t bytes) : m_path(std::move(path)), m_array(std::move(array)) {
    open_it();
    try {
      check_and_enter(bytes);
    } catch (...) {
      let_go();
      throw;
    }
  }
  ~claim() {
    let_go();
    mapped_files& files = mapped_files::all();
    const std::lock_guard guard(files.mutex);
    files.arrays.erase(m_identity);
  }
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;

  [[noreturn]] void refuse(error_kind kind, std::string_view what, std::string hint = {}) const {
    throw error(kind, fmt::format("array '{}' cannot be mapped to its file: {}", m_array, what), m_path,
                std::move(hint));
  }
  /// Gives an empty file its size, and one with holes the blocks that it lacks, so that no write to its pages can fail
  /// for want of room on the disk.
  void extend(std::uint64_t bytes) {
    constexpr std::uint64_t unit = 512;  // of st_blocks
    if (bytes == 0 || (m_size == bytes && m_blocks >= bytes / unit)) return;
    if (const int why = posix_fallocate(m_descriptor, 0, static_cast<off_t>(bytes)); why != 0) {
      if (m_size == 0) [[maybe_unused]]
        const int kept_part = ftruncate(m_descriptor, 0);
      refuse(error_kind::output, std::strerror(why),
             m_size == 0 ? std::string() : "it has holes, for which there is no room on the disk");
    }
  }
  int descriptor() const noexcept { return m_descriptor; }
  /// Once it is mapped, and stays when the array ends.
  void close_file() noexcept { close(std::exchange(m_descriptor, -1)); }
  void keep() noexcept { m_made = false; }
  const std::string& path() const noexcept { return m_path; }

 private:
  void open_it() {
    m_descriptor = open(m_path.c_str(), O_RDWR | O_CLOEXEC);
    if (m_descriptor < 0 && errno == ENOENT) {
      m_descriptor = open(m_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      m_made = m_descriptor >= 0;
      if (m_descriptor < 0 && errno == EEXIST)  // somebody else was faster
        m_descriptor = open(m_path.c_str(), O_RDWR | O_CLOEXEC);
    }
    if (m_descriptor < 0) refuse(error_kind::input, std::strerror(errno));
  }
  void check_and_enter(std::uint64_t bytes) {
    struct stat facts {};
    if (fstat(m_descriptor, &facts) != 0) refuse(error_kind::input, std::strerror(errno));
    if (!S_ISREG(facts.st_mode)) refuse(error_kind::input, "it is no regular file");
    m_size = static_cast<std::uint64_t>(facts.st_size);
    m_blocks = static_cast<std::uint64_t>(facts.st_blocks);
    if (m_size != 0 && m_size != bytes)
      refuse(error_kind::input, fmt::format("it has {} bytes, and the array's elements take {}", m_size, bytes),
             "extents and type are those of the file; a file that is missing begins with zeros");
    m_identity = {facts.st_dev, facts.st_ino};
    mapped_files& files = mapped_files::all();
    const std::lock_guard guard(files.mutex);
    const auto [at, fresh] = files.arrays.try_emplace(m_identity, m_array);
    if (!fresh)
      refuse(error_kind::usage, fmt::format("it is mapped to array '{}' already", at->second),
             "use that array, or let it end before");
  }
  void let_go() noexcept {
    if (m_made) unlink(m_path.c_str());
    if (m_descriptor >= 0) close(m_descriptor);
  }

  std::string m_path, m_array;
  int m_descriptor = -1;
  std::uint64_t m_size = 0, m_blocks = 0;  // the latter of 512 bytes
  file_identity m_identity{};
  bool m_made = false;  // it was missing, and is not to stay
};

namespace {

std::uint64_t page_bytes() noexcept {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return page;
}
/// A mapping's length, as a whole number of pages. The kernel takes any, but the thread sanitizer forgets whole pages
/// alone when they are given back, and finds races with what is mapped there next.
std::uint64_t in_pages(std::uint64_t bytes) noexcept {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

constexpr std::uint64_t min_coloured = 4 << 20;  // of smaller arrays what lies in front would be too large a part

/// The next large array's distance from a boundary of huge pages.
std::uint64_t next_colour() noexcept {
  static std::atomic<std::uint64_t> arrays{0};
  return colour_of(arrays.fetch_add(1, std::memory_order_relaxed)) / page_bytes() * page_bytes();
}

constexpr int fresh_pages = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Fresh pages from a boundary of huge pages on, for a colour and so many bytes behind it. Null: there are none.
std::byte* map_at_colour(std::uint64_t colour, std::uint64_t length) noexcept {
  const std::uint64_t all = colour_boundary + colour + length;  // a boundary is somewhere in the first part
  void* const memory = all < length ? MAP_FAILED : mmap(nullptr, all, PROT_READ | PROT_WRITE, fresh_pages, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(memory);
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(begin) % colour_boundary;
  const std::uint64_t before = past == 0 ? 0 : colour_boundary - past;
  if (before > 0) munmap(begin, before);
  if (before < colour_boundary) munmap(begin + before + colour + length, colour_boundary - before);
  return begin + before;
}

}  // namespace

array_memory::array_memory(std::unique_ptr<claim> file) noexcept : m_claim(std::move(file)) {}

array_memory::~array_memory() {
  if (m_data != nullptr) munmap(m_data - m_ahead, in_pages(m_ahead + m_bytes));
}

bool array_memory::map(std::uint64_t bytes, int descriptor) noexcept {
  const bool of_file = descriptor >= 0, is_large = bytes >= min_coloured;
  std::byte* begin = nullptr;
  if (is_large) {
    // Fresh pages begin with the boundary, so that the first of them are on a huge page, too.
    const std::uint64_t colour = next_colour(), length = in_pages(bytes);
    begin = length < bytes ? nullptr : map_at_colour(colour, length);
    if (begin == nullptr) return false;
    m_data = begin + colour, m_bytes = bytes, m_ahead = colour;
    if (!of_file) return true;
    munmap(begin, colour);
    begin = m_data, m_ahead = 0;
  }
  const int how = of_file ? MAP_SHARED | (is_large ? MAP_FIXED : 0) : fresh_pages;
  void* const memory = mmap(begin, bytes, PROT_READ | PROT_WRITE, how, descriptor, 0);
  if (memory == MAP_FAILED) return false;  // what was mapped for it goes with the object
  m_data = static_cast<std::byte*>(memory), m_bytes = bytes;
  return true;
}

std::shared_ptr<array_memory> array_memory::fresh(std::uint64_t bytes, const std::string& name) {
  std::shared_ptr<array_memory> made(new array_memory(nullptr));
  if (bytes == 0) return made;
  if (!made->map(bytes, -1))
    throw error(error_kind::memory, fmt::format("no address space for the {} bytes of array '{}'", bytes, name));
  madvise(made->m_data - made->m_ahead, made->m_ahead + bytes, MADV_HUGEPAGE);  // where it fails, pages are small
  return made;
}

std::shared_ptr<array_memory> array_memory::of_file(const std::filesystem::path& file, std::uint64_t bytes,
                                                    const std::string& name) {
  std::shared_ptr<array_memory> made(new array_memory(std::make_unique<claim>(file.string(), name, bytes)));
  claim& of = *made->m_claim;
  of.extend(bytes);
  if (bytes != 0 && !made->map(bytes, of.descriptor())) of.refuse(error_kind::memory, std::strerror(errno));
  of.close_file();
  return made;
}

bool array_memory::is_mapped(const std::filesystem::path& file) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) return false;
  mapped_files& files = mapped_files::all();
  const std::lock_guard guard(files.mutex);
  return files.arrays.contains({facts.st_dev, facts.st_ino});
}

void array_memory::keep_file() noexcept {
  if (m_claim != nullptr) m_claim->keep();
}

void array_memory::flush() const {
  if (m_claim == nullptr || m_data == nullptr) return;
  if (msync(m_data, m_bytes, MS_SYNC) != 0)
    throw error(error_kind::output, fmt::format("what was written to a mapped file: {}", std::strerror(errno)),
                m_claim->path());
}

}  // namespace tessera::hierarchy
