#pragma once
// What the user says about the disk.
#include <tessera/plugin.h>

#include <cstdint>
#include <string>

#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::disk {

enum class layout_kind : std::uint8_t {
  files,
  single
};
enum class io_kind : std::uint8_t {
  automatic,
  io_uring,
  threads
};

/// Faults for tests; 0 and false: none.
struct fault_settings {
  std::uint64_t fail_after_bytes = 0;  ///< requests behind so many bytes fail with EIO
  std::uint64_t full_after_bytes = 0;  ///< writes behind so many written bytes fail with ENOSPC
  std::uint64_t corrupt_read = 0;      ///< in the n-th request that reads, one bit is flipped
  bool short_io = false;               ///< each request moves about half of what it should, then goes on
  bool refuse_io_uring = false;        ///< as if the kernel refused
};

struct settings {
  std::string path;            ///< an existing directory; a private one is made below it
  std::uint64_t capacity = 0;  ///< 0: nine tenths of what is free there
  layout_kind layout = layout_kind::files;
  io_kind io = io_kind::automatic;
  std::uint32_t queue_depth = 32;
  std::uint32_t threads = 4;
  std::uint64_t piece = 1 << 20;  ///< bytes of one request; a multiple of the cell
  bool direct = false;
  bool checksum = true;
  double bandwidth = 1u << 30;
  std::uint64_t latency_ns = 100000;
  fault_settings faults;
};

/// The options that the plugin publishes.
const tsr_option* option_schema(std::uint32_t& count);

/// Reads and checks the values given to open. Fails: INVALID_ARGUMENT.
tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, settings& out);

}  // namespace tessera::disk
