// The disk plugin through its C ABI: what it stores, what it leaves behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "unit/plugins/disk.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

class every_disk : public on_every_disk {};
INSTANTIATE_TEST_SUITE_P(disk, every_disk, testing::ValuesIn(on_every_disk::all()),
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
          function(p * c.destination_stride[1] + r * c.destination_stride[0],
                   p * c.source_stride[1] + r * c.source_stride[0]);
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
        ASSERT_EQ(
            d.device().table->fill(d.device().handle, stream.handle, at(memory, offset), pattern.data(), width, count),
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
    ASSERT_EQ(d.finish(stream, flat_copy(d.space(), at(memory, to), d.space(), at(memory, from), size - shift)),
              TSR_OK);
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
