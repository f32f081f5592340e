#pragma once
// What the commands of applications over regions have in common: options, report, checks.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/common/region_options.hpp"
#include "apps/common/roofline.hpp"
#include "apps/common/session.hpp"
#include "apps/common/tree_file.hpp"
#include "tessera/region.hpp"

namespace tessera::apps {

/// Filled by the command line.
struct application_options : loop_options {
  bool verify = false;  ///< --verify
};

/// A run of an application: where its regions run, and what it has to report. The order of the lines is that of the
/// calls.
class application_run {
 public:
  explicit application_run(const application_options& options);

  session& s() noexcept { return m_session; }
  location_model& model() noexcept { return m_model; }
  /// For the regions of the application.
  const region_options& how() const noexcept { return m_how; }
  /// Whether the user wants the result checked.
  bool verify() const noexcept { return m_verify; }

  /// What is computed: the line `input`.
  void input(const std::string& text);
  /// Waits for what was submitted, then runs and times the main part: the line `time`. Once.
  void main_part(const std::function<void()>& part);
  /// Compares its time with the least that it could take for what it did: the line `model`. Behind main_part.
  void compare_with(const workload& did);
  /// What the main part took.
  double seconds() const noexcept { return m_seconds; }
  /// For figures of the application's own.
  report& output() noexcept { return m_report; }
  /// A figure that identifies the result.
  void checksum(const std::string& name, double value);
  void checksum(const std::string& name, std::int64_t value);
  /// A check and its outcome. Not a number is wrong.
  void check(const std::string& what, double error, double bound);
  void check(const std::string& what, bool right);
  /// Prints all of it. Returns the exit code: 1 when a check failed.
  int finish();

 private:
  session m_session;
  location_model m_model;
  tree_file m_file{m_session, m_model};
  region_options m_how;
  std::string m_tree_file, m_tree;  // drawn while the arrays are there
  bool m_verify;
  report m_report;
  double m_seconds = 0;
  std::vector<link_traffic> m_traffic;  // of the main part
  std::string m_sums, m_wrong;
  nlohmann::ordered_json m_checksums = nlohmann::ordered_json::object(), m_checks = nlohmann::ordered_json::array();
};

/// What a command says of itself.
struct application_texts {
  const char* name;     ///< the word
  const char* line;     ///< what it does
  const char* example;  ///< a command line
};

/// Adds the command of an application with the options that all of them have. Its own options follow.
command_table& add_application(command_table& to, const application_texts& texts,
                               const std::shared_ptr<application_options>& options,
                               std::function<void(application_run&)> run);

/// Copies elements into an array by a region, so that pages are near those who use them; returns when it is done.
template <class T, std::size_t Rank>
void load(location_model& model, const region_options& how, const array<T, Rank>& to, std::span<const T> from) {
  std::span<T> memory(const_cast<T*>(from.data()), from.size());  // adopted for reading
  const auto source = model.adopt("file", memory, to.extents().extents(), {.at = how.at});
  const std::int64_t rows = to.extents()[0], width = rows == 0 ? 0 : to.extents().count() / rows;
  model.region("load", how, iterate(0, rows), read(source), write(to), [width](auto i, auto text, auto here) {
    for (std::int64_t k = i * width; k < (i + 1) * width; ++k) here[k] = text[k];
  });
  model.fence();
}

/// |a - b| / |b|, or |a| where b is 0; infinity where that is no number.
double relative_error(double a, double b);

}  // namespace tessera::apps
