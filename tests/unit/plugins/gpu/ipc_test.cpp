// Memory of two processes: what the conformance suite may not ask of everybody. Host, simulated and emulated devices alike.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>

#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera::test {
namespace {

using key = std::array<std::uint8_t, TSR_IPC_KEY_BYTES>;

/// A pipe between two processes.
struct pipe_pair {
  pipe_pair() {
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  }
  ~pipe_pair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;
  void send(const key& what) const {
    if (::write(ends[1], what.data(), what.size()) != static_cast<ssize_t>(what.size())) throw std::runtime_error("the pipe is shut");
  }
  key take() const {
    key got{};
    if (::read(ends[0], got.data(), got.size()) != static_cast<ssize_t>(got.size())) throw std::runtime_error("the pipe is shut");
    return got;
  }
  int ends[2] = {};
};

/// A process that has opened nothing yet and does one thing; its result is its function's.
class other_process {
 public:
  explicit other_process(const std::function<int(const pipe_pair& in, const pipe_pair& out)>& does) : m_process(::fork()) {
    if (m_process != 0) return;
    int result = 99;
    try {
      result = does(to, from);
    } catch (...) {
      result = 98;
    }
    ::_exit(result);
  }
  ~other_process() {
    if (m_process <= 0) return;
    ::kill(m_process, SIGKILL);  // a test that failed has not told it to end
    result();
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  int result() {
    int status = -1;
    ::waitpid(m_process, &status, 0);
    m_process = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  pipe_pair to, from;

 private:
  pid_t m_process;
};

given_option shared() { return {"shared", TSR_OPTION_BOOL, 1, 0, {}}; }

/// A plugin that shares, its first device, and the table.
struct sharing {
  explicit sharing(const std::string& name, std::vector<given_option> more = {}) : plugin(name, with_shared(std::move(more))) {
    const void* found = nullptr;
    opened_plugin::check(plugin.table->extension(plugin.plugin, d().handle, TSR_EXTENSION_IPC, 1, &found));
    ipc = static_cast<const tsr_ipc_table*>(found);
  }
  static std::vector<given_option> with_shared(std::vector<given_option> more) {
    more.push_back(shared());
    return more;
  }
  const opened_plugin::device& d() const { return plugin.devices.at(0); }
  tsr_memory* allocate(std::uint64_t bytes, std::uint32_t space = 0) const {
    tsr_memory* made = nullptr;
    opened_plugin::check(d().table->mem_alloc(d().handle, space, bytes, &made));
    return made;
  }
  key exported(tsr_memory* memory) const {
    key made{};
    opened_plugin::check(ipc->export_memory(d().handle, memory, made.data()));
    return made;
  }
  tsr_status import(const key& what, tsr_memory** out) const { return ipc->import_memory(d().handle, what.data(), out); }
  std::uint64_t query(tsr_query_key what) const {
    std::uint64_t value = 0;
    opened_plugin::check(d().table->query(d().handle, what, 0, &value));
    return value;
  }
  opened_plugin plugin;
  const tsr_ipc_table* ipc = nullptr;
};

class shared_memory : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(plugins, shared_memory, testing::Values("host", "sim", "cuda_emulated"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(shared_memory, takes_nothing_of_the_importers_capacity_and_goes_with_the_device) {
  const std::string name = GetParam();
  other_process exporter([&](const pipe_pair& in, const pipe_pair& out) {
    const sharing here(name);
    out.send(here.exported(here.allocate(1 << 20)));
    in.take();  // until the other is done
    return 0;
  });
  {
    const sharing here(name);
    const auto before = here.query(TSR_QUERY_LIVE_ALLOCATIONS);
    const auto capacity = name == "host" ? 0 : here.query(TSR_QUERY_FREE_BYTES);
    const key theirs = exporter.from.take();
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
  exporter.to.send({});
  EXPECT_EQ(exporter.result(), 0);
}

TEST_P(shared_memory, that_is_gone_is_not_found) {
  const std::string name = GetParam();
  other_process exporter([&](const pipe_pair&, const pipe_pair& out) {
    const sharing here(name);
    tsr_memory *const freed = here.allocate(5000), *const kept = here.allocate(5000);
    out.send(here.exported(freed));
    out.send(here.exported(kept));
    return here.d().table->mem_free(here.d().handle, freed);
  });
  EXPECT_EQ(exporter.result(), 0);
  const sharing here(name);
  for (int i = 0; i < 2; ++i) {
    tsr_memory* none = nullptr;
    EXPECT_EQ(here.import(exporter.from.take(), &none), TSR_NOT_FOUND);
    EXPECT_NE(opened_plugin::last_error().find("gone"), std::string::npos) << opened_plugin::last_error();
    EXPECT_EQ(none, nullptr);
  }
}

TEST_P(shared_memory, that_is_freed_by_a_process_that_lives_is_not_found) {
  const std::string name = GetParam();
  other_process importer([&](const pipe_pair& in, const pipe_pair&) {
    const key one = in.take();
    const sharing here(name);
    tsr_memory* none = nullptr;
    return here.import(one, &none) == TSR_NOT_FOUND && none == nullptr ? 0 : 1;
  });
  const sharing here(name);
  tsr_memory* const memory = here.allocate(5000);
  const key one = here.exported(memory);
  here.allocate(5000);  // would take its place
  EXPECT_EQ(here.d().table->mem_free(here.d().handle, memory), TSR_OK);
  here.allocate(5000);
  importer.to.send(one);
  EXPECT_EQ(importer.result(), 0);
}

TEST_P(shared_memory, keys_that_are_not_for_here_are_told_apart) {
  const sharing here(GetParam());
  key one = here.exported(here.allocate(100));
  tsr_memory* none = nullptr;
  const auto told = [&](tsr_status status) {
    EXPECT_EQ(here.import(one, &none), status);
    return opened_plugin::last_error();
  };
  EXPECT_NE(told(TSR_FAILED_PRECONDITION).find("this process has exported"), std::string::npos);
  one[100] ^= 1;
  EXPECT_NE(told(TSR_INVALID_ARGUMENT).find("damaged, or not one of plugin '" + std::string(GetParam())), std::string::npos);
  one[0] ^= 1;
  EXPECT_NE(told(TSR_INVALID_ARGUMENT).find("no key of a memory"), std::string::npos);
}

TEST_P(shared_memory, is_offered_where_it_was_asked_for) {
  opened_plugin plugin(GetParam());
  const void* found = nullptr;
  EXPECT_EQ(plugin.table->extension(plugin.plugin, plugin.devices.at(0).handle, TSR_EXTENSION_IPC, 1, &found), TSR_UNIMPLEMENTED);
}

TEST(shared_gpu_memory, is_the_devices_own_alone) {
  const sharing here("cuda_emulated");
  key one{};
  EXPECT_EQ(here.ipc->export_memory(here.d().handle, here.allocate(100, 1), one.data()), TSR_UNIMPLEMENTED);
  EXPECT_NE(opened_plugin::last_error().find("pinned memory cannot be shared"), std::string::npos) << opened_plugin::last_error();
  opened_plugin managed("cuda_emulated", {shared(), {"memory", TSR_OPTION_STRING, 0, 0, "managed"}});
  const void* found = nullptr;
  EXPECT_EQ(managed.table->extension(managed.plugin, managed.devices.at(0).handle, TSR_EXTENSION_IPC, 1, &found), TSR_UNIMPLEMENTED);
}

TEST(shared_gpu_memory, is_not_imported_by_a_thread_that_records) {
  const sharing here("cuda_emulated");
  const key one = here.exported(here.allocate(100));
  const owned_stream stream(here.d());
  tsr_memory* none = nullptr;
  ASSERT_EQ(here.d().graph->capture_begin(here.d().handle, stream.handle), TSR_OK);
  EXPECT_EQ(here.import(one, &none), TSR_FAILED_PRECONDITION);
  EXPECT_NE(opened_plugin::last_error().find("import_memory"), std::string::npos) << opened_plugin::last_error();
  tsr_graph* graph = nullptr;
  if (here.d().graph->capture_end(here.d().handle, stream.handle, &graph) == TSR_OK) here.d().graph->destroy(here.d().handle, graph);
}

}  // namespace
}  // namespace tessera::test
