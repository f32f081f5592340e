// The disk plugin through its C ABI: what it stores, what it notices, what it leaves behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "unit/plugins/opened_plugin.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using options = std::vector<given_option>;

given_option text(const std::string& name, const std::string& value) { return {name, TSR_OPTION_STRING, 0, 0, value}; }
given_option bytes(const std::string& name, std::int64_t value) { return {name, TSR_OPTION_BYTES, value, 0, ""}; }
given_option number(const std::string& name, std::int64_t value) { return {name, TSR_OPTION_INT, value, 0, ""}; }
given_option flag(const std::string& name, bool value = true) { return {name, TSR_OPTION_BOOL, value, 0, ""}; }

/// A directory that goes at the end, with what is in it.
class temporary_directory {
 public:
  temporary_directory() {
    std::string path = (fs::temp_directory_path() / "disk_plugin_test.XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary directory");
    m_path = path;
  }
  ~temporary_directory() { fs::remove_all(m_path); }
  const fs::path& path() const { return m_path; }

 private:
  fs::path m_path;
};

/// The plugin on a directory of its own.
class disk {
 public:
  explicit disk(options given = {}) : plugin("disk", with(std::move(given), directory.path().string())) {}

  static options with(options given, const std::string& path) {
    const auto names = [&](const char* name) {
      return std::any_of(given.begin(), given.end(), [&](const auto& one) { return one.name == name; });
    };
    if (!names("path")) given.push_back(text("path", path));
    if (!names("capacity")) given.push_back(bytes("capacity", 64 << 20));
    return given;
  }
  const opened_plugin::device& device() const { return plugin.devices.at(0); }
  tsr_space_ref space() const { return {device().handle, 0}; }
  tsr_memory* allocate(std::uint64_t count) const {
    tsr_memory* memory = nullptr;
    opened_plugin::check(device().table->mem_alloc(device().handle, 0, count, &memory));
    return memory;
  }
  tsr_status enqueue(const owned_stream& stream, const tsr_copy& copy) const {
    return device().table->copy(device().handle, stream.handle, &copy);
  }
  tsr_copy in(tsr_memory* memory, std::uint64_t offset, const void* from, std::uint64_t count) const {
    return flat_copy(space(), at(memory, offset), {nullptr, 0}, at(from), count);
  }
  tsr_copy out(void* to, tsr_memory* memory, std::uint64_t offset, std::uint64_t count) const {
    return flat_copy({nullptr, 0}, at(to), space(), at(memory, offset), count);
  }
  /// Does a copy and says how it ended; the words are then in opened_plugin::last_error().
  tsr_status finish(const owned_stream& stream, const tsr_copy& copy) const {
    opened_plugin::check(enqueue(stream, copy));
    return outcome(stream);
  }
  tsr_status outcome(const owned_stream& stream) const {
    stream.finish();
    std::uint64_t value = 0, failed = 0;
    return device().table->stream_progress(device().handle, stream.handle, &value, &failed);
  }
  /// The data files that exist.
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(directory.path()))
      if (entry.path().extension() == ".tessera") found.push_back(entry.path());
    return found;
  }
  double counter(const std::string& name) const {
    const void* table = nullptr;
    opened_plugin::check(plugin.table->extension(plugin.plugin, device().handle, TSR_EXTENSION_TELEMETRY, 1, &table));
    std::array<tsr_counter, 16> all{};
    std::uint32_t count = 0;
    opened_plugin::check(static_cast<const tsr_telemetry_table*>(table)->read(device().handle, all.data(), 16, &count));
    for (std::uint32_t i = 0; i < count; ++i)
      if (all[i].name == name) return all[i].value;
    throw std::runtime_error("no counter " + name);
  }

  temporary_directory directory;
  opened_plugin plugin;
};

std::vector<unsigned char> random_bytes(std::mt19937_64& random, std::size_t count) {
  std::vector<unsigned char> result(count);
  for (auto& byte : result) byte = static_cast<unsigned char>(random());
  return result;
}

/// Changes one byte of a file behind the plugin's back.
void flip(const fs::path& path, std::streamoff offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const int byte = file.get();
  file.seekp(offset);
  file.put(static_cast<char>(byte ^ 1));
  ASSERT_TRUE(file.good()) << path;
}

