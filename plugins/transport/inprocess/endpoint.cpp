#include "plugins/transport/inprocess/endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/bytes/copy.hpp"

namespace tessera::inprocess {

using transport::begin;
using transport::end;

namespace {

/// Rows from one place to another; a stride of 0 bytes: one behind the other.
void copy_rows(std::byte* to, std::uint64_t to_stride, const std::byte* from, std::uint64_t from_stride,
               std::uint64_t bytes, std::uint64_t rows) {
  for (std::uint64_t row = 0; row < rows; ++row) copy_bytes(to + row * to_stride, from + row * from_stride, bytes);
}

template <class Element>
void add_row(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof(Element)) {
    Element sum, more;
    std::memcpy(&sum, to + at, sizeof sum);
    std::memcpy(&more, from + at, sizeof more);
    sum = static_cast<Element>(sum + more);
    std::memcpy(to + at, &sum, sizeof sum);
  }
}

}  // namespace

endpoint::endpoint(std::shared_ptr<world> of, std::int32_t own_rank)
    : m_world(std::move(of)), m_node_name("node" + std::to_string(m_world->node_of(own_rank))) {
  for (std::int32_t k = 0; k < m_world->setting().ranks; ++k) m_nodes.push_back(m_world->node_of(k));
  m_held.resize(m_world->size());
  std::seed_seq seed{m_world->setting().seed, static_cast<std::uint64_t>(own_rank)};
  m_random.seed(seed);
}

tsr_status endpoint::enter() {
  if (m_world->aborted()) {
    end_all(TSR_CANCELLED);
    return report.fail_with(TSR_CANCELLED, m_world->abort_text());
  }
  const settings& setting = m_world->setting();
  if (rank == setting.lost_rank && m_calls++ >= setting.lost_after) m_world->lose(rank);
  if (!m_world->lost(rank)) return TSR_OK;
  end_all(TSR_RANK_LOST);
  return report.fail(TSR_RANK_LOST, "this rank, %d, is lost", rank);
}

tsr_endpoint_desc endpoint::describe() const {
  tsr_endpoint_desc desc{};
  desc.rank = rank;
  desc.size = size;
  desc.thread_mode = TSR_THREAD_ONE_AT_A_TIME;
  desc.node = m_world->node_of(rank);
  desc.nodes = m_world->nodes();
  desc.reads_in_place = 1;
  desc.eager_bytes = m_world->setting().eager_bytes;
  desc.node_name = m_node_name.c_str();
  desc.node_of = m_nodes.data();
  return desc;
}

// -------------------------------------------------------------------------------------------------- messages -------

clock::time_point endpoint::due_towards(std::int32_t to) {
  const auto delay = m_world->delay(rank, to);
  auto due = clock::now() + delay;
  if (m_world->setting().reorder && delay.count() > 0)
    due += std::chrono::nanoseconds(m_random() % static_cast<std::uint64_t>(delay.count()));
  return due;
}

bool endpoint::room_towards(std::int32_t to) {
  mailbox& box = m_world->box(to);
  const auto me = static_cast<std::size_t>(rank);
  const std::lock_guard lock(box.guard);
  if (box.from[me].size() < m_world->setting().buffer) return true;
  box.sender_waits[me] = true;
  return false;
}

void endpoint::post(std::int32_t to, std::unique_ptr<letter> what) {
  mailbox& box = m_world->box(to);
  const auto me = static_cast<std::size_t>(rank);
  const auto due = due_towards(to);
  {
    const std::lock_guard lock(box.guard);
    what->due = box.last_due[me] = std::max(due, box.last_due[me]);
    box.from[me].push_back(std::move(what));
    box.raised = true;
  }
  box.changed.notify_one();
}

