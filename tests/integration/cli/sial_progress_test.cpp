// `tessera sial run --progress`: on a terminal, in a pipe, or not at all.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* lengthy = R"(sial lengthy
index n = 1:1000000
index i = 1:100
index k = 1:1000000
scalar x
do n
  pardo i
    do k
      x += 1.0
    enddo k
  endpardo i
enddo n
endsial lengthy
)";

class sial_progress : public testing::Test {
 protected:
  sial_progress() { std::ofstream(program_file()) << lengthy; }
  std::string program_file() { return (m_folder.path() / "lengthy.sialx").string(); }
  /// What it has written to a pipe after some seconds.
  std::string errors_of(std::vector<std::string> more) {
    std::vector<std::string> words{"sial", "run", program_file(), "--workers", "1"};
    words.insert(words.end(), more.begin(), more.end());
    program running(words);
    EXPECT_TRUE(running.work_for(std::chrono::milliseconds(2500)));
    running.signal(SIGINT);
    const outcome done = running.wait();
    EXPECT_EQ(done.code, 130);
    EXPECT_EQ(done.out, "");
    return done.err;
  }
  plugin_test::folder m_folder;
};

TEST_F(sial_progress, pipes_have_lines_only_when_asked_for) {
  EXPECT_THAT(errors_of({}), Not(HasSubstr("pardo")));
  EXPECT_THAT(errors_of({"--progress", "never"}), Not(HasSubstr("pardo")));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--progress", "always"}, {"--progress", "always", "--quiet"}}) {
    const std::string lines = errors_of(words);
    EXPECT_THAT(lines, ContainsRegex("lengthy, do [^ ]*lengthy.sialx:6: [0-9]+ of 1000000, pardo [^ ]*lengthy.sialx:7: "
                                     "[0-9]+ of 100 \\([0-9]+ %\\), [0-9]+ s"));
    for (const char c : lines) EXPECT_TRUE(c == '\n' || c >= ' ') << static_cast<int>(c);
  }
  EXPECT_EQ(run({"sial", "run", program_file(), "--progress", "sometimes"}).code, 2);
}

TEST_F(sial_progress, terminals_have_one_line_that_goes) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) GTEST_SKIP() << "this system gives no terminals (/dev/pts)";
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const std::string name = ptsname(terminal), binary = TESSERA_BINARY_DIR "/bin/tessera", file = program_file();
  const pid_t process = fork();
  if (process == 0) {
    const int side = open(name.c_str(), O_RDWR | O_NOCTTY);
    dup2(side, STDERR_FILENO);
    execl(binary.c_str(), binary.c_str(), "sial", "run", file.c_str(), "--workers", "1", static_cast<char*>(nullptr));
    _exit(127);
  }
  const int side =
      open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // so that reading does not fail when the program closes it
  std::string shown;
  const auto read_until = [&](auto&& enough) {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
         std::chrono::steady_clock::now() < end && !enough();) {
      pollfd one{terminal, POLLIN, 0};
      char buffer[4096];
      if (poll(&one, 1, 100) <= 0) continue;
      if (const ssize_t got = read(terminal, buffer, sizeof buffer); got > 0)
        shown.append(buffer, static_cast<std::size_t>(got));
    }
  };
  const auto count = [&](const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = shown.find(what); at != std::string::npos; at = shown.find(what, at + 1)) ++n;
    return n;
  };
  read_until([&] { return count("pardo") >= 3; });
  EXPECT_GE(count("pardo"), 3u) << shown;
  EXPECT_EQ(count("\n"), 0u) << "always the same line: " << shown;
  EXPECT_GE(count("\r"), 3u);
  const std::size_t before = shown.size();
  kill(process, SIGINT);
  read_until([&] {
    return shown.find("\r\033[K", before) != std::string::npos && shown.find("stopped", before) != std::string::npos;
  });
  EXPECT_THAT(shown.substr(before), HasSubstr("stopped by Ctrl-C")) << shown;
  int status = 0;
  waitpid(process, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  close(side);
  close(terminal);
}

}  // namespace
