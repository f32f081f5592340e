// The part of `coherence` that knows that copies fail: nothing is lost by one, since its source stays as it is.
#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/transfer/coherence.hpp"
#include "core/transfer/planned_transfer.hpp"

namespace tessera::transfer {

bool coherence::doubtful(const block::replica& r) const {
  return r.ready && m_streams.reached(r.ready) && m_streams.failed(r.ready);
}

coherence::no_source coherence::why_no_source(block::record& block, memory::space_number to) const {
  no_source why = no_source::lost;
  block.for_each_replica([&](block::replica& r) {
    if (why == no_source::lost && usable(r, block)) why = no_source::far;
    if (r.space == to || !usable(r, block) || m_links.between(r.space, to).how == route_kind::none) return;
    if (doubtful(r)) why = no_source::doubtful;  // in a moment it is known whether there is another way
    else if (why == no_source::far) why = no_source::exhausted;
  });
  return why;
}

std::shared_ptr<const block::failure> coherence::gave_up(const block::record& block, memory::space_number to) const {
  return std::make_shared<block::failure>(block::failure{m_trouble.about(block, to), {}, error_kind::device});
}

void coherence::copy_refused(const planned& what, const error& why) {
  ask_health(what.from);
  ask_health(what.to);
  if (lost(what.from) || lost(what.to)) return;
  const std::lock_guard guard(what.block->lock);
  m_trouble.note({.block = what.block,
                  .from = what.from,
                  .to = what.to,
                  .version = what.version,
                  .status = TSR_UNKNOWN,
                  .text = fmt::format("the copy of {} from {} to {} was refused: {}", block::name_of(*what.block),
                                      m_spaces[what.from]->name(), m_spaces[what.to]->name(), why.message())});
}

/// With the block's lock held. Takes back what planning has promised: the target is not valid. Its source still is.
void coherence::copy_failed(const transfer& t, tsr_status status) {
  const planned& what = t.what;
  block::record& b = *what.block;
  if (what.write_back) m_failed_write_backs.fetch_add(1, std::memory_order_relaxed);
  block::replica* const target = b.find(what.to);
  if (target != nullptr && target->version == what.version) {  // else a task has made another version on top of it, and fails
    target->version = 0;
    target->state = block::replica_state::valid;
    b.valid_spaces.remove(what.to);
  }
  if (target != nullptr && target->ready == t.done.at) target->ready = {};
  // The last hope of a block whose lost replica has been dropped in view of it.
  if (b.valid_spaces.empty() && b.committed != 0 && b.poison == nullptr && !m_lost.empty()) give_up_contents(b);
  if (status == TSR_CANCELLED || lost(what.from) || lost(what.to)) return;  // not the copy's own failure
  const std::string details = m_streams.at(t.done.at.stream).details_at(t.done.at.value);
  m_trouble.note({.block = &b,
                  .from = what.from,
                  .to = what.to,
                  .version = what.version,
                  .status = status,
                  .text = fmt::format("the copy of {} from {} to {} failed: {}{}{}", block::name_of(b), m_spaces[what.from]->name(),
                                      m_spaces[what.to]->name(), plugin::name_of(status), details.empty() ? "" : ": ", details)});
}

bool coherence::arrived(std::span<const block::access> accesses) const {
  for (const block::access& a : accesses) {
    if (!needs_contents(a.how)) continue;
    block::record& b = *a.block;
    const std::lock_guard guard(b.lock);
    const block::replica* const here = b.find(a.space);
    if (here == nullptr || !usable(*here, b) || doubtful(*here)) return false;
    // Somebody who waited for the same copy has begun another one.
    if (here->state == block::replica_state::filling && (here->issuing != 0 || !m_streams.reached(here->ready))) return false;
  }
  return true;
}

std::string coherence::why_stuck(memory::space_number number) const {
  const memory::space& space = *m_spaces[number];
  std::string why = space.alloc_trouble();
  if (!why.empty()) why = "its plugin gives no more of it: " + why;
  const memory::space_number above = m_parents[number];
  if (above == memory::no_space) return why;
  const auto add = [&](const std::string& more) { why += (why.empty() ? "" : "; ") + more; };
  if (lost(above)) add(fmt::format("{}, where its blocks would go, is lost", m_spaces[above]->device().name()));
  if (const std::string failed = m_trouble.last_from(number); !failed.empty()) add(failed);
  const memory::space& parent = *m_spaces[above];
  const std::string its = parent.alloc_trouble();
  if (parent.was_full())
    add(fmt::format("{}, where its blocks would go, is full ({} of {} in use{}{})", parent.name(), format_bytes(static_cast<double>(parent.used())),
                    parent.limit() == ~std::uint64_t{0} ? "no limit" : format_bytes(static_cast<double>(parent.limit())),
                    its.empty() ? "" : ": ", its) +
        (parent.device().description().device_class == TSR_DEVICE_STORAGE ? fmt::format("; plugin.{}.capacity gives it more", parent.device().plugin_name())
                                                                            : std::string()));
  return why;
}

}  // namespace tessera::transfer
