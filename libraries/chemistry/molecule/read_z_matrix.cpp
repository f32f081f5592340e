#include "libraries/chemistry/molecule/read_z_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/suggest.hpp"
#include "libraries/chemistry/molecule/internal_coordinates.hpp"
#include "libraries/chemistry/molecule/read_element.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

constexpr const char* line_form = "a line is: element, reference, distance, reference, angle, reference, dihedral";
constexpr const char* variable_form = "behind a blank line are variables, such as 'r 0.96'";
constexpr std::string_view digits = "0123456789";
constexpr int dummy = 0;  // in place of an element's number
constexpr double radians_per_degree = std::numbers::pi / 180;

bool begins_name(std::string_view word) {
  return !word.empty() && ((word[0] >= 'a' && word[0] <= 'z') || (word[0] >= 'A' && word[0] <= 'Z') || word[0] == '_');
}

std::string_view without_sign(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  return word;
}

bool is_title(const text_reader& of) {
  const std::string title = in_small_letters(of.peek());
  return title == "variables:" || title == "variables" || title == "constants:" || title == "constants";
}

/// A distance or an angle as it is written.
struct written_value {
  double number = 0;     ///< the value, or the sign of the variable
  std::string variable;  ///< in small letters; empty for a number
  text_place at;
};

/// One line of the matrix: as many references, and values to them, as there are atoms before it, at most three.
struct z_matrix_row {
  int element = dummy;
  std::vector<std::size_t> references;
  std::vector<written_value> values;
};

struct z_matrix_variable {
  double value = 0;
  text_place at;
  bool used = false;
};

/// Reads a text into rows and variables, and makes a molecule of them.
class z_matrix_reader {
 public:
  z_matrix_reader(std::string_view text, const std::string& name)
      : m_from(text, name, {.between = " \t\r,=", .comment = "!#"}) {}

  molecule read() {
    read_rows();
    read_variables();
    std::vector<position> places;
    places.reserve(m_rows.size());
    for (const z_matrix_row& one : m_rows) places.push_back(place_of(one, places));
    for (const auto& [name, one] : m_variables)
      if (!one.used) m_from.fail_at(one.at, fmt::format("no line of the matrix uses the variable '{}'", name));
    for (std::size_t i = 0; i < m_rows.size(); ++i)
      if (m_rows[i].element != dummy) m_molecule.atoms.push_back({m_rows[i].element, places[i]});
    if (m_molecule.atoms.empty()) m_from.fail("the Z-matrix has dummies alone");
    return std::move(m_molecule);
  }

 private:
  void read_rows() {
    if (!m_from.next_line_with_words()) m_from.fail("the Z-matrix is empty", line_form);
    bool more = !read_charge() || m_from.next_line();
    for (; more && !m_from.at_blank_line() && !is_title(m_from); more = m_from.next_line())
      if (!m_from.at_end_of_line()) read_row();
    if (m_rows.empty()) m_from.fail("the Z-matrix has no atoms", line_form);
    if (more && !m_from.at_end_of_line()) read_title();
  }

  /// Takes a line of two whole numbers, and no other.
  bool read_charge() {
    text_reader ahead = m_from;
    for (int i = 0; i < 2; ++i) {
      const std::string_view word = without_sign(ahead.word());
      if (word.empty() || word.find_first_not_of(digits) != word.npos) return false;
    }
    if (!ahead.at_end_of_line()) return false;
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    m_molecule.charge = static_cast<int>(m_from.whole("the charge", -most, most));
    m_molecule.multiplicity = static_cast<int>(m_from.whole("the multiplicity", 1, most));
    return true;
  }

  void read_row() {
    z_matrix_row one;
    const std::string label = in_small_letters(m_from.word());
    one.element = element_of(label);
    constexpr std::array<std::string_view, 3> names = {"the distance", "the angle", "the dihedral"};
    for (std::size_t i = 0; i < std::min(names.size(), m_rows.size()); ++i) {
      one.references.push_back(read_reference(one, names[i]));
      one.values.push_back(read_value(names[i]));
    }
    m_from.expect_end(line_form);
    if (begins_name(label))
      if (const auto [first, fresh] = m_labels.emplace(label, m_rows.size()); !fresh) first->second = std::nullopt;
    m_rows.push_back(std::move(one));
  }

  int element_of(std::string_view label) const {
    if (!begins_name(label)) return element_in(m_from, label);
    const std::string_view symbol = label.substr(0, label.find_last_not_of(digits) + 1);
    return symbol == "x" || symbol == "xx" ? dummy : element_in(m_from, symbol);
  }

