#pragma once
// One program of a job while it runs: what its workers share.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "languages/sial/code/code.hpp"
#include "languages/sial/data/init_data.hpp"
#include "languages/sial/exchange/array_generation.hpp"
#include "languages/sial/exchange/exchange.hpp"
#include "languages/sial/instructions/registry.hpp"
#include "languages/sial/interpreter/geometry.hpp"
#include "languages/sial/interpreter/instruction_operations.hpp"
#include "tessera/front_end.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

/// A dimension as persistent arrays remember it: they fit only where it is the same.
struct kept_dimension {
  index_kind kind;
  std::int64_t low, high;
  friend bool operator==(const kept_dimension&, const kept_dimension&) = default;
};
struct kept_values {  ///< of a static array
  std::vector<kept_dimension> dims;
  std::vector<double> values;
};
struct kept_blocks {  ///< of a distributed or served array
  std::vector<kept_dimension> dims;
  std::shared_ptr<array_generation> generation;
};
/// What goes from program to program under labels.
using kept_item = std::variant<double, kept_values, kept_blocks>;
using kept_items = std::map<std::string, kept_item>;

std::vector<kept_dimension> dimensions_of(const array_geometry& a);
std::vector<std::int64_t> counts_of(const array_geometry& a);  ///< blocks per dimension

/// Which block statements run on devices, on machines that have some.
enum class device_use : std::uint8_t {
  best,  ///< those that are done sooner there, as runtime.placement decides
  never,
  always  ///< whatever a device can do
};

/// How programs are run.
struct run_settings {
  unsigned workers = 1;
  bool deterministic = false;  ///< the same bits in every run with as many workers
  unsigned ahead = 4;  ///< iterations of a pardo whose blocks are asked for early; 0: none. Where memory is limited
  device_use devices = device_use::best;
  bool profile = false;     ///< count and time every statement
  bool check_races = true;  ///< conflicting uses of blocks that no barrier orders are errors
  std::size_t held_blocks =
      256;  ///< blocks of shared arrays that one worker keeps in its hands, where there are other memories
  std::uint64_t held_bytes =
      ~std::uint64_t{0};  ///< and how many bytes of them; program_run makes it fit a limited memory
  std::uint64_t private_bytes = ~std::uint64_t{0};  ///< of temp and local blocks of one worker, with those that wait
};

/// One kind of exchange with shared arrays.
struct exchange_counters {
  std::uint64_t number = 0;  ///< statements executed, one block each
  std::uint64_t bytes = 0;   ///< of those blocks
  std::uint64_t saved = 0;   ///< fetches of a block that this worker had fetched since the last barrier
  std::uint64_t waited = 0;  ///< nanoseconds, over all workers; of stores where memory is limited
};
enum class exchange_kind : std::uint8_t {
  get,
  request,
  put,
  prepare
};

/// What workers count; added up at the end.
struct run_counters {
  std::uint64_t iterations = 0;                       ///< of pardos
  std::array<exchange_counters, 4> exchanges;         ///< by exchange
  std::uint64_t contractions = 0;                     ///< products of blocks
  double flops = 0;                                   ///< of contractions
  std::uint64_t blocks_taken = 0, blocks_reused = 0;  ///< temporary ones
  double barrier_seconds = 0;                         ///< waited, over all workers
  std::uint64_t first_reads = 0,
                ready_reads = 0;  ///< of fetched blocks; of them those that were in the host's memory already
  std::uint64_t asked_early = 0;  ///< blocks
  std::uint64_t on_devices = 0,
                in_place = 0;  ///< statements of block arithmetic, and puts of their results, on machines with devices
  exchange_counters& of(exchange_kind what) noexcept { return exchanges[static_cast<std::size_t>(what)]; }
  const exchange_counters& of(exchange_kind what) const noexcept { return exchanges[static_cast<std::size_t>(what)]; }
  /// Nanoseconds that workers waited for shared blocks.
  std::uint64_t waited() const noexcept {
    std::uint64_t all = 0;
    for (const exchange_counters& one : exchanges) all += one.waited;
    return all;
  }
  std::uint64_t gets() const noexcept { return of(exchange_kind::get).number + of(exchange_kind::request).number; }
  std::uint64_t puts() const noexcept { return of(exchange_kind::put).number + of(exchange_kind::prepare).number; }
  /// Bytes of blocks that were fetched and stored.
  std::uint64_t exchanged_bytes() const noexcept {
    std::uint64_t all = 0;
    for (const exchange_counters& one : exchanges) all += one.bytes;
    return all;
  }
  double block_seconds() const noexcept {
    return static_cast<double>(of(exchange_kind::get).waited + of(exchange_kind::request).waited) * 1e-9;
  }  ///< waited for fetched blocks
  /// Share of fetched blocks that were in the host's memory when they were first read; 1 when none was read.
  double hit_ratio() const noexcept {
    return first_reads == 0 ? 1 : static_cast<double>(ready_reads) / static_cast<double>(first_reads);
  }
  run_counters& operator+=(const run_counters& more) noexcept;
};

