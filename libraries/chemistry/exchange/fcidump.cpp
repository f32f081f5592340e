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

constexpr double min_written = 1e-15;
constexpr std::int64_t max_orbitals = 500;  // 63 GB of integrals

std::size_t written(const std::vector<double>& integrals) {
  return static_cast<std::size_t>(
      std::ranges::count_if(integrals, [](double value) { return std::abs(value) > min_written; }));
}

void add_line(std::string& to, double value, std::size_t p, std::size_t q, std::size_t r, std::size_t s) {
  fmt::format_to(std::back_inserter(to), "{:>23.16e} {:>4} {:>4} {:>4} {:>4}\n", value, p, q, r, s);
}

void add_one_electron(std::string& to, std::size_t n, const std::vector<double>& one) {
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t q = 0; q <= p; ++q)
      if (const double value = one[hamiltonian::pair(p, q)]; std::abs(value) > min_written)
        add_line(to, value, p + 1, q + 1, 0, 0);
}

void add_two_electron(std::string& to, std::size_t n, const std::vector<double>& two) {
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t q = 0; q <= p; ++q)
      for (std::size_t r = 0; r <= p; ++r)
        for (std::size_t s = 0; s <= (r == p ? q : r); ++s)
          if (const double value = two[hamiltonian::pair(hamiltonian::pair(p, q), hamiltonian::pair(r, s))];
              std::abs(value) > min_written)
            add_line(to, value, p + 1, q + 1, r + 1, s + 1);
}

/// Pairs of different spins do not change places.
void add_mixed(std::string& to, const hamiltonian& of) {
  for (std::size_t p = 0; p < of.orbitals; ++p)
    for (std::size_t q = 0; q <= p; ++q)
      for (std::size_t r = 0; r < of.orbitals; ++r)
        for (std::size_t s = 0; s <= r; ++s)
          if (const double value = of.mixed_repulsion(p, q, r, s); std::abs(value) > min_written)
            add_line(to, value, p + 1, q + 1, r + 1, s + 1);
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
    if (m_spins_apart) end_blocks();
    for (std::vector<double>* const all : {&m_made.one, &m_made.two, &m_made.one_beta, &m_made.two_beta, &m_made.mixed})
      for (double& value : *all)
        if (std::isnan(value)) value = 0;
    return std::move(m_made);
  }

 private:
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  void make_room() {
    const std::size_t pairs = hamiltonian::pairs(m_made.orbitals);
    require_memory_for((m_spins_apart ? 4 : 1) * static_cast<double>(hamiltonian::pairs(pairs)),
                       fmt::format("the integrals over {} orbitals", m_made.orbitals));
    m_made.one.assign(pairs, unknown);
    m_made.two.assign(hamiltonian::pairs(pairs), unknown);
    if (!m_spins_apart) return;
    m_made.one_beta = m_made.one;
    m_made.two_beta = m_made.two;
    m_made.mixed.assign(pairs * pairs, unknown);
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
      const bool no = word == "0" || word == ".false." || word == "f";
      if (!no && word != "1" && word != ".true." && word != "t")
        m_from.fail(fmt::format("{} is {}", key, in_quotes(word)), "1, with a block of integrals for each spin, or 0");
      m_spins_apart = !no;
      return;
    }
    if (key != "norb" && key != "nelec" && key != "ms2")
      m_from.fail(fmt::format("the header has no key {}", in_quotes(key)), "NORB, NELEC, MS2, ORBSYM, ISYM, IUHF");
    const std::string text(word);
    text_reader number(text, m_no_name);
    (void)number.next_line();
    std::int64_t value = 0;
    try {
      value = number.whole(key, key == "ms2" ? 0 : 1, max_orbitals * 2);
    } catch (const error& e) {
      m_from.fail(e.message());
    }
    if (key == "norb" && value > max_orbitals) m_from.fail(fmt::format("{} orbitals are too many", value));
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
    if (zeros == 3 && at[0] > 0) return;  // the energy of an orbital is known from the others
    if (zeros == 4 && m_spins_apart) return end_block(value);
    if (zeros == 4) {
      set(m_core, value);
      m_made.core_energy = value;
    } else if (zeros == 0 && (!m_spins_apart || m_block < first_of_one_electron)) {
      set(two_electron(hamiltonian::pair(at[0] - 1, at[1] - 1), hamiltonian::pair(at[2] - 1, at[3] - 1)), value);
    } else if (zeros == 2 && at[0] > 0 && at[1] > 0 && (!m_spins_apart || m_block >= first_of_one_electron)) {
      require_block();
      set((m_block > first_of_one_electron ? m_made.one_beta : m_made.one)[hamiltonian::pair(at[0] - 1, at[1] - 1)],
          value);
    } else if (m_spins_apart && (zeros == 0 || zeros == 2)) {
      m_from.fail(fmt::format("such an integral does not belong to block {}", m_block + 1), blocks);
    } else {
      m_from.fail("no integral has such ordinals", "(pq|rs) has four, h(p,q) has p q 0 0, the core 0 0 0 0");
    }
  }

  double& two_electron(std::size_t pq, std::size_t rs) {
    if (m_block == 2) return m_made.mixed[pq * hamiltonian::pairs(m_made.orbitals) + rs];
    return (m_block == 1 ? m_made.two_beta : m_made.two)[hamiltonian::pair(pq, rs)];
  }

  void require_block() {
    if (m_spins_apart && m_block >= blocks_of_spins) m_from.fail("an integral follows behind the last block", blocks);
  }

  /// A line of zeros ends a block, the one behind the last has the core.
  void end_block(double value) {
    if (m_block == blocks_of_spins + 1) m_from.fail("there are more than five blocks and the core", blocks);
    if (m_block < blocks_of_spins - 1 && value != 0)
      m_from.fail(fmt::format("block {} ends with {}, and 0 is expected", m_block + 1, value), blocks);
    m_made.core_energy = value;
    ++m_block;
  }

  void end_blocks() {
    if (m_block < blocks_of_spins) m_from.fail(fmt::format("the file ends in block {} of five", m_block + 1), blocks);
  }

  void set(double& to, double value) {
    if (!std::isnan(to) && std::abs(to - value) > 1e-8)
      m_from.fail(fmt::format("the integral is there twice, with {} and {}", to, value));
    to = value;
  }

  static constexpr int blocks_of_spins = 5, first_of_one_electron = 3;
  static constexpr const char* blocks =
      "(pq|rs) of alpha, of beta, of alpha with beta, h of alpha, of beta, each with a line 0 0 0 0 0 behind it; the "
      "core";

  text_reader m_from;
  hamiltonian m_made;
  bool m_spins_apart = false;
  int m_block = 0;                                           // with IUHF=1: from 0; 5: behind the last one
  std::map<std::string, int> m_values;                       // keys that were there
  double m_core = std::numeric_limits<double>::quiet_NaN();  // as it was read
  const std::string m_no_name;
};

}  // namespace

