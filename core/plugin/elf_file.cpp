#include "core/plugin/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "core/plugin/refuse.hpp"

/// Made by the linker.
extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

namespace tessera::plugin {
namespace {

/// A descriptor of its own.
class opened_file {
 public:
  explicit opened_file(const std::filesystem::path& path) : m_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (m_descriptor < 0) refuse(path, "the file cannot be read", "check that it exists and that you may read it");
  }
  ~opened_file() { ::close(m_descriptor); }
  opened_file(const opened_file&) = delete;
  opened_file& operator=(const opened_file&) = delete;
  int descriptor() const noexcept { return m_descriptor; }

 private:
  int m_descriptor;
};

class reader {
 public:
  reader(std::filesystem::path path, int descriptor) : m_path(std::move(path)), m_descriptor(descriptor) {}
  template <class T>
  T at(std::uint64_t offset) const {
    T value;
    if (read(offset, &value, sizeof value) != sizeof value) truncated();
    return value;
  }
  std::string text(std::uint64_t offset) const {
    std::string value;
    for (std::array<char, 256> part;;) {
      const std::size_t bytes = read(offset + value.size(), part.data(), part.size());
      const auto end = std::find(part.begin(), part.begin() + bytes, '\0');
      value.append(part.begin(), end);
      if (end != part.begin() + bytes) return value;
      if (bytes == 0) truncated();
    }
  }
  /// The first bytes, without complaint about a short file.
  std::string magic() const {
    std::string value(SELFMAG, '\0');
    read(0, value.data(), SELFMAG);
    return value;
  }

 private:
  [[noreturn]] void truncated() const { refuse(m_path, "the file is truncated", "build or copy it again"); }

  /// As many bytes as there are, up to `bytes`.
  std::size_t read(std::uint64_t offset, void* to, std::size_t bytes) const {
    std::size_t done = 0;
    while (done < bytes && offset + done <= std::uint64_t{std::numeric_limits<::off_t>::max()}) {
      const ::ssize_t got =
          ::pread(m_descriptor, static_cast<char*>(to) + done, bytes - done, static_cast<::off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  std::filesystem::path m_path;
  int m_descriptor;
};

/// The machine number of this very library, from its own header in memory: there need be no /proc.
std::uint16_t own_machine() { return __ehdr_start.e_machine; }

}  // namespace

elf_facts read_elf(const std::filesystem::path& path) {
  const opened_file file(path);
  return read_elf(path, file.descriptor());
}

elf_facts read_elf(const std::filesystem::path& path, int descriptor) {
  const reader file(path, descriptor);
  if (file.magic() != std::string(ELFMAG, SELFMAG))
    refuse(path, "the file is not a shared library (no ELF header)",
           "give the path of the built plugin, usually tessera_<name>.so, or remove the file from the directory");
  const auto header = file.at<ElfW(Ehdr)>(0);
  constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (header.e_ident[EI_CLASS] != own_class || header.e_machine != own_machine())
    refuse(path, "the shared library is built for another processor", "build the plugin for this machine");
  if (header.e_type != ET_DYN)
    refuse(path, "the file is an ELF file but not a shared library", "link the plugin with -shared");

  std::vector<ElfW(Phdr)> segments;
  for (unsigned i = 0; i < header.e_phnum; ++i)
    segments.push_back(file.at<ElfW(Phdr)>(header.e_phoff + std::uint64_t{i} * header.e_phentsize));
  const auto offset_of = [&](std::uint64_t address) -> std::optional<std::uint64_t> {
    for (const auto& segment : segments)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address < segment.p_vaddr + segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    return std::nullopt;
  };

  elf_facts facts;
  for (const auto& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    std::vector<std::uint64_t> names;
    std::uint64_t strings = 0;
    for (std::uint64_t at = 0; at + sizeof(ElfW(Dyn)) <= segment.p_filesz; at += sizeof(ElfW(Dyn))) {
      const auto entry = file.at<ElfW(Dyn)>(segment.p_offset + at);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    }
    const auto table = offset_of(strings);
    if (!table) continue;
    for (const std::uint64_t name : names) facts.needed.push_back(file.text(*table + name));
  }
  return facts;
}

}  // namespace tessera::plugin
