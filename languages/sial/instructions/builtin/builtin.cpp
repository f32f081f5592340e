#include "languages/sial/instructions/builtin/builtin.hpp"

#include <iterator>

namespace tessera::sial {

std::vector<instruction> builtin_instructions() {
  std::vector<instruction> all;
  for (const auto group : {element_instructions, printing_instructions, file_instructions, information_instructions,
                           diagonal_instructions, linear_algebra_instructions}) {
    std::vector<instruction> some = group();
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  return all;
}

}  // namespace tessera::sial