std::string fcidump_text(const hamiltonian& of) {
  std::string text = fmt::format(" &FCI NORB={},NELEC={},MS2={},\n  ORBSYM=", of.orbitals, of.electrons, of.unpaired);
  for (std::size_t p = 0; p < of.orbitals; ++p) text += "1,";
  std::size_t lines = 6;  // of the core, and ends of blocks; memory at once: it may be most of all
  for (const std::vector<double>* const all : {&of.one, &of.one_beta, &of.two, &of.two_beta, &of.mixed})
    lines += written(*all);
  text.reserve(text.size() + fcidump_line * lines);
  text += of.spins_are_apart() ? "\n  ISYM=1,IUHF=1,\n &END\n" : "\n  ISYM=1,\n &END\n";
  add_two_electron(text, of.orbitals, of.two);
  if (!of.spins_are_apart()) {
    add_one_electron(text, of.orbitals, of.one);
  } else {
    add_line(text, 0, 0, 0, 0, 0);
    add_two_electron(text, of.orbitals, of.two_beta);
    add_line(text, 0, 0, 0, 0, 0);
    add_mixed(text, of);
    for (const std::vector<double>* const one : {&of.one, &of.one_beta}) {
      add_line(text, 0, 0, 0, 0, 0);
      add_one_electron(text, of.orbitals, *one);
    }
    add_line(text, 0, 0, 0, 0, 0);
  }
  add_line(text, of.core_energy, 0, 0, 0, 0);
  return text;
}

hamiltonian read_fcidump(const std::filesystem::path& file) { return parse_fcidump(text_of_file(file), file.string()); }

hamiltonian parse_fcidump(std::string_view text, const std::string& name) { return fcidump_reader(text, name).read(); }

}  // namespace tessera::chemistry
