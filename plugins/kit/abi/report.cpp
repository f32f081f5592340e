#include "plugins/kit/abi/report.hpp"

#include <cstdarg>
#include <cstdio>

namespace tessera::kit {

tsr_status reporter::fail(tsr_status status, const char* format, ...) const noexcept {
  if (m_host == nullptr || m_host->error == nullptr) return status;
  char text[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  m_host->error(m_host->context, status, text);
  return status;
}

tsr_status reporter::fail_with(tsr_status status, const std::string& text) const noexcept {
  if (m_host != nullptr && m_host->error != nullptr) m_host->error(m_host->context, status, text.c_str());
  return status;
}

void reporter::log(int level, const char* format, ...) const noexcept {
  if (m_host == nullptr || !TSR_HAS(tsr_host, m_host, log) || m_host->log == nullptr) return;
  char text[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  m_host->log(m_host->context, level, text);
}

const char* word_for(tsr_status status) noexcept {
  switch (status) {
    case TSR_OK:
      return "OK";
    case TSR_CANCELLED:
      return "CANCELLED";
    case TSR_UNKNOWN:
      return "UNKNOWN";
    case TSR_INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case TSR_DEADLINE_EXCEEDED:
      return "DEADLINE_EXCEEDED";
    case TSR_NOT_FOUND:
      return "NOT_FOUND";
    case TSR_ALREADY_EXISTS:
      return "ALREADY_EXISTS";
    case TSR_PERMISSION_DENIED:
      return "PERMISSION_DENIED";
    case TSR_RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case TSR_FAILED_PRECONDITION:
      return "FAILED_PRECONDITION";
    case TSR_ABORTED:
      return "ABORTED";
    case TSR_OUT_OF_RANGE:
      return "OUT_OF_RANGE";
    case TSR_UNIMPLEMENTED:
      return "UNIMPLEMENTED";
    case TSR_INTERNAL:
      return "INTERNAL";
    case TSR_UNAVAILABLE:
      return "UNAVAILABLE";
    case TSR_DATA_LOSS:
      return "DATA_LOSS";
    case TSR_UNAUTHENTICATED:
      return "UNAUTHENTICATED";
    case TSR_DEVICE_LOST:
      return "DEVICE_LOST";
    case TSR_NOT_READY:
      return "NOT_READY";
    case TSR_WORKING_SET_TOO_LARGE:
      return "WORKING_SET_TOO_LARGE";
    default:
      return "a status of its own";
  }
}

}  // namespace tessera::kit