  std::size_t read_reference(const z_matrix_row& in, std::string_view of) {
    if (m_from.at_end_of_line()) {
      (void)m_from.word();
      m_from.fail(fmt::format("{} is missing", of), line_form);
    }
    const std::size_t found = begins_name(m_from.peek())
                                  ? labelled(in_small_letters(m_from.word()))
                                  : static_cast<std::size_t>(m_from.whole(fmt::format("the reference of {}", of), 1,
                                                                          static_cast<std::int64_t>(m_rows.size()))) -
                                        1;
    if (std::ranges::find(in.references, found) != in.references.end())
      m_from.fail(fmt::format("the reference of {} is one of this line's others", of), line_form);
    return found;
  }

  std::size_t labelled(const std::string& label) const {
    const auto found = m_labels.find(label);
    if (found == m_labels.end())
      m_from.fail(fmt::format("no atom before this one has the label {}", in_quotes(label)),
                  "a reference is the ordinal of an atom, from 1, or a label such as C1");
    if (!found->second)
      m_from.fail(fmt::format("several atoms have the label {}", in_quotes(label)), "give the ordinal of one, from 1");
    return *found->second;
  }

  written_value read_value(std::string_view what) {
    written_value read;
    if (begins_name(without_sign(m_from.peek()))) {
      const std::string_view word = m_from.word();
      read.number = word.starts_with('-') ? -1 : 1;
      read.variable = in_small_letters(without_sign(word));
    } else {
      read.number = m_from.number(what);
    }
    read.at = m_from.place();
    return read;
  }

  void read_title() {
    (void)m_from.word();
    m_from.expect_end(variable_form);
  }

  void read_variables() {
    while (m_from.next_line_with_words()) {
      if (is_title(m_from)) {
        read_title();
        continue;
      }
      const std::string name = in_small_letters(m_from.word());
      z_matrix_variable read;
      read.at = m_from.place();
      if (!begins_name(name)) m_from.fail(fmt::format("{} is no name of a variable", in_quotes(name)), variable_form);
      read.value = m_from.number(fmt::format("the value of {}", in_quotes(name)));
      m_from.expect_end(variable_form);
      if (!m_variables.emplace(name, read).second)
        m_from.fail_at(read.at, fmt::format("the variable {} is given twice", in_quotes(name)));
    }
  }

  double resolved(const written_value& written) {
    if (written.variable.empty()) return written.number;
    const auto found = m_variables.find(written.variable);
    if (found == m_variables.end()) {
      std::vector<std::string> names;
      names.reserve(m_variables.size());
      for (const auto& [name, one] : m_variables) names.push_back(name);
      const std::string nearest = suggest(written.variable, names);
      m_from.fail_at(written.at, fmt::format("no variable has the name {}", in_quotes(written.variable)),
                     nearest.empty() ? std::string(variable_form) : fmt::format("did you mean '{}'?", nearest));
    }
    found->second.used = true;
    return written.number * found->second.value;
  }

  /// In bohr.
  position place_of(const z_matrix_row& of, const std::vector<position>& before) {
    if (of.references.empty()) return {};
    const double distance = resolved(of.values[0]) / angstrom_per_bohr;
    if (!(distance > 0)) m_from.fail_at(of.values[0].at, "the distance is not positive");
    const position& bonded = before[of.references[0]];
    position found = bonded;
    if (of.references.size() == 1) {
      found[2] += distance;
    } else {
      const double degrees = resolved(of.values[1]), angle = degrees * radians_per_degree;
      if (!(degrees > 0 && degrees <= 180))
        m_from.fail_at(of.values[1].at, fmt::format("the angle is {} degrees", degrees),
                       "it is more than 0 and at most 180; the sign of a dihedral says to which side an atom is");
      const position& second = before[of.references[1]];
      if (of.references.size() == 2) {
        found[0] += distance * std::sin(angle);
        found[2] += distance * std::cos(angle) * (second[2] > bonded[2] ? 1 : -1);
      } else {
        const double dihedral = resolved(of.values[2]) * radians_per_degree;
        const auto turned = placed(bonded, distance, second, angle, before[of.references[2]], dihedral);
        if (!turned)
          m_from.fail_at(of.values[2].at, "the three references lie on a line, so that the dihedral says nothing",
                         "refer to another atom, or to a dummy X beside the line");
        found = *turned;
      }
    }
    for (const double coordinate : found)
      if (!std::isfinite(coordinate)) m_from.fail_at(of.values[0].at, "the distance is too large");
    return found;
  }

  text_reader m_from;
  molecule m_molecule;
  std::vector<z_matrix_row> m_rows;
  std::map<std::string, std::optional<std::size_t>> m_labels;  ///< ordinals from 0; none: of several atoms
  std::map<std::string, z_matrix_variable> m_variables;
};

}  // namespace

molecule read_z_matrix(const std::filesystem::path& file) { return parse_z_matrix(text_of_file(file), file.string()); }

molecule parse_z_matrix(std::string_view text, const std::string& name) {
  molecule read = z_matrix_reader(text, name).read();
  read.name = name;
  return read;
}

}  // namespace tessera::chemistry
