#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/config/toml.hpp"
#include "languages/sial/data/init_file.hpp"

namespace tessera::sial {
namespace {

using config::value;

[[noreturn]] void fail(const value& at, std::string message, std::string hint = {}) {
  throw error(error_kind::input, std::move(message), at.where, std::move(hint));
}

[[noreturn]] void wrong(const value& at, const std::string& what, const char* expected) {
  fail(at, fmt::format("{} is {}, not {}", what, at.type_name(), expected));
}

std::int64_t whole(const value& from, const std::string& what) {
  const auto* number = from.get<std::int64_t>();
  if (!number) wrong(from, what, "an integer");
  return *number;
}

/// A whole number is taken too, when a double holds it exactly.
double number(const value& from, const std::string& what) {
  if (const auto* real = from.get<double>()) return *real;
  const auto* integer = from.get<std::int64_t>();
  if (!integer) wrong(from, what, "a number");
  constexpr std::int64_t most = std::int64_t{1} << 53;
  if (*integer > most || *integer < -most)
    fail(from, fmt::format("{} is {}, which no double holds exactly", what, *integer), "write it with a point");
  return static_cast<double>(*integer);
}

std::string text(const value& from, const std::string& what) {
  const auto* words = from.get<std::string>();
  if (!words) wrong(from, what, "text in quotes");
  if (words->find('\0') != words->npos) fail(from, what + " has a null inside");
  return *words;
}

const config::table& members(const value& from, const std::string& what) {
  const auto* table = from.get<config::table>();
  if (!table) wrong(from, what, "a table");
  return *table;
}

template <typename reader>
auto elements(const value& from, const std::string& what, reader&& read) {
  const auto* list = from.get<config::array>();
  if (!list) wrong(from, what, "a list");
  std::vector<decltype(read(from, what))> all;
  all.reserve(list->size());
  for (const value& element : *list) all.push_back(read(element, "an element of " + what));
  return all;
}

void unknown(const value& at, const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  const std::string near = suggest(name, known);
  fail(at, fmt::format("unknown {} '{}'", what, name),
       near.empty() ? fmt::format("known: {}", fmt::join(known, ", ")) : fmt::format("did you mean '{}'?", near));
}

/// Members by names in lower case.
template <typename type, typename reader>
void read_named(const value& from, const std::string& what, std::map<std::string, type>& to, reader&& read) {
  for (const auto& [name, is] : members(from, what + "s"))
    if (!to.emplace(in_lower_case(name), read(is, fmt::format("{} '{}'", what, name))).second)
      fail(is, fmt::format("{} '{}' is there twice", what, in_lower_case(name)), "upper and lower case are the same");
}

void read_segments(const value& from, init_data& to) {
  std::vector<std::string> known;
  for (int k = 0; k <= static_cast<int>(index_kind::sub); ++k)
    known.emplace_back(segment_table_name(static_cast<index_kind>(k)));
  for (const auto& [name, is] : members(from, "segments")) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) unknown(is, "kind of segments", name, known);
    to.segments[static_cast<index_kind>(found - known.begin())] = elements(
        is, fmt::format("the list of segments of kind {}", name), [&](const value& v, const std::string& what) {
          const std::int64_t length = whole(v, what);
          if (length < 1) fail(v, fmt::format("a segment of kind {} has the length {}", name, length));
          return length;
        });
  }
}

/// { dims = [..], data = [..] }; or a list alone, of one dimension.
template <typename element, typename reader>
init_array<element> read_array(const value& from, const std::string& what, reader&& read) {
  init_array<element> array;
  array.where = from.where;
  if (from.get<config::array>() != nullptr) {
    array.values = elements(from, what, read);
    array.dims = {static_cast<std::int64_t>(array.values.size())};
    return array;
  }
  const value *dims = nullptr, *data = nullptr;
  for (const auto& [name, is] : members(from, what)) {
    if (name == "dims")
      dims = &is;
    else if (name == "data")
      data = &is;
    else
      unknown(is, "key of " + what + ":", name, {"dims", "data"});
  }
  if (!data) fail(from, what + " has no 'data'");
  array.values = elements(*data, "the data of " + what, read);
  array.dims = dims ? elements(*dims, "the dims of " + what, whole)
                    : std::vector{static_cast<std::int64_t>(array.values.size())};
  const std::int64_t wanted = elements_of(array.dims, dims ? dims->where : data->where);
  if (static_cast<std::uint64_t>(wanted) != array.values.size())
    fail(*data, fmt::format("{} has {} values, dims [{}] make {}", what, array.values.size(),
                            fmt::join(array.dims, ", "), wanted));
  return array;
}

void read_key(const std::string& name, const value& is, init_data& to) {
  static const std::vector<std::string> known{"programs",     "ints",       "scalars", "segments",
                                              "float_arrays", "int_arrays", "options"};
  if (name == "programs")
    to.programs = elements(is, "the list of programs", text);
  else if (name == "ints")
    read_named(is, "int constant", to.ints, whole);
  else if (name == "scalars")
    read_named(is, "scalar constant", to.scalars, number);
  else if (name == "segments")
    read_segments(is, to);
  else if (name == "float_arrays")
    read_named(is, "float array", to.float_arrays,
               [](const value& v, const std::string& what) { return read_array<double>(v, what, number); });
  else if (name == "int_arrays")
    read_named(is, "int array", to.int_arrays,
               [](const value& v, const std::string& what) { return read_array<std::int64_t>(v, what, whole); });
  else if (name == "options")
    for (const auto& [program, options] : members(is, "options"))
      read_named(options, "option", to.options[program], text);
  else
    unknown(is, "key", name, known);
}

}  // namespace

init_data from_toml(std::string_view toml, const std::string& name) {
  config::table top;
  try {
    top = config::parse_toml(toml, name);
  } catch (const error& failure) {
    throw error(error_kind::input, failure.message(), failure.where(), failure.hint());
  }
  init_data data;
  for (const auto& [key, is] : top) read_key(key, is, data);
  return data;
}

}  // namespace tessera::sial