tsr_status endpoint::send(const tsr_message& message, tsr_request& request) {
  auto& held = m_held[static_cast<std::size_t>(message.rank)];
  if (held.size() >= m_world->setting().buffer || (held.empty() && !room_towards(message.rank)))
    return report.fail(TSR_NOT_READY, "send: %llu messages are on their way to rank %d",
                       static_cast<unsigned long long>(m_world->setting().buffer), message.rank);
  auto what = std::make_unique<letter>();
  what->id = message.id;
  what->header_bytes = message.header_bytes;
  what->payload_bytes = message.payload_bytes;
  if (message.header_bytes != 0) std::memcpy(what->header, message.header, message.header_bytes);
  if (held.empty() && message.payload_bytes <= m_world->setting().eager_bytes) {
    what->payload = bytes_at_64(message.payload_bytes);
    if (message.payload_bytes != 0) copy_bytes(what->payload.data(), message.payload, message.payload_bytes);
    post(message.rank, std::move(what));
    end(request, TSR_OK);
    return TSR_OK;
  }
  held.push_back({std::move(what), message.payload, &request});
  begin(request);
  return TSR_OK;
}

bool endpoint::send_held_letters() {
  bool happened = false;
  for (std::int32_t to = 0; to < size; ++to) {
    auto& held = m_held[static_cast<std::size_t>(to)];
    while (!held.empty() && room_towards(to)) {
      held_letter one = std::move(held.front());
      held.pop_front();
      one.what->payload = bytes_at_64(one.what->payload_bytes);
      if (one.what->payload_bytes != 0) copy_bytes(one.what->payload.data(), one.payload, one.what->payload_bytes);
      post(to, std::move(one.what));
      end(*one.request, TSR_OK);
      happened = true;
    }
  }
  return happened;
}

bool endpoint::hand_over_one() {
  mailbox& box = m_world->box(rank);
  std::unique_ptr<letter> one;
  std::int32_t source = 0;
  bool sender_waits = false;
  {
    const std::lock_guard lock(box.guard);
    const auto now = clock::now();
    if (m_world->setting().reorder) m_next_source = static_cast<std::int32_t>(m_random() % m_world->size());
    for (std::int32_t k = 0; k < size && one == nullptr; ++k) {
      source = (m_next_source + k) % size;
      auto& letters = box.from[static_cast<std::size_t>(source)];
      if (letters.empty() || letters.front()->due > now) continue;
      one = std::move(letters.front());
      letters.pop_front();
      sender_waits = box.sender_waits[static_cast<std::size_t>(source)];
      box.sender_waits[static_cast<std::size_t>(source)] = false;
    }
  }
  if (one == nullptr) return false;
  m_next_source = (source + 1) % size;
  if (sender_waits) m_world->raise(source);
  hand_over(source, one->id, one->header, one->header_bytes, one->payload.data(), one->payload_bytes);
  return true;
}

// --------------------------------------------------------------------------------------------------- windows -------

bool endpoint::deferred(std::int32_t to) const noexcept {
  return m_world->setting().reorder || m_world->delay(rank, to).count() > 0;
}

void endpoint::stage(operation& one) {
  if (one.is_word || one.way == direction::get || one.request == nullptr) return;
  one.staged.resize(one.block.bytes * one.block.rows);
  copy_rows(one.staged.data(), one.block.bytes, static_cast<const std::byte*>(one.block.local), one.block.local_stride,
            one.block.bytes, one.block.rows);
  end(*std::exchange(one.request, nullptr), TSR_OK);
}

