#include "plugins/transport/mpi/settings.hpp"

#include <iterator>

#include "plugins/transport/common/transport.hpp"

namespace tessera::mpi {
namespace {

constexpr std::uint32_t size = sizeof(tsr_option);

const tsr_option options[] = {
    {size, TSR_OPTION_INT, "communicator", "-1", -2147483648.0, 2147483647.0, nullptr,
     "The ranks of the job, as MPI_Comm_c2f of a communicator of the host program; -1: MPI_COMM_WORLD."},
    {size, TSR_OPTION_STRING, "threads", "one", 0, 0, "one|serialized",
     "one: one and the same thread makes all calls (FUNNELED); serialized: any thread, one at a time."},
    {size, TSR_OPTION_BOOL, "shared", "true", 0, 0, nullptr,
     "Windows are shared memory within a node, read in place; false: all operations go through MPI."},
    {size, TSR_OPTION_BYTES, "shared_memory", "0", 0, 9e18, nullptr,
     "What one window of a node may take of /dev/shm; a larger one is private memory, not read in place. 0: what is "
     "free there."},
    {size, TSR_OPTION_INT, "ranks_per_node", "0", 0, 4096, nullptr,
     "So many ranks in a row count as a node, for tests on one machine; 0: the machine is asked."},
    {size, TSR_OPTION_INT, "buffer", "64", 1, 1e6, nullptr,
     "Messages on their way from this rank to another; `send` takes no more."},
    {size, TSR_OPTION_BYTES, "eager", "8 KiB", 0, 1e8, nullptr,
     "A payload of at most so many bytes is copied by `send`."},
    {size, TSR_OPTION_BYTES, "piece", "1 GiB", 8, 2147483640.0, nullptr,
     "What MPI moves at once; more is split. A multiple of 8."},
    {size, TSR_OPTION_DURATION, "spin", "20 us", 0, 1e9, nullptr, "How long `wait` looks before it naps."},
    {size, TSR_OPTION_DURATION, "nap", "200 us", 1e3, 1e9, nullptr, "The longest nap of `wait`; naps begin at 10 us."},
};

}  // namespace

const tsr_option* option_schema(std::uint32_t& count) {
  count = static_cast<std::uint32_t>(std::size(options));
  return options;
}

tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, settings& out) {
  settings result;
  const auto integer = [&](const char* name, auto& field) { transport::read_integer(option, name, field); };
  integer("communicator", result.communicator);
  result.serialized = option.text("threads", "one") == "serialized";
  result.shared = option.flag("shared", result.shared);
  integer("shared_memory", result.shared_memory);
  integer("ranks_per_node", result.ranks_per_node);
  integer("buffer", result.buffer);
  integer("eager", result.eager_bytes);
  integer("piece", result.piece);
  integer("spin", result.spin_ns);
  integer("nap", result.nap_ns);
  if (result.piece < 8 || result.piece % 8 != 0)
    return report.fail(TSR_INVALID_ARGUMENT, "piece is %llu bytes; expected a multiple of 8",
                       static_cast<unsigned long long>(result.piece));
  out = result;
  return TSR_OK;
}

}  // namespace tessera::mpi
