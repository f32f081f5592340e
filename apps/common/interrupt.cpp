#include "apps/common/interrupt.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/base/whole_file.hpp"

namespace tessera::apps {
namespace {

using clock = std::chrono::steady_clock;

/// Around the streams of the C and C++ libraries: what hangs may hold their locks. On a terminal it takes the place of
/// a line of progress.
void tell(const std::string& line) {
  static_cast<void>(write_all(STDERR_FILENO, (isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "") + line + "\n"));
}

[[noreturn]] void end_now() { _exit(exit_code_of(error_kind::interrupted)); }

}  // namespace

struct interrupt_watch::implementation {
  sigset_t signals{}, before{};
  int signal_file = -1, end_file = -1;
  std::chrono::milliseconds grace{};
  std::function<void()> stop;
  std::function<bool()> hang_up;
  std::thread watcher, stopper;

  void watch();
  void begin_to_stop();
};

void interrupt_watch::implementation::begin_to_stop() {
  const std::string limit = format_seconds(std::chrono::duration<double>(grace).count());
  tell(fmt::format("interrupted: ending, within {}; press Ctrl-C again to end now", limit));
  stopper = std::thread([this] {  // of its own: what it calls may hang
    pthread_setname_np(pthread_self(), "tsr-stop");
    stop();
  });
}

void interrupt_watch::implementation::watch() {
  pthread_setname_np(pthread_self(), "tsr-interrupt");
  bool interrupted = false;
  clock::time_point last;
  for (;;) {
    pollfd files[2] = {{signal_file, POLLIN, 0}, {end_file, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(last - clock::now()).count();
    const int ready = poll(files, 2, interrupted ? static_cast<int>(std::max<std::int64_t>(left, 0)) : -1);
    if (ready < 0) continue;
    if ((files[1].revents & POLLIN) != 0) return;
    if (ready == 0) {
      if (clock::now() < last) continue;
      tell("interrupted: something is still running and does not end; the process ends without it");
      end_now();
    }
    signalfd_siginfo info{};
    if (read(signal_file, &info, sizeof info) != sizeof info) continue;
    if (info.ssi_signo == SIGHUP && hang_up()) continue;
    if (interrupted) end_now();
    interrupted = true;
    last = clock::now() + grace;
    begin_to_stop();
  }
}

interrupt_watch::interrupt_watch(std::function<void()> stop, std::chrono::milliseconds grace,
                                 std::function<bool()> hang_up)
    : m_implementation(std::make_unique<implementation>()) {
  implementation& my = *m_implementation;
  my.stop = std::move(stop);
  my.grace = grace;
  my.hang_up = std::move(hang_up);
  sigemptyset(&my.signals);
  sigaddset(&my.signals, SIGINT);
  sigaddset(&my.signals, SIGTERM);
  if (my.hang_up) sigaddset(&my.signals, SIGHUP);
  // Blocked here and in every thread that is started later, so that the signals arrive at the file alone.
  pthread_sigmask(SIG_BLOCK, &my.signals, &my.before);
  my.signal_file = signalfd(-1, &my.signals, SFD_CLOEXEC);
  my.end_file = eventfd(0, EFD_CLOEXEC);
  if (my.signal_file < 0 || my.end_file < 0) {
    pthread_sigmask(SIG_SETMASK, &my.before, nullptr);
    throw error(error_kind::internal, "cannot watch for Ctrl-C: no file descriptors");
  }
  my.watcher = std::thread([&my] { my.watch(); });
}

interrupt_watch::~interrupt_watch() {
  implementation& my = *m_implementation;
  const std::uint64_t one = 1;
  if (::write(my.end_file, &one, sizeof one) == sizeof one)
    my.watcher.join();
  else
    my.watcher.detach();
  if (my.stopper.joinable()) my.stopper.join();
  close(my.signal_file);
  close(my.end_file);
  pthread_sigmask(SIG_SETMASK, &my.before, nullptr);
}

}  // namespace tessera::apps
