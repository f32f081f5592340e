// Super instructions.
#include <fmt/format.h>

#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {

void worker::execute(const execution& e) {
  throw run_error(fmt::format("there is no super instruction '{}'", m_code.specials[e.special].name));
}

}  // namespace tessera::sial
