#include "libraries/chemistry/checkpoint/amplitude_history.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "libraries/chemistry/checkpoint/record.hpp"

namespace tessera::chemistry {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view file_begin = "history.", file_end = ".checkpoint";

fs::path file_of(const fs::path& folder, int step) {
  return folder / fmt::format("{}{}{}", file_begin, step, file_end);
}

/// The step of such a file; 0: it is another one.
int step_of(const std::string& name) {
  if (!name.starts_with(file_begin) || !name.ends_with(file_end)) return 0;
  int step = 0;
  const char* const first = name.data() + file_begin.size();
  const char* const last = name.data() + name.size() - file_end.size();
  const auto [end, wrong] = std::from_chars(first, last, step);
  return wrong == std::errc() && end == last ? step : 0;
}

/// All numbers of one, with their names.
std::vector<std::pair<std::string, std::vector<double>*>> parts_of_step(history_step& of) {
  std::vector<std::pair<std::string, std::vector<double>*>> parts;
  for (amplitudes* const one : {&of.t, &of.change}) {
    const std::string begin = one == &of.t ? "" : "change of ";
    for (const std::size_t s : {0, 1}) {
      const std::string spin = s == 0 ? " alpha" : " beta";
      parts.emplace_back(begin + "singles" + spin, &one->singles[s]);
      parts.emplace_back(begin + "doubles" + spin, &one->alike[s]);
    }
    parts.emplace_back(begin + "doubles", &one->mixed);
  }
  return parts;
}

}  // namespace

void save_history_step(const fs::path& folder, int step, history_step what) {
  named_arrays arrays;
  for (const auto& [name, values] : parts_of_step(what)) arrays.emplace_back(name, *values);
  save_record(file_of(folder, step), "history", {{"step", step}}, arrays);
}

history_step load_history_step(const fs::path& folder, int step, const amplitudes& zeros) {
  const fs::path file = file_of(folder, step);
  std::optional<record> found = load_record(file, "history");
  if (!found) refuse_file(file, "there is no such file");
  history_step out{zeros, zeros};
  for (const auto& [name, values] : parts_of_step(out)) *values = take_array(*found, name, values->size(), file);
  return out;
}

void remove_history_before(const fs::path& folder, int step) noexcept {
  try {
    for (const fs::directory_entry& one : fs::directory_iterator(folder)) {
      const int found = step_of(one.path().filename().string());
      if (found > 0 && (step == 0 || found <= step - max_history_steps)) fs::remove(one.path());
    }
  } catch (const std::exception&) {
    return;  // they take room, and nothing reads them
  }
}

}  // namespace tessera::chemistry
