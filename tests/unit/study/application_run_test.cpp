// Applications are played by the shell: `sh -c SCRIPT --quiet --json FILE` has FILE as $2.
#include "apps/study/application_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace tessera::apps::study {
namespace {

using test_support::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

application_figures run(const std::string& script) { return application_runner("/bin/sh").run({"-c", script}); }

TEST(application_run, reads_the_time_and_the_leaves) {
  const application_figures figures = run(
      R"(echo '{"seconds": 0.25, "regions": [{"shares": [{"location": "gpu0"}]},
           {"shares": [{"location": "host"}, {"location": "gpu0"}, {"location": "host"}]}]}' > $2)");
  EXPECT_EQ(figures.seconds, 0.25);
  EXPECT_THAT(figures.leaves, ElementsAre("host", "gpu0"));
}

TEST(application_run, says_what_the_application_said) {
  const error failed = error_of([] { run("echo 'error: no such file' >&2; exit 4"); });
  EXPECT_EQ(failed.kind(), error_kind::input);
  EXPECT_THAT(failed.what(), HasSubstr("ended with 4"));
  EXPECT_THAT(failed.what(), HasSubstr("error: no such file"));
  EXPECT_EQ(error_of([] { run("exit 2"); }).kind(), error_kind::usage);
  EXPECT_EQ(error_of([] { run("exit 3"); }).kind(), error_kind::configuration);
  EXPECT_EQ(error_of([] { run("exit 1"); }).kind(), error_kind::task);
  EXPECT_THAT(error_of([] { run("kill -9 $$"); }).what(), HasSubstr("signal 9"));
}

TEST(application_run, that_was_interrupted_interrupts_the_study) {
  EXPECT_EQ(error_of([] { run("exit 130"); }).kind(), error_kind::interrupted);
  EXPECT_EQ(error_of([] { run("kill -INT $$"); }).kind(), error_kind::interrupted);
}

TEST(application_run, refuses_applications_without_a_time) {
  EXPECT_THAT(error_of([] { run("echo '{\"n\": 3}' > $2"); }).what(), HasSubstr("no time of its main part"));
  EXPECT_EQ(error_of([] { run("echo '[]' > $2"); }).kind(), error_kind::usage);
}

TEST(application_run, refuses_programs_that_cannot_be_started) {
  EXPECT_THAT(error_of([] { application_runner("/no/such/program").run({}); }).what(), HasSubstr("cannot start"));
}

}  // namespace
}  // namespace tessera::apps::study
