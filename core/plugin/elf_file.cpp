#include "core/plugin/elf_file.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <fstream>
#include <optional>

#include "core/base/error.hpp"

namespace tessera::plugin {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& message, const std::string& hint) {
  throw error(error_kind::plugin, message, path.string(), hint);
}

class reader {
 public:
  explicit reader(const std::filesystem::path& path) : m_path(path), m_file(path, std::ios::binary) {
    if (!m_file) refuse(path, "the file cannot be read", "check that it exists and that you may read it");
  }
  template <class T>
  T at(std::uint64_t offset) {
    T value;
    m_file.seekg(static_cast<std::streamoff>(offset));
    m_file.read(reinterpret_cast<char*>(&value), sizeof value);
    if (!m_file) refuse(m_path, "the file is truncated", "build or copy it again");
    return value;
  }
  std::string text(std::uint64_t offset) {
    std::string value;
    m_file.seekg(static_cast<std::streamoff>(offset));
    std::getline(m_file, value, '\0');
    if (!m_file) refuse(m_path, "the file is truncated", "build or copy it again");
    return value;
  }
  /// The first bytes, without complaint about a short file.
  std::string magic() {
    std::string value(SELFMAG, '\0');
    m_file.read(value.data(), SELFMAG);
    m_file.clear();
    return value;
  }

 private:
  std::filesystem::path m_path;
  std::ifstream m_file;
};

/// The machine number of this very program.
std::uint16_t own_machine() { return reader("/proc/self/exe").at<ElfW(Ehdr)>(0).e_machine; }

}  // namespace

elf_facts read_elf(const std::filesystem::path& path) {
  reader file(path);
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
