// Failures that are known, until their day.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.hpp"
#include "tests/conformance/faults/requests.hpp"
#include "tests/conformance/suite/known_failures.hpp"

namespace tessera::conformance {
namespace {

/// A file of known failures with one line.
class known_file {
 public:
  explicit known_file(const std::string& line)
      : m_path(std::filesystem::temp_directory_path() / ("tessera_known_" + std::to_string(::getpid()))) {
    std::ofstream(m_path) << "# a comment\n\n" << line << "\n";
  }
  ~known_file() { std::filesystem::remove(m_path); }
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

TEST(known_failures, count_until_their_day_and_not_longer) {
  const std::string check = "honesty.inline_streams";
  {
    const known_file future(check + " 2999-12-31 the driver is being repaired");
    EXPECT_EQ(outcome_of("fault_claim", check, future.path()).how, outcome::known_failure);
  }
  {
    const known_file today_counts(check + " " + today() + " last day");
    EXPECT_EQ(outcome_of("fault_claim", check, today_counts.path()).how, outcome::known_failure);
  }
  const known_file past(check + " 2020-01-31 the driver is being repaired");
  const result expired = outcome_of("fault_claim", check, past.path());
  EXPECT_EQ(expired.how, outcome::failed);
  EXPECT_NE(expired.message.find("2020-01-31"), std::string::npos);
}

TEST(known_failures, that_pass_are_failures) {
  const known_file listed("honesty.inline_streams 2999-12-31 was broken once");
  const result passing = outcome_of("mini", "honesty.inline_streams", listed.path());
  EXPECT_EQ(passing.how, outcome::failed);
  EXPECT_NE(passing.message.find("take the line out"), std::string::npos);
}

TEST(known_failures, malformed_lines_are_refused) {
  for (const char* line :
       {"blas.gemm", "blas.gemm tomorrow it hurts", "blas.gemm 2999-12-31", "blas.gmme 2999-12-31 typo"}) {
    const known_file bad(line);
    EXPECT_THROW(read_known_failures(bad.path(), names()), error) << line;
    EXPECT_EQ(outcome_of("mini", "blas.gemm", bad.path()).name, "load") << line;
  }
  EXPECT_TRUE(read_known_failures("/no/such/file", names()).empty());
}

}  // namespace
}  // namespace tessera::conformance
