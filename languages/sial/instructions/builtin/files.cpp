// Blocks in files of the working directory.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/base/whole_file.hpp"
#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/builtin/builtin.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {
namespace {

constexpr std::array<char, 8> block_magic{'S', 'I', 'A', 'L', 'B', 'L', 'K', '1'};

/// "a[1.2].txt" for the block of segments 1 and 2 of array a.
std::string file_of(const sial_argument& block, const char* ending) {
  if (block.rank == 0) refuse(fmt::format("{} is a scalar, and a block is expected", shown(block)));
  const std::string name =
      fmt::format("{}[{}]{}", block.name, fmt::join(block.segments, block.segments + block.rank, "."), ending);
  if (name.find('/') != name.npos) refuse(fmt::format("'{}' cannot be the name of a file", name));
  return name;
}

std::string contents(const std::string& name) {
  errno = 0;
  std::ifstream stream(name, std::ios::binary);
  if (!stream) refuse(fmt::format("cannot read the file '{}': {}", name, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// w: numbers between blanks, as many as the block has elements, in the order of storage.
void read_text(const instruction_call& c) {
  const sial_argument& to = c.arguments[0];
  const std::string name = file_of(to, ".txt"), text = contents(name);
  constexpr std::string_view blanks = " \t\r\n";
  std::int64_t count = 0;
  for (std::size_t at = text.find_first_not_of(blanks); at != text.npos; at = text.find_first_not_of(blanks, at)) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    double value = 0;
    const auto [stop, status] = std::from_chars(text.data() + at + (text[at] == '+' ? 1 : 0), text.data() + end, value);
    if (status != std::errc{} || stop != text.data() + end)
      refuse(fmt::format("{}: '{}' is not a number", name, text.substr(at, end - at)));
    if (count == to.elements)
      refuse(fmt::format("{} has more than the {} numbers of {}", name, to.elements, shown(to)));
    to.data[count++] = value;
    at = end;
  }
  if (count < to.elements)
    refuse(fmt::format("{} has {} numbers, {} has {} elements", name, count, shown(to), to.elements));
}

/// A mark, the rank and extents as 64-bit integers, the elements.
std::string header_of(const sial_argument& block) {
  std::string header(block_magic.data(), block_magic.size());
  const std::int64_t rank = block.rank;
  header.append(reinterpret_cast<const char*>(&rank), sizeof rank);
  header.append(reinterpret_cast<const char*>(block.extents), static_cast<std::size_t>(rank) * sizeof(std::int64_t));
  return header;
}

void write_block(const instruction_call& c) {
  const sial_argument& from = c.arguments[0];
  const std::string name = file_of(from, ".block"), header = header_of(from);
  const std::string_view elements(reinterpret_cast<const char*>(from.data),
                                  static_cast<std::size_t>(from.elements) * sizeof(double));
  if (const std::error_code reason = write_whole_file(name, {header, elements}))
    refuse(fmt::format("cannot write the file '{}': {}", name, reason.message()));
}

void read_block(const instruction_call& c) {
  const sial_argument& to = c.arguments[0];
  const std::string name = file_of(to, ".block"), bytes = contents(name), header = header_of(to);
  if (!bytes.starts_with(std::string_view(block_magic.data(), block_magic.size())))
    refuse(fmt::format("{} is no file of a block", name));
  if (!bytes.starts_with(header))
    refuse(fmt::format("{} holds a block of other extents than {}, which is {}", name, shown(to), extents_of(to)));
  const std::size_t size = static_cast<std::size_t>(to.elements) * sizeof(double);
  if (bytes.size() != header.size() + size)
    refuse(fmt::format("{} has {} bytes, and {} are expected", name, bytes.size(), header.size() + size));
  std::memcpy(to.data, bytes.data() + header.size(), size);
}

}  // namespace

std::vector<instruction> file_instructions() {
  return {{"read_block_from_text_file", {"w", "u"}, {}, read_text},
          {"read_block_from_file", {"w", "u"}, {}, read_block},
          {"write_block_to_file", {"r", "u"}, {}, write_block}};
}

}  // namespace tessera::sial
