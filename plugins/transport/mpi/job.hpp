#pragma once
// The ranks of the job as MPI has them.
#include <mpi.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/kit/abi/report.hpp"
#include "plugins/transport/mpi/settings.hpp"

namespace tessera::mpi {

/// A failure of MPI, as an exception that does not leave the transport.
struct failed : std::runtime_error {
  failed(int code, const char* call) : std::runtime_error(std::string(call) + ": " + words_for(code)) {}
  static std::string words_for(int code);
};
inline void must(int code, const char* call) {
  if (code != MPI_SUCCESS) throw failed(code, call);
}

/// Communicators of the transport alone, and who shares a node.
struct job {
  settings setting;
  MPI_Comm messages = MPI_COMM_NULL;     ///< for messages
  MPI_Comm collectives = MPI_COMM_NULL;  ///< for collectives, and windows of all
  MPI_Comm node = MPI_COMM_NULL;         ///< the ranks of this node
  bool initialised_here = false;         ///< and so MPI is finalised here
  std::int32_t rank = 0, size = 1;
  std::vector<std::int32_t> node_of;     ///< by rank; numbers in the order of first ranks
  std::vector<std::int32_t> node_ranks;  ///< of this node, in their order in `node`
  std::int32_t nodes = 1;
  std::string node_name;
};

/// Initialises MPI where nobody has, and makes the communicators. All ranks call it. Fails: as
/// tsr_transport_header::open.
tsr_status open_job(const kit::reporter& report, const settings& setting, job& out);
/// The reverse; waits for the other ranks where MPI was initialised here.
tsr_status close_job(const kit::reporter& report, job& of);

}  // namespace tessera::mpi