/// One statement in a profile.
struct statement_profile {
  std::uint64_t times = 0;
  std::uint64_t nanoseconds = 0, least = ~std::uint64_t{0}, most = 0;  ///< all together; the shortest, the longest
  double squares = 0;                                                  ///< of nanoseconds
  std::uint64_t waited = 0;                                            ///< nanoseconds for blocks
  std::uint64_t on_devices = 0;                                        ///< of the times: those that were handed over
  std::uint64_t bytes = 0;                                             ///< fetched and stored
  double flops = 0;                                                    ///< of contractions
  void add(std::uint64_t ns, std::uint64_t wait) noexcept;
  statement_profile& operator+=(const statement_profile& more) noexcept;
};

/// What a program leaves, as worker 0 has it.
struct final_state {
  std::vector<std::int64_t> ints;            ///< by int
  std::vector<double> scalars;               ///< by scalar
  std::vector<std::vector<double>> statics;  ///< by array; others are empty
  array_generations generations;             ///< by array; null for private ones
};

/// For counters of waiting times.
inline std::uint64_t nanoseconds_since(std::chrono::steady_clock::time_point began) {
  return static_cast<std::uint64_t>((std::chrono::steady_clock::now() - began) / std::chrono::nanoseconds(1));
}

/// Shared by the workers of one program.
struct program_run {
  /// @param with_others  of workers in other processes too, which outlives the job; null: all are threads of this one
  program_run(runtime& on, const code& what, const init_data& with, const instruction_registry& known,
              const run_settings& how, kept_items& items, std::atomic<std::uint64_t>& sections,
              exchange* with_others = nullptr);

  runtime& rt;
  ::tessera::front_end front{rt};  ///< what it offers beside tasks
  const code& program;
  const init_data& data;
  const instruction_registry& instructions;
  run_settings settings;
  geometry sizes;
  const std::unique_ptr<exchange> own_exchange;  ///< null: it is the job's
  exchange& workers;
  kept_items& items;                           ///< labels; read and written by the last worker at a barrier alone
  std::atomic<std::uint64_t>& section;         ///< counts barriers, over all programs of a job
  array_generations first_generations;         ///< by array; null for private ones; none when all workers have them
  std::atomic<unsigned> begun{0};              ///< workers that have taken them
  std::vector<std::string> notes;              ///< what the user should know before it starts
  std::shared_ptr<array_generation> restored;  ///< between two barriers
  std::atomic<bool> all_print{false};
  std::function<void(const std::string&)> print;  ///< text of one statement; any worker, one at a time
  std::mutex print_lock;

  final_state left;  ///< when all have ended without a failure

  /// The outermost loop that is no pardo, as worker 0 has it; for who watches. `total` 0: none.
  struct open_loop {
    std::atomic<std::uint32_t> site{0};
    std::atomic<std::int64_t> done{0}, total{0};
    std::atomic<std::chrono::steady_clock::rep> began{0};
  };
  open_loop outer;

  std::mutex totals_lock;
  run_counters totals;
  std::vector<std::vector<statement_profile>> profiles;  ///< by worker, then by site; none when not asked for

  /// By site: what tasks say in messages, and the time that they took on devices. Empty where there are none, or none
  /// are to be used.
  std::vector<std::unique_ptr<task::source>> sources;

  std::vector<const ::tessera::operation::definition*>
      instruction_forms;  ///< by execution, null where there is none; empty where `sources` are

  block::space_set host_spaces;
  /// The one that blocks of workers are in.
  block::space_set host_space() const noexcept { return block::space_set::of(host_spaces.first()); }
  block::space_set device_spaces;   ///< blocks stay there until they are needed elsewhere
  bool has_other_memories = false;  ///< where blocks may be, so that those in hand must be few
  bool blocks_stay = false;         ///< where they are: what a view has shown is there until the next write
  std::atomic<std::uint64_t> bytes_under_way{0};  ///< asked for early and not yet there
};

/// Runs all workers to the end. Throws tessera::error (task) with program and line when one fails; interrupted when the
/// runtime is cancelled.
void run_program(program_run& run);

}  // namespace tessera::sial
