// Memory of two processes: what the conformance suite may not ask of everybody. Host, simulated and emulated devices
// alike.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/unit/plugins/gpu/sharing.hpp"

namespace tessera::test {
namespace {

/// The process beside this one, which has been started anew: what a sanitizer keeps of threads does not outlive a fork.
class peer {
 public:
  peer(const std::string& plugin, const std::string& does) {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    std::string words[] = {SHARING_PEER, plugin, does};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    const int refused = ::posix_spawn(&m_process, arguments[0], &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    m_to = to[1];
    m_from = from[0];
    if (refused != 0) throw std::runtime_error("sharing_peer could not be started");
  }
  ~peer() {
    if (!m_ended) {
      ::kill(m_process, SIGKILL);  // the test has failed
      result();
    }
    ::close(m_from);
  }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  void send(const memory_key& what) const {
    if (::write(m_to, what.data(), what.size()) != static_cast<ssize_t>(what.size()))
      throw std::runtime_error("the pipe is shut");
  }
  memory_key take() const {
    memory_key got{};
    if (::read(m_from, got.data(), got.size()) != static_cast<ssize_t>(got.size()))
      throw std::runtime_error("sharing_peer ended early");
    return got;
  }
  /// Ends its input and waits for it.
  int result() {
    ::close(m_to);
    int status = -1;
    ::waitpid(m_process, &status, 0);
    m_ended = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t m_process = -1;
  int m_to = -1, m_from = -1;
  bool m_ended = false;
};

class shared_memory : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(plugins, shared_memory, testing::Values("host", "sim", "cuda_emulated"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(shared_memory, takes_nothing_of_the_importers_capacity_and_goes_with_the_device) {
  const std::string name = GetParam();
  peer exporter(name, "keep");
  {
    const sharing here(name);
    const auto before = here.query(TSR_QUERY_LIVE_ALLOCATIONS);
    const auto capacity = name == "host" ? 0 : here.query(TSR_QUERY_FREE_BYTES);
    const memory_key theirs = exporter.take();
    tsr_memory *one = nullptr, *other = nullptr;
    ASSERT_EQ(here.import(theirs, &one), TSR_OK) << opened_plugin::last_error();
    ASSERT_EQ(here.import(theirs, &other), TSR_OK) << opened_plugin::last_error();
    EXPECT_EQ(here.query(TSR_QUERY_LIVE_ALLOCATIONS), before + 2);
    if (name != "host") {
      EXPECT_EQ(here.query(TSR_QUERY_FREE_BYTES), capacity);
    }
    EXPECT_EQ(here.d().table->mem_free(here.d().handle, one), TSR_OK);
    EXPECT_EQ(here.d().table->mem_free(here.d().handle, one), TSR_INVALID_ARGUMENT);
    if (name != "host") {
      EXPECT_EQ(here.query(TSR_QUERY_FREE_BYTES), capacity);
    }
  }
  EXPECT_EQ(exporter.result(), 0);
}

TEST_P(shared_memory, that_is_gone_is_not_found) {
  const std::string name = GetParam();
  peer exporter(name, "leave");
  EXPECT_EQ(exporter.result(), 0);
  const sharing here(name);
  for (int i = 0; i < 2; ++i) {
    tsr_memory* none = nullptr;
    EXPECT_EQ(here.import(exporter.take(), &none), TSR_NOT_FOUND);
    EXPECT_NE(opened_plugin::last_error().find("gone"), std::string::npos) << opened_plugin::last_error();
    EXPECT_EQ(none, nullptr);
  }
}

TEST_P(shared_memory, that_is_freed_by_a_process_that_lives_is_not_found) {
  const std::string name = GetParam();
  peer importer(name, "import");
  const sharing here(name);
  tsr_memory* const memory = here.allocate(5000);
  const memory_key one = here.exported(memory);
  here.allocate(5000);  // would take its place
  EXPECT_EQ(here.d().table->mem_free(here.d().handle, memory), TSR_OK);
  here.allocate(5000);
  importer.send(one);
  EXPECT_EQ(importer.result(), 0);
}

TEST_P(shared_memory, keys_that_are_not_for_here_are_told_apart) {
  const sharing here(GetParam());
  memory_key one = here.exported(here.allocate(100));
  tsr_memory* none = nullptr;
  const auto told = [&](tsr_status status) {
    EXPECT_EQ(here.import(one, &none), status);
    return opened_plugin::last_error();
  };
  EXPECT_NE(told(TSR_FAILED_PRECONDITION).find("this process has exported"), std::string::npos);
  one[100] ^= 1;
  EXPECT_NE(told(TSR_INVALID_ARGUMENT).find("damaged, or not one of plugin '" + std::string(GetParam())),
            std::string::npos);
  one[0] ^= 1;
  EXPECT_NE(told(TSR_INVALID_ARGUMENT).find("no key of a memory"), std::string::npos);
}

TEST_P(shared_memory, is_offered_where_it_was_asked_for) {
  opened_plugin plugin(GetParam());
  const void* found = nullptr;
  EXPECT_EQ(plugin.table->extension(plugin.plugin, plugin.devices.at(0).handle, TSR_EXTENSION_IPC, 1, &found),
            TSR_UNIMPLEMENTED);
}

TEST(shared_gpu_memory, is_the_devices_own_alone) {
  const sharing here("cuda_emulated");
  memory_key one{};
  EXPECT_EQ(here.ipc->export_memory(here.d().handle, here.allocate(100, 1), one.data()), TSR_UNIMPLEMENTED);
  EXPECT_NE(opened_plugin::last_error().find("pinned memory cannot be shared"), std::string::npos)
      << opened_plugin::last_error();
  opened_plugin managed("cuda_emulated",
                        {{"shared", TSR_OPTION_BOOL, 1, 0, {}}, {"memory", TSR_OPTION_STRING, 0, 0, "managed"}});
  const void* found = nullptr;
  EXPECT_EQ(managed.table->extension(managed.plugin, managed.devices.at(0).handle, TSR_EXTENSION_IPC, 1, &found),
            TSR_UNIMPLEMENTED);
}

TEST(shared_gpu_memory, is_not_imported_by_a_thread_that_records) {
  const sharing here("cuda_emulated");
  const memory_key one = here.exported(here.allocate(100));
  const owned_stream stream(here.d());
  tsr_memory* none = nullptr;
  ASSERT_EQ(here.d().graph->capture_begin(here.d().handle, stream.handle), TSR_OK);
  EXPECT_EQ(here.import(one, &none), TSR_FAILED_PRECONDITION);
  EXPECT_NE(opened_plugin::last_error().find("import_memory"), std::string::npos) << opened_plugin::last_error();
  tsr_graph* graph = nullptr;
  if (here.d().graph->capture_end(here.d().handle, stream.handle, &graph) == TSR_OK)
    here.d().graph->destroy(here.d().handle, graph);
}

}  // namespace
}  // namespace tessera::test
