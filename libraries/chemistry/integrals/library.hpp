#pragma once
// What the shared library of integrals offers to the one who opens it. Both are of one build.
#include <memory>
#include <vector>

#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::chemistry {

struct integral_library {
  const char* name;  ///< "libint2 2.7.2"
  std::unique_ptr<integrals> (*make)(std::vector<shell> shells, const molecule& of);
};

/// The name of the function that gives it, of type `const integral_library* ()`.
inline constexpr const char* integral_library_entry = "tessera_integral_library";

}  // namespace tessera::chemistry
