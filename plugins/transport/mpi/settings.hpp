#pragma once
// What the user says about MPI.
#include <tessera/transport.h>

#include <cstdint>

#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::mpi {

struct settings {
  std::int64_t communicator = -1;    ///< MPI_Comm_c2f of the host program's; -1: the world
  bool serialized = false;           ///< any thread, one at a time
  bool shared = true;                ///< windows of a node are read in place
  std::uint64_t shared_memory = 0;   ///< bytes of /dev/shm that a window of a node may take; 0: what is free
  std::int32_t ranks_per_node = 0;   ///< 0: as the machine is
  std::uint64_t buffer = 64;         ///< messages on their way from this rank to another
  std::uint64_t eager_bytes = 8192;  ///< as tsr_endpoint_desc
  std::uint64_t piece = 1ull << 30;  ///< what MPI moves at once: its counts have 31 bits
  std::uint64_t spin_ns = 20000;     ///< how long `wait` looks before it naps
  std::uint64_t nap_ns = 200000;     ///< the longest nap
};

const tsr_option* option_schema(std::uint32_t& count);
tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, settings& out);

}  // namespace tessera::mpi
