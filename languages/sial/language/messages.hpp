#pragma once
// Collects what is said about a program, up to a limit.
#include <string>
#include <vector>

#include "languages/sial/language/source.hpp"

namespace tessera::sial {

/// A place with the number of characters to underline.
struct span {
  place where;
  std::uint32_t length = 1;
};

class message_list {
 public:
  static constexpr std::size_t error_limit = 50;  ///< later errors are counted, not kept
  static constexpr std::size_t warning_limit = 50;

  /// Keeps the first error of a line: what follows in it is often its consequence.
  void error(span where, std::string what, std::string hint = {});
  void warning(span where, std::string what, std::string hint = {});

  std::size_t errors() const { return m_errors; }
  bool full() const { return m_errors >= error_limit; }  ///< hints are not worth their time any more
  /// All messages in the order of their files and lines, then one that counts the errors beyond the limit.
  std::vector<message> take();

 private:
  std::vector<message> m_messages;
  std::size_t m_errors = 0, m_kept_errors = 0, m_warnings = 0;
};

}  // namespace tessera::sial