bool has_io_uring() { return opened_plugin("disk", disk::with({text("io", "io_uring")}, "")).status == TSR_OK; }

struct variant {
  std::string name;
  options given;
};
void PrintTo(const variant& v, std::ostream* out) { *out << v.name; }

class every_disk : public testing::TestWithParam<variant> {
 protected:
  void SetUp() override {
    for (const auto& one : GetParam().given)
      if (one.text == "io_uring" && !has_io_uring()) GTEST_SKIP() << "no io_uring: " << opened_plugin::last_error();
  }
};

INSTANTIATE_TEST_SUITE_P(
    disk, every_disk,
    testing::Values(variant{"threads", {text("io", "threads")}}, variant{"ring", {text("io", "io_uring")}},
                    variant{"threads_direct", {text("io", "threads"), flag("direct")}},
                    variant{"ring_direct", {text("io", "io_uring"), flag("direct")}},
                    variant{"ring_small_pieces", {text("io", "io_uring"), bytes("piece", 4096), number("queue_depth", 3)}},
                    variant{"ring_short", {text("io", "io_uring"), flag("faults.short_io"), bytes("piece", 65536)}},
                    variant{"threads_short", {text("io", "threads"), flag("faults.short_io"), bytes("piece", 65536)}},
                    variant{"single", {text("layout", "single")}},
                    variant{"single_unchecked", {text("layout", "single"), flag("checksum", false)}},
                    variant{"unchecked_direct", {flag("checksum", false), flag("direct")}}),
    [](const auto& one) { return one.param.name; });

/// Random copies of all shapes in, out and inside, and fills, against the same done to plain memory.
TEST_P(every_disk, keeps_what_a_model_in_memory_keeps) {
  const disk d(GetParam().given);
  const owned_stream stream(d.device());
  const auto seed = std::random_device{}();
  std::mt19937_64 random(seed);
  constexpr std::uint64_t size = 3 << 20;
  auto model = random_bytes(random, size);
  tsr_memory* memory = d.allocate(size);
  ASSERT_EQ(d.finish(stream, d.in(memory, 0, model.data(), size)), TSR_OK) << opened_plugin::last_error();

  const std::string hint = "seed " + std::to_string(seed);
  for (int round = 0; round < 60; ++round) {
    tsr_copy c{};
    c.struct_size = sizeof c;
    c.bytes = 1 + random() % (round % 3 == 0 ? 90000 : 3000);
    c.rows[0] = 1 + random() % 5;
    c.rows[1] = 1 + random() % 3;
    const auto gap = [&] { return random() % 2 == 0 ? 0 : random() % 6000; };
    for (auto* stride : {c.destination_stride, c.source_stride}) {
      stride[0] = c.bytes + gap();
      stride[1] = stride[0] * (c.rows[0] - 1) + c.bytes + gap();
    }
    const auto span = [&](const std::uint64_t* stride) {
      return (c.rows[1] - 1) * stride[1] + (c.rows[0] - 1) * stride[0] + c.bytes;
    };
    const auto each_row = [&](auto&& function) {
      for (std::uint64_t p = 0; p < c.rows[1]; ++p)
        for (std::uint64_t r = 0; r < c.rows[0]; ++r)
          function(p * c.destination_stride[1] + r * c.destination_stride[0], p * c.source_stride[1] + r * c.source_stride[0]);
    };
    switch (random() % 4) {
      case 0: {  // in
        const auto source = random_bytes(random, span(c.source_stride));
        const auto offset = random() % (size - span(c.destination_stride));
        c.destination_space = d.space();
        c.destination = at(memory, offset);
        c.source = at(source.data());
        ASSERT_EQ(d.finish(stream, c), TSR_OK) << hint << ": " << opened_plugin::last_error();
        each_row([&](auto to, auto from) { std::copy_n(&source[from], c.bytes, &model[offset + to]); });
        break;
      }
      case 1: {  // out
        auto target = random_bytes(random, span(c.destination_stride));
        auto expected = target;
        const auto offset = random() % (size - span(c.source_stride));
        c.source_space = d.space();
        c.source = at(memory, offset);
        c.destination = at(target.data());
        ASSERT_EQ(d.finish(stream, c), TSR_OK) << hint << ": " << opened_plugin::last_error();
        each_row([&](auto to, auto from) { std::copy_n(&model[offset + from], c.bytes, &expected[to]); });
        ASSERT_TRUE(target == expected) << hint << " round " << round;
        break;
      }
      case 2: {  // inside: from the lower half to the upper one
        if (span(c.source_stride) >= size / 2 || span(c.destination_stride) >= size / 2) break;
        const auto from_offset = random() % (size / 2 - span(c.source_stride));
        const auto to_offset = size / 2 + random() % (size / 2 - span(c.destination_stride));
        c.source_space = c.destination_space = d.space();
        c.source = at(memory, from_offset);
        c.destination = at(memory, to_offset);
        ASSERT_EQ(d.finish(stream, c), TSR_OK) << hint << ": " << opened_plugin::last_error();
        each_row([&](auto to, auto from) { std::copy_n(&model[from_offset + from], c.bytes, &model[to_offset + to]); });
        break;
      }
      default: {  // fill
        const auto pattern = random_bytes(random, 16);
        const std::uint32_t width = 1u << (random() % 5);
        const auto count = 1 + random() % 20000, offset = random() % (size - width * count);
        ASSERT_EQ(d.device().table->fill(d.device().handle, stream.handle, at(memory, offset), pattern.data(), width, count),
                  TSR_OK);
        ASSERT_EQ(d.outcome(stream), TSR_OK) << hint << ": " << opened_plugin::last_error();
        for (std::uint64_t i = 0; i < count * width; ++i) model[offset + i] = pattern[i % width];
      }
    }
  }
  std::vector<unsigned char> all(size);
  ASSERT_EQ(d.finish(stream, d.out(all.data(), memory, 0, size)), TSR_OK) << opened_plugin::last_error();
  EXPECT_TRUE(all == model) << hint;
}

