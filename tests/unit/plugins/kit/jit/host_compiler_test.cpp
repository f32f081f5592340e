// The C compiler of the machine, and shared objects as images.
#include "plugins/kit/jit/host_compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "plugins/kit/jit/host_image.hpp"
#include "plugins/kit/jit/kernel_text.hpp"
#include "plugins/kit/system/private_folder.hpp"

namespace tessera::kit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class host_compiler_test : public testing::Test {
 protected:
  host_compiler_test() {
    m_host.struct_size = sizeof m_host;
    m_host.context = this;
    m_host.error = [](void* self, tsr_status, const char* text) {
      static_cast<host_compiler_test*>(self)->m_said = text;
    };
    ::setenv("TMPDIR", m_folder.path().c_str(), 1);
  }
  ~host_compiler_test() override { ::unsetenv("TMPDIR"); }
  /// A program in the test's own folder.
  std::string script(const std::string& text) {
    const std::string file = m_folder.path() + "/compiler.sh";
    std::ofstream(file) << "#!/bin/sh\n" << text;
    ::chmod(file.c_str(), 0700);
    return file;
  }
  tsr_status compile(const host_compiler& with, const std::string& text, const char* options = "") {
    m_said.clear();
    return with.compile(m_report, host_source(text), options, m_image);
  }
  std::size_t files_left() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(m_folder.path())) count += entry.is_directory() ? 1u : 0u;
    return count;
  }

  const private_folder m_folder;
  tsr_host m_host{};
  const reporter m_report{&m_host};
  std::string m_said, m_image;
  static constexpr std::uint64_t second = 1'000'000'000;
};

constexpr const char* good_text = "KERNEL void f(GLOBAL int* x, int n) { x[INDEX_X] = n; }";

TEST_F(host_compiler_test, compiles_and_leaves_nothing_behind) {
  const host_compiler found("", 60 * second);
  ASSERT_EQ(compile(found, good_text), TSR_OK) << m_said;
  EXPECT_EQ(files_left(), 0u);
  EXPECT_THAT(found.identity(), HasSubstr("-march=native"));
  std::unique_ptr<host_image> image;
  ASSERT_EQ(host_image::load(m_report, m_image.data(), m_image.size(), image), TSR_OK) << m_said;
  EXPECT_EQ(files_left(), 0u);
  const host_kernel* kernel = image->find(m_report, "f");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->count, 2u);
  EXPECT_EQ(kernel->sizes[0], 0u);
  EXPECT_EQ(kernel->sizes[1], 4u);
  EXPECT_EQ(image->find(m_report, "g"), nullptr);
  EXPECT_EQ(m_said, "there is no kernel 'g' in the module; it has f");
}

TEST_F(host_compiler_test, tells_what_is_wrong_with_a_text) {
  const host_compiler found("", 60 * second);
  EXPECT_EQ(compile(found, "#line 7 \"own.txt\"\nKERNEL void f(int n) {\n  n = unknown;\n}"), TSR_INVALID_ARGUMENT);
  EXPECT_THAT(m_said, HasSubstr("own.txt:8:"));
  EXPECT_THAT(m_said, HasSubstr("unknown"));
  EXPECT_EQ(compile(found, good_text, "-DA -o/tmp/elsewhere"), TSR_INVALID_ARGUMENT);
  EXPECT_THAT(m_said, HasSubstr("'-o/tmp/elsewhere' is not taken"));
  EXPECT_EQ(compile(found, good_text, "-fplugin=/tmp/x.so"), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(compile(found, good_text, "; touch /tmp/x"), TSR_INVALID_ARGUMENT) << "there is no shell";
  ASSERT_EQ(compile(found, "FUNCTION int f(void) { return 1; }"), TSR_OK) << m_said;
  std::unique_ptr<host_image> image;
  EXPECT_EQ(host_image::load(m_report, m_image.data(), m_image.size(), image), TSR_INVALID_ARGUMENT);
  EXPECT_THAT(m_said, HasSubstr("no function of the text is marked KERNEL"));
}

TEST_F(host_compiler_test, does_without_a_compiler) {
  const host_compiler missing("/nonexistent/cc", second);
  EXPECT_EQ(missing.identity(), "");
  EXPECT_EQ(compile(missing, good_text), TSR_UNAVAILABLE);
  EXPECT_THAT(m_said, HasSubstr("/nonexistent/cc is no program that can be run"));
  EXPECT_THAT(m_said, HasSubstr("\"compiler\""));
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", m_folder.path().c_str(), 1);
  const host_compiler none("", second);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(compile(none, good_text), TSR_UNAVAILABLE);
  EXPECT_THAT(m_said, HasSubstr("none of cc, gcc, clang, c++ in PATH"));
}

TEST_F(host_compiler_test, ends_a_compiler_that_takes_too_long) {
  const host_compiler slow(script("sleep 600 & wait\n"), second / 5);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(compile(slow, good_text), TSR_DEADLINE_EXCEEDED);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "its children were not ended";
  EXPECT_THAT(m_said, HasSubstr("was ended after 0.2 s"));
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(host_compiler_test, notices_compilers_that_do_nothing_right) {
  EXPECT_EQ(compile(host_compiler(script("exit 0\n"), 60 * second), good_text), TSR_INVALID_ARGUMENT);
  EXPECT_THAT(m_said, HasSubstr("says nothing and gives nothing"));
  EXPECT_EQ(compile(host_compiler(script("echo 'x: error: out of order' >&2; exit 3\n"), 60 * second), good_text),
            TSR_INVALID_ARGUMENT);
  EXPECT_EQ(m_said, "x: error: out of order");
  EXPECT_EQ(compile(host_compiler(script("kill -9 $$\n"), 60 * second), good_text), TSR_INVALID_ARGUMENT);
}

TEST_F(host_compiler_test, runs_it_in_a_folder_of_its_own) {
  const std::string told = m_folder.path() + "/told";
  const host_compiler curious(script("stat -c %a \"$TMPDIR\" > '" + told + "'; exit 1\n"), 60 * second);
  compile(curious, good_text);
  std::ifstream file(told);
  std::string mode;
  file >> mode;
  EXPECT_EQ(mode, "700");
}

TEST_F(host_compiler_test, refuses_what_is_no_image_for_it) {
  std::unique_ptr<host_image> image;
  const std::string ptx = "//\n.version 8.0\n.target sm_90\n";
  EXPECT_EQ(host_image::load(m_report, ptx.data(), ptx.size(), image), TSR_INVALID_ARGUMENT);
  EXPECT_THAT(m_said, HasSubstr("no shared object"));
  ASSERT_EQ(compile(host_compiler("", 60 * second), good_text), TSR_OK) << m_said;
  std::string other = m_image;
  other[18] = static_cast<char>(other[18] ^ 0x55);  // e_machine: another processor's
  EXPECT_EQ(host_image::load(m_report, other.data(), other.size(), image), TSR_INVALID_ARGUMENT);
  EXPECT_THAT(m_said, HasSubstr("cannot be loaded"));
  EXPECT_EQ(host_image::load(m_report, m_image.data(), 100, image), TSR_INVALID_ARGUMENT) << "cut short";
  EXPECT_EQ(image, nullptr);
}

}  // namespace
}  // namespace tessera::kit
