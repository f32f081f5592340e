#pragma once
// What the user says about ranks in one process.
#include <tessera/transport.h>

#include <cstdint>

#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::inprocess {

struct settings {
  std::int32_t ranks = 2;
  std::int32_t ranks_per_node = 0;        ///< 0: all
  std::uint64_t delay_ns = 0;             ///< of each message and operation
  bool reorder = false;                   ///< between pairs of ranks, and operations on windows
  std::uint64_t seed = 1;                 ///< of the order
  std::uint64_t buffer = 256;             ///< messages on their way from one rank to another
  std::uint64_t eager_bytes = 8192;       ///< as tsr_endpoint_desc
  std::uint64_t memory = 0;               ///< bytes of all windows together; 0: no limit
  std::int32_t slow_rank = -1;            ///< -1: none
  std::uint64_t slow_delay_ns = 1000000;  ///< added for what comes from or goes to the slow rank
  std::int32_t lost_rank = -1;            ///< -1: none
  std::uint64_t lost_after = 100;         ///< calls of the lost rank
};

const tsr_option* option_schema(std::uint32_t& count);

/// Fails: INVALID_ARGUMENT (a slow or lost rank that is none of the job's).
tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, settings& out);

}  // namespace tessera::inprocess
