#include "tests/conformance/suite/second_process.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/conformance/suite/place.hpp"

namespace tessera::conformance {
namespace {

constexpr int limit_ms = 120'000;

nlohmann::json to_json(const std::vector<plugin::raw_option>& options) {
  auto all = nlohmann::json::array();
  for (const auto& one : options) std::visit([&](const auto& value) { all.push_back({one.name, value}); }, one.value);
  return all;
}
std::vector<plugin::raw_option> options_of(const nlohmann::json& all) {
  std::vector<plugin::raw_option> options;
  for (const auto& one : all) {
    const auto& value = one.at(1);
    plugin::raw_option& made =
        options.emplace_back(plugin::raw_option{one.at(0).get<std::string>(), false, "second process"});
    if (value.is_boolean())
      made.value = value.get<bool>();
    else if (value.is_number_integer())
      made.value = value.get<std::int64_t>();
    else if (value.is_number())
      made.value = value.get<double>();
    else
      made.value = value.get<std::string>();
  }
  return options;
}

/// A file with an order, gone at the end of the scope.
struct order_file {
  explicit order_file(const std::string& text) {
    descriptor = ::mkstemp(path.data());
    expect(descriptor >= 0, "no temporary file can be made: {}", path);
    expect(::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "{} cannot be written",
           path);
  }
  ~order_file() {
    ::close(descriptor);
    ::unlink(path.c_str());
  }
  order_file(const order_file&) = delete;
  order_file& operator=(const order_file&) = delete;
  std::string path = (std::filesystem::temp_directory_path() / "tessera-check-XXXXXX").string();
  int descriptor = -1;
};

/// All that a process prints; it is ended after `limit_ms`.
std::string output_of(int from, pid_t process) {
  std::string text;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
  for (char piece[4096];;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd waited{from, POLLIN, 0};
    if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left)) <= 0) {
      ::kill(process, SIGKILL);
      return text + "; it did not end and was killed";
    }
    const ssize_t got = ::read(from, piece, sizeof piece);
    if (got <= 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::vector<unsigned char> contents(std::uint64_t seed, std::uint64_t bytes) {
  random_source random(seed);
  std::vector<unsigned char> made(bytes);
  for (unsigned char& byte : made) byte = static_cast<unsigned char>(random());
  return made;
}

void in_second_process(const subject& what, const memory_order& order) {
  if (what.asked.second_process.empty()) skip("this program cannot be called again as a second process");
  const nlohmann::json json = {{"plugin", what.asked.plugin.string()},
                               {"options", to_json(what.asked.options)},
                               {"layer", what.asked.layer.string()},
                               {"layer_options", to_json(what.asked.layer_options)},
                               {"device", order.device},
                               {"key", std::vector<int>(std::begin(order.key), std::end(order.key))},
                               {"bytes", order.bytes},
                               {"seed", order.seed},
                               {"gone", order.gone}};
  const order_file file(json.dump());
  std::vector<std::string> words = what.asked.second_process;
  words.push_back(file.path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  expect(::pipe(ends) == 0, "no pipe can be made");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t process = 0;
  const int refused = ::posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  const std::string text = refused == 0 ? output_of(ends[0], process) : "it could not be started";
  ::close(ends[0]);
  int status = -1;
  if (refused == 0) ::waitpid(process, &status, 0);
  expect(refused == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0, "in the second process: {}", text);
}

int run_second_process(const std::filesystem::path& order) {
  try {
    std::ifstream from(order);
    const auto json = nlohmann::json::parse(from);
    request asked;
    asked.plugin = json.at("plugin").get<std::string>();
    asked.options = options_of(json.at("options"));
    asked.layer = json.at("layer").get<std::string>();
    asked.layer_options = options_of(json.at("layer_options"));
    memory_order memory;
    memory.device = json.at("device");
    const auto key = json.at("key").get<std::vector<int>>();
    for (std::size_t i = 0; i < std::size(memory.key); ++i) memory.key[i] = static_cast<std::uint8_t>(key.at(i));
    memory.bytes = json.at("bytes");
    memory.seed = json.at("seed");
    memory.gone = json.at("gone");
    const place at(asked);
    use_imported(at.subject_of(asked, memory.seed), memory);
    return 0;
  } catch (const std::exception& failure) {
    fmt::print("{}", failure.what());
    return 1;
  }
}

}  // namespace tessera::conformance
