#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "libraries/chemistry/basis/basis_set.hpp"
#include "libraries/chemistry/molecule/element.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

constexpr std::string_view end_of_element = "****";
constexpr std::string_view momentum_letters = "spdfghik";
constexpr const char* element_form = "an element begins with its symbol and 0: 'H 0'";
constexpr const char* shell_form = "a shell begins with its momentum, the number of primitives and a scale: 'S 3 1.00'";

/// What a shell's head says.
struct shell_head {
  std::vector<int> momenta;  ///< of the columns; one momentum may have several columns
  std::int64_t primitives = 0;
  double scale = 1;
};

/// Reads a text into a set, element by element.
class gaussian94_reader {
 public:
  gaussian94_reader(std::string_view text, const std::string& name) : m_from(text, name, {.comment = "!"}) {
    m_set.name = name;
  }

  basis_set read() {
    while (m_from.next_line_with_words()) {
      const std::string_view first = m_from.peek();
      if (first == end_of_element)
        end_elements();
      else if (!m_open.empty())
        read_shell();
      else if (const std::string small = in_small_letters(first); small == "spherical" || small == "cartesian")
        read_form(small == "spherical");
      else
        begin_elements();
    }
    if (!m_open.empty())
      m_from.fail(fmt::format("the file ends among the shells of {}", symbol_of(m_open.front())),
                  "'****' ends an element");
    if (m_set.shells_of.empty()) m_from.fail("the basis set has no elements", element_form);
    return std::move(m_set);
  }

 private:
  void read_form(bool spherical) {
    (void)m_from.word();
    if (m_form && *m_form != spherical) m_from.fail("the set is said to be spherical and Cartesian");
    if (!m_set.shells_of.empty()) m_from.fail("spherical or cartesian stands before the first element");
    m_form = spherical;
    m_from.expect_end();
  }

  /// "H 0", or several symbols that share shells. "-H" is for programs that load what a molecule needs, as is done
  /// here.
  void begin_elements() {
    for (std::string_view word = m_from.word(); word != "0"; word = m_from.word()) {
      if (word.empty()) m_from.fail("0 is missing behind the element", element_form);
      const std::string_view symbol = word.substr(word.starts_with('-') ? 1 : 0);
      if (is_core_potential(symbol)) fail_core_potential(symbol);
      const int number = find_element(symbol);
      if (number == 0)
        m_from.fail(fmt::format("no element has the symbol {}", in_quotes(symbol)), hint_for_element(symbol));
      if (std::ranges::find(m_open, number) != m_open.end()) fail_twice(m_from.place(), number);
      if (m_set.shells_of.contains(number)) m_again = {m_from.place(), number};
      m_open.push_back(number);
    }
    if (m_open.empty()) m_from.fail("the element is missing", element_form);
    m_from.expect_end(element_form);
    if (m_again) require_core_potential();
  }

  static bool is_core_potential(std::string_view word) { return in_small_letters(word).ends_with("-ecp"); }

  [[noreturn]] void fail_core_potential(std::string_view word) const {
    m_from.fail(fmt::format("{} begins an effective core potential, which is not supported", in_quotes(word)),
                "a basis for all electrons is needed");
  }

  [[noreturn]] void fail_twice(text_place at, int number) const {
    m_from.fail_at(at, fmt::format("the element {} is given twice", symbol_of(number)));
  }

  /// Core potentials stand behind all shells, and name their element again.
  [[noreturn]] void require_core_potential() {
    if (!m_from.next_line_with_words() || !is_core_potential(m_from.peek())) fail_twice(m_again->at, m_again->number);
    fail_core_potential(m_from.word());
  }

  void end_elements() {
    (void)m_from.word();
    if (!m_open.empty() && m_shells.empty())
      m_from.fail(fmt::format("the element {} has no shells", symbol_of(m_open.front())), shell_form);
    m_from.expect_end();
    for (const int number : m_open) m_set.shells_of.emplace(number, m_shells);
    m_open.clear();
    m_shells.clear();
  }

