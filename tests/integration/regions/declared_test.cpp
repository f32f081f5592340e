// What declarations of locations promise: directories of stores, numbers that bound arrays, arrays that are files.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;

bool has(const error& e, const std::string& text) { return std::string(e.what()).find(text) != std::string::npos; }

struct scratch_folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tessera_declared_" + std::to_string(getpid()));
  scratch_folder() { std::filesystem::create_directories(path); }
  ~scratch_folder() { std::filesystem::remove_all(path); }
};

std::string location_of(const char* name, const char* type) {
  return "[[location]]\nname = \"" + std::string(name) + "\"\ntype = \"" + type + "\"\n";
}

/// The host with a store in a directory: machine, with LocH (cores) and LocS (of 8 MiB) below it.
machine with_store(const std::string& plugin_path, const std::string& type_path, const std::string& more = "") {
  return testing::machine_of("plugins = [\"host\", \"disk\"]\n[plugin.disk]\ncapacity = \"64 MiB\"\n" +
                             (plugin_path.empty() ? std::string() : "path = \"" + plugin_path + "\"\n") +
                             "[[loctype]]\nname = \"scratch\"\nkind = \"storage\"\nsize = \"8 MiB\"\n" +
                             (type_path.empty() ? std::string() : "path = \"" + type_path + "\"\n") +
                             "[[loctype]]\nname = \"cores\"\nkind = \"cpu\"\n" + location_of("LocS", "scratch") +
                             location_of("LocH", "cores") + more);
}

TEST(declared_stores, are_bound_by_the_path_of_their_plugin) {
  const scratch_folder folder;
  const std::string path = folder.path.string();
  const machine made = with_store(path, path + "/./");
  EXPECT_EQ(made.tree.at(*made.tree.find("LocS")).properties.folder, std::filesystem::canonical(folder.path).string());
  const error other = error_of([&] { with_store(path, path + "/other"); });
  EXPECT_EQ(other.kind(), error_kind::configuration);
  EXPECT_TRUE(has(other, "storage at " + path + "/other")) << other.what();
  EXPECT_TRUE(has(other, "at " + std::filesystem::canonical(folder.path).string() + ")")) << other.what();
  const error unset = error_of([&] { with_store("", path); });
  EXPECT_TRUE(has(unset, "plugin.disk.path is not set")) << unset.what();
}

TEST(declared_capability, is_not_known_of_emulated_devices) {
  const error e = error_of([] {
    testing::machine_of(
        "plugins = [\"host\", \"cuda_emulated\"]\n[[loctype]]\nname = \"tesla\"\nkind = \"gpu\"\nmatch = "
        "\"cc>=8.0\"\n" +
        location_of("LocG", "tesla"));
  });
  EXPECT_EQ(e.kind(), error_kind::configuration);
  EXPECT_TRUE(has(e, "gpu with cc>=8.0")) << e.what();
  EXPECT_TRUE(has(e, "cc not known")) << e.what();
}

}  // namespace
}  // namespace tessera