/// Does it, now. What was staged comes from there.
void endpoint::run(const operation& one) {
  const auto place = static_cast<std::size_t>(one.rank());
  window_part& part = *static_cast<const window*>(one.window())->memory->parts[place];
  if (one.is_word) {
    std::byte* const at = part.memory.data() + one.call.offset;
    std::int64_t before = 0;
    {
      const std::lock_guard lock(part.guard);
      std::memcpy(&before, at, sizeof before);
      const auto sum =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(one.call.value));
      const bool adds = one.call.what == word_operation::fetch_add;
      if (adds || before == one.call.expected) std::memcpy(at, adds ? &sum : &one.call.value, sizeof before);
    }
    *one.call.out_before = before;
    return;
  }
  const tsr_transfer& block = one.block;
  std::byte* const target = part.memory.data() + block.offset;
  auto* const local = static_cast<std::byte*>(block.local);
  const bool is_staged = !one.staged.empty();
  const std::byte* const source = is_staged ? one.staged.data() : local;
  const std::uint64_t source_stride = is_staged ? block.bytes : block.local_stride;
  switch (one.way) {
    case direction::get:
      copy_rows(local, block.local_stride, target, block.offset_stride, block.bytes, block.rows);
      return;
    case direction::put:
      copy_rows(target, block.offset_stride, source, source_stride, block.bytes, block.rows);
      return;
    case direction::accumulate:
      break;
  }
  const std::lock_guard lock(part.guard);
  for (std::uint64_t row = 0; row < block.rows; ++row) {
    std::byte* const to = target + row * block.offset_stride;
    const std::byte* const from = source + row * source_stride;
    if (one.type == TSR_F32)
      add_row<float>(to, from, block.bytes);
    else if (one.type == TSR_F64)
      add_row<double>(to, from, block.bytes);
    else
      add_row<std::uint64_t>(to, from, block.bytes);  // modulo 2^64
  }
}

void endpoint::start(operation&& one) {
  tsr_request& request = *one.request;
  one.number = ++m_number;
  if (!deferred(one.rank())) {
    run(one);
    end(request, TSR_OK);
    return;
  }
  one.due = due_towards(one.rank());
  begin(request);
  if (!one.is_word && one.way != direction::get && one.block.bytes * one.block.rows <= m_world->setting().eager_bytes)
    stage(one);
  m_operations.push_back(std::move(one));
}

tsr_status endpoint::transfer(direction way, const tsr_transfer& block, tsr_type type, tsr_request& request) {
  if (m_operations.size() >= m_world->setting().buffer)
    return report.fail(TSR_NOT_READY, "%zu operations are under way", m_operations.size());
  operation one;
  one.way = way;
  one.type = type;
  one.block = block;
  one.request = &request;
  start(std::move(one));
  return TSR_OK;
}

tsr_status endpoint::word(const word_call& call, tsr_request& request) {
  if (m_operations.size() >= m_world->setting().buffer)
    return report.fail(TSR_NOT_READY, "%zu operations are under way", m_operations.size());
  operation one;
  one.is_word = true;
  one.call = call;
  one.request = &request;
  start(std::move(one));
  return TSR_OK;
}

bool endpoint::complete_operations() {
  if (m_operations.empty()) return false;
  bool happened = false;
  for (operation& one : m_operations)
    if (one.request != nullptr) {
      stage(one);
      happened = happened || one.request == nullptr;
    }
  if (m_world->setting().reorder) std::shuffle(m_operations.begin(), m_operations.end(), m_random);
  const auto now = clock::now();
  std::erase_if(m_operations, [&](operation& one) {
    if (one.due > now) return false;
    run(one);
    if (one.request != nullptr) end(*one.request, TSR_OK);
    return happened = true;
  });
  return happened;
}

tsr_status endpoint::flush(tsr_window_s* of, std::int32_t to, tsr_request& request) {
  pending_flush one{of, to, m_number, operations, false, &request};
  one.failed = std::erase_if(m_dropped, [&](const auto& dropped) {
                 return (of == nullptr || of == dropped.first) && (to == TSR_ALL_RANKS || to == dropped.second);
               }) != 0;
  begin(request);
  m_flushes.push_back(one);
  complete_flushes();
  return TSR_OK;
}

bool endpoint::complete_flushes() {
  return std::erase_if(m_flushes, [&](const pending_flush& flush) {
           if (std::ranges::any_of(m_operations, [&](const operation& one) { return flush.covers(one); })) return false;
           flushed(flush.window, flush.rank, flush.operations);
           end(*flush.request, flush.failed ? tsr_status{TSR_RANK_LOST} : tsr_status{TSR_OK});
           return true;
         }) != 0;
}