/// Rows that overlap in one dimension move as memmove does, also over several windows.
TEST_P(every_disk, moves_overlapping_ranges) {
  const disk d(GetParam().given);
  const owned_stream stream(d.device());
  std::mt19937_64 random(7);
  constexpr std::uint64_t size = 9 << 20, shift = 70001;
  const auto model = random_bytes(random, size);
  tsr_memory* memory = d.allocate(size);
  std::vector<unsigned char> back(size);
  for (const auto& [to, from] : {std::pair<std::uint64_t, std::uint64_t>{shift, 0}, {0, shift}}) {
    ASSERT_EQ(d.finish(stream, d.in(memory, 0, model.data(), size)), TSR_OK);
    ASSERT_EQ(d.finish(stream, flat_copy(d.space(), at(memory, to), d.space(), at(memory, from), size - shift)), TSR_OK);
    ASSERT_EQ(d.finish(stream, d.out(back.data(), memory, 0, size)), TSR_OK) << opened_plugin::last_error();
    auto expected = model;
    std::memmove(&expected[to], &expected[from], size - shift);
    EXPECT_TRUE(back == expected) << "from " << from << " to " << to;
  }
}

/// Streams of different threads write neighbouring bytes of the same cells, read them back, and lose nothing.
TEST_P(every_disk, serves_concurrent_streams_that_share_cells) {
  const disk d(GetParam().given);
  constexpr std::uint64_t row = 1000, rows = 300;
  constexpr std::size_t threads = 4;
  tsr_memory* memory = d.allocate(row * rows * threads);
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      const owned_stream stream(d.device());
      std::mt19937_64 random(t);
      for (int round = 0; round < 3; ++round) {
        const auto given = random_bytes(random, row * rows);
        std::vector<unsigned char> back(row * rows);
        tsr_copy in = d.in(memory, t * row, given.data(), row), out = d.out(back.data(), memory, t * row, row);
        in.rows[0] = out.rows[0] = rows;
        in.destination_stride[0] = out.source_stride[0] = row * threads;
        in.source_stride[0] = out.destination_stride[0] = row;
        opened_plugin::check(d.enqueue(stream, in));
        if (d.finish(stream, out) != TSR_OK || given != back) ++wrong;
      }
    });
  for (auto& thread : all) thread.join();
  EXPECT_EQ(wrong, 0) << opened_plugin::last_error();
}

