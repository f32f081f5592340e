#include <fmt/format.h>

#include "languages/sial/data/byte_reader.hpp"
#include "languages/sial/data/file_form.hpp"
#include "languages/sial/data/init_file.hpp"

namespace tessera::sial {
namespace {

void read_start(byte_reader& from) {
  if (const std::int32_t magic = from.whole("the magic number"); magic != binary_magic)
    from.fail(0, fmt::format("the magic number is {}, not {}: this is no initialization file", magic, binary_magic),
              "a text form needs a name that ends in .toml");
  if (const std::int32_t version = from.whole("the version"); version != binary_version)
    from.fail(4, fmt::format("the version is {}", version), fmt::format("version {} is expected", binary_version));
}

/// A name in lower case that `all` does not have yet.
template <typename members>
std::string new_name(byte_reader& from, const members& all, const char* what, std::size_t k) {
  const std::size_t at = from.offset();
  std::string name = in_lower_case(from.text(fmt::format("the name of {} {}", what, k + 1)));
  if (all.contains(name))
    from.fail(at, fmt::format("{} '{}' is there twice", what, name),
              "a name is expected once (upper and lower case are the same)");
  return name;
}

void read_segments(byte_reader& from, init_data& to) {
  const std::size_t n = from.count("the number of segment tables", 8);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t at = from.offset();
    const std::int32_t code = from.whole(fmt::format("the kind of segment table {}", k + 1));
    if (code < first_kind_code || code > last_kind_code)
      from.fail(at, fmt::format("the kind of segment table {} is {}", k + 1, code),
                fmt::format("{} to {} are expected", first_kind_code, last_kind_code));
    const auto kind = static_cast<index_kind>(code - first_kind_code);
    if (to.segments.contains(kind))
      from.fail(at, fmt::format("the segment table {} is there twice", segment_table_name(kind)));
    to.segments[kind] = from.wholes(fmt::format("the lengths of the segments of kind {}", segment_table_name(kind)));
  }
}

template <typename element, typename values_reader>
void read_arrays(byte_reader& from, std::map<std::string, init_array<element>>& to, const char* what,
                 values_reader&& read_values) {
  const std::size_t n = from.count(fmt::format("the number of {}s", what), 17);
  for (std::size_t k = 0; k < n; ++k) {
    const std::string name = new_name(from, to, what, k);
    init_array<element> array;
    const std::size_t at_rank = from.offset();
    const std::int32_t rank = from.whole(fmt::format("the rank of {} '{}'", what, name));
    const std::size_t at_dims = from.offset();
    array.dims = from.wholes(fmt::format("the dims of {} '{}'", what, name));
    if (rank < 0 || static_cast<std::size_t>(rank) != array.dims.size())
      from.fail(at_rank,
                fmt::format("the rank of {} '{}' is {}, and it has {} dims", what, name, rank, array.dims.size()),
                "the same number is expected");
    const std::int64_t wanted =
        elements_of(array.dims, fmt::format("{}, dims of {} '{}'", from.place(at_dims), what, name));
    const std::size_t at_values = from.offset();
    array.values = read_values(fmt::format("the values of {} '{}'", what, name));
    if (static_cast<std::uint64_t>(wanted) != array.values.size())
      from.fail(at_values, fmt::format("{} '{}' has {} values", what, name, array.values.size()),
                fmt::format("dims [{}] make {}", fmt::join(array.dims, ", "), wanted));
    to.emplace(name, std::move(array));
  }
}

void read_options(byte_reader& from, init_data& to) {
  const std::size_t n = from.count("the number of programs with options", 9);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t at = from.offset();
    const std::string program = from.text(fmt::format("the name of program {} with options", k + 1));
    if (to.options.contains(program))
      from.fail(at, fmt::format("the options of program '{}' are there twice", program));
    auto& options = to.options[program];
    const std::size_t m = from.count(fmt::format("the number of options of program '{}'", program), 10);
    for (std::size_t j = 0; j < m; ++j) {
      const std::string key = new_name(from, options, "option", j);
      options[key] = from.text(fmt::format("the value of option '{}' of program '{}'", key, program));
    }
  }
}

}  // namespace

init_data from_binary(std::span<const char> bytes, const std::string& name) {
  byte_reader from(bytes, name);
  init_data data;
  read_start(from);
  for (std::size_t k = 0, n = from.count("the number of programs", 5); k < n; ++k)
    data.programs.push_back(from.text(fmt::format("the name of program {}", k + 1)));
  for (std::size_t k = 0, n = from.count("the number of int constants", 9); k < n; ++k) {
    const std::string key = new_name(from, data.ints, "int constant", k);
    data.ints[key] = from.whole(fmt::format("the value of int constant '{}'", key));
  }
  for (std::size_t k = 0, n = from.count("the number of scalar constants", 13); k < n; ++k) {
    const std::string key = new_name(from, data.scalars, "scalar constant", k);
    data.scalars[key] = from.number(fmt::format("the value of scalar constant '{}'", key));
  }
  read_segments(from, data);
  read_arrays(from, data.float_arrays, "float array", [&](const std::string& field) { return from.numbers(field); });
  read_arrays(from, data.int_arrays, "int array", [&](const std::string& field) { return from.wholes(field); });
  read_options(from, data);
  from.expect_end();
  return data;
}

}  // namespace tessera::sial
