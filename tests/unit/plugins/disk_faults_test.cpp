// What the disk plugin notices: changed bytes, cut files, injected faults, the limits of the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "unit/plugins/disk.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

class every_faulty_disk : public on_every_disk {};
INSTANTIATE_TEST_SUITE_P(disk, every_faulty_disk, testing::ValuesIn(on_every_disk::all()),
                         [](const auto& one) { return one.param.name; });

/// Changes one byte of a file behind the plugin's back.
void flip(const fs::path& path, std::streamoff offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const int byte = file.get();
  file.seekp(offset);
  file.put(static_cast<char>(byte ^ 1));
  ASSERT_TRUE(file.good()) << path;
}

/// A changed byte is noticed by every reader of its cell and by nobody else, and writing the cell anew heals it.
TEST_P(every_faulty_disk, notices_a_changed_byte) {
  auto given = GetParam().given;
  const auto has = [&](const char* name) {
    return std::any_of(given.begin(), given.end(), [&](const auto& one) { return one.name == name; });
  };
  if (has("checksum")) GTEST_SKIP() << "without checksums nothing is noticed";
  const disk d(given);
  const owned_stream stream(d.device());
  std::mt19937_64 random(3);
  const auto model = random_bytes(random, 1 << 20);
  std::vector<unsigned char> back(model.size());
  tsr_memory* memory = d.allocate(model.size());
  ASSERT_EQ(d.finish(stream, d.in(memory, 0, model.data(), model.size())), TSR_OK);
  const auto files = d.files();
  ASSERT_EQ(files.size(), 1u);
  flip(files[0], 12 * 4096 + 77);
  ASSERT_EQ(d.finish(stream, d.out(back.data(), memory, 0, back.size())), TSR_DATA_LOSS);
  const std::string words = opened_plugin::last_error();
  EXPECT_THAT(words, HasSubstr(files[0].string()));
  EXPECT_THAT(words, HasSubstr("offset " + std::to_string(12 * 4096)));
  EXPECT_THAT(words, testing::ContainsRegex("the checksum [0-9a-f]{8}, expected [0-9a-f]{8}"));
  EXPECT_EQ(d.finish(stream, d.out(back.data(), memory, 12 * 4096 + 4000, 1)), TSR_DATA_LOSS)
      << "also a part of the cell";
  EXPECT_EQ(d.finish(stream, d.in(memory, 12 * 4096, model.data(), 10)), TSR_DATA_LOSS)
      << "a write that must keep the rest";
  EXPECT_EQ(d.finish(stream, d.out(back.data(), memory, 13 * 4096, 4096)), TSR_OK) << "the next cell is sound";
  EXPECT_EQ(d.counter("cells_lost"), 3);
  ASSERT_EQ(d.finish(stream, d.in(memory, 12 * 4096, &model[12 * 4096], 4096)), TSR_OK);
  ASSERT_EQ(d.finish(stream, d.out(back.data(), memory, 0, back.size())), TSR_OK);
  EXPECT_TRUE(back == model);
}

TEST_P(every_faulty_disk, tells_a_cut_file_and_injected_faults) {
  auto given = GetParam().given;
  const std::vector<unsigned char> source(4 << 20, 9);
  std::vector<unsigned char> back(source.size());
  {
    const disk d(given);
    const owned_stream stream(d.device());
    tsr_memory* memory = d.allocate(source.size());
    ASSERT_EQ(d.finish(stream, d.in(memory, 0, source.data(), source.size())), TSR_OK);
    fs::resize_file(d.files().at(0), 1 << 20);
    EXPECT_EQ(d.finish(stream, d.out(back.data(), memory, 0, back.size())), TSR_DATA_LOSS);
    EXPECT_THAT(opened_plugin::last_error(), HasSubstr("the file ends after"));
  }
  given.push_back(bytes("faults.fail_after_bytes", 5 << 20));
  {
    const disk d(given);
    const owned_stream stream(d.device());
    tsr_memory* memory = d.allocate(source.size());
    EXPECT_EQ(d.finish(stream, d.in(memory, 0, source.data(), source.size())), TSR_OK);
    EXPECT_EQ(d.finish(stream, d.out(back.data(), memory, 0, back.size())), TSR_UNKNOWN);
    EXPECT_THAT(opened_plugin::last_error(), HasSubstr("Input/output error"));
    EXPECT_EQ(d.outcome(stream), TSR_OK) << "one failure, told once";
  }
  given.back() = bytes("faults.full_after_bytes", 1 << 20);
  {
    const disk d(given);
    const owned_stream stream(d.device());
    tsr_memory* memory = d.allocate(source.size());
    EXPECT_EQ(d.finish(stream, d.in(memory, 0, source.data(), 1 << 20)), TSR_OK);
    EXPECT_EQ(d.finish(stream, d.in(memory, 1 << 20, source.data(), 1 << 20)), TSR_RESOURCE_EXHAUSTED);
    EXPECT_THAT(opened_plugin::last_error(), HasSubstr("No space left"));
    EXPECT_EQ(d.finish(stream, d.out(back.data(), memory, 0, 1 << 20)), TSR_OK) << "what was stored can be read";
    EXPECT_TRUE(std::equal(source.begin(), source.begin() + (1 << 20), back.begin()));
  }
  given.back() = integer("faults.corrupt_read", 2);
  const disk d(given);
  const owned_stream stream(d.device());
  tsr_memory* memory = d.allocate(4096);
  EXPECT_EQ(d.finish(stream, d.in(memory, 0, source.data(), 4096)), TSR_OK);
  EXPECT_EQ(d.finish(stream, d.out(back.data(), memory, 0, 4096)), TSR_OK);
  const auto second = d.finish(stream, d.out(back.data(), memory, 0, 4096));
  const bool checked = GetParam().name.find("unchecked") == std::string::npos;
  EXPECT_EQ(second, checked ? TSR_DATA_LOSS : TSR_OK);
  EXPECT_EQ(d.finish(stream, d.out(back.data(), memory, 0, 4096)), TSR_OK) << "the disk itself is sound";
}

TEST(disk_faults, knows_the_process_limit_before_the_signal_that_would_kill_it) {
  const disk d;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  tsr_memory* memory = nullptr;
  const auto status = d.device().table->mem_alloc(d.device().handle, 0, 2 << 20, &memory);
  const auto words = opened_plugin::last_error();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(status, TSR_RESOURCE_EXHAUSTED);
  EXPECT_THAT(words, HasSubstr("File too large"));
  EXPECT_TRUE(d.files().empty()) << "nothing is left of what could not be allocated";
  EXPECT_NE(d.allocate(2 << 20), nullptr);
  EXPECT_NE(d.allocate(62 << 20), nullptr) << "the failed one takes nothing of the capacity";
}

}  // namespace
}  // namespace tessera::test
