// Every program of programs/ prints what it should, with any number of workers.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "jobs.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using testing::common_data;
using testing::programs_from_files;
using testing::run_job;
using testing::sial_programs;

const std::string folder = std::string(TESSERA_SOURCE_DIR) + "/tests/integration/sial/programs/";

std::vector<std::string> names_of_programs() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".out") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream from(text);
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream from(line);
  for (std::string word; from >> word;) words.push_back(word);
  return words;
}

bool number(const std::string& word, double& value) {
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  return problem == std::errc() && end == word.data() + word.size();
}

bool same_word(const std::string& a, const std::string& b) {
  double x = 0, y = 0;
  if (!number(a, x) || !number(b, y)) return a == b;
  return std::abs(x - y) <= 1e-12 * std::max({1.0, std::abs(x), std::abs(y)});
}

/// Takes "12:  " from a line's beginning, when line 12 of a program prints.
std::string without_site(const std::string& line, const sial_programs& programs) {
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos || line.compare(digits, 3, ":  ") != 0) return line;
  const auto lines = programs.printing_lines(static_cast<std::uint32_t>(std::stoul(line)));
  const bool prints =
      std::ranges::any_of(lines, [](const std::string& l) { return l.find("print") != std::string::npos; });
  return prints ? line.substr(digits + 3) : line;
}

/// Says where the two differ first; nothing when they do not. Numbers have a tolerance; lines of files are left out.
std::string difference(const std::string& printed, const std::string& expected, const sial_programs& programs) {
  const auto a = lines_of(printed), b = lines_of(expected);
  for (std::size_t k = 0; k < std::max(a.size(), b.size()); ++k) {
    const auto text = [&](const std::vector<std::string>& lines) {
      return k < lines.size() ? "'" + lines[k] + "'" : std::string("nothing");
    };
    const auto said = "line " + std::to_string(k + 1) + ": printed " + text(a) + ", expected " + text(b) +
                      "\nall that was printed:\n" + printed;
    if (k >= a.size() || k >= b.size()) return said;
    if (!std::ranges::equal(words_of(without_site(a[k], programs)), words_of(b[k]), same_word)) return said;
  }
  return {};
}

struct setting {
  std::string name;
  unsigned workers;
  std::string machine = "host";
};

void PrintTo(const setting& s, std::ostream* out) {
  *out << s.name << " with " << s.workers << " workers on " << s.machine;
}

constexpr const char* processes = "processes";  // as a machine: each worker is one, on a host

class sial_program : public ::testing::TestWithParam<setting> {};

TEST_P(sial_program, prints_what_it_should) {
  const auto& [name, workers, machine] = GetParam();
  const sial::init_data data =
      fs::exists(folder + name + ".toml") ? sial::read_init(folder + name + ".toml") : common_data();
  std::vector<std::string> paths;
  for (const std::string& p : data.programs) paths.push_back(sial::find_program(p, {folder}));
  if (paths.empty()) paths.push_back(folder + name + ".sialx");
  const sial_programs programs = programs_from_files(paths);
  std::ifstream file(folder + name + ".out");
  const std::string expected(std::istreambuf_iterator<char>(file), {});
  const char* const wanted = std::getenv("TESSERA_SIAL_REPEATS");
  const int repeats = wanted != nullptr ? std::atoi(wanted) : machine == "host" ? 3 : 1;
  for (int r = 0; r < repeats; ++r) {
    for (const bool deterministic : {false, true}) {
      if (deterministic && r > 0) continue;
      // Short as they are, their statements go to devices where those can run them.
      const testing::sial_outcome outcome =
          machine == processes
              ? testing::run_job_by_processes(programs, data, {.workers = workers, .deterministic = deterministic})
              : run_job(programs, data, {workers, deterministic, machine, sial::device_use::always});
      ASSERT_EQ(difference(outcome.printed, expected, programs), "")
          << "repeat " << r << (deterministic ? ", deterministic" : "");
    }
  }
}

std::vector<setting> settings() {
  std::vector<setting> all;
  for (const std::string& name : names_of_programs())
    for (const unsigned workers : {1u, 2u, 3u, 4u, 8u}) all.push_back({name, workers});
  return all;
}

std::vector<setting> settings_on(std::initializer_list<const char*> machines) {
  std::vector<setting> all;
  for (const std::string& name : names_of_programs())
    for (const char* machine : machines)
      for (const unsigned workers : {1u, 2u, 3u}) all.push_back({name, workers, machine});
  return all;
}

std::string name_with_machine(const ::testing::TestParamInfo<setting>& of) {
  std::string text = of.param.name + "_" + of.param.machine + "_" + std::to_string(of.param.workers);
  std::ranges::replace(text, ' ', '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(with_devices, sial_program,
                         ::testing::ValuesIn(settings_on({"two hosts", "sim", "two sims", "cuda_emulated"})),
                         name_with_machine);
INSTANTIATE_TEST_SUITE_P(by, sial_program, ::testing::ValuesIn(settings_on({processes})), name_with_machine);
#ifdef TESSERA_TEST_OPENCL
INSTANTIATE_TEST_SUITE_P(with_opencl, sial_program, ::testing::ValuesIn(settings_on({"opencl"})), name_with_machine);
#endif
INSTANTIATE_TEST_SUITE_P(all, sial_program, ::testing::ValuesIn(settings()),
                         [](const auto& of) { return of.param.name + "_" + std::to_string(of.param.workers); });

TEST(sial_programs, each_has_an_expected_output) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".sialx") continue;
    const std::string stem = entry.path().stem().string();
    if (stem.ends_with("_defs")) continue;  // imported
    const std::string job = stem.substr(0, stem.find("_part"));
    EXPECT_TRUE(fs::exists(folder + job + ".out")) << stem;
  }
}

TEST(sial_programs, what_is_deleted_gives_its_memory_back) {
  sial::init_data data;
  data.segments[sial::index_kind::mo] = {100};
  const std::string text =
      "sial again_and_again\nmoindex i = 1:1\nmoindex j = 1:1\nindex k = 1:200\ndistributed d[i, j]\nserved s[i, "
      "j]\ntemp t[i, j]\n"
      "do k\npardo i, j\nt[i,j] = 1.0\nput d[i,j] = t[i,j]\nprepare s[i,j] = t[i,j]\nendpardo i, "
      "j\nsip_barrier\ndelete d\ndestroy s\nenddo k\n"
      "endsial again_and_again\n";
  for (const unsigned workers : {1u, 3u})
    EXPECT_LT(testing::run_text(text, data, workers).peak_bytes, 20u * 80'000) << "of 400 blocks of 80 kB";
}

}  // namespace
}  // namespace tessera
