#include "plugins/transport/mpi/endpoint.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

namespace tessera::mpi {

using clock = std::chrono::steady_clock;

endpoint::endpoint(job& of) : m_job(of) {
  m_room.resize(static_cast<std::size_t>(of.size));
  m_incoming.resize(static_cast<std::size_t>(of.size));
  constexpr std::size_t slots = 32;
  m_slot_bytes = 16 + TSR_MAX_HEADER_BYTES + of.setting.eager_bytes;
  m_slots.resize(slots);
  for (std::size_t k = 0; k < slots; ++k) {
    m_slots[k].memory = make_bytes(m_slot_bytes);
    post_receive(k);
  }
  m_controls.resize(slots);
  for (std::size_t k = 0; k < slots; ++k) {
    m_controls[k].memory = make_bytes(sizeof(control));
    post_control(k);
  }
}

tsr_endpoint_desc endpoint::describe() const {
  tsr_endpoint_desc desc{};
  desc.rank = rank;
  desc.size = size;
  desc.thread_mode = m_job.setting.serialized ? TSR_THREAD_ONE_AT_A_TIME : TSR_THREAD_ONE;
  desc.node = m_job.node_of[static_cast<std::size_t>(rank)];
  desc.nodes = m_job.nodes;
  desc.reads_in_place = m_job.setting.shared ? 1 : 0;
  desc.eager_bytes = m_job.setting.eager_bytes;
  desc.largest_piece = m_job.setting.piece;
  desc.node_name = m_job.node_name.c_str();
  desc.node_of = m_job.node_of.data();
  return desc;
}

// ------------------------------------------------------------------------------------------------- requests --------

endpoint::under_way& endpoint::new_under_way(tsr_request* request) {
  under_way& one = m_under_way.emplace_back();
  one.self = std::prev(m_under_way.end());
  one.number = ++m_number;
  one.request = request;
  return one;
}

void endpoint::add(under_way& one, MPI_Request handle) {
  m_handles.push_back(handle);
  m_owners.push_back(&one);
  ++one.left;
}

/// All of its pieces are done.
void endpoint::settle(under_way& one) {
  if (one.out_before != nullptr) *one.out_before = one.word[1];
  if (one.message_to >= 0) --m_room[static_cast<std::size_t>(one.message_to)];
  if (one.request != nullptr) transport::end(*one.request, TSR_OK);
  m_under_way.erase(one.self);
}

bool endpoint::test_handles() {
  if (m_handles.empty()) return false;
  std::vector<int>& done = m_done;
  done.resize(m_handles.size());
  int count = 0;
  must(MPI_Testsome(static_cast<int>(m_handles.size()), m_handles.data(), &count, done.data(), MPI_STATUSES_IGNORE),
       "MPI_Testsome");
  if (count == MPI_UNDEFINED || count <= 0) return false;
  done.resize(static_cast<std::size_t>(count));
  std::sort(done.begin(), done.end(), std::greater<>());
  std::vector<under_way*> ended;
  for (const int index : done) {
    const auto at = static_cast<std::size_t>(index);
    if (--m_owners[at]->left == 0) ended.push_back(m_owners[at]);
    m_handles[at] = m_handles.back();
    m_owners[at] = m_owners.back();
    m_handles.pop_back();
    m_owners.pop_back();
  }
  for (under_way* const one : ended) settle(*one);
  return true;
}

// ---------------------------------------------------------------------------------------------- collectives --------

void endpoint::start(collective one) {
  tsr_request& request = *one.request;
  m_collectives.push_back(std::move(one));
  transport::begin(request);
  if (m_collectives.size() == 1) advance(m_collectives.front());
}

/// One step, if it can be made; whether it has ended.
bool endpoint::advance(collective& one) {
  const auto done = [&](tsr_status status) {
    transport::end(*one.request, status);
    return true;
  };
  if (one.phase == 0) {
    const auto kind = static_cast<std::int64_t>(one.what);
    const auto bytes = one.what == collective::kind::agree ? static_cast<std::int64_t>(one.bytes) : 0;
    const std::int64_t own[4] = {kind, -kind, bytes, -bytes};
    std::copy(std::begin(own), std::end(own), one.own);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // what was done in place before is seen after
    must(MPI_Iallreduce(one.own, one.most, 4, MPI_INT64_T, MPI_MAX, m_job.collectives, &one.handle), "MPI_Iallreduce");
    one.phase = 1;
    return false;
  }
  int there = 0;
  must(MPI_Test(&one.handle, &there, MPI_STATUS_IGNORE), "MPI_Test");
  if (there == 0) return false;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (one.phase == 2) return done(TSR_OK);
  if (one.most[0] != -one.most[1] || one.most[2] != -one.most[3]) {
    report.log(2, "rank %d: not all ranks have called the same collective, or agree with the same size", rank);
    return done(TSR_FAILED_PRECONDITION);
  }
  switch (one.what) {
    case collective::kind::barrier:
      return done(TSR_OK);
    case collective::kind::create:
      return done(make_window(one));
    case collective::kind::destroy:
      free_window(*one.of);
      return done(TSR_OK);
    case collective::kind::agree:
      break;
  }
  if (one.bytes == 0) return done(TSR_OK);
  must(MPI_Iallgather(one.mine.data(), static_cast<int>(one.bytes), MPI_BYTE, one.out_all, static_cast<int>(one.bytes),
                      MPI_BYTE, m_job.collectives, &one.handle),
       "MPI_Iallgather");
  one.phase = 2;
  return false;
}

bool endpoint::advance_collectives() {
  bool happened = false;
  while (!m_collectives.empty()) {
    const int phase = m_collectives.front().phase;
    if (advance(m_collectives.front())) {
      m_collectives.pop_front();
    } else if (m_collectives.front().phase == phase) {
      break;
    }
    happened = true;
  }
  return happened;
}

tsr_status endpoint::barrier(tsr_request& request) {
  collective one;
  one.what = collective::kind::barrier;
  one.request = &request;
  return asked([&]() -> tsr_status {
    start(std::move(one));
    return TSR_OK;
  });
}

tsr_status endpoint::agree(const void* mine, std::uint64_t bytes, void* out_all, tsr_request& request) {
  collective one;
  one.what = collective::kind::agree;
  one.bytes = bytes;
  one.mine.resize(bytes);
  if (bytes != 0) std::memcpy(one.mine.data(), mine, bytes);
  one.out_all = out_all;
  one.request = &request;
  return asked([&]() -> tsr_status {
    start(std::move(one));
    return TSR_OK;
  });
}

// ------------------------------------------------------------------------------------------------- progress --------

tsr_status endpoint::progress(std::uint32_t budget, bool& out_happened) {
  return asked([&]() -> tsr_status {
    bool happened = test_handles();
    happened |= take_controls();
    happened |= complete_flushes();
    happened |= advance_collectives();
    happened |= take_messages(budget);
    out_happened = happened;
    return TSR_OK;
  });
}

/// Without completing anything.
bool endpoint::something_came() {
  int there = 0;
  const auto ask = [&](MPI_Request handle) {
    must(MPI_Request_get_status(handle, &there, MPI_STATUS_IGNORE), "MPI_Request_get_status");
    return there != 0;
  };
  if (m_incoming_count < m_job.setting.buffer && ask(m_slots[m_first].handle)) return true;
  if (ask(m_controls[m_first_control].handle)) return true;
  for (const auto& all : m_incoming)
    if (!all.empty() && std::ranges::all_of(all.front().pieces, ask)) return true;
  if (!m_collectives.empty() && ask(m_collectives.front().handle)) return true;
  return std::ranges::any_of(m_handles, ask);
}

tsr_status endpoint::wait(std::uint64_t nanoseconds) {
  return asked([&]() -> tsr_status {
    const auto begin = clock::now();
    const auto longest = static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::hours(24 * 365)).count());
    const auto deadline = begin + std::chrono::nanoseconds(std::min(nanoseconds, longest));
    const auto spun = begin + std::chrono::nanoseconds(m_job.setting.spin_ns);
    auto nap = std::chrono::nanoseconds(10000);
    while (true) {
      if (something_came()) return TSR_OK;
      const auto now = clock::now();
      {
        std::unique_lock lock(m_guard);
        if (std::exchange(m_woken, false)) return TSR_OK;
        if (now >= deadline) return TSR_DEADLINE_EXCEEDED;
        if (now >= spun) {
          m_changed.wait_until(lock, std::min(deadline, now + nap), [&] { return m_woken; });
          nap = std::min(nap * 2, std::chrono::nanoseconds(m_job.setting.nap_ns));
        }
      }
    }
  });
}

void endpoint::wake() {
  {
    const std::lock_guard lock(m_guard);
    m_woken = true;
  }
  m_changed.notify_one();
}

// ------------------------------------------------------------------------------------------------------ end --------

tsr_status endpoint::abort(std::int32_t code, const std::string& text) {
  report.log(2, "rank %d ends the job with code %d: %s", rank, code, text.c_str());
  MPI_Abort(m_job.messages, code);
  return report.fail(TSR_INTERNAL, "MPI_Abort has returned");
}

tsr_status endpoint::close() {
  return asked([&]() -> tsr_status {
    const auto until = clock::now() + std::chrono::seconds(1);
    while (!m_handles.empty() && clock::now() < until) test_handles();
    if (!m_under_way.empty()) {  // MPI may still read it
      report.log(2, "rank %d: %zu messages and operations were under way when it closed", rank, m_under_way.size());
      for (under_way& one : m_under_way) static_cast<void>(one.buffer.release());
    }
    for (auto* const slots : {&m_slots, &m_controls})
      for (slot& one : *slots) {
        if (one.handle == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&one.handle);
        MPI_Wait(&one.handle, MPI_STATUS_IGNORE);
      }
    return TSR_OK;
  });
}

}  // namespace tessera::mpi
