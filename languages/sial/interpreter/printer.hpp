#pragma once
// What programs print.
#include <cstdint>
#include <string>

#include "languages/sial/interpreter/block_operands.hpp"
#include "languages/sial/interpreter/contiguous_arrays.hpp"
#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// Prints for one worker: for worker 0, for the others only while all are to print. Refers to all that it is made from.
/// One thread.
class printer {
 public:
  printer(worker_state& state, block_operands& operands, static_arrays& statics, contiguous_arrays& regions);

  /// A text as it is.
  void say(const std::string& text);
  /// A statement. Throws run_error as its operands do.
  void print(const printing& p);

 private:
  bool is_silent() const noexcept { return m_state.number != 0 && !m_state.run.all_print; }
  void print_block(const printing& p, const std::string& after);
  void print_region(const printing& p);
  void print_static(const printing& p);
  /// @param kind "block" or "contiguous array"
  void print_elements(const char* kind, const std::string& name, const double* data, std::int64_t count,
                      std::int64_t per_line);
  std::uint32_t line() const { return m_state.run.program.sites[m_state.site].where.line; }

  worker_state& m_state;
  block_operands& m_operands;
  static_arrays& m_statics;
  contiguous_arrays& m_regions;
};

}  // namespace tessera::sial
