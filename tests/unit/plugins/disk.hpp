#pragma once
// The disk plugin on a directory of its own, for tests through its C ABI.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "unit/plugins/opened_plugin.hpp"

namespace tessera::test {

namespace fs = std::filesystem;
using options = std::vector<given_option>;

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

inline std::vector<unsigned char> random_bytes(std::mt19937_64& random, std::size_t count) {
  std::vector<unsigned char> result(count);
  for (auto& byte : result) byte = static_cast<unsigned char>(random());
  return result;
}

inline bool has_io_uring() { return opened_plugin("disk", disk::with({text("io", "io_uring")}, "")).status == TSR_OK; }

struct variant {
  std::string name;
  options given;
};
inline void PrintTo(const variant& v, std::ostream* out) { *out << v.name; }

/// All ways in which the plugin stores: a test on each that this machine has.
class on_every_disk : public testing::TestWithParam<variant> {
 public:
  static std::vector<variant> all() {
    return {{"threads", {text("io", "threads")}},
            {"ring", {text("io", "io_uring")}},
            {"threads_direct", {text("io", "threads"), flag("direct")}},
            {"ring_direct", {text("io", "io_uring"), flag("direct")}},
            {"ring_small_pieces", {text("io", "io_uring"), bytes("piece", 4096), integer("queue_depth", 3)}},
            {"ring_short", {text("io", "io_uring"), flag("faults.short_io"), bytes("piece", 65536)}},
            {"threads_short", {text("io", "threads"), flag("faults.short_io"), bytes("piece", 65536)}},
            {"single", {text("layout", "single")}},
            {"single_unchecked", {text("layout", "single"), flag("checksum", false)}},
            {"unchecked_direct", {flag("checksum", false), flag("direct")}}};
  }

 protected:
  void SetUp() override {
    for (const auto& one : GetParam().given)
      if (one.text == "io_uring" && !has_io_uring()) GTEST_SKIP() << "no io_uring: " << opened_plugin::last_error();
  }
};

}  // namespace tessera::test
