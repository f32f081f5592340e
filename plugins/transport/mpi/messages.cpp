// Messages: an envelope with a small payload in one message of MPI, a large payload behind it in pieces.
#include <atomic>
#include <cstring>
#include <new>

#include "core/bytes/copy.hpp"
#include "plugins/transport/mpi/endpoint.hpp"

namespace tessera::mpi {
namespace {

constexpr int envelope_tag = 1, piece_tag = 2;
constexpr std::align_val_t lines_of_64{64};

/// In front of each message; the header follows, and at the next multiple of 16 a payload of up to eager_bytes.
struct envelope {
  std::uint32_t id, header_bytes;
  std::uint64_t payload_bytes;
};
static_assert(sizeof(envelope) == 16);

std::uint64_t payload_at(std::uint32_t header_bytes) {
  return sizeof(envelope) + (std::uint64_t{header_bytes} + 15) / 16 * 16;
}

}  // namespace

void endpoint::line_of_bytes::operator()(std::byte* bytes) const noexcept { ::operator delete(bytes, lines_of_64); }

endpoint::bytes_at_64 endpoint::make_bytes(std::uint64_t bytes) {
  return bytes_at_64(static_cast<std::byte*>(::operator new(bytes == 0 ? 1 : bytes, lines_of_64)));
}

tsr_status endpoint::send(const tsr_message& message, tsr_request& request) {
  return asked([&]() -> tsr_status {
    std::uint64_t& on_their_way = m_room[static_cast<std::size_t>(message.rank)];
    if (on_their_way >= m_job.setting.buffer) test_handles();
    if (on_their_way >= m_job.setting.buffer)
      return report.fail(TSR_NOT_READY, "send: %llu messages are on their way to rank %d",
                         static_cast<unsigned long long>(on_their_way), message.rank);
    const bool small = message.payload_bytes <= m_job.setting.eager_bytes;
    const std::uint64_t bytes = payload_at(message.header_bytes) + (small ? message.payload_bytes : 0);
    under_way& one = new_under_way(small ? nullptr : &request);
    one.message_to = message.rank;
    one.buffer = make_bytes(bytes);
    const envelope front{message.id, message.header_bytes, message.payload_bytes};
    std::memcpy(one.buffer.get(), &front, sizeof front);
    if (message.header_bytes != 0) std::memcpy(one.buffer.get() + sizeof front, message.header, message.header_bytes);
    if (small && message.payload_bytes != 0)
      copy_bytes(one.buffer.get() + payload_at(message.header_bytes), message.payload, message.payload_bytes);
    ++on_their_way;
    std::atomic_thread_fence(std::memory_order_seq_cst);  // what was flushed in place is there before it
    MPI_Request handle = MPI_REQUEST_NULL;
    // Synchronous: it ends when the receiver has taken it, so that what lies at the receiver has a bound.
    must(MPI_Issend(one.buffer.get(), static_cast<int>(bytes), MPI_BYTE, message.rank, envelope_tag, m_job.messages,
                    &handle),
         "MPI_Issend");
    add(one, handle);
    if (small) {
      transport::end(request, TSR_OK);
      return TSR_OK;
    }
    const auto* const payload = static_cast<const std::byte*>(message.payload);
    for (std::uint64_t at = 0; at < message.payload_bytes; at += m_job.setting.piece) {
      const std::uint64_t length = std::min(m_job.setting.piece, message.payload_bytes - at);
      must(
          MPI_Isend(payload + at, static_cast<int>(length), MPI_BYTE, message.rank, piece_tag, m_job.messages, &handle),
          "MPI_Isend");
      add(one, handle);
    }
    transport::begin(request);
    return TSR_OK;
  });
}

void endpoint::post_receive(std::size_t at) {
  slot& one = m_slots[at];
  must(MPI_Irecv(one.memory.get(), static_cast<int>(m_slot_bytes), MPI_BYTE, MPI_ANY_SOURCE, envelope_tag,
                 m_job.messages, &one.handle),
       "MPI_Irecv");
}

/// A message that cannot be handed over yet: its payload is still to come, or one before it is.
void endpoint::keep(std::int32_t source, const std::byte* at) {
  envelope front;
  std::memcpy(&front, at, sizeof front);
  incoming& one = m_incoming[static_cast<std::size_t>(source)].emplace_back();
  ++m_incoming_count;
  one.id = front.id;
  one.header_bytes = front.header_bytes;
  one.payload_bytes = front.payload_bytes;
  one.header = make_bytes(front.header_bytes);
  std::memcpy(one.header.get(), at + sizeof front, front.header_bytes);
  one.payload = make_bytes(front.payload_bytes);
  if (front.payload_bytes <= m_job.setting.eager_bytes) {
    std::memcpy(one.payload.get(), at + payload_at(front.header_bytes), front.payload_bytes);
    return;
  }
  for (std::uint64_t from = 0; from < front.payload_bytes; from += m_job.setting.piece) {
    const std::uint64_t length = std::min(m_job.setting.piece, front.payload_bytes - from);
    must(MPI_Irecv(one.payload.get() + from, static_cast<int>(length), MPI_BYTE, source, piece_tag, m_job.messages,
                   &one.pieces.emplace_back()),
         "MPI_Irecv");
  }
}

bool endpoint::hand_over_arrived(std::uint32_t& budget) {
  bool happened = false;
  for (std::int32_t k = 0; k < size && m_incoming_count != 0; ++k) {
    const std::int32_t source = (m_next_source + k) % size;
    auto& all = m_incoming[static_cast<std::size_t>(source)];
    while (budget > 0 && !all.empty()) {
      int there = 1;
      if (!all.front().pieces.empty())
        must(MPI_Testall(static_cast<int>(all.front().pieces.size()), all.front().pieces.data(), &there,
                         MPI_STATUSES_IGNORE),
             "MPI_Testall");
      if (there == 0) break;
      const incoming one = std::move(all.front());
      all.pop_front();
      --m_incoming_count;
      --budget;
      happened = true;
      hand_over(source, one.id, one.header.get(), one.header_bytes, one.payload.get(), one.payload_bytes);
    }
  }
  m_next_source = (m_next_source + 1) % size;
  return happened;
}

bool endpoint::take_messages(std::uint32_t& budget) {
  bool happened = hand_over_arrived(budget);
  while (budget > 0 && m_incoming_count < m_job.setting.buffer) {
    slot& next = m_slots[m_first];
    int there = 0;
    MPI_Status from;
    must(MPI_Test(&next.handle, &there, &from), "MPI_Test");
    if (there == 0) break;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    happened = true;
    envelope front;
    std::memcpy(&front, next.memory.get(), sizeof front);
    const std::int32_t source = from.MPI_SOURCE;
    if (m_incoming[static_cast<std::size_t>(source)].empty() && front.payload_bytes <= m_job.setting.eager_bytes) {
      --budget;
      hand_over(source, front.id, next.memory.get() + sizeof front, front.header_bytes,
                next.memory.get() + payload_at(front.header_bytes), front.payload_bytes);
    } else {
      keep(source, next.memory.get());
    }
    post_receive(m_first);
    m_first = (m_first + 1) % m_slots.size();
  }
  return hand_over_arrived(budget) || happened;
}

}  // namespace tessera::mpi
