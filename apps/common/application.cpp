#include "apps/common/application.hpp"

#include <fmt/format.h>

#include <cmath>

#include "apps/common/model_line.hpp"
#include "apps/common/worse.hpp"
#include "core/base/units.hpp"

namespace tessera::apps {

application_run::application_run(const application_options& options)
    : m_session(options),
      m_model(m_session.rt()),
      m_how(options.regions()),
      m_tree_file(options.tree),
      m_verify(options.verify) {
  options.require_tree();
  options.require_location(m_model);
  m_session.describe(m_report);
  add_tree(m_report, options);
}

void application_run::input(const std::string& text) { m_report.add("input", "input", text); }

void application_run::main_part(const std::function<void()>& part) {
  m_model.fence();
  m_session.check_interrupt();
  const statistics before = m_session.rt().statistics();
  const auto began = std::chrono::steady_clock::now();
  part();
  m_model.fence();
  m_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  m_traffic = traffic_since(before, m_session.rt());
  m_tree = draw_tree(m_model, m_tree_file);
  m_report.add("seconds", "time", format_seconds(m_seconds), m_seconds);
}

void application_run::compare_with(const workload& did) {
  add_model(m_report, m_session, m_seconds, did, m_model.regions(), m_traffic);
}

void application_run::checksum(const std::string& name, double value) {
  m_sums += fmt::format("{}{} {:.12g}", m_sums.empty() ? "" : ", ", name, value);
  m_checksums[name] = value;
}

void application_run::checksum(const std::string& name, std::int64_t value) {
  m_sums += fmt::format("{}{} {}", m_sums.empty() ? "" : ", ", name, value);
  m_checksums[name] = value;
}

void application_run::check(const std::string& what, double error, double bound) {
  const bool right = error <= bound;
  m_report.add("", "check", fmt::format("{}: {:.3g}, right up to {:.3g}", what, error, bound), nullptr);
  m_checks.push_back({{"what", what}, {"error", error}, {"bound", bound}, {"right", right}});
  if (!right && m_wrong.empty()) m_wrong = what;
}

void application_run::check(const std::string& what, bool right) {
  m_report.add("", "check", fmt::format("{}: {}", what, right ? "yes" : "no"), nullptr);
  m_checks.push_back({{"what", what}, {"error", right ? 0 : 1}, {"bound", 0}, {"right", right}});
  if (!right && m_wrong.empty()) m_wrong = what;
}

int application_run::finish() {
  m_report.add("", "checksum", m_sums, nullptr);
  m_report.note("checksums", m_checksums);
  m_report.note("checks", m_checks);
  add_regions(m_report, m_model);
  m_session.add_file(m_tree_file, m_tree);
  m_session.finish(m_report);
  if (m_wrong.empty()) return 0;
  fmt::print(stderr, "error: the result is wrong: {}\n", m_wrong);
  return 1;
}

command_table& add_application(command_table& to, const application_texts& texts,
                               const std::shared_ptr<application_options>& options,
                               std::function<void(application_run&)> run) {
  command_table& sub = to.add_command(texts.name, texts.line);
  sub.add({{"--verify", &options->verify, "", "check the result"}});
  options->add_loop_options(sub);
  sub.footer = fmt::format("Example:\n  {}\nEnds with 1 when a check of --verify fails.", texts.example);
  sub.run = [options, run = std::move(run)] {
    application_run f(*options);
    run(f);
    return f.finish();
  };
  return sub;
}

double relative_error(double a, double b) { return worse(0, b == 0 ? std::abs(a) : std::abs(a - b) / std::abs(b)); }

}  // namespace tessera::apps
