#include "core/placement/history_contents.hpp"

#include <fmt/format.h>

#include <chrono>

#include "core/base/whole_file.hpp"

namespace tessera::placement {
namespace {

namespace fs = std::filesystem;
using json = history_json;

constexpr int version = 1;
constexpr const char* version_key = "tessera_history";
constexpr std::size_t max_machines = 16;
constexpr std::uintmax_t largest_file = 64u << 20;

}  // namespace

history_contents read_contents(const fs::path& file) {
  history_contents c;
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  if (failed) {
    std::error_code ignored;
    c.absent = !fs::exists(file, ignored);
    if (!c.absent) c.refused = "it is not a regular file that can be read";
    c.ours = c.absent;
    return c;
  }
  if (size == 0) {
    c.absent = c.ours = true;
    return c;
  }
  std::string text;
  if (size <= largest_file)
    if (const std::error_code reason = read_whole_file(file, text)) {
      c.refused = "it cannot be read: " + reason.message();
      return c;
    }
  c.ours = text.substr(0, 64).find(fmt::format("\"{}\"", version_key)) != std::string::npos;
  c.whole = json::parse(text, nullptr, false);
  if (c.whole.is_discarded() || !c.whole.is_object()) {
    c.refused = c.ours ? "it is damaged" : "it is not a history";
    return c;
  }
  const auto found = c.whole.find(version_key);
  c.ours = found != c.whole.end() && found->is_number_integer();
  if (!c.ours) {
    c.refused = "it is not a history";
  } else if (*found != version) {
    c.newer = *found > version;
    c.refused = fmt::format("its version is {}, and this program knows {}", found->dump(), version);
  } else if (!c.whole.contains("machines") || !c.whole["machines"].is_object()) {
    c.refused = "it is damaged: it lists no machines";
  }
  return c;
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void forget_oldest(json& of, std::size_t most) {
  const auto age = [](const json& m) {
    return m.is_object() && m.contains("written") && m["written"].is_number() ? m["written"].get<double>() : 0.0;
  };
  while (of.size() > most) {
    auto oldest = of.begin();
    for (auto m = of.begin(); m != of.end(); ++m)
      if (age(*m) < age(*oldest)) oldest = m;
    of.erase(oldest);
  }
}

json empty_history() { return {{version_key, version}, {"machines", json::object()}}; }

std::string write_contents(const fs::path& file, json& whole) {
  forget_oldest(whole["machines"], max_machines);
  std::error_code failed;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), failed);
  if (failed) return failed.message();
  // Names come from programs and plugins: what is not UTF-8 is replaced.
  failed = write_whole_file(file, {whole.dump(1, ' ', false, json::error_handler_t::replace), "\n"});
  return failed ? failed.message() : std::string();
}

}  // namespace tessera::placement
