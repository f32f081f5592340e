// Blocking requests, side by side in a few threads.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "plugins/disk/engine.hpp"
#include "plugins/kit/system/thread_setup.hpp"

namespace tessera::disk {
namespace {

/// Does pieces until there are none. Nothing may leave a thread of ours, and a caller waits for all helpers.
void work(transfer& what, piece& space, scratch& own) noexcept {
  try {
    what.work_all(space, own);
  } catch (const std::exception& error) {
    what.fail({TSR_RESOURCE_EXHAUSTED, std::string("a request to the disk was given up: ") + error.what()});
  }
}

class thread_engine final : public engine {
 public:
  thread_engine(std::uint32_t threads, const tsr_host* host) {
    for (std::uint32_t i = 0; i < threads; ++i)
      m_threads.emplace_back([this, i, host] {
        kit::set_up_thread("disk.io" + std::to_string(i), host);
        help();
      });
  }
  ~thread_engine() override {
    {
      const std::lock_guard lock(m_mutex);
      m_ending = true;
    }
    m_wanted.notify_all();
    for (auto& thread : m_threads) thread.join();
  }

  void run(transfer& what, scratch& own) override {
    piece space;
    if (!what.is_large()) return work(what, space, own);
    round mine{&what};
    {
      const std::lock_guard lock(m_mutex);
      m_rounds.push_back(&mine);
    }
    m_wanted.notify_all();
    work(what, space, own);
    std::unique_lock lock(m_mutex);
    std::erase(m_rounds, &mine);  // nobody begins with it any more
    m_left.wait(lock, [&] { return mine.helpers == 0; });
  }

 private:
  struct round {
    transfer* source;
    std::uint32_t helpers = 0;  // threads at work on it; under m_mutex
  };

  void help() {
    scratch own;
    piece space;
    std::unique_lock lock(m_mutex);
    for (;;) {
      m_wanted.wait(lock, [&] { return m_ending || !m_rounds.empty(); });
      if (m_ending) return;
      round* mine = m_rounds.front();  // to the back with it: the next thread helps the next stream
      m_rounds.pop_front();
      m_rounds.push_back(mine);
      ++mine->helpers;
      lock.unlock();
      work(*mine->source, space, own);
      lock.lock();
      std::erase(m_rounds, mine);  // there is nothing left in it to begin with
      if (--mine->helpers == 0) m_left.notify_all();
    }
  }

  std::mutex m_mutex;
  std::condition_variable m_wanted, m_left;
  std::deque<round*> m_rounds;  // under m_mutex
  bool m_ending = false;        // under m_mutex
  std::vector<std::thread> m_threads;
};

}  // namespace

std::shared_ptr<engine> make_thread_engine(std::uint32_t threads, const tsr_host* host) {
  return std::make_shared<thread_engine>(threads, host);
}

}  // namespace tessera::disk
