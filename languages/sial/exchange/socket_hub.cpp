#include "languages/sial/exchange/socket_hub.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/base/exception_text.hpp"
#include "languages/sial/exchange/array_generation.hpp"

namespace tessera::sial {

socket_hub::socket_hub(std::vector<int> sockets, bool deterministic)
    : m_sockets(std::move(sockets)),
      m_deterministic(deterministic),
      m_collecting(m_sockets.size()),
      m_left(m_sockets.size(), false),
      m_gone(m_sockets.size(), false),
      m_thread([this] { serve(); }) {}

socket_hub::~socket_hub() {
  m_thread.join();
  for (const int s : m_sockets) ::close(s);
}

void socket_hub::serve() {
  std::vector<pollfd> open;
  std::vector<unsigned> workers;
  for (unsigned w = 0; w < m_sockets.size(); ++w) {
    open.push_back({m_sockets[w], POLLIN, 0});
    workers.push_back(w);
  }
  while (!open.empty()) {
    if (::poll(open.data(), open.size(), -1) < 0) continue;  // a signal
    for (std::size_t k = open.size(); k-- > 0;) {
      if (open[k].revents == 0 || serve(workers[k])) continue;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(k));
      workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

bool socket_hub::serve(unsigned worker) {
  hub_message asked;
  try {
    if (!receive_message(m_sockets[worker], asked))
      return lose(worker, fmt::format("the process of worker {} has ended", worker));
  } catch (const std::exception& e) {  // no memory for it, or lengths that cannot be: nothing behind it is understood
    return lose(worker, fmt::format("a message of worker {} cannot be received: {}", worker, text_of(e)));
  }
  try {
    handle(worker, asked);
  } catch (const std::exception& e) {  // no memory
    m_collecting[worker].reset();      // it is answered below, once
    fail(text_of(e));
    if (asked.kind != hub_message::what::store && asked.kind != hub_message::what::release)
      reply(worker, {.kind = hub_message::what::given_up});
  }
  return true;
}

/// The worker takes part no more. False.
bool socket_hub::lose(unsigned worker, const std::string& why) {
  m_gone[worker] = true;
  (void)::shutdown(m_sockets[worker], SHUT_RDWR);  // should it still wait for an answer
  fail(why);
  leave(worker);
  return false;
}

void socket_hub::handle(unsigned worker, const hub_message& asked) {
  using what = hub_message::what;
  const bool goes_on = asked.kind == what::fail || asked.kind == what::release || asked.kind == what::leave;
  if (!m_failure.empty() && !goes_on) {
    if (asked.kind != what::store) reply(worker, {.kind = what::given_up});
    return;
  }
  hub_message answer;
  switch (asked.kind) {
    case what::get:
      if (const stored_block* const found = find(asked.words[0], asked.words[1])) {
        answer.words[0] = 1;
        answer.values = found->values;
        answer.more = found->extents;
      }
      return reply(worker, answer);
    case what::store:
      return store(asked);
    case what::declare:
      if (begin_array(asked.words[0]) && asked.words[1] != hub_message::no_array) {
        m_arrays[asked.words[0]].base = asked.words[1];
        ++m_arrays[asked.words[1]].users;
      }
      return reply(worker, answer);
    case what::next: {
      std::int64_t& after = m_arrays[asked.words[0]].after;
      if (after == hub_message::no_array) {
        after = m_next_array++;
        begin_array(after);  // of a map: references stay
      }
      answer.words[0] = after;
      return reply(worker, answer);
    }
    case what::ordinals:
      for (std::int64_t array = asked.words[0]; array != hub_message::no_array; array = m_arrays[array].base)
        for (const auto& [ordinal, block] : m_arrays[array].blocks) answer.more.push_back(ordinal);
      return reply(worker, answer);
    case what::written:
      answer.words[0] = m_arrays[asked.words[0]].blocks.empty() ? 0 : 1;
      return reply(worker, answer);
    case what::release:
      return release(asked.words[0]);
    case what::collect:
      return collect(worker, asked);
    case what::chunk:
      return chunk(worker, asked);
    case what::fail:
      return fail(std::string(asked.text.begin(), asked.text.end()));
    case what::leave:
      return leave(worker);
    case what::answer:
    case what::refused:
    case what::given_up:
      return refuse(worker, "a message that only the hub sends");
  }
  refuse(worker, "a message of no known kind");
}

/// A worker that is gone hears of nothing; its end is seen when it is served.
void socket_hub::reply(unsigned worker, const hub_message& what) { (void)send_message(m_sockets[worker], what); }

void socket_hub::refuse(unsigned worker, const std::string& why) {
  hub_message answer{.kind = hub_message::what::refused};
  answer.text.assign(why.begin(), why.end());
  reply(worker, answer);
}

void socket_hub::fail(const std::string& why) {
  if (m_failure.empty()) m_failure = why.empty() ? "an exception without a text" : why;  // empty: nothing has failed
  for (unsigned w = 0; w < m_collecting.size(); ++w)
    if (std::exchange(m_collecting[w], nullptr) != nullptr) reply(w, {.kind = hub_message::what::given_up});
}

std::size_t socket_hub::waiting() const {
  return static_cast<std::size_t>(std::ranges::count_if(m_collecting, [](const auto& one) { return one != nullptr; }));
}

const socket_hub::stored_block* socket_hub::find(std::int64_t array, std::int64_t ordinal) const {
  for (auto at = m_arrays.find(array); at != m_arrays.end(); at = m_arrays.find(at->second.base))
    if (const auto found = at->second.blocks.find(ordinal); found != at->second.blocks.end()) return &found->second;
  return nullptr;
}

void socket_hub::store(const hub_message& asked) {
  const std::int64_t ordinal = asked.words[1];
  const auto how = static_cast<store_kind>(asked.words[2]);
  const stored_block* const before = how == store_kind::replace ? nullptr : find(asked.words[0], ordinal);
  stored_block fresh{before != nullptr ? before->values : std::vector<double>(static_cast<std::size_t>(asked.words[3])),
                     asked.more};
  if (how == store_kind::multiply)
    for (double& v : fresh.values) v *= asked.values[0];
  else if (before == nullptr)
    fresh.values = asked.values;
  else
    for (std::size_t k = 0; k < fresh.values.size(); ++k) fresh.values[k] += asked.values[k];
  m_arrays[asked.words[0]].blocks[ordinal] = std::move(fresh);
}

/// All processes will have it, and release it, also those that have not heard of it yet. Whether it is new.
bool socket_hub::begin_array(std::int64_t array) {
  stored_array& begun = m_arrays[array];
  if (begun.users != 0) return false;
  begun.users = static_cast<unsigned>(m_sockets.size());
  return true;
}

void socket_hub::release(std::int64_t array) {
  const auto found = m_arrays.find(array);
  if (found == m_arrays.end() || --found->second.users != 0) return;
  const std::int64_t base = found->second.base;
  m_arrays.erase(found);
  if (base != hub_message::no_array) release(base);
}

void socket_hub::collect(unsigned worker, const hub_message& asked) {
  if (std::ranges::find(m_left, true) != m_left.end())
    return refuse(worker, "other workers have ended, and will never get here");
  const auto waits = std::ranges::find_if(m_collecting, [](const auto& one) { return one != nullptr; });
  if (waits != m_collecting.end() && (*waits)->words[0] != asked.words[0])
    return refuse(worker, "other workers wait in another statement");
  m_collecting[worker] = std::make_unique<hub_message>(asked);
  if (waiting() < m_sockets.size()) return;
  hub_message all;
  for (const auto& one : m_collecting) all.values.insert(all.values.end(), one->values.begin(), one->values.end());
  for (unsigned w = 0; w < m_collecting.size(); ++w) {
    m_collecting[w].reset();
    reply(w, all);
  }
}

/// A program has ended when all workers have left it. They are told what has failed, and go on together with nothing
/// failed.
void socket_hub::leave(unsigned worker) {
  m_left[worker] = true;
  if (waiting() > 0) fail("a worker has ended while others wait for it");
  bool all_there = true;
  for (unsigned w = 0; w < m_left.size(); ++w) {
    if (!m_left[w] && !m_gone[w]) return;
    all_there = all_there && !m_gone[w];
  }
  m_loops.clear();
  hub_message answer;
  if (!m_failure.empty()) answer.kind = hub_message::what::given_up;
  answer.text.assign(m_failure.begin(), m_failure.end());
  if (all_there) m_failure.clear();
  for (unsigned w = 0; w < m_left.size(); ++w) {
    if (m_left[w] && !m_gone[w]) reply(w, answer);
    m_left[w] = false;
  }
}

void socket_hub::chunk(unsigned worker, const hub_message& asked) {
  scheduled_loop& loop = m_loops[asked.words[0]];
  if (loop.schedule == nullptr)
    loop.schedule = std::make_unique<loop_scheduler>(static_cast<std::uint32_t>(asked.words[1]), asked.words[2],
                                                     static_cast<unsigned>(m_sockets.size()), m_deterministic);
  if (loop.schedule->pardo() != static_cast<std::uint32_t>(asked.words[1]))
    return refuse(worker, "another worker has reached another pardo");
  hub_message answer;
  std::tie(answer.words[0], answer.words[1]) = loop.schedule->take(worker);
  if (answer.words[0] == answer.words[1] && ++loop.ended == m_sockets.size()) m_loops.erase(asked.words[0]);
  reply(worker, answer);
}

}  // namespace tessera::sial
