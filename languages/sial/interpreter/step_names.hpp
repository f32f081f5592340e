#pragma once
// What statements are called in reports.
#include <array>
#include <cstdint>
#include <vector>

#include "languages/sial/code/code.hpp"
#include "tessera/front_end.hpp"

namespace tessera::sial {

/// Whether a statement waits for all workers; its wait is recorded by itself.
constexpr bool is_collective(opcode what) noexcept {
  return what == opcode::barrier || what == opcode::collective || what == opcode::broadcast ||
         what == opcode::assert_same;
}

/// Writes a worker's statements into its row. Names are looked up once each. One thread.
class step_names {
 public:
  step_names(const code& program, ::tessera::step_recorder& to) : m_code(program), m_to(to) {}

  /// A statement ran from `began` until now. `flops`: of its arithmetic; below 0: not known.
  void record(const step& done, std::uint64_t began, double flops = -1);

 private:
  const char* word_of(const step& done) const;

  const code& m_code;
  ::tessera::step_recorder& m_to;
  std::vector<std::uint64_t> m_files;                       // by file; 0: not looked up, else one more than the number
  std::vector<std::uint64_t> m_instructions;                // by super instruction, likewise
  std::array<std::array<std::uint64_t, 2>, 256> m_words{};  // by operation, and whether it is of a served array
};

}  // namespace tessera::sial
