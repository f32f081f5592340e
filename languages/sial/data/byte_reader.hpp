#pragma once
// Fields of the binary form, one after another, and where each stands.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::sial {

/// Walks over bytes. Each function takes the name of the field for messages, and throws tessera::error (kind input, "at
/// NAME, byte OFFSET") when the field cannot be there. Nothing is allocated for values before they are known to be in
/// the file.
class byte_reader {
 public:
  byte_reader(std::span<const char> bytes, const std::string& name) : m_bytes(bytes), m_name(name) {}

  std::int32_t whole(const std::string& field);  ///< 4 bytes, little endian
  double number(const std::string& field);       ///< 8 bytes, IEEE
  /// A length that counts the null at the end, then that many bytes; without the null.
  std::string text(const std::string& field);
  /// A number of things that take `least` bytes each, at least.
  std::size_t count(const std::string& field, std::size_t least);
  std::vector<std::int64_t> wholes(const std::string& field);  ///< a count, then as many values
  std::vector<double> numbers(const std::string& field);       ///< the same of 8 bytes
  void expect_end();

  std::size_t offset() const noexcept { return m_offset; }
  /// "NAME, byte OFFSET".
  std::string place(std::size_t offset) const;
  /// Complains about the field that began at `offset`.
  [[noreturn]] void fail(std::size_t offset, std::string message, std::string hint = {}) const;

 private:
  const char* take(std::size_t size, const std::string& field);

  std::span<const char> m_bytes;
  const std::string& m_name;
  std::size_t m_offset = 0;
};

}  // namespace tessera::sial