TEST_P(every_disk, gives_space_back) {
  const disk d(GetParam().given);
  for (int round = 0; round < 20; ++round) {  // 64 MiB in all
    tsr_memory *a = d.allocate(20 << 20), *b = d.allocate(30 << 20);
    ASSERT_EQ(d.device().table->mem_free(d.device().handle, round % 2 == 0 ? a : b), TSR_OK);
    ASSERT_EQ(d.device().table->mem_free(d.device().handle, round % 2 == 0 ? b : a), TSR_OK);
  }
  tsr_memory* all = d.allocate(64 << 20);
  tsr_memory* none = nullptr;
  EXPECT_EQ(d.device().table->mem_alloc(d.device().handle, 0, 1, &none), TSR_RESOURCE_EXHAUSTED);
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("capacity"));
  const owned_stream stream(d.device());
  std::vector<unsigned char> byte(1, 42), back(1);
  EXPECT_EQ(d.finish(stream, d.in(all, 1000, byte.data(), 1)), TSR_OK) << "usable when full";
  EXPECT_EQ(d.finish(stream, d.out(back.data(), all, 1000, 1)), TSR_OK);
  EXPECT_EQ(back, byte);
}

TEST(disk_plugin, reads_zeros_where_nothing_was_written) {
  const disk d({text("layout", "single")});
  const owned_stream stream(d.device());
  std::vector<unsigned char> secret(1 << 20, 0x5a), back(1 << 20, 1);
  tsr_memory* memory = d.allocate(secret.size());
  ASSERT_EQ(d.finish(stream, d.in(memory, 0, secret.data(), secret.size())), TSR_OK);
  ASSERT_EQ(d.device().table->mem_free(d.device().handle, memory), TSR_OK);
  memory = d.allocate(secret.size());  // the same range of the file
  ASSERT_EQ(d.finish(stream, d.in(memory, 5000, secret.data(), 10)), TSR_OK);
  ASSERT_EQ(d.finish(stream, d.out(back.data(), memory, 0, back.size())), TSR_OK);
  std::vector<unsigned char> expected(back.size(), 0);
  std::fill_n(expected.begin() + 5000, 10, 0x5a);
  EXPECT_TRUE(back == expected);
}

/// A changed byte is noticed by every reader of its cell and by nobody else, and writing the cell anew heals it.
TEST_P(every_disk, notices_a_changed_byte) {
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
  EXPECT_EQ(d.finish(stream, d.out(back.data(), memory, 12 * 4096 + 4000, 1)), TSR_DATA_LOSS) << "also a part of the cell";
  EXPECT_EQ(d.finish(stream, d.in(memory, 12 * 4096, model.data(), 10)), TSR_DATA_LOSS) << "a write that must keep the rest";
  EXPECT_EQ(d.finish(stream, d.out(back.data(), memory, 13 * 4096, 4096)), TSR_OK) << "the next cell is sound";
  EXPECT_EQ(d.counter("cells_lost"), 3);
  ASSERT_EQ(d.finish(stream, d.in(memory, 12 * 4096, &model[12 * 4096], 4096)), TSR_OK);
  ASSERT_EQ(d.finish(stream, d.out(back.data(), memory, 0, back.size())), TSR_OK);
  EXPECT_TRUE(back == model);
}

