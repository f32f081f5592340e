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

/// All numbers of some amplitudes, with their names.
template <class Amplitudes, class Use>
void for_each_part(Amplitudes& of, const std::string& begin, const Use& use) {
  for (const std::size_t s : {0, 1}) {
    const std::string spin = s == 0 ? " alpha" : " beta";
    use(begin + "singles" + spin, of.singles[s]);
    use(begin + "doubles" + spin, of.alike[s]);
  }
  use(begin + "doubles", of.mixed);
}
constexpr const char* of_change = "change of ";

/// Takes what belongs to amplitudes like those that are given.
amplitudes take_like(const amplitudes& like, const std::string& begin, record& from, const fs::path& file) {
  amplitudes out;
  out.closed = like.closed;
  for (const std::size_t s : {0, 1}) {
    out.spins[s].occupied = like.spins[s].occupied;
    out.spins[s].empty = like.spins[s].empty;
  }
  std::vector<std::size_t> sizes;
  for_each_part(like, begin, [&](const std::string&, const std::vector<double>& one) { sizes.push_back(one.size()); });
  auto size = sizes.begin();
  for_each_part(out, begin, [&](const std::string& name, std::vector<double>& one) {
    one = take_array(from, name, *size++, file);
  });
  return out;
}

}  // namespace

void save_history_step(const fs::path& folder, int step, const history_step& what) {
  named_arrays arrays;
  const auto add = [&](const std::string& name, const std::vector<double>& one) { arrays.emplace_back(name, one); };
  for_each_part(what.t, "", add);
  for_each_part(what.change, of_change, add);
  save_record(file_of(folder, step), "history", {{"step", step}}, arrays);
}

history_step load_history_step(const fs::path& folder, int step, const amplitudes& like) {
  const fs::path file = file_of(folder, step);
  std::optional<record> found = load_record(file, "history");
  if (!found) refuse_file(file, "there is no such file");
  history_step out;
  out.t = take_like(like, "", *found, file);
  out.change = take_like(like, of_change, *found, file);
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
