#include "libraries/chemistry/molecule/read_xyz.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "libraries/chemistry/molecule/read_element.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

constexpr const char* xyz_form = "an XYZ file: the number of atoms, a comment line, then lines like 'O 0.0 0.0 0.117'";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c & 0x80) != 0; }

/// Whether a text in small letters has a word, with no letter before or behind it.
bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto behind = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (behind == text.size() || !is_letter(text[behind]))) return true;
  }
  return false;
}

length_unit unit_of_comment(const text_reader& from) {
  const std::string comment = in_small_letters(from.rest_of_line());
  if (!has_word(comment, "bohr")) return length_unit::angstrom;
  if (comment.find("ngstr") != comment.npos)  // with or without a ring on its first letter
    from.fail("the comment has both bohr and angstrom", "leave out the one that the coordinates are not in");
  return length_unit::bohr;
}

atom read_atom(text_reader& from, double bohr_per_unit) {
  atom one;
  const std::string_view element = from.word();
  if (element.empty()) from.fail("an atom is missing", xyz_form);
  one.number = element_in(from, element);
  constexpr std::array<std::string_view, 3> axes = {"the x coordinate", "the y coordinate", "the z coordinate"};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    one.at[axis] = from.number(axes[axis]) * bohr_per_unit;
    if (!std::isfinite(one.at[axis])) from.fail(fmt::format("{} is too large", axes[axis]));
  }
  from.expect_end(xyz_form);
  return one;
}

double bohr_in(length_unit unit) { return unit == length_unit::bohr ? 1.0 : 1.0 / angstrom_per_bohr; }

}  // namespace

std::vector<atom> parse_atoms(std::string_view text, const std::string& name, length_unit unit) {
  text_reader from(text, name);
  std::vector<atom> atoms;
  while (from.next_line_with_words()) atoms.push_back(read_atom(from, bohr_in(unit)));
  if (atoms.empty()) from.fail("there are no atoms", "a line for each atom has its element and x, y, z");
  return atoms;
}

molecule read_xyz(const std::filesystem::path& file, std::optional<length_unit> unit) {
  return parse_xyz(text_of_file(file), file.string(), unit);
}

molecule parse_xyz(std::string_view text, const std::string& name, std::optional<length_unit> unit) {
  text_reader from(text, name);
  if (!from.next_line_with_words()) from.fail("the file is empty", xyz_form);
  const std::int64_t count = from.whole("the number of atoms", 1, std::numeric_limits<std::int32_t>::max());
  from.expect_end(xyz_form);
  if (!from.next_line()) from.fail("the comment line is missing", xyz_form);
  if (!unit) unit = unit_of_comment(from);

  molecule read;
  read.name = name;
  while (static_cast<std::int64_t>(read.atoms.size()) < count) {
    if (!from.next_line_with_words())
      from.fail(fmt::format("the file ends after {} of {} atoms", read.atoms.size(), count));
    read.atoms.push_back(read_atom(from, bohr_in(*unit)));
  }
  if (from.next_line_with_words())
    from.fail(fmt::format("there is more behind the {} atoms that the first line says", count),
              "one molecule is read: take the others out of the file");
  return read;
}

}  // namespace tessera::chemistry
