#include "libraries/chemistry/exchange/fcidump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "core/base/error.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

constexpr double least_written = 1e-15;
constexpr std::int64_t most_orbitals = 500;  // 63 GB of integrals

void add_line(std::string& to, double value, std::size_t p, std::size_t q, std::size_t r, std::size_t s) {
  fmt::format_to(std::back_inserter(to), "{:>23.16e} {:>4} {:>4} {:>4} {:>4}\n", value, p, q, r, s);
}

/// Reads a text into a Hamiltonian.
class fcidump_reader {
 public:
  fcidump_reader(std::string_view text, const std::string& name)
      : m_from(text, name, {.between = " \t\r,", .comment = {}}) {}

  hamiltonian read() {
    read_header();
    make_room();
    bool some = false;
    for (; m_from.next_line_with_words(); some = true) read_integral();
    if (!some) m_from.fail("there are no integrals behind the header");
    for (std::vector<double>* const all : {&m_made.one, &m_made.two})
      for (double& value : *all)
        if (std::isnan(value)) value = 0;
    return std::move(m_made);
  }

 private:
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  void make_room() {
    const std::size_t pairs = hamiltonian::pairs(m_made.orbitals);
    require_memory_for(static_cast<double>(hamiltonian::pairs(pairs)),
                       fmt::format("the integrals over {} orbitals", m_made.orbitals));
    m_made.one.assign(pairs, unknown);
    m_made.two.assign(hamiltonian::pairs(pairs), unknown);
  }

  void read_header() {
    const char* const form = "&FCI NORB=4, NELEC=4, MS2=0, ... &END";
    if (!m_from.next_line_with_words()) m_from.fail("the file is empty", form);
    if (in_small_letters(m_from.word()) != "&fci") m_from.fail("the header is missing", form);
    std::string key;
    for (bool ended = false; !ended;) {
      while (m_from.at_end_of_line())
        if (!m_from.next_line()) m_from.fail("the header has no end", form);
      std::string word = in_small_letters(m_from.word());
      if (word == "&end" || word == "/" || word == "$end") break;
      if (word.ends_with('/')) {
        ended = true;
        word.pop_back();
      }
      take(word, key);
    }
    if (!m_from.at_end_of_line()) m_from.fail("there is more behind the header on its line");
    if (m_values.find("norb") == m_values.end() || m_values.find("nelec") == m_values.end())
      m_from.fail("the header has no NORB or no NELEC", form);
    if (m_made.unpaired > m_made.electrons || (m_made.electrons - m_made.unpaired) % 2 != 0 ||
        m_made.electrons > 2 * static_cast<int>(m_made.orbitals))
      m_from.fail(fmt::format("{} electrons, {} unpaired, cannot be in {} orbitals", m_made.electrons, m_made.unpaired,
                              m_made.orbitals));
  }

  /// "norb=4", "norb=", "=", "4": keys and values may stand apart.
  void take(std::string_view word, std::string& key) {
    if (const auto equals = word.find('='); equals != word.npos) {
      if (equals > 0) key = word.substr(0, equals);
      word.remove_prefix(equals + 1);
      if (!m_values.emplace(key, 0).second) m_from.fail(fmt::format("{} is there twice", in_quotes(key)));
    } else if (!word.empty() && word.find_first_not_of("0123456789-+.truefalse") != word.npos) {
      key = word;  // an equals sign follows
      return;
    }
    if (!word.empty()) take_value(key, word);
  }

  void take_value(const std::string& key, std::string_view word) {
    if (key == "orbsym" || key == "isym") return;  // symmetry is not used
    if (key == "iuhf" || key == "uhf") {
      if (word != "0" && word != ".false." && word != "f") m_from.fail("integrals of each spin are not read");
      return;
    }
    if (key != "norb" && key != "nelec" && key != "ms2")
      m_from.fail(fmt::format("the header has no key {}", in_quotes(key)), "NORB, NELEC, MS2, ORBSYM, ISYM");
    const std::string text(word);
    text_reader number(text, m_no_name);
    (void)number.next_line();
    std::int64_t value = 0;
    try {
      value = number.whole(key, key == "ms2" ? 0 : 1, most_orbitals * 2);
    } catch (const error& e) {
      m_from.fail(e.message());
    }
    if (key == "norb" && value > most_orbitals) m_from.fail(fmt::format("{} orbitals are too many", value));
    if (key == "norb") m_made.orbitals = static_cast<std::size_t>(value);
    if (key == "nelec") m_made.electrons = static_cast<int>(value);
    if (key == "ms2") m_made.unpaired = static_cast<int>(value);
  }

  void read_integral() {
    const double value = m_from.number("the integral");
    std::array<std::size_t, 4> at{};
    for (std::size_t& one : at)
      one = static_cast<std::size_t>(
          m_from.whole("the ordinal of an orbital", 0, static_cast<std::int64_t>(m_made.orbitals)));
    m_from.expect_end("a line has a value and four ordinals");
    const auto zeros = std::ranges::count(at, std::size_t{0});
    if (zeros == 0) {
      set(m_made
              .two[hamiltonian::pair(hamiltonian::pair(at[0] - 1, at[1] - 1), hamiltonian::pair(at[2] - 1, at[3] - 1))],
          value);
    } else if (zeros == 2 && at[0] > 0 && at[1] > 0) {
      set(m_made.one[hamiltonian::pair(at[0] - 1, at[1] - 1)], value);
    } else if (zeros == 4) {
      set(m_core, value);
      m_made.core_energy = value;
    } else if (zeros != 3 || at[0] == 0) {  // the energy of an orbital is known from the others
      m_from.fail("no integral has such ordinals", "(pq|rs) has four, h(p,q) has p q 0 0, the core 0 0 0 0");
    }
  }

  void set(double& to, double value) {
    if (!std::isnan(to) && std::abs(to - value) > 1e-8)
      m_from.fail(fmt::format("the integral is there twice, with {} and {}", to, value));
    to = value;
  }

  text_reader m_from;
  hamiltonian m_made;
  std::map<std::string, int> m_values;                       // keys that were there
  double m_core = std::numeric_limits<double>::quiet_NaN();  // as it was read
  const std::string m_no_name;
};

}  // namespace

std::string fcidump_text(const hamiltonian& of) {
  std::string text = fmt::format(" &FCI NORB={},NELEC={},MS2={},\n  ORBSYM=", of.orbitals, of.electrons, of.unpaired);
  for (std::size_t p = 0; p < of.orbitals; ++p) text += "1,";
  text += "\n  ISYM=1,\n &END\n";
  const std::size_t n = of.orbitals;
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t q = 0; q <= p; ++q)
      for (std::size_t r = 0; r <= p; ++r)
        for (std::size_t s = 0; s <= (r == p ? q : r); ++s)
          if (const double value = of.repulsion(p, q, r, s); std::abs(value) > least_written)
            add_line(text, value, p + 1, q + 1, r + 1, s + 1);
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t q = 0; q <= p; ++q)
      if (const double value = of.h(p, q); std::abs(value) > least_written) add_line(text, value, p + 1, q + 1, 0, 0);
  add_line(text, of.core_energy, 0, 0, 0, 0);
  return text;
}

hamiltonian read_fcidump(const std::filesystem::path& file) { return parse_fcidump(text_of_file(file), file.string()); }

hamiltonian parse_fcidump(std::string_view text, const std::string& name) { return fcidump_reader(text, name).read(); }

}  // namespace tessera::chemistry
