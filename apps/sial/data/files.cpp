#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "apps/sial/data/init_file.hpp"
#include "core/base/error.hpp"
#include "core/config/toml.hpp"

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

[[noreturn]] void cannot_write(const std::filesystem::path& file, int reason) {
  throw error(error_kind::input, fmt::format("cannot write the file '{}': {}", file.string(), std::strerror(reason)), {},
              "check the path and its permissions");
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
  const std::filesystem::path part = fmt::format("{}.{}.part", file.string(), ::getpid());
  errno = 0;
  std::ofstream stream(part, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  const int reason = errno;
  if (!stream) {
    std::remove(part.c_str());
    cannot_write(file, reason);
  }
  if (std::rename(part.c_str(), file.c_str()) != 0) {
    const int why = errno;
    std::remove(part.c_str());
    cannot_write(file, why);
  }
}

}  // namespace tessera::sial
