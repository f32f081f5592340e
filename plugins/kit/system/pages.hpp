#pragma once
// Memory straight from the operating system: pages on a NUMA domain, huge where that helps.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::kit {

/// A mapping of whole pages, zero-filled, unmapped on destruction. Movable.
class pages {
 public:
  pages() = default;
  ~pages() { release(); }
  pages(pages&& other) noexcept;
  pages& operator=(pages&& other) noexcept;

  /// Maps at least `bytes`. Mappings of 2 MiB and more start on a 2 MiB boundary, so that huge pages can back them
  /// (when `huge`), and those of `coloured_bytes` and more a whole number of pages behind it: the colour of the n-th
  /// of them, so that they do not lie whole powers of two apart. numa_node >= 0 binds the pages there (preferred, not
  /// forced). Nothing when the system refuses.
  static std::optional<pages> map(std::uint64_t bytes, bool huge, int numa_node, std::uint64_t n = 0);

  /// Maps a part of a file for this process and others that map it; both numbers are whole pages. The `owner` takes
  /// what is in it out of the file when the pages are unmapped.
  static std::optional<pages> map_file(int file, std::uint64_t offset, std::uint64_t bytes, int numa_node, bool owner);

  void* data() const noexcept { return m_data; }
  std::uint64_t bytes() const noexcept { return m_bytes; }

  static constexpr std::uint64_t huge_bytes = 2ull << 20;
  /// Of smaller mappings too large a part would not be on huge pages.
  static constexpr std::uint64_t coloured_bytes = 32ull << 20;

 private:
  void release() noexcept;
  void* m_data = nullptr;
  std::uint64_t m_bytes = 0;
  bool m_owns_file_part = false;
};

/// Has the system put pages behind memory that was mapped and not touched yet, by several threads where it is large:
/// one of them zeroes a few GB/s. Memory of this process alone: what is a file's or shared, or cannot be written, stays
/// as it is, as does all where the system cannot do it (before Linux 5.14).
void populate(void* begin, std::uint64_t bytes) noexcept;

/// The size of an ordinary page.
std::uint64_t page_bytes() noexcept;

/// One NUMA domain with CPUs that this process may use.
struct numa_domain {
  int node;             ///< as the operating system counts; -1 when it does not say
  std::uint64_t bytes;  ///< its memory, all of the machine's for the only one; 0: unknown. Limits of the process are
                        ///< the host's business
  std::uint32_t cpus;   ///< usable CPUs in it
};

/// The domains that hold at least one CPU of the mask (no mask: all), at least one.
std::vector<numa_domain> numa_domains(const std::uint64_t* cpu_mask, std::uint32_t cpu_words);

/// Free bytes of a domain now (node -1: of the machine); 0 when the system does not say.
std::uint64_t free_bytes_of(int node);

}  // namespace tessera::kit
