// Files are there whole, or not at all.
#include "core/base/whole_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// No file of the process may become longer than this.
class file_limit {
 public:
  explicit file_limit(rlim_t bytes) : m_signal(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &m_before);
    const rlimit now{bytes, m_before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~file_limit() {
    setrlimit(RLIMIT_FSIZE, &m_before);
    std::signal(SIGXFSZ, m_signal);
  }
  file_limit(const file_limit&) = delete;
  file_limit& operator=(const file_limit&) = delete;

 private:
  rlimit m_before{};
  void (*m_signal)(int);
};

class whole_file : public testing::Test {
 protected:
  whole_file() : folder(fs::path(testing::TempDir()) / "tessera_whole_file") {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~whole_file() override { fs::remove_all(folder); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder;
};

TEST_F(whole_file, holds_its_parts_and_replaces_an_older_one) {
  EXPECT_FALSE(write_whole_file(folder / "a", {"one", " ", "two"}));
  EXPECT_EQ(contents(folder / "a"), "one two");
  EXPECT_FALSE(write_whole_file(folder / "a", {"three"}));
  EXPECT_EQ(contents(folder / "a"), "three");
  EXPECT_EQ(files(), 1u);
}

TEST_F(whole_file, of_the_owner_takes_nothing_over) {
  std::ofstream(folder / "open") << "others wrote this";
  fs::permissions(folder / "open", fs::perms(0666));
  std::ofstream(folder / "elsewhere") << "kept";
  fs::create_symlink("elsewhere", folder / "link");
  for (const char* name : {"open", "link", "new"}) {
    EXPECT_FALSE(write_whole_file(folder / name, {"mine"}, file_access::owner));
    EXPECT_EQ(fs::symlink_status(folder / name).type(), fs::file_type::regular) << name;
    EXPECT_EQ(fs::status(folder / name).permissions(), fs::perms(0600)) << name;
    EXPECT_EQ(contents(folder / name), "mine");
  }
  EXPECT_EQ(contents(folder / "elsewhere"), "kept");
}

TEST_F(whole_file, has_the_rights_of_the_older_one) {
  EXPECT_FALSE(write_whole_file(folder / "a", {"x"}));
  fs::permissions(folder / "a", fs::perms(0640));
  EXPECT_FALSE(write_whole_file(folder / "a", {"y"}));
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms(0640));
}

TEST_F(whole_file, that_does_not_fit_leaves_the_older_one) {
  EXPECT_FALSE(write_whole_file(folder / "a", {"good"}));
  const std::string large(1 << 20, 'x');
  {
    const file_limit limit(4096);
    EXPECT_EQ(write_whole_file(folder / "a", {large}), std::errc::file_too_large);
    EXPECT_EQ(write_whole_file(folder / "b", {large}), std::errc::file_too_large);
  }
  EXPECT_EQ(contents(folder / "a"), "good");
  EXPECT_EQ(files(), 1u) << "a part of a file is left";
}

TEST_F(whole_file, links_stay) {
  EXPECT_FALSE(write_whole_file(folder / "real", {"old"}));
  fs::create_symlink("real", folder / "link");
  fs::create_symlink("new", folder / "dangling");
  EXPECT_FALSE(write_whole_file(folder / "link", {"1"}));
  EXPECT_FALSE(write_whole_file(folder / "dangling", {"2"}));
  EXPECT_TRUE(fs::is_symlink(folder / "link") && fs::is_symlink(folder / "dangling"));
  EXPECT_EQ(contents(folder / "real"), "1");
  EXPECT_EQ(contents(folder / "new"), "2");
}

TEST_F(whole_file, devices_are_written_to) {
  EXPECT_FALSE(write_whole_file("/dev/null", {"x"}));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(write_whole_file("/dev/full", {"x"}), std::errc::no_space_on_device);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(whole_file, what_cannot_be_written_is_known_before) {
  EXPECT_EQ(check_writable(folder / "none" / "a"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(write_whole_file(folder / "none" / "a", {"x"}), std::errc::no_such_file_or_directory);
  EXPECT_EQ(check_writable(folder), std::errc::is_a_directory);
  EXPECT_TRUE(write_whole_file(folder, {"x"}));
  EXPECT_FALSE(check_writable(folder / "a"));
  EXPECT_EQ(files(), 0u) << "looking makes nothing";
  EXPECT_FALSE(check_writable("/dev/full"));
  if (::geteuid() != 0) {
    fs::permissions(folder, fs::perms(0500));
    EXPECT_EQ(check_writable(folder / "a"), std::errc::permission_denied);
    fs::permissions(folder, fs::perms(0700));
  }
}

TEST_F(whole_file, all_of_a_file_is_read_or_nothing) {
  std::string text = "before";
  EXPECT_EQ(read_whole_file(folder / "none", text), std::errc::no_such_file_or_directory);
  EXPECT_EQ(read_whole_file(folder, text), std::errc::is_a_directory);
  EXPECT_EQ(text, "");
  for (const std::size_t length : {0u, 1u, 65535u, 65536u, 65537u, 3000000u}) {
    const std::string written(length, 'x');
    std::ofstream(folder / "a", std::ios::binary) << written;
    text = "before";
    EXPECT_FALSE(read_whole_file(folder / "a", text));
    EXPECT_EQ(text, written);
  }
  EXPECT_FALSE(read_whole_file("/proc/self/cmdline", text)) << "its size is said to be 0";
  EXPECT_NE(text, "");
  text = "before";
  EXPECT_EQ(read_whole_file("/proc/self/mem", text), std::errc::io_error) << "it opens, and cannot be read";
  EXPECT_EQ(text, "");
}

TEST_F(whole_file, hints_are_something_to_do) {
  for (const std::errc reason :
       {std::errc::no_space_on_device, std::errc::file_too_large, std::errc::no_such_file_or_directory,
        std::errc::permission_denied, std::errc::is_a_directory})
    EXPECT_NE(hint_for_writing(std::make_error_code(reason)), "") << std::make_error_code(reason).message();
}

}  // namespace
}  // namespace tessera
