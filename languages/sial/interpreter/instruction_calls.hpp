#pragma once
// Calls of super instructions.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "languages/sial/instructions/instruction_job.hpp"
#include "languages/sial/interpreter/printer.hpp"

namespace tessera::sial {

/// Calls super instructions on the calling thread, and answers what they ask. Refers to all that it is made from. One
/// thread.
class instruction_calls final : private instruction_host {
 public:
  instruction_calls(worker_state& state, block_operands& operands, static_arrays& statics, contiguous_arrays& regions,
                    const private_store& blocks, shared_cache& cache, printer& output);

  /// Throws run_error when an argument is not there, and what the instruction throws.
  void call(const execution& e);

 private:
  /// Arguments of one call, and what is written to where it belongs when the call is over.
  struct arguments {
    std::array<sial_argument, SIAL_MAX_RANK> all{};
    std::array<double, SIAL_MAX_RANK> literals{};
    std::vector<target_tile> targets;
    std::vector<std::pair<contiguous_arrays::part, const double*>> regions;
  };

  void add(arguments& to, std::size_t number, const execution& e);
  void add_block(arguments& to, std::size_t number, std::uint32_t reference_number, char how);
  void add_region(arguments& to, std::size_t number, std::uint32_t region_number, char how);
  void add_whole(sial_argument& to, std::uint32_t array);
  void describe(sial_argument& to, std::uint32_t array, const segment_numbers& at, const shape& extents, int whole);

  void print(std::string_view text) override;
  void print_on_all_workers(bool on) override;
  std::string list_blocks() override;

  worker_state& m_state;
  const code& m_code;
  block_operands& m_operands;
  static_arrays& m_statics;
  contiguous_arrays& m_regions;
  const private_store& m_private;
  shared_cache& m_cache;
  printer& m_printer;
  instruction_job m_job;
  std::vector<const instruction*> m_instructions;  // by special, once it was executed
};

}  // namespace tessera::sial
