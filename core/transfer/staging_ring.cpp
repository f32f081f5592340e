#include "core/transfer/staging_ring.hpp"

#include <algorithm>

#include "core/transfer/copy.hpp"

namespace tessera::transfer {

staging_ring::staging_ring(memory::space& host, std::uint64_t bytes, std::uint32_t slots)
    : m_host(host), m_slot_bytes(std::max<std::uint64_t>(bytes / slots / 4096 * 4096, 4096)), m_slots(slots) {
  m_bytes = m_slot_bytes * slots;
  if (!host.reserve({&m_bytes, 1}, {&m_memory, 1}))
    throw error(error_kind::memory,
                "no room for a staging ring of " + std::to_string(m_bytes) + " bytes in " + host.name(), {},
                "raise memory.host_limit or lower memory.staging_bytes");
}

staging_ring::~staging_ring() { m_host.release(m_memory, m_bytes); }

void staging_ring::copy(const memory::space& from, tsr_address source, stream& out, const memory::space& to,
                        tsr_address destination, stream& in, std::uint64_t bytes,
                        std::span<const std::pair<const stream*, block::ticket>> waits, block::ticket source_ready,
                        staged_points& points) {
  const std::lock_guard ring(m_mutex);
  const tsr_address base = {nullptr, reinterpret_cast<std::uintptr_t>(m_host.host_pointer(m_memory))};
  const std::uint64_t most = std::min(max_at_once(out.device(), m_slot_bytes), max_at_once(in.device(), m_slot_bytes));
  for (std::uint64_t done = 0; done < bytes; done += most) {
    const std::uint64_t piece = std::min(most, bytes - done);
    slot& s = m_slots[m_next];
    const tsr_address middle = {nullptr, base.offset + m_next * m_slot_bytes};
    m_next = (m_next + 1) % m_slots.size();
    block::ticket filled;
    {
      const std::lock_guard guard(out.enqueue_lock());
      if (done == 0)
        for (const auto& [other, ticket] : waits) out.wait(*other, ticket);
      if (s.drained_by != nullptr && out.can_wait_for(*s.drained_by)) {
        out.wait(*s.drained_by, s.emptied);
        if (std::ranges::find(points.pieces, s.emptied) == points.pieces.end()) points.behind.push_back(s.emptied);
      }
      enqueue_copy(out, {nullptr, 0}, middle, from.reference(), {source.memory, source.offset + done}, piece);
      filled = out.signal();
      // Known before the other half is tried: when that is refused, this one still writes to the slot.
      points.pieces.push_back(filled);
      s.emptied = filled;
      s.drained_by = &out;
    }
    const std::lock_guard guard(in.enqueue_lock());
    if (done == 0)
      for (const auto& [other, ticket] : waits) in.wait(*other, ticket);
    in.wait(out, filled);
    enqueue_copy(in, to.reference(), {destination.memory, destination.offset + done}, {nullptr, 0}, middle, piece);
    // The last point stands for the whole copy.
    const bool last = done + piece == bytes;
    std::vector<block::ticket> depends_on;
    if (last) {
      depends_on = points.pieces;
      depends_on.push_back(source_ready);
    }
    const block::ticket arrived = in.signal(depends_on);
    s.emptied = arrived;
    s.drained_by = &in;
    points.pieces.push_back(arrived);
    points.left = filled;
    points.arrived = arrived;
  }
}

}  // namespace tessera::transfer
