#include <fmt/format.h>

#include <limits>

#include "core/base/error.hpp"
#include "languages/sial/data/file_form.hpp"
#include "languages/sial/data/init_file.hpp"

namespace tessera::sial {
namespace {

/// Appends fields.
class byte_writer {
 public:
  void whole(std::int64_t value, std::string_view what) {
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
      throw error(error_kind::input, fmt::format("{} is {}, which the binary form has no room for", what, value), {},
                  "its integers have 32 bits; the TOML form takes 64");
    const auto narrow = static_cast<std::int32_t>(value);
    append(&narrow, sizeof narrow);
  }
  void count(std::size_t value, std::string_view what) { whole(static_cast<std::int64_t>(value), what); }
  void number(double value) { append(&value, sizeof value); }
  void text(const std::string& value) {
    if (value.find('\0') != value.npos)
      throw error(error_kind::input, fmt::format("'{}' has a null inside", value.c_str()));
    count(value.size() + 1, "the length of a name");
    append(value.c_str(), value.size() + 1);
  }
  void values(const std::vector<std::int64_t>& all, std::string_view what) {
    count(all.size(), what);
    for (const std::int64_t value : all) whole(value, what);
  }
  void values(const std::vector<double>& all, std::string_view what) {
    count(all.size(), what);
    append(all.data(), all.size() * sizeof(double));
  }
  std::string take() { return std::move(m_bytes); }

 private:
  void append(const void* data, std::size_t size) { m_bytes.append(static_cast<const char*>(data), size); }
  std::string m_bytes;
};

template <typename element>
void write_arrays(byte_writer& to, const std::map<std::string, init_array<element>>& arrays, const char* kind) {
  to.count(arrays.size(), "the number of arrays");
  for (const auto& [name, array] : arrays) {
    const std::string what = fmt::format("{} array '{}'", kind, name);
    to.text(name);
    to.count(array.dims.size(), "the rank");
    to.values(array.dims, "an extent of " + what);
    to.values(array.values, "a value of " + what);
  }
}

}  // namespace

std::string to_binary(const init_data& data) {
  byte_writer to;
  to.whole(binary_magic, "the magic number");
  to.whole(binary_version, "the version");
  to.count(data.programs.size(), "the number of programs");
  for (const std::string& program : data.programs) to.text(program);
  to.count(data.ints.size(), "the number of int constants");
  for (const auto& [name, value] : data.ints) {
    to.text(name);
    to.whole(value, fmt::format("int constant '{}'", name));
  }
  to.count(data.scalars.size(), "the number of scalar constants");
  for (const auto& [name, value] : data.scalars) {
    to.text(name);
    to.number(value);
  }
  to.count(data.segments.size(), "the number of segment tables");
  for (const auto& [kind, lengths] : data.segments) {
    to.whole(first_kind_code + static_cast<std::int32_t>(kind), "the kind");
    to.values(lengths, fmt::format("a segment's length of kind {}", segment_table_name(kind)));
  }
  write_arrays(to, data.float_arrays, "float");
  write_arrays(to, data.int_arrays, "int");
  to.count(data.options.size(), "the number of programs with options");
  for (const auto& [program, options] : data.options) {
    to.text(program);
    to.count(options.size(), "the number of options");
    for (const auto& [name, value] : options) {
      to.text(name);
      to.text(value);
    }
  }
  return to.take();
}

}  // namespace tessera::sial
