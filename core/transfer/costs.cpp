// What it would cost to bring blocks to each of several spaces.
#include <mutex>

#include "core/transfer/coherence.hpp"

namespace tessera::transfer {

void coherence::costs_of(std::span<const block::access> accesses, std::span<const memory::space_number> spaces,
                         std::span<estimate> out) const {
  for (estimate& e : out) e = {};
  for (const block::access& a : accesses) {
    if (!needs_contents(a.how)) continue;
    block::record& b = *a.block;
    const std::lock_guard guard(b.lock);
    if (b.valid_spaces.empty()) continue;
    b.for_each_replica([&](block::replica& r) {
      if (usable(r, b)) settle(r);
    });
    for (std::size_t k = 0; k < spaces.size(); ++k) {
      estimate& to = out[k];
      const memory::space_number space = spaces[k];
      if (b.valid_in(space)) {
        to.resident_bytes += b.bytes;
        continue;
      }
      to.missing_bytes += b.bytes;
      double best = 0;
      bool found = false;
      b.for_each_replica([&](block::replica& r) {
        if (r.space == space || !usable(r, b)) return;
        const route& way = m_links.between(r.space, space);
        double seconds = 0;
        if (way.how != route_kind::none) {
          // As in cheapest_source: a copy that is itself still arriving counts double.
          seconds = way.seconds(b.bytes) * (r.ready || r.issuing != 0 ? 2 : 1);
        } else {
          const memory::space_number stop = m_links.stop_between(r.space, space);
          if (stop == memory::no_space) return;
          seconds = m_links.between(r.space, stop).seconds(b.bytes) + m_links.between(stop, space).seconds(b.bytes);
        }
        if (!found || seconds < best) best = seconds;
        found = true;
      });
      to.seconds += best;
    }
  }
}

}  // namespace tessera::transfer
