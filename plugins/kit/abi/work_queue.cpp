#include "plugins/kit/abi/work_queue.hpp"

#include <algorithm>
#include <exception>

#include "plugins/kit/system/thread_setup.hpp"

namespace tessera::kit {

work_queue::work_queue(std::shared_ptr<timeline> line, std::string name, const tsr_host* host, device_loss* loss)
    : m_line(std::move(line)), m_name(std::move(name)), m_host(host), m_loss(loss), m_thread([this] { loop(); }) {}

work_queue::~work_queue() {
  {
    const std::lock_guard lock(m_mutex);
    m_ending = true;
  }
  m_pushed.notify_one();
  m_thread.join();
}

void work_queue::push(item&& entry) {
  bool wake = false;
  {
    const std::lock_guard lock(m_mutex);
    m_items.push_back(std::move(entry));
    wake = m_sleeping;
  }
  if (wake) m_pushed.notify_one();
}

void work_queue::run(work function) {
  item entry{item::kind::run, std::move(function)};
  push(std::move(entry));
}

std::uint64_t work_queue::signal() {
  const auto value = m_line->next();
  item entry{item::kind::signal, {}, value};
  push(std::move(entry));
  m_line->append(value);  // after the push, which may throw: a value that is not queued is never reached
  return value;
}

void work_queue::wait(std::shared_ptr<timeline> other, std::uint64_t value) {
  item entry{item::kind::wait, {}, value, std::move(other)};
  push(std::move(entry));
}

void work_queue::callback(void (*function)(void*), void* argument) {
  item entry{item::kind::callback, {}, 0, nullptr, function, argument};
  push(std::move(entry));
}

void work_queue::perform(item& entry, execution& state) {
  switch (entry.type) {
    case item::kind::run: {
      if (m_loss != nullptr && !m_loss->enter()) break;
      state.message.clear();
      tsr_status status = TSR_INTERNAL;
      try {
        status = entry.function(state);
      } catch (const std::exception& error) {
        state.message = std::string("exception in enqueued work: ") + error.what();
      } catch (...) {
        state.message = "exception of an unknown type in enqueued work";
      }
      if (status != TSR_OK) m_line->fail(status, state.message);
      entry.function = nullptr;  // what the work holds (memory, arguments) is released before its ticket is reached
      if (m_loss != nullptr) m_loss->leave(status == TSR_DEVICE_LOST);
      break;
    }
    case item::kind::signal:
      if (m_loss != nullptr && m_loss->begun()) {
        m_loss->wait();  // else work that was skipped would seem done
        m_line->note_lost(entry.value);
      }
      m_line->reach(entry.value, state.time_ns);
      break;
    case item::kind::wait:
      entry.other->wait(entry.value);
      state.time_ns = std::max(state.time_ns, entry.other->completion(entry.value));
      entry.other.reset();
      break;
    case item::kind::callback:
      entry.called(entry.argument);
      break;
  }
}

void work_queue::loop() {
  set_up_thread(m_name, m_host);
  execution state;
  std::vector<item> batch;
  for (;;) {
    {
      std::unique_lock lock(m_mutex);
      m_sleeping = true;
      m_pushed.wait(lock, [&] { return !m_items.empty() || m_ending; });
      m_sleeping = false;
      if (m_items.empty()) return;
      batch.swap(m_items);
    }
    for (auto& entry : batch) perform(entry, state);
    batch.clear();
  }
}

}  // namespace tessera::kit
