#include "plugins/kit/system/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>
#include <string>

#include "plugins/kit/system/descriptor.hpp"

namespace tessera::kit {
namespace {

std::string name_of(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "tessera-%016" PRIx64, number);
  return text;
}

/// The file that this copy of the code gives pieces of.
struct own_file {
  std::mutex mutex;
  std::uint64_t name = 0;
  int number = -1;
  std::uint64_t next = 0;  // offsets are given out once, so that what is gone stays gone
};

own_file& own() {
  static own_file one;  // its descriptor goes with the process
  return one;
}

}  // namespace

std::optional<pages> map_shared(std::uint64_t bytes, int numa_node, shared_place& out) {
  constexpr std::uint64_t most = 1ull << 50;
  if (bytes == 0 || bytes > most) return std::nullopt;
  const std::uint64_t page = page_bytes(), length = (bytes + page - 1) / page * page;
  if (const auto free = free_bytes_of(-1); free != 0 && length > free)
    return std::nullopt;  // it would end processes, not fail
  own_file& file = own();
  const std::lock_guard lock(file.mutex);
  if (file.number < 0) {
    std::random_device random;
    file.name = std::uint64_t{random()} << 32 | random();
    file.number = ::memfd_create(name_of(file.name).c_str(), MFD_CLOEXEC);
    if (file.number < 0) return std::nullopt;
  }
  const std::uint64_t offset = file.next;
  if (offset > (1ull << 62) - most || ::ftruncate(file.number, static_cast<off_t>(offset + length)) != 0)
    return std::nullopt;
  // A first page that exists tells a piece that lives from one that is gone.
  if (::pwrite(file.number, "", 1, static_cast<off_t>(offset)) != 1) return std::nullopt;
  auto mapped = pages::map_file(file.number, offset, length, numa_node, true);
  if (!mapped) return std::nullopt;
  file.next = offset + length;
  out = {offset, length, file.name, static_cast<std::int32_t>(::getpid()), file.number};
  return mapped;
}

shared_found find_shared(const shared_place& where, pages& out) {
  const std::string theirs = "/proc/" + std::to_string(where.process) + "/fd/" + std::to_string(where.file);
  const descriptor file(::open(theirs.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return errno == EACCES || errno == EPERM ? shared_found::denied : shared_found::gone;
  char target[128];
  const auto length = ::readlink(("/proc/self/fd/" + std::to_string(file.get())).c_str(), target, sizeof target);
  const std::string wanted = "/memfd:" + name_of(where.name);
  if (length < 0 || std::string(target, static_cast<std::size_t>(length)).compare(0, wanted.size(), wanted) != 0)
    return shared_found::gone;
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || where.bytes == 0 || where.bytes > static_cast<std::uint64_t>(facts.st_size) ||
      where.offset > static_cast<std::uint64_t>(facts.st_size) - where.bytes)
    return shared_found::gone;
  const auto begin = static_cast<off_t>(where.offset);
  if (::lseek(file.get(), begin, SEEK_DATA) != begin) return shared_found::gone;
  auto mapped = pages::map_file(file.get(), where.offset, where.bytes, -1, false);
  if (!mapped) return shared_found::no_room;
  out = std::move(*mapped);
  return shared_found::here;
}

}  // namespace tessera::kit
