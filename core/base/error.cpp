#include "core/base/error.hpp"

#include <utility>

namespace tessera {
namespace {

std::string compose(const std::string& message, const std::string& where, const std::string& hint) {
  std::string text = message;
  if (!where.empty()) text += "\n  at: " + where;
  if (!hint.empty()) text += "\n  hint: " + hint;
  return text;
}

}  // namespace

std::string_view name_of(error_kind kind) noexcept {
  switch (kind) {
    case error_kind::usage:
      return "usage";
    case error_kind::configuration:
      return "configuration";
    case error_kind::input:
      return "input";
    case error_kind::plugin:
      return "plugin";
    case error_kind::numerical:
      return "numerical";
    case error_kind::memory:
      return "memory";
    case error_kind::task:
      return "task";
    case error_kind::device:
      return "device";
    case error_kind::validation:
      return "validation";
    case error_kind::output:
      return "output";
    case error_kind::interrupted:
      return "interrupted";
    case error_kind::internal:
      return "internal";
  }
  return "unknown";
}

int exit_code_of(error_kind kind) noexcept {
  switch (kind) {
    case error_kind::usage:
      return 2;
    case error_kind::configuration:
      return 3;
    case error_kind::input:
      return 4;
    case error_kind::plugin:
      return 5;
    case error_kind::numerical:
      return 6;
    case error_kind::memory:
      return 7;
    case error_kind::task:
      return 8;
    case error_kind::device:
      return 9;
    case error_kind::validation:
      return 10;
    case error_kind::output:
      return 11;
    case error_kind::interrupted:
      return 130;
    case error_kind::internal:
      return 70;
  }
  return 70;
}

error::error(error_kind kind, std::string message, std::string where, std::string hint)
    : std::runtime_error(compose(message, where, hint)),
      m_kind(kind),
      m_message(std::move(message)),
      m_where(std::move(where)),
      m_hint(std::move(hint)) {}

}  // namespace tessera