  shell_head read_head() {
    shell_head head;
    const std::string_view word = m_from.word();
    if (is_core_potential(word)) fail_core_potential(word);
    const std::string letter = in_small_letters(word);
    if (letter == "sp" || letter == "l")
      head.momenta = {0, 1};
    else if (const auto found = momentum_letters.find(letter); letter.size() == 1 && found != momentum_letters.npos)
      head.momenta = {static_cast<int>(found)};
    else
      m_from.fail(fmt::format("{} is no momentum of a shell", in_quotes(word)),
                  "s, p, d, f, g, h, i, k, sp or l; '****' ends an element");
    head.primitives = m_from.whole("the number of primitives", 1, std::numeric_limits<std::int32_t>::max());
    if (!m_from.at_end_of_line()) head.scale = m_from.number("the scale factor");
    if (!(head.scale > 0)) m_from.fail("the scale factor is not positive");
    m_from.expect_end(shell_form);
    return head;
  }

  void read_shell() {
    const shell_head head = read_head();
    const text_place at{m_from.place().line, 1};
    std::vector<shell> columns;
    for (std::int64_t row = 0; row < head.primitives; ++row) {
      if (!m_from.next_line_with_words())
        m_from.fail(fmt::format("the file ends after {} of {} primitives", row, head.primitives));
      if (m_from.peek() == end_of_element) {
        (void)m_from.word();
        m_from.fail(fmt::format("the element ends after {} of {} primitives", row, head.primitives));
      }
      const double exponent = m_from.number("the exponent") * head.scale * head.scale;
      refuse_if(fault_of_exponent(exponent));
      const std::vector<double> coefficients = read_coefficients();
      if (row == 0) columns = empty_columns(head, coefficients.size());
      if (coefficients.size() != columns.size())
        m_from.fail(fmt::format("the primitive has {} coefficients, and the shell {} columns", coefficients.size(),
                                columns.size()));
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (coefficients[i] == 0) continue;
        columns[i].exponents.push_back(exponent);
        columns[i].coefficients.push_back(coefficients[i]);
      }
    }
    for (shell& one : columns) {
      if (const std::string fault = fault_of(one); !fault.empty()) m_from.fail_at(at, fault);
      m_shells.push_back(std::move(one));
    }
  }

  void refuse_if(const std::string& fault) const {
    if (!fault.empty()) m_from.fail(fault);
  }

  std::vector<double> read_coefficients() {
    std::vector<double> found;
    do {
      found.push_back(m_from.number("the coefficient"));
      refuse_if(fault_of_coefficient(found.back()));
    } while (!m_from.at_end_of_line());
    return found;
  }

  std::vector<shell> empty_columns(const shell_head& head, std::size_t count) const {
    if (head.momenta.size() > 1 && count != head.momenta.size())
      m_from.fail(fmt::format("a primitive of an SP shell has 2 coefficients, not {}", count));
    std::vector<shell> columns(count);
    for (std::size_t i = 0; i < count; ++i) {
      columns[i].momentum = head.momenta[head.momenta.size() > 1 ? i : 0];
      columns[i].spherical = m_form.value_or(true);
    }
    return columns;
  }

  text_reader m_from;
  basis_set m_set;
  std::optional<bool> m_form;  ///< whether spherical, where the text says so
  std::vector<int> m_open;     ///< elements whose shells are being read
  struct element_again {
    text_place at;
    int number = 0;
  };
  std::optional<element_again> m_again;  ///< an element that has its shells already
  std::vector<shell> m_shells;
};

}  // namespace

basis_set read_gaussian94(const std::filesystem::path& file) {
  return parse_gaussian94(text_of_file(file), file.string());
}

basis_set parse_gaussian94(std::string_view text, const std::string& name) {
  return gaussian94_reader(text, name).read();
}

}  // namespace tessera::chemistry
