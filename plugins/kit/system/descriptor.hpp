#pragma once
#include <unistd.h>

#include <utility>

namespace tessera::kit {

/// An open file, closed at the end of the scope. A negative number is none.
class descriptor {
 public:
  explicit descriptor(int number) : m_number(number) {}
  ~descriptor() { close(); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  explicit operator bool() const noexcept { return m_number >= 0; }
  int get() const noexcept { return m_number; }
  /// Now. False: there was none, or what was written did not arrive.
  bool close() { return m_number >= 0 && ::close(std::exchange(m_number, -1)) == 0; }

 private:
  int m_number;
};

}  // namespace tessera::kit
