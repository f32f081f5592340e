#include "tests/conformance/suite/known_failures.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/whole_file.hpp"
#include "tests/conformance/suite/conformance.hpp"

namespace tessera::conformance {

void require_known_failures(const std::filesystem::path& file) {
  std::string text;
  if (const std::error_code reason = read_whole_file(file.string(), text))
    throw error(error_kind::input, "cannot read: " + reason.message(), file.string());
  (void)read_known_failures(file, names());
}

std::vector<known_failure> read_known_failures(const std::filesystem::path& path,
                                               const std::vector<std::string>& names) {
  std::vector<known_failure> all;
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line.resize(std::min(line.size(), line.find('#')));
    std::istringstream words(line);
    known_failure one;
    if (!(words >> one.name)) continue;
    words >> one.expiry;
    std::getline(words >> std::ws, one.reason);
    const std::string where = fmt::format("{}:{}", path.string(), number);
    const bool dated = one.expiry.size() == 10 && one.expiry[4] == '-' && one.expiry[7] == '-';
    if (!dated || one.reason.empty())
      throw error(error_kind::input, "a known failure is \"name YYYY-MM-DD reason\"", where,
                  "the date is the last day on which the failure is accepted");
    if (std::find(names.begin(), names.end(), one.name) == names.end())
      throw error(error_kind::input, fmt::format("there is no check \"{}\"", one.name), where,
                  "the nearest is \"" + suggest(one.name, names) + "\"");
    all.push_back(std::move(one));
  }
  return all;
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

}  // namespace tessera::conformance
