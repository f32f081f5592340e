// A plugin need not offer every entry: programs end right, and in time, without any one of them.
#include <gmock/gmock.h>

#include <cctype>

#include "tests/integration/faults/faulty.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

struct without {
  const char* plugin;  ///< and the keys that give it two devices with small memories
  const char* keys;
  const char* entries;
};

constexpr const char* sim =
    "clock = \"real\"\n[[plugin.sim.device]]\nmemory = \"8 KiB\"\n[[plugin.sim.device]]\nmemory = \"1 MiB\"\n";
constexpr const char* cuda = "devices = 2\nmemory_limit = \"64 KiB\"\n";
constexpr const char* disk = "";

class optional_entries : public ::testing::TestWithParam<without> {};

TEST_P(optional_entries, that_are_left_out_cost_no_result) {
  const without& w = GetParam();
  const testing::deadline limit(std::string(w.plugin) + " without " + w.entries);
  const std::uint64_t seed = testing::number_from("TESSERA_SEED", std::random_device{}());
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed));
  const std::string plugin = w.plugin;
  const std::string memory = plugin == "disk" ? "host_limit = \"64 KiB\"\n" : "";
  runtime rt(testing::machine_of(
      "plugin_path = [\"" TESSERA_PLUGIN_DIR "\", \"" TESSERA_BINARY_DIR "/tests/plugins\"]\nplugins = [\"host\", \"" +
      plugin + "\"]\nlayers = [\"without:" + plugin +
      "\"]\nhistory = \"off\"\n[memory]\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n" + memory +
      "[plugin.without]\nleave_out = \"" + w.entries + "\"\n[plugin." + plugin + "]\n" + w.keys));
  testing::random_blocks program(rt, plugin == "disk" ? 200 : 24, 512);
  testing::run_random(program, seed, 300);
  rt.fence();
  std::map<int, std::string> unreadable;
  EXPECT_EQ(program.wrong(unreadable), 0);
  EXPECT_THAT(unreadable, ::testing::IsEmpty());
}

std::string name_of(const ::testing::TestParamInfo<without>& p) {
  std::string name = std::string(p.param.plugin) + "_without_" + p.param.entries;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

constexpr const char* entries[] = {"",
                                   "query",
                                   "health",
                                   "thread_attach,thread_detach",
                                   "host_register,host_unregister",
                                   "mem_base",
                                   "mem_map,mem_unmap",
                                   "stream_wait",
                                   "stream_host_wait",
                                   "stream_callback",
                                   "stream_callback,stream_host_wait",
                                   "stream_callback,stream_wait",
                                   "stream_callback?",
                                   "early_stream_callback",
                                   "stream_callback,early_stream_host_wait",
                                   "stream_native",
                                   "fill",
                                   "module_load,module_unload,kernel_get",
                                   "launch",
                                   "host_task",
                                   "host_work",
                                   "host_task,host_work",
                                   "mem_native",
                                   "BLAS",
                                   "TENSOR",
                                   "SPARSE",
                                   "GRAPH",
                                   "JIT",
                                   "IPC",
                                   "query,health,thread_attach,thread_detach,host_register,host_unregister,stream_wait,"
                                   "stream_host_wait,stream_callback,stream_native,mem_native,host_work,"
                                   "TENSOR,SPARSE,GRAPH,JIT,IPC"};

std::vector<without> all_of(const char* plugin, const char* keys) {
  std::vector<without> all;
  for (const char* e : entries)  // a space that the host sees needs mem_base: unit_plugin has the refusal
    if (std::string(plugin) != "cuda_emulated" || std::string(e) != "mem_base") all.push_back({plugin, keys, e});
  return all;
}

INSTANTIATE_TEST_SUITE_P(sim, optional_entries, ::testing::ValuesIn(all_of("sim", sim)), name_of);
INSTANTIATE_TEST_SUITE_P(cuda_emulated, optional_entries, ::testing::ValuesIn(all_of("cuda_emulated", cuda)), name_of);
INSTANTIATE_TEST_SUITE_P(disk, optional_entries, ::testing::ValuesIn(all_of("disk", disk)), name_of);

struct says_ok {
  const char *plugin, *message;
};
class nothing : public ::testing::TestWithParam<says_ok> {};

TEST_P(nothing, given_with_ok_is_an_error_that_names_the_plugin) {
  const auto [plugin, message] = GetParam();
  try {
    runtime rt(testing::machine_of(std::string("plugin_path = [\"" TESSERA_PLUGIN_DIR "\", \"" TESSERA_BINARY_DIR
                                               "/tests/plugins\"]\n"
                                               "plugins = [\"host\", \"") +
                                   plugin + "\"]\nplacement = \"pinned\"\n"));
    auto x = rt.make_array<double>("x", {8}, {8}), y = rt.make_array<double>("y", {8}, {8});
    fill(rt, x(0), 1.0);
    fill(rt, y(0), 1.0);
    axpy(rt, 1.0, x(0), y(0), {.at = rt.at(std::string(plugin) + "0")});
    rt.fence();
    FAIL() << "that device cannot have worked";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr(plugin));
    EXPECT_THAT(e.what(), HasSubstr(message));
  }
}

INSTANTIATE_TEST_SUITE_P(plugins, nothing,
                         ::testing::Values(says_ok{"fault_null_memory", "mem_alloc answered OK and gave no memory"},
                                           says_ok{"null_stream", "stream_create answered OK and gave none"}),
                         [](const auto& test) { return std::string(test.param.plugin); });

}  // namespace
}  // namespace tessera
