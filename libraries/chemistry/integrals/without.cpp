// In place of an integral library, where the build has found none.
#include "core/base/error.hpp"
#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::chemistry {

std::string_view integrals_library() noexcept { return ""; }

std::unique_ptr<integrals> make_integrals(std::vector<shell>, const molecule&) {
  throw error(error_kind::configuration, "this build has no integrals", "",
              "install libint2 (Debian: libint2-dev) and build again");
}

}  // namespace tessera::chemistry
