#include "cluster/transport/rank_thread.hpp"

#include <algorithm>
#include <future>

namespace tessera::cluster {
namespace {

/// How often a worker looks before it does more than look: some microseconds, the time of a small operation in a node.
constexpr int looks = 200;
/// Sleeps end by a wake or by what comes; this is for what nobody foresaw.
constexpr std::chrono::milliseconds longest_sleep{100};

}  // namespace

rank_thread::rank_thread(std::function<std::shared_ptr<transport>()> open, std::int32_t rank,
                         std::function<void(const message_view&)> receive) {
  std::promise<void> opened;
  std::future<void> answer = opened.get_future();
  m_thread = std::thread([this, &opened, open = std::move(open), rank, receive = std::move(receive)]() mutable {
    std::unique_lock turn(m_turn);
    try {
      m_transport = open();
      m_endpoint = m_transport->open(rank, std::move(receive));
      m_description = m_endpoint->description();
    } catch (...) {
      m_endpoint.reset();
      m_transport.reset();
      opened.set_exception(std::current_exception());
      return;
    }
    opened.set_value();
    while (!m_ends.load()) {
      m_turn_is_free.wait(turn, [&] { return !m_helped.load(); });
      if (!step()) sleep(longest_sleep, nullptr);
    }
    m_may_close.wait(false);
    m_endpoint.reset();  // on this thread, as the transport may ask for
    m_transport.reset();
  });
  try {
    answer.get();
  } catch (...) {
    m_thread.join();
    throw;
  }
}

rank_thread::~rank_thread() {
  m_ends.store(true);
  m_endpoint->wake();
  m_may_close.store(true);
  m_may_close.notify_one();
  m_thread.join();
}

void rank_thread::submit(operation& one) {
  one.m_finished.store(false, std::memory_order_relaxed);
  one.m_thrown = nullptr;
  m_queue.push(one);
  // Either this sees that the other one sleeps, or that one sees the operation before it does (both seq_cst).
  if (m_sleeps.load(std::memory_order_seq_cst)) m_endpoint->wake();
}

void rank_thread::sleep(std::chrono::nanoseconds longest, const operation* until) {
  if (m_over != nullptr) {  // nothing comes any more, and the endpoint may refuse to wait
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return;
  }
  m_sleeps.store(true, std::memory_order_seq_cst);
  if (m_queue.empty() && !m_ends.load() && (until == nullptr ? !m_helped.load() : !until->finished())) {
    try {
      m_endpoint->wait(longest);
    } catch (...) {
      m_over = std::current_exception();
    }
  }
  m_sleeps.store(false, std::memory_order_relaxed);
}

/// Whether something happened.
bool rank_thread::step() {
  bool happened = false;
  m_queue.take_all([&](operation& one) {
    m_waiting.push_back(&one);
    happened = true;
  });
  start_waiting();
  if (m_over != nullptr && m_under_way.empty()) return happened;
  try {
    if (!m_endpoint->progress()) return happened;
  } catch (...) {
    if (m_over == nullptr) m_over = std::current_exception();
  }
  complete();
  start_waiting();  // there may be room now, or no more service
  return true;
}

void rank_thread::complete() {
  std::erase_if(m_under_way, [&](operation* one) {
    if (one->m_request.under_way()) return false;
    finish(*one);
    return true;
  });
}

void rank_thread::start_waiting() {
  while (!m_waiting.empty()) {
    operation& one = *m_waiting.front();
    try {
      if (m_over != nullptr) std::rethrow_exception(m_over);
      if (!one.begin(*m_endpoint, one.m_request)) return;
    } catch (...) {
      one.m_thrown = std::current_exception();
      one.m_request.status = TSR_OK;
    }
    m_waiting.pop_front();
    if (one.m_request.under_way())
      m_under_way.push_back(&one);
    else
      finish(one);
  }
}

void rank_thread::finish(operation& one) {
  if (one.m_request.status == TSR_CANCELLED && one.m_thrown == nullptr) one.m_thrown = m_over;  // it says why
  if (one.m_request.status != TSR_OK && one.m_thrown == nullptr) {
    try {
      check(one.m_request.status, "a request", m_transport->file());
    } catch (...) {
      one.m_thrown = std::current_exception();
    }
  }
  one.m_finished.store(true, std::memory_order_seq_cst);  // its owner may be gone from here on
  if (m_sleepers.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(m_sleep);
  m_finished.notify_all();
}

/// Makes the calls until the operation is finished; false where another worker does already.
bool rank_thread::help(operation& one) {
  if (m_description.thread_mode != TSR_THREAD_ONE_AT_A_TIME || m_helped.exchange(true)) return false;
  m_endpoint->wake();  // the thread that sleeps with the turn gives it away
  {
    const std::lock_guard turn(m_turn);
    while (!one.finished())
      if (!step() && !one.finished()) sleep(longest_sleep, &one);
    m_helped.store(false);
  }
  m_turn_is_free.notify_one();
  m_times_helped.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void rank_thread::wait(operation& one) {
  for (int k = 0; k < looks && !one.finished(); ++k) std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!one.finished() && !help(one)) {
    std::unique_lock lock(m_sleep);
    m_sleepers.fetch_add(1, std::memory_order_seq_cst);
    m_finished.wait(lock, [&] { return one.finished(); });
    m_sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  if (one.m_thrown != nullptr) std::rethrow_exception(one.m_thrown);
}

}  // namespace tessera::cluster
