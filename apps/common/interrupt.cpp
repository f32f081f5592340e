#include "apps/common/interrupt.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <thread>

#include "core/base/error.hpp"

namespace tessera::apps {

struct interrupt_watch::implementation {
  sigset_t signals{}, before{};
  int signal_file = -1, end_file = -1;
  std::function<void()> stop;
  std::thread watcher;
};

interrupt_watch::interrupt_watch(std::function<void()> stop) : m_implementation(std::make_unique<implementation>()) {
  implementation& my = *m_implementation;
  my.stop = std::move(stop);
  sigemptyset(&my.signals);
  sigaddset(&my.signals, SIGINT);
  sigaddset(&my.signals, SIGTERM);
  // Blocked here and in every thread that is started later, so that the signals arrive at the file alone.
  pthread_sigmask(SIG_BLOCK, &my.signals, &my.before);
  my.signal_file = signalfd(-1, &my.signals, SFD_CLOEXEC);
  my.end_file = eventfd(0, EFD_CLOEXEC);
  if (my.signal_file < 0 || my.end_file < 0) {
    pthread_sigmask(SIG_SETMASK, &my.before, nullptr);
    throw error(error_kind::internal, "cannot watch for Ctrl-C: no file descriptors");
  }
  my.watcher = std::thread([&my] {
    pthread_setname_np(pthread_self(), "tsr-interrupt");
    for (bool again = false;;) {
      pollfd files[2] = {{my.signal_file, POLLIN, 0}, {my.end_file, POLLIN, 0}};
      if (poll(files, 2, -1) < 0) continue;
      if ((files[1].revents & POLLIN) != 0) return;
      signalfd_siginfo info{};
      if (read(my.signal_file, &info, sizeof info) != sizeof info) continue;
      if (again) _exit(128 + static_cast<int>(info.ssi_signo));
      again = true;
      my.stop();
    }
  });
}

interrupt_watch::~interrupt_watch() {
  implementation& my = *m_implementation;
  const std::uint64_t one = 1;
  if (write(my.end_file, &one, sizeof one) == sizeof one) my.watcher.join();
  else my.watcher.detach();
  close(my.signal_file);
  close(my.end_file);
  pthread_sigmask(SIG_SETMASK, &my.before, nullptr);
}

}  // namespace tessera::apps
