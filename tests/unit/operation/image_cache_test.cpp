// Compiled kernels on disk.
#include "core/operation/image_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace tessera::operation {
namespace {

namespace fs = std::filesystem;

class image_cache_test : public ::testing::Test {
 protected:
  image_cache_test() {
    std::string pattern = (fs::temp_directory_path() / "tessera-cache-XXXXXX").string();
    m_root = ::mkdtemp(pattern.data());
  }
  ~image_cache_test() override {
    ::chmod(m_root.c_str(), 0700);
    fs::remove_all(m_root);
  }
  fs::path folder() const { return m_root / "some" / "kernels"; }
  image_cache open(std::uint64_t limit = 1 << 20) {
    return image_cache(folder(), limit, [this](int, const std::string& line) { m_log += line + "\n"; });
  }
  static std::string text_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void put(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

  fs::path m_root;
  std::string m_log;
};

TEST_F(image_cache_test, gives_what_was_written_and_nothing_else) {
  const auto cache = open();
  EXPECT_EQ(cache.read("key"), "");
  const std::string image("im\0age\n\xff", 8);
  cache.write("key", image);
  EXPECT_EQ(cache.read("key"), image);
  EXPECT_EQ(cache.read("kez"), "");
  EXPECT_EQ(open().read("key"), image) << "another object, as another process";
  cache.write("key", "newer");
  EXPECT_EQ(cache.read("key"), "newer");
  cache.remove("key");
  EXPECT_EQ(cache.read("key"), "");
  cache.remove("key");
  EXPECT_EQ(m_log, "");
}

TEST_F(image_cache_test, is_for_its_owner_alone) {
  const auto cache = open();
  cache.write("key", "image");
  struct stat is {};
  ASSERT_EQ(::stat(folder().c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(cache.file_of("key").c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777, 0600u);
  for (const auto& entry : fs::directory_iterator(folder()))
    EXPECT_EQ(entry.path().extension(), ".kernel") << "a temporary file is left";
}

TEST_F(image_cache_test, passes_over_damage) {
  const auto cache = open();
  cache.write("key", "the image");
  const std::string whole = text_of(cache.file_of("key"));
  for (std::size_t k = 0; k < whole.size(); ++k) {
    std::string damaged = whole;
    damaged[k] = static_cast<char>(damaged[k] ^ 1);
    put(cache.file_of("key"), damaged);
    EXPECT_EQ(cache.read("key"), "") << "byte " << k;
    put(cache.file_of("key"), whole.substr(0, k));
    EXPECT_EQ(cache.read("key"), "") << "cut at byte " << k;
  }
  put(cache.file_of("key"), whole + "more");
  EXPECT_EQ(cache.read("key"), "");
  put(cache.file_of("key"), whole);
  EXPECT_EQ(cache.read("key"), "the image");
  // Another key's file under this name, as if the hashes were the same.
  cache.write("another key", "another image");
  fs::copy_file(cache.file_of("another key"), cache.file_of("key"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(cache.read("key"), "");
}

TEST_F(image_cache_test, passes_over_what_others_could_have_written) {
  const auto cache = open();
  cache.write("key", "image");
  ::chmod(cache.file_of("key").c_str(), 0666);
  EXPECT_EQ(cache.read("key"), "");
  EXPECT_NE(m_log.find("writable by everybody"), std::string::npos) << m_log;
  cache.write("key", "image");
  EXPECT_EQ(cache.read("key"), "image") << "written anew it is ours again";
  ::chmod(folder().c_str(), 0777);
  EXPECT_EQ(cache.read("key"), "");
}

TEST_F(image_cache_test, does_without_a_folder) {
  const image_cache none{fs::path()};
  none.write("key", "image");
  EXPECT_EQ(none.read("key"), "");
  EXPECT_TRUE(none.file_of("key").empty());
  EXPECT_TRUE(image_cache_folder("off").empty());
  EXPECT_EQ(image_cache_folder("/some/where"), "/some/where");
  const auto cache = open();
  cache.write("", "image");
  EXPECT_FALSE(fs::exists(folder())) << "what has no key is not kept";
}

TEST_F(image_cache_test, says_once_that_it_cannot_write) {
  put(m_root / "some", "a file where the folder should be");
  const auto cache = open();
  cache.write("key", "image");
  cache.write("key", "image");
  EXPECT_EQ(cache.read("key"), "");
  EXPECT_EQ(std::count(m_log.begin(), m_log.end(), '\n'), 1) << m_log;
  EXPECT_NE(m_log.find("not kept"), std::string::npos);
}

TEST_F(image_cache_test, removes_what_was_not_used_for_longest) {
  const std::string image(1000, 'x');
  const auto cache = open(3500);  // three files and their heads
  for (const char* key : {"first", "second", "third"}) cache.write(key, image);
  const auto age = [&](const char* key, int hours) {
    fs::last_write_time(cache.file_of(key), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  age("first", 3);
  age("second", 2);
  age("third", 1);
  EXPECT_EQ(cache.read("first"), image);  // is used, so it is young again
  cache.write("fourth", image);
  EXPECT_EQ(cache.read("second"), "");
  for (const char* key : {"first", "third", "fourth"}) EXPECT_EQ(cache.read(key), image) << key;
  cache.write("huge", std::string(5000, 'x'));
  EXPECT_EQ(cache.read("huge"), "") << "larger than all that is kept";
  EXPECT_EQ(cache.read("fourth"), image);
}

TEST_F(image_cache_test, is_used_by_several_at_once) {
  const auto cache = open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&cache, t] {
      for (int k = 0; k < 50; ++k) {
        cache.write("key", std::string(200 + static_cast<std::size_t>(t), static_cast<char>('a' + t)));
        const std::string got = cache.read("key");
        EXPECT_TRUE(got.empty() || got == std::string(200 + static_cast<std::size_t>(got[0] - 'a'), got[0]));
      }
    });
  for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace tessera::operation
