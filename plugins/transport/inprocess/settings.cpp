#include "plugins/transport/inprocess/settings.hpp"

#include <iterator>

#include "plugins/transport/common/transport.hpp"

namespace tessera::inprocess {
namespace {

constexpr std::uint32_t size = sizeof(tsr_option);

const tsr_option options[] = {
    {size, TSR_OPTION_INT, "ranks", "2", 1, 4096, nullptr, "Ranks of the job, all in this process."},
    {size, TSR_OPTION_INT, "ranks_per_node", "0", 0, 4096, nullptr,
     "So many ranks in a row share a node, whose windows they read in place; 0: all."},
    {size, TSR_OPTION_DURATION, "delay", "0 ns", 0, 1e12, nullptr,
     "What each message and each operation on a window takes at least."},
    {size, TSR_OPTION_BOOL, "reorder", "false", 0, 0, nullptr,
     "Messages of different pairs of ranks, and operations on windows, happen in another order than they were called."},
    {size, TSR_OPTION_INT, "seed", "1", 0, 9e18, nullptr, "Of that order."},
    {size, TSR_OPTION_INT, "buffer", "256", 1, 1e6, nullptr,
     "Messages on their way from one rank to another; `send` takes no more."},
    {size, TSR_OPTION_BYTES, "eager", "8 KiB", 0, 1e9, nullptr,
     "A payload of at most so many bytes is copied by `send`, as is what `put` and `accumulate` are given."},
    {size, TSR_OPTION_BYTES, "memory", "0", 0, 9e18, nullptr, "Bytes of all windows together; 0: no limit."},
    {size, TSR_OPTION_INT, "slow_rank", "-1", -1, 4095, nullptr, "A rank that is slow; -1: none."},
    {size, TSR_OPTION_DURATION, "slow_delay", "1 ms", 0, 1e12, nullptr,
     "Added to the delay of what comes from or goes to the slow rank."},
    {size, TSR_OPTION_INT, "lost_rank", "-1", -1, 4095, nullptr, "A rank that is lost after a while; -1: none."},
    {size, TSR_OPTION_INT, "lost_after", "100", 0, 1e15, nullptr, "Calls of the lost rank that still work."},
};

}  // namespace

const tsr_option* option_schema(std::uint32_t& count) {
  count = static_cast<std::uint32_t>(std::size(options));
  return options;
}

tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, settings& out) {
  settings result;
  const auto integer = [&](const char* name, auto& field) { transport::read_integer(option, name, field); };
  integer("ranks", result.ranks);
  integer("ranks_per_node", result.ranks_per_node);
  integer("delay", result.delay_ns);
  result.reorder = option.flag("reorder", result.reorder);
  integer("seed", result.seed);
  integer("buffer", result.buffer);
  integer("eager", result.eager_bytes);
  integer("memory", result.memory);
  integer("slow_rank", result.slow_rank);
  integer("slow_delay", result.slow_delay_ns);
  integer("lost_rank", result.lost_rank);
  integer("lost_after", result.lost_after);
  if (result.ranks < 1 || result.ranks_per_node < 0 || result.buffer < 1)
    return report.fail(TSR_INVALID_ARGUMENT, "ranks and buffer are at least 1, ranks_per_node at least 0");
  for (const auto& [name, rank] : {std::pair{"slow_rank", result.slow_rank}, std::pair{"lost_rank", result.lost_rank}})
    if (rank < -1 || rank >= result.ranks)
      return report.fail(TSR_INVALID_ARGUMENT, "%s is %d; expected a rank, 0 to %d, or -1 for none", name, rank,
                         result.ranks - 1);
  out = result;
  return TSR_OK;
}

}  // namespace tessera::inprocess
