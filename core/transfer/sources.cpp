#include "core/transfer/sources.hpp"

#include <mutex>

namespace tessera::transfer {

const block::replica* sources::cheapest(block::record& block, memory::space_number to) const {
  const block::replica* best = nullptr;
  double best_seconds = 0;
  block.for_each_replica([&](block::replica& r) {
    if (r.space == to || !m_replicas.usable(r, block)) return;
    const route& way = m_memories.links().between(r.space, to);
    if (way.kind == route_kind::none) return;
    m_replicas.prune_tickets(r);
    // A copy that is itself still arriving is worth waiting for only when it is much nearer.
    double seconds = way.seconds(block.bytes) * (r.ready || r.issuing != 0 ? 2 : 1);
    if (m_replicas.doubtful(r)) return;
    if (m_failures.any()) {  // what has failed is tried again when there is nothing else
      if (m_failures.exhausted(block, r.space, to, block.committed)) return;
      seconds = (seconds + 1e-6) * (1 + 1000.0 * m_failures.failures(block, r.space, to, block.committed));
    }
    if (best == nullptr || seconds < best_seconds) best = &r, best_seconds = seconds;
  });
  return best;
}

no_source sources::why_none(block::record& block, memory::space_number to) const {
  no_source why = no_source::lost;
  block.for_each_replica([&](block::replica& r) {
    if (why == no_source::lost && m_replicas.usable(r, block)) why = no_source::far;
    if (r.space == to || !m_replicas.usable(r, block) ||
        m_memories.links().between(r.space, to).kind == route_kind::none)
      return;
    if (m_replicas.doubtful(r))
      why = no_source::doubtful;
    else if (why == no_source::far)
      why = no_source::exhausted;
  });
  return why;
}

memory::space_number sources::stop_towards(block::record& block, memory::space_number to) const {
  memory::space_number stop = memory::no_space;
  const std::lock_guard guard(block.lock);
  block.for_each_replica([&](block::replica& r) {
    if (stop == memory::no_space && m_replicas.usable(r, block)) stop = m_memories.links().stop_between(r.space, to);
  });
  return stop;
}

std::shared_ptr<const block::failure> sources::gave_up(const block::record& block, memory::space_number to) const {
  return std::make_shared<block::failure>(block::failure{m_failures.about(block, to), {}, error_kind::device});
}

double sources::seconds_between(const block::replica& from, memory::space_number to, std::uint64_t bytes) const {
  const link_map& links = m_memories.links();
  const route& way = links.between(from.space, to);
  if (way.kind != route_kind::none)
    return way.seconds(bytes) * (from.ready || from.issuing != 0 ? 2 : 1);  // as in cheapest
  const memory::space_number stop = links.stop_between(from.space, to);
  if (stop == memory::no_space) return -1;
  return links.between(from.space, stop).seconds(bytes) + links.between(stop, to).seconds(bytes);
}

void sources::costs_of(std::span<const block::access> accesses, std::span<const memory::space_number> spaces,
                       std::span<transfer_estimate> out) const {
  for (transfer_estimate& e : out) e = {};
  for (const block::access& a : accesses) {
    if (!needs_contents(a.intent)) continue;
    block::record& b = *a.block;
    const std::lock_guard guard(b.lock);
    if (b.valid_spaces.empty()) continue;
    b.for_each_replica([&](block::replica& r) {
      if (m_replicas.usable(r, b)) m_replicas.prune_tickets(r);
    });
    for (std::size_t k = 0; k < spaces.size(); ++k) {
      const memory::space_number space = spaces[k];
      if (b.valid_in(space)) {
        out[k].resident_bytes += b.bytes;
        continue;
      }
      out[k].missing_bytes += b.bytes;
      double best = -1;
      b.for_each_replica([&](block::replica& r) {
        if (r.space == space || !m_replicas.usable(r, b)) return;
        const double seconds = seconds_between(r, space, b.bytes);
        if (seconds >= 0 && (best < 0 || seconds < best)) best = seconds;
      });
      if (best > 0) out[k].seconds += best;
    }
  }
}

}  // namespace tessera::transfer
