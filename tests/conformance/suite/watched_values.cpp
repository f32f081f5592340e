#include "tests/conformance/suite/watched_values.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

namespace tessera::conformance {
namespace {

/// The part of tsr_option_value that says which option it is; what it holds lies behind.
constexpr std::size_t head = offsetof(tsr_option_value, integer);
static_assert(offsetof(tsr_option_value, name) < head && offsetof(tsr_option_value, number) > head &&
              offsetof(tsr_option_value, text) > head);

std::size_t page() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// What the handler of signals looks at: the pages of the values that stand, and which of them were touched. A value
/// has two pages: its head ends the first one, and the second one is watched.
std::atomic<unsigned char*> watched{nullptr};
std::atomic<std::uint32_t> watched_count{0};
std::atomic<bool>* touched = nullptr;
struct sigaction before;

/// Calls nothing that a signal handler may not. An access to anything else happens again, for who was there before.
void on_access(int, siginfo_t* info, void*) {
  unsigned char* const begin = watched.load();
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr), from = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t number = begin == nullptr || at < from ? ~std::size_t{0} : (at - from) / (2 * page());
  if (number >= watched_count.load()) {
    sigaction(SIGSEGV, &before, nullptr);
    return;
  }
  touched[number].store(true);
  mprotect(begin + (2 * number + 1) * page(), page(), PROT_READ | PROT_WRITE);
}

}  // namespace

watched_values::watched_values(const std::vector<plugin::option_value>& from)
    : m_length((2 * from.size() + 2) * page()), m_count(static_cast<std::uint32_t>(from.size())) {
  void* const memory = mmap(nullptr, m_length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  m_bytes = static_cast<unsigned char*>(memory);
  // A plugin that steps by its own sizeof, for which there is another check, finds values without a name.
  const tsr_option_value nameless{sizeof(tsr_option_value), TSR_OPTION_BOOL, "", 0, 0, ""};
  for (std::size_t at = page() - head; at + sizeof nameless <= m_length; at += sizeof nameless)
    std::memcpy(m_bytes + at, &nameless, sizeof nameless);
  touched = new std::atomic<bool>[m_count + 1] {};
  for (std::size_t i = 0; i < m_count; ++i) {
    const plugin::option_value& one = from[i];
    const tsr_option_value value{
        static_cast<std::uint32_t>(2 * page()), one.type, one.name.c_str(), one.integer, one.number, one.text.c_str()};
    std::memcpy(m_bytes + 2 * i * page() + page() - head, &value, sizeof value);
    mprotect(m_bytes + (2 * i + 1) * page(), page(), PROT_NONE);
  }
  watched_count.store(m_count);
  watched.store(m_bytes);
  struct sigaction ours {};
  ours.sa_sigaction = on_access;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, &before);
}

watched_values::~watched_values() {
  sigaction(SIGSEGV, &before, nullptr);
  watched.store(nullptr);
  delete[] touched;
  munmap(m_bytes, m_length);
}

const tsr_option_value* watched_values::data() const noexcept {
  return reinterpret_cast<const tsr_option_value*>(m_bytes + page() - head);
}

bool watched_values::was_read(std::uint32_t i) const noexcept { return touched[i].load(); }

}  // namespace tessera::conformance
