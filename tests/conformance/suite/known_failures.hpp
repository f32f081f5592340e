#pragma once
// Failures that are known and accepted for a while.
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::conformance {

/// One line of a file of known failures: "blas.potrf 2027-03-01 the vendor's library returns early".
struct known_failure {
  std::string name;
  std::string expiry;  ///< "YYYY-MM-DD", the last day on which it counts
  std::string reason;
};

/// Reads a file; '#' starts a comment. A missing file has none. Throws tessera::error (kind input) for a line
/// without a date or a reason, or with a name that no check has.
std::vector<known_failure> read_known_failures(const std::filesystem::path& path,
                                               const std::vector<std::string>& names);

/// Today in UTC, "YYYY-MM-DD".
std::string today();

}  // namespace tessera::conformance
