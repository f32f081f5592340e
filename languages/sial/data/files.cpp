#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/toml.hpp"
#include "languages/sial/data/init_file.hpp"

namespace tessera::sial {
namespace {

bool is_toml(const std::filesystem::path& file) { return in_lower_case(file.extension().string()) == ".toml"; }

std::string contents(const std::filesystem::path& file) {
  try {
    return config::read_text_file(file);
  } catch (const error& failure) {
    throw error(error_kind::input, failure.message(), {}, failure.hint());
  }
}

}  // namespace

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

init_data read_init(const std::filesystem::path& file) {
  const std::string bytes = contents(file);
  if (bytes.empty()) throw error(error_kind::input, "the initialization file is empty", file.string());
  init_data data = is_toml(file) ? from_toml(bytes, file.string()) : from_binary(bytes, file.string());
  check_init(data, file.string());
  return data;
}

void write_init(const init_data& data, const std::filesystem::path& file) {
  const std::string bytes = is_toml(file) ? to_toml(data) : to_binary(data);
  if (const std::error_code reason = write_whole_file(file, {bytes}))
    throw error(error_kind::output, fmt::format("cannot write the file '{}': {}", file.string(), reason.message()), {},
                std::string(hint_for_writing(reason)));
}

}  // namespace tessera::sial