TEST_P(every_disk, tells_a_cut_file_and_injected_faults) {
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
  given.back() = number("faults.corrupt_read", 2);
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

TEST(disk_plugin, knows_the_process_limit_before_the_signal_that_would_kill_it) {
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

TEST(disk_plugin, removes_its_files) {
  const temporary_directory directory;
  {
    const disk d({text("path", directory.path().string() + "//")});
    tsr_memory *a = d.allocate(100), *b = d.allocate(100);
    const auto count = [&] {
      const auto all = fs::recursive_directory_iterator(directory.path());
      return std::count_if(begin(all), end(all), [](const auto& e) { return e.path().extension() == ".tessera"; });
    };
    EXPECT_EQ(count(), 2);
    ASSERT_EQ(d.device().table->mem_free(d.device().handle, a), TSR_OK);
    EXPECT_EQ(count(), 1) << "freed memory is free disk at once";
    EXPECT_NE(b, nullptr);
  }
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(disk_plugin, sweeps_what_crashes_left_and_nothing_else) {
  const temporary_directory directory;
  const auto make = [&](const char* name, bool lock) {
    const auto path = directory.path() / name;
    fs::create_directory(path);
    std::ofstream(path / "slab-0.tessera") << "data";
    if (lock) std::ofstream(path / "lock") << "";
    return path;
  };
  const auto crashed = make("tessera-disk-crashed", true), living = make("tessera-disk-living", true);
  const auto half_made = make("tessera-disk-halfmade", false), foreign = make("somebody", true);
  const auto with_more = make("tessera-disk-more", true);
  std::ofstream(with_more / "notes.txt") << "mine";
  const int held = ::open((living / "lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX | LOCK_NB), 0);
  {
    const disk first({text("path", directory.path().string())});
    EXPECT_FALSE(fs::exists(crashed));
    EXPECT_TRUE(fs::exists(living / "slab-0.tessera")) << "another process uses it";
    EXPECT_TRUE(fs::exists(half_made / "slab-0.tessera"));
    EXPECT_TRUE(fs::exists(foreign / "slab-0.tessera"));
    EXPECT_TRUE(fs::exists(with_more / "notes.txt")) << "not ours to remove";
    tsr_memory* memory = first.allocate(4096);
    const std::vector<unsigned char> given(4096, 3);
    std::vector<unsigned char> back(4096);
    const owned_stream stream(first.device());
    ASSERT_EQ(first.finish(stream, first.in(memory, 0, given.data(), 4096)), TSR_OK);
    const disk second({text("path", directory.path().string())});
    EXPECT_EQ(first.finish(stream, first.out(back.data(), memory, 0, 4096)), TSR_OK) << "two live side by side";
    EXPECT_EQ(back, given);
  }
  ::close(held);
}

TEST(disk_plugin, says_at_open_what_is_wrong_with_its_options) {
  const temporary_directory directory;
  const auto file = directory.path() / "file";
  std::ofstream(file) << "";
  const auto refused = [&](options given) {
    const opened_plugin plugin("disk", disk::with(std::move(given), directory.path().string()));
    return plugin.status;
  };
  EXPECT_EQ(refused({text("path", (directory.path() / "missing").string())}), TSR_NOT_FOUND);
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("missing"));
  EXPECT_EQ(refused({text("path", file.string())}), TSR_INVALID_ARGUMENT);
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("not a directory"));
  EXPECT_NE(refused({text("path", "/proc")}), TSR_OK);
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("'/proc': no directory can be made in it"));
  EXPECT_EQ(refused({bytes("piece", 5000)}), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(refused({text("layout", "tape")}), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(refused({text("io", "telepathy")}), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(refused({text("layout", "single"), bytes("capacity", 0)}), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(refused({text("layout", "single"), bytes("capacity", std::int64_t{1} << 60)}), TSR_RESOURCE_EXHAUSTED);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1) << "refusals leave nothing behind";
}

TEST(disk_plugin, takes_threads_where_the_kernel_refuses_io_uring) {
  const disk d({flag("faults.refuse_io_uring")});
  EXPECT_EQ(d.counter("io_uring"), 0);
  const temporary_directory directory;
  const opened_plugin insisting(
      "disk", disk::with({flag("faults.refuse_io_uring"), text("io", "io_uring")}, directory.path().string()));
  EXPECT_EQ(insisting.status, TSR_UNAVAILABLE);
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("io = \"auto\""));
  if (has_io_uring()) {
    EXPECT_EQ(disk({text("io", "io_uring")}).counter("io_uring"), 1);
  }
}

TEST(disk_plugin, has_no_computing_operations_and_says_so) {
  const disk d;
  EXPECT_EQ(d.device().description.device_class, static_cast<tsr_device_class>(TSR_DEVICE_STORAGE));
  EXPECT_EQ(d.plugin.header->kind, static_cast<tsr_plugin_kind>(TSR_PLUGIN_STORAGE));
  EXPECT_EQ(d.device().blas, nullptr);
  EXPECT_EQ(d.device().tensor, nullptr);
  EXPECT_EQ(d.device().table->launch, nullptr);
  EXPECT_EQ(d.device().table->host_task, nullptr);
  EXPECT_EQ(d.device().table->mem_base, nullptr);
  EXPECT_EQ(d.device().description.compute_units, 0u);
}

}  // namespace
}  // namespace tessera::test
