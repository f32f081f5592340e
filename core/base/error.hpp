#pragma once
// The one family of exceptions of Tessera's public interface.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera {

/// What went wrong, from the user's point of view. The command line turns each into a documented exit code.
enum class error_kind : std::uint8_t {
  usage,          ///< wrong arguments to a command or function; exit code 2
  configuration,  ///< a configuration file, environment variable or option; exit code 3
  input,          ///< a data file; exit code 4
  plugin,         ///< a plugin that cannot be loaded, opened or trusted; exit code 5
  numerical,      ///< the mathematics does not allow it (not positive definite); exit code 6
  memory,         ///< something does not fit; exit code 7
  task,           ///< a task failed or was cancelled; exit code 8
  device,         ///< a device failed; exit code 9
  validation,     ///< validation mode has found a mistake of the program; exit code 10
  output,         ///< a result cannot be written: a full disk, a closed standard output; exit code 11
  interrupted,    ///< the user asked to stop; exit code 130
  internal        ///< a bug of Tessera; exit code 70
};

/// The word for a kind ("configuration").
std::string_view name_of(error_kind kind) noexcept;

/// The exit code of a command that ended with an error of this kind.
int exit_code_of(error_kind kind) noexcept;

/// Thrown at the public interface. what() is the whole text: the message, then "at" and "hint" lines where given.
class error : public std::runtime_error {
 public:
  /// @param kind     whose mistake it is
  /// @param message  what happened, one sentence without a full stop
  /// @param where    file:line:column, a task's name and site, a device: wherever it happened; may be empty
  /// @param hint     what to do about it; may be empty
  error(error_kind kind, std::string message, std::string where = {}, std::string hint = {});

  error_kind kind() const noexcept { return m_kind; }                ///< whose mistake it is
  const std::string& message() const noexcept { return m_message; }  ///< what happened
  const std::string& where() const noexcept { return m_where; }      ///< where; may be empty
  const std::string& hint() const noexcept { return m_hint; }        ///< what to do about it; may be empty

 private:
  error_kind m_kind;
  std::string m_message, m_where, m_hint;
};

}  // namespace tessera