void endpoint::drop_what_lost_ranks_owe() {
  if (m_losses == m_world->losses()) return;
  m_losses = m_world->losses();
  std::erase_if(m_operations, [&](const operation& one) {
    if (!m_world->lost(one.rank())) return false;
    if (one.request != nullptr) end(*one.request, TSR_RANK_LOST);
    bool told = false;
    for (pending_flush& flush : m_flushes)
      if (flush.covers(one)) told = flush.failed = true;
    if (!told) m_dropped.emplace_back(one.window(), one.rank());
    return true;
  });
  for (std::int32_t to = 0; to < size; ++to) {
    if (!m_world->lost(to)) continue;
    for (const held_letter& one : m_held[static_cast<std::size_t>(to)]) end(*one.request, TSR_RANK_LOST);
    m_held[static_cast<std::size_t>(to)].clear();
  }
}

// ----------------------------------------------------------------------------------------------- collectives -------

void endpoint::join(collective::kind what, const void* contribution, std::uint64_t bytes, void* out_all,
                    tsr_window** out_window, tsr_request& request) {
  m_collectives.push_back({nullptr, out_all, out_window, &request});
  try {
    m_collectives.back().what = m_world->join(m_collective, rank, what, contribution, bytes);
  } catch (...) {
    m_collectives.pop_back();
    throw;
  }
  ++m_collective;
  begin(request);
}

tsr_status endpoint::create_window(std::uint64_t part_bytes, tsr_window** out_window, tsr_request& request) {
  join(collective::kind::create, nullptr, part_bytes, nullptr, out_window, request);
  return TSR_OK;
}

tsr_status endpoint::destroy_window(tsr_window_s& of, tsr_request& request) {
  if (std::ranges::any_of(m_operations, [&](const operation& one) { return one.window() == &of; }))
    return report.fail(TSR_FAILED_PRECONDITION, "window_destroy: operations of this rank on it are under way");
  static_cast<window&>(of).memory.reset();  // it is gone when the last rank has called
  join(collective::kind::destroy, nullptr, 0, nullptr, nullptr, request);
  return TSR_OK;
}

tsr_status endpoint::barrier(tsr_request& request) {
  join(collective::kind::barrier, nullptr, 0, nullptr, nullptr, request);
  return TSR_OK;
}

tsr_status endpoint::agree(const void* mine, std::uint64_t bytes, void* out_all, tsr_request& request) {
  join(collective::kind::agree, mine, bytes, out_all, nullptr, request);
  return TSR_OK;
}

void endpoint::end_collective(pending_collective& one, bool lost) {
  tsr_status status = TSR_OK;
  if (lost) {
    status = TSR_RANK_LOST;
  } else if (one.what->differs) {
    status = TSR_FAILED_PRECONDITION;
    report.log(2, "rank %d: not all ranks have called the same collective, or agree with the same size", rank);
  } else if (one.what->exhausted) {
    status = TSR_RESOURCE_EXHAUSTED;
  } else if (one.out_all != nullptr && !one.what->all.empty()) {
    std::memcpy(one.out_all, one.what->all.data(), one.what->all.size());
  } else if (one.out_window != nullptr) {
    auto made = std::make_unique<window>();
    made->endpoint = this;
    made->memory = one.what;
    made->bytes = one.what->sizes;
    made->unflushed.resize(one.what->sizes.size());
    for (std::int32_t k = 0; k < size; ++k)
      made->bases.push_back(m_nodes[static_cast<std::size_t>(k)] == m_world->node_of(rank)
                                ? one.what->parts[static_cast<std::size_t>(k)]->memory.data()
                                : nullptr);
    made->magic.set(transport::window_magic);
    *one.out_window = made.get();
    windows.push_back(std::move(made));
  }
  end(*one.request, status);
}

