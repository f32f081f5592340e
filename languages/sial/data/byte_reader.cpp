#include "languages/sial/data/byte_reader.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "core/base/error.hpp"

namespace tessera::sial {

static_assert(std::endian::native == std::endian::little, "values are copied as they are");

std::string byte_reader::place(std::size_t offset) const { return fmt::format("{}, byte {}", m_name, offset); }

void byte_reader::fail(std::size_t offset, std::string message, std::string hint) const {
  throw error(error_kind::input, std::move(message), place(offset), std::move(hint));
}

const char* byte_reader::take(std::size_t size, const std::string& field) {
  const std::size_t left = m_bytes.size() - m_offset;
  if (size > left)
    fail(m_offset, fmt::format("the file ends in {}: {} bytes are expected, {} are left", field, size, left),
         "is it truncated?");
  const char* const at = m_bytes.data() + m_offset;
  m_offset += size;
  return at;
}

std::int32_t byte_reader::whole(const std::string& field) {
  std::int32_t value = 0;
  std::memcpy(&value, take(sizeof value, field), sizeof value);
  return value;
}

double byte_reader::number(const std::string& field) {
  double value = 0;
  std::memcpy(&value, take(sizeof value, field), sizeof value);
  return value;
}

std::size_t byte_reader::count(const std::string& field, std::size_t least) {
  const std::size_t at = m_offset;
  const std::int32_t n = whole(field);
  if (n < 0) fail(at, fmt::format("{} is {}, which is negative", field, n), "a count of 0 or more is expected");
  const std::size_t left = m_bytes.size() - m_offset;
  if (static_cast<std::size_t>(n) > left / least)
    fail(at,
         fmt::format("{} is {}: that takes {} bytes at least, and {} are left", field, n,
                     static_cast<std::size_t>(n) * least, left),
         "is the file truncated?");
  return static_cast<std::size_t>(n);
}

std::string byte_reader::text(const std::string& field) {
  const std::size_t at = m_offset;
  const std::size_t length = count("the length of " + field, 1);
  if (length == 0)
    fail(at, fmt::format("the length of {} is 0", field),
         "the length counts the null at the end: 1 or more is expected");
  const char* const begin = take(length, field);
  const void* const end = std::memchr(begin, 0, length);
  if (end != begin + length - 1)
    fail(
        at + 4,
        end == nullptr ? fmt::format("{} does not end with a null", field) : fmt::format("{} has a null inside", field),
        "text and one null are expected");
  return {begin, length - 1};
}

std::vector<std::int64_t> byte_reader::wholes(const std::string& field) {
  const std::size_t n = count("the count of " + field, sizeof(std::int32_t));
  const char* from = take(n * sizeof(std::int32_t), field);
  std::vector<std::int64_t> values(n);
  for (std::int64_t& value : values) {
    std::int32_t narrow = 0;
    std::memcpy(&narrow, from, sizeof narrow);
    from += sizeof narrow;
    value = narrow;
  }
  return values;
}

std::vector<double> byte_reader::numbers(const std::string& field) {
  const std::size_t n = count("the count of " + field, sizeof(double));
  const char* const from = take(n * sizeof(double), field);
  std::vector<double> values(n);
  if (n != 0) std::memcpy(values.data(), from, n * sizeof(double));
  return values;
}

void byte_reader::expect_end() {
  if (m_offset != m_bytes.size())
    fail(m_offset, fmt::format("the file goes on for {} bytes after its last field", m_bytes.size() - m_offset),
         "the end of the file is expected");
}

}  // namespace tessera::sial
