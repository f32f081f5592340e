#pragma once
// The built-in super instructions that know nothing of chemistry. docs/sial_instructions.md says what each does.
#include <vector>

#include "languages/sial/instructions/instruction.hpp"

namespace tessera::sial {

/// All of them.
std::vector<instruction> builtin_instructions();

/// One group each.
std::vector<instruction> element_instructions();   ///< fill, swap, single elements
std::vector<instruction> printing_instructions();  ///< print, and who prints
std::vector<instruction> file_instructions();      ///< blocks in files
std::vector<instruction>
information_instructions();  ///< worker numbers, look-ups of names, scratch, the blocks of a worker
std::vector<instruction> diagonal_instructions();        ///< element work that needs absolute numbers of elements
std::vector<instruction> linear_algebra_instructions();  ///< eigenproblems, DIIS

}  // namespace tessera::sial
