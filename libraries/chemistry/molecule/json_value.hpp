#pragma once
// Values of a JSON text, and where they are.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {

struct json_tree;
struct json_source;

/// A value of a document, which outlives it. What it throws is tessera::error of kind input, at
/// "water.json:3:5: molecule.real[1]". A member that is null is as good as none.
class json_value {
 public:
  [[noreturn]] void fail(std::string message, std::string hint = {}) const;
  std::string where() const;

  bool is_null() const noexcept;
  bool is_flag() const noexcept;
  bool is_whole() const noexcept;   ///< written without a fraction and an exponent
  bool is_number() const noexcept;  ///< whole or not
  bool is_text() const noexcept;
  bool is_list() const noexcept;
  bool is_object() const noexcept;

  /// Each throws where the value is of another type, and for a number that is too large.
  bool flag() const;
  std::int64_t whole() const;
  double number() const;
  const std::string& text() const;
  /// A whole number between two limits; 1.0 is one, too.
  std::int64_t whole(std::int64_t least, std::int64_t most) const;

  /// Of a list.
  std::size_t size() const;
  json_value at(std::size_t n) const;

  /// Of an object: its keys as they are written, one after the other.
  std::vector<std::string> keys() const;
  bool has(std::string_view key) const;
  /// The member, which must be there.
  json_value at(std::string_view key) const;

  /// The value as it is written. With as many line breaks and blanks before it that a reader of the text finds it at
  /// the same line and column.
  std::string text_at_its_place() const;

 private:
  friend class json_document;
  json_value(const json_source& from, const json_tree& at, std::string path);
  [[noreturn]] void fail_type(const char* expected) const;
  const json_source* m_from;
  const json_tree* m_at;
  std::string m_path;
};

/// A text that is JSON. The text and its name are copied.
class json_document {
 public:
  /// Throws tessera::error of kind input with name:line:column: for what is no JSON, a key that an object has twice,
  /// and more than a hundred values inside each other.
  json_document(std::string_view text, const std::string& name);
  ~json_document();
  json_document(const json_document&) = delete;
  json_document& operator=(const json_document&) = delete;

  json_value root() const;

 private:
  const std::unique_ptr<json_source> m_source;
};

}  // namespace tessera::chemistry
