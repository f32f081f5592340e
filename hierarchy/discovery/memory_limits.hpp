#pragma once
// How much of the machine's memory this process may fill with blocks: pure arithmetic over what the operating system
// says.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::hierarchy {

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};

/// What the operating system says, as the contents of its files; "": there is no such file.
struct memory_sources {
  std::string meminfo;                     ///< /proc/meminfo
  std::string groups;                      ///< /proc/self/cgroup
  std::string mounts;                      ///< /proc/self/mountinfo
  std::string overcommit;                  ///< /proc/sys/vm/overcommit_memory
  std::string statm;                       ///< /proc/self/statm
  std::uint64_t page_bytes = 4096;         ///< the unit of statm
  std::uint64_t address_limit = no_limit;  ///< RLIMIT_AS
  std::uint64_t data_limit = no_limit;     ///< RLIMIT_DATA
  std::uint64_t stack_bytes = 0;           ///< addresses that the stacks of the threads to come take
  /// The content of a file of a control group.
  std::function<std::string(const std::string& path)> read = [](const std::string&) { return std::string(); };

  static memory_sources of_this_process();
};

/// The bound that leaves least.
struct memory_bound {
  std::uint64_t left = no_limit;  ///< bytes that the process may take beside those that it has
  std::string reason;             ///< whose bound it is: "control group /job, at most 300 MiB"; "": nothing is known

  /// What of `left` is for blocks: all but a sixteenth and 64 MiB, at most a quarter, for stacks, the heap, buffers of
  /// libraries and of the system.
  std::uint64_t for_blocks() const noexcept;
  /// "control group /job, at most 300 MiB: 280 MiB left, 210 MiB of it for blocks".
  std::string text() const;
};

/// The least of what is available on the machine, of what each control group on the path of the process (versions 1 and
/// 2) leaves beside what its processes have and the system cannot take back, and of what the limits of addresses and of
/// data, and a system that promises no more than it has, leave beside the stacks.
memory_bound min_bound(const memory_sources& from);

/// The machine's memory; 0: not known.
std::uint64_t machine_memory(const memory_sources& from);

/// `room` shared by memories in proportion to their sizes, none above its own.
std::vector<std::uint64_t> shared_room(const std::vector<std::uint64_t>& sizes, std::uint64_t room);

}  // namespace tessera::hierarchy