bool endpoint::complete_collectives() {
  bool happened = false;
  while (!m_collectives.empty()) {
    const auto state = m_world->state_of(*m_collectives.front().what, clock::now(), nullptr);
    if (state == world::state::waits) break;
    pending_collective one = std::move(m_collectives.front());
    m_collectives.pop_front();
    end_collective(one, state == world::state::lost);
    happened = true;
  }
  return happened;
}

// -------------------------------------------------------------------------------------------------- progress -------

tsr_status endpoint::progress(std::uint32_t budget, bool& out_happened) {
  {
    mailbox& box = m_world->box(rank);
    const std::lock_guard lock(box.guard);
    box.raised = false;
  }
  drop_what_lost_ranks_owe();
  bool happened = complete_operations();
  happened |= send_held_letters();
  happened |= complete_flushes();
  happened |= complete_collectives();
  for (std::uint32_t k = 0; k < budget && !m_world->lost(rank) && !m_world->aborted(); ++k) {
    if (!hand_over_one()) break;
    happened = true;
  }
  out_happened = happened;
  return TSR_OK;
}

tsr_status endpoint::wait(std::uint64_t nanoseconds) {
  const auto now = clock::now();
  const auto longest = std::chrono::hours(24 * 365);
  const auto limit = std::chrono::nanoseconds(
      std::min(nanoseconds, static_cast<std::uint64_t>(std::chrono::nanoseconds(longest).count())));
  const auto deadline = now + limit;
  auto due = clock::time_point::max();
  if (!m_flushes.empty() && m_operations.empty()) return TSR_OK;
  for (const operation& one : m_operations)
    due = std::min(due, one.request != nullptr && !one.is_word && one.way != direction::get ? now : one.due);
  if (!m_collectives.empty() && m_world->state_of(*m_collectives.front().what, now, &due) != world::state::waits)
    return TSR_OK;
  for (std::int32_t to = 0; to < size; ++to)
    if (!m_held[static_cast<std::size_t>(to)].empty() && room_towards(to)) return TSR_OK;
  if (m_losses != m_world->losses()) return TSR_OK;

  mailbox& box = m_world->box(rank);
  std::unique_lock lock(box.guard);
  while (true) {
    if (std::exchange(box.woken, false) || box.raised) return TSR_OK;
    auto next = due;
    for (const auto& letters : box.from)
      if (!letters.empty()) next = std::min(next, letters.front()->due);
    const auto time = clock::now();
    if (next <= time) return TSR_OK;
    if (deadline <= time) return TSR_DEADLINE_EXCEEDED;
    box.changed.wait_until(lock, std::min(next, deadline));
  }
}

void endpoint::wake() {
  mailbox& box = m_world->box(rank);
  {
    const std::lock_guard lock(box.guard);
    box.woken = true;
  }
  box.changed.notify_one();
}

// ------------------------------------------------------------------------------------------------------- end -------

void endpoint::end_all(tsr_status status) {
  for (const operation& one : m_operations)
    if (one.request != nullptr) end(*one.request, status);
  m_operations.clear();
  for (auto& held : m_held) {
    for (const held_letter& one : held) end(*one.request, status);
    held.clear();
  }
  for (const pending_flush& one : m_flushes) end(*one.request, status);
  m_flushes.clear();
  for (const pending_collective& one : m_collectives) end(*one.request, status);
  m_collectives.clear();
}

tsr_status endpoint::abort(std::int32_t code, const std::string& text) {
  m_world->abort(rank, code, text);
  end_all(TSR_CANCELLED);
  return TSR_OK;
}

tsr_status endpoint::lose() {
  m_world->lose(rank);
  end_all(TSR_RANK_LOST);
  return TSR_OK;
}

void endpoint::close() {
  m_operations.clear();
  for (auto& held : m_held) held.clear();
  m_flushes.clear();
  m_collectives.clear();
  for (const auto& one : windows) {
    one->magic.set(0);
    static_cast<window&>(*one).memory.reset();
  }
  m_world->lose(rank);
}

}  // namespace tessera::inprocess
