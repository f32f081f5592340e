#include "core/transfer/evictor.hpp"

#include <algorithm>

#include "core/transfer/use_log.hpp"

namespace tessera::transfer {

eviction_policy parse_eviction(std::string_view text) {
  if (text == "next_use") return eviction_policy::next_use;
  if (text == "lru") return eviction_policy::lru;
  if (text == "fifo") return eviction_policy::fifo;
  throw error(error_kind::configuration, "unknown eviction policy '" + std::string(text) + "'", "memory.eviction",
              "one of next_use, lru, fifo");
}

/// A block that may leave.
struct evictor::candidate {
  std::uint64_t next_use;  // the farthest leaves first
  std::uint64_t age;       // then the oldest: how long ago it was used, or came
  block::record* block;
  memory::piece holds;
  bool is_sole;  // has to be copied to the parent first
};

/// What may leave a memory, and what does already.
struct evictor::survey {
  memory::space_number space;
  std::vector<candidate> may_leave;    // the first to leave first
  std::vector<memory::piece> leaving;  // of what is being written back
  std::vector<memory::piece> dying;    // of what only tasks under way use: it can leave before what is wanted again
};

/// Bytes that a block has left or will leave; none where it stays after all.
struct evictor::room_made {
  std::uint64_t freed = 0, leaving = 0;
  explicit operator bool() const noexcept { return freed + leaving > 0; }
};

evictor::evictor(memories& all, replicas& rules, copy_engine& copies, copy_failures& failures, claims& claimed,
                 eviction_settings settings)
    : m_memories(all),
      m_replicas(rules),
      m_copies(copies),
      m_failures(failures),
      m_claims(claimed),
      m_settings(settings),
      m_leaving(std::make_unique<std::atomic<std::uint64_t>[]>(all.all().size())) {
  for (const memory::space* s : all.all()) {
    const bool evicts = all.parent_of(s->number()) != memory::no_space && s->limit() != ~std::uint64_t{0};
    m_wants_uses = m_wants_uses || (evicts && settings.policy == eviction_policy::next_use);
  }
  copies.report_to(*this);
}

bool evictor::may_leave(const block::replica& r) const noexcept {
  if (m_memories.at(r.space).foreign().has(r.where)) return false;
  // The copy of one that is being cleaned holds a pin itself.
  return r.issuing == 0 && r.pins == (r.state == block::replica_state::cleaning ? 1u : 0u);
}

bool evictor::in_use(block::replica& r) const {
  m_replicas.prune_tickets(r);
  return r.pins != 0 || r.issuing != 0 || r.ready || (r.readers && !r.readers->empty());
}

bool evictor::is_elsewhere(block::record& block, memory::space_number besides) const {
  bool elsewhere = false;
  block.for_each_replica([&](block::replica& other) {
    if (other.space == besides || !m_replicas.usable(other, block)) return;
    m_replicas.prune_tickets(other);
    elsewhere = elsewhere || m_replicas.arrived(other, block);
  });
  return elsewhere;
}

void evictor::begin_eviction(block::replica& r, std::uint64_t block_bytes) noexcept {
  r.state = block::replica_state::draining;
  m_leaving[r.space].fetch_add(m_memories.at(r.space).allocated_size(block_bytes), std::memory_order_relaxed);
}

void evictor::cancel_eviction(block::replica& r, std::uint64_t block_bytes) noexcept {
  if (r.state != block::replica_state::draining) return;
  r.state = block::replica_state::valid;
  m_leaving[r.space].fetch_sub(m_memories.at(r.space).allocated_size(block_bytes), std::memory_order_relaxed);
}

void evictor::drop(block::record& block, block::replica& r) {
  const memory::space_number number = r.space;
  m_replicas.drop(block, r);
  m_memories.at(number).count_eviction();
  if (m_tracer != nullptr) trace_eviction(block, number, false);
  m_dropped.fetch_add(1, std::memory_order_relaxed);
}

void evictor::trace_eviction(const block::record& block, memory::space_number space, bool written_back) const {
  trace::buffer& events = m_tracer->local();
  trace::event e{trace::event_kind::evicted};
  e.count = written_back;
  e.number = space;
  e.time = events.now();
  e.task = m_tracer->name(block::name_of(block));
  e.words[0] = block.bytes;
  events.add(e);
}

eviction_statistics evictor::statistics() const noexcept {
  return {.dropped = m_dropped.load(), .written_back = m_written_back.load(), .written_ahead = m_written_ahead.load()};
}

void evictor::relieve(memory::space_number number, std::uint64_t sequence) {
  const memory::space& space = m_memories.at(number);
  if (!space.was_full() || m_memories.parent_of(number) == memory::no_space) return;
  const auto used = static_cast<double>(space.used()), limit = static_cast<double>(space.limit());
  if (used <= m_settings.high_watermark * limit) return;
  const double excess = used - m_settings.low_watermark * limit;
  const std::uint64_t leaving = m_leaving[number].load(std::memory_order_relaxed);
  if (excess > static_cast<double>(leaving)) evict(number, static_cast<std::uint64_t>(excess) - leaving, sequence);
}

namespace {

/// Tasks between now and a use that nobody has announced: more than any log knows.
constexpr double far_away = 1 << 24;

std::uint64_t sum_of(const std::vector<memory::piece>& pieces) {
  std::uint64_t sum = 0;
  for (const memory::piece& p : pieces) sum += p.bytes;
  return sum;
}

}  // namespace

/// What leaves has to come again: the bytes that this moves, there and back for a sole copy, for each task that the
/// memory is free meanwhile. Where the next use is not known it is as far away as the last one.
double evictor::cost_of(const candidate& leaving, std::uint64_t sequence) const noexcept {
  const double bytes = static_cast<double>(leaving.holds.bytes) * (leaving.is_sole ? 2 : 1);
  if (leaving.next_use != use_log::never) return bytes / static_cast<double>(leaving.next_use - sequence + 1);
  return bytes / static_cast<double>(leaving.age + 1) / (m_wants_uses ? far_away : 1);
}

/// What lies across pages, since before there were any, costs less: it is in the way of two. Pieces below the granule
/// are left out: what is beside them may not be joined with them.
void evictor::add_to(memory::room_plan& plan, const survey& found, memory::page_grid grid, std::uint64_t sequence,
                     std::span<const block::record* const> staying) const {
  const auto is_whole = [&](const memory::piece& p) { return p.bytes >= m_memories.at(found.space).granule(); };
  for (const memory::piece& p : found.leaving)
    if (is_whole(p)) plan.add_free(p);
  for (const memory::piece& p : found.dying)
    if (is_whole(p)) plan.add_awaited(p, static_cast<double>(p.bytes) / far_away);
  for (std::size_t k = 0; k < found.may_leave.size(); ++k)
    if (const candidate& c = found.may_leave[k];
        is_whole(c.holds) && std::ranges::find(staying, c.block) == staying.end())
      plan.add_held(c.holds, cost_of(c, sequence) / (grid.allows(c.holds.where.offset(), c.holds.bytes) ? 1 : 4), k);
}

bool evictor::make_room(memory::space_number number, std::span<const std::uint64_t> sizes, std::uint64_t sequence) {
  if (sizes.empty()) return false;
  memory::space& space = m_memories.at(number);
  std::vector<std::uint64_t> wanted;
  std::uint64_t bytes = 0, deficit = 0;
  for (const std::uint64_t size : sizes) {
    wanted.push_back(std::max(space.allocated_size(size), space.granule()));
    bytes += space.allocated_size(size);
  }
  if (space.is_own_slab(std::ranges::max(sizes)))
    return replace_alike(number, wanted, sequence) || make_bytes_free(number, bytes, sequence);
  std::vector<const block::record*> staying;  // that were chosen, and are in use again or have no room in the parent
  constexpr std::size_t max_attempts = 3;
  for (std::size_t attempt = 0; attempt < max_attempts; ++attempt) {
    memory::room_plan plan;
    for (const memory::piece& p : space.free_pieces()) plan.add_free(p);
    const survey found = look_over(number, sequence);
    const memory::page_grid grid = space.grid();
    add_to(plan, found, grid, sequence, staying);
    std::optional<std::vector<std::size_t>> chosen = plan.make_room(wanted, grid);
    if (!chosen) chosen = plan.make_room(wanted);
    if (!chosen) break;  // whole slabs have to be empty, so that the plugin may give larger ones
    bool any_leaves = !found.leaving.empty(), freed = false;
    const std::size_t stayed = staying.size();
    for (const std::size_t k : *chosen) {
      const room_made made = send_away(found.may_leave[k], number, sequence, deficit);
      if (!made) staying.push_back(found.may_leave[k].block);
      any_leaves = any_leaves || made;
      freed = freed || made.freed > 0;
    }
    if (freed) space.waiters().notify();
    if (staying.size() > stayed) continue;
    if (!chosen->empty()) keep_some_ready(number, found.may_leave, sequence);
    return any_leaves;
  }
  return make_bytes_free(number, bytes, sequence);
}

/// Of blocks that are slabs by themselves, those that would leave soon anyway and have the wanted sizes: their memory
/// is used again as it is. Whether that is enough.
bool evictor::replace_alike(memory::space_number number, std::span<const std::uint64_t> sizes, std::uint64_t sequence) {
  memory::space& space = m_memories.at(number);
  std::uint64_t bytes = 0, deficit = 0, freed = 0, leaving = 0;
  for (const std::uint64_t size : sizes) bytes += size;
  const std::uint64_t there =
      space.limit() - std::min(space.used(), space.limit()) + m_leaving[number].load(std::memory_order_relaxed);
  if (there >= bytes) return false;
  const survey found = look_over(number, sequence);
  std::vector<bool> gone((found.may_leave.size() + 1) / 2);
  for (const std::uint64_t size : sizes)
    for (std::size_t k = 0; k < gone.size(); ++k) {
      if (gone[k] || found.may_leave[k].holds.bytes != size) continue;
      gone[k] = true;
      const room_made made = send_away(found.may_leave[k], number, sequence, deficit);
      freed += made.freed;
      leaving += made.leaving;
      if (made) break;
    }
  if (freed > 0) space.waiters().notify();
  if (freed + leaving > 0) keep_some_ready(number, found.may_leave, sequence);
  return there + freed + leaving >= bytes;
}

/// Without a look at where they lie.
bool evictor::make_bytes_free(memory::space_number number, std::uint64_t bytes, std::uint64_t sequence) {
  const memory::space& space = m_memories.at(number);
  const std::uint64_t leaving = m_leaving[number].load(std::memory_order_relaxed);
  const std::uint64_t there = space.limit() - std::min(space.used(), space.limit()) + leaving;
  if (there < bytes)
    bytes -= there;
  else if (leaving > 0)
    return true;
  return evict(number, bytes, sequence);  // with enough free it was in pieces too small
}

evictor::survey evictor::look_over(memory::space_number number, std::uint64_t sequence) {
  memory::space& space = m_memories.at(number);
  survey found{.space = number, .may_leave = {}, .leaving = {}, .dying = {}};
  const std::vector<const block::record*> kept = m_claims.protected_blocks(sequence);
  const std::uint32_t now = space.tick();
  std::uint64_t arrivals = 0;
  const std::vector<memory::resident_list::resident> residents = space.residents().all();
  for (const auto& [b, arrival] : residents) arrivals = std::max(arrivals, arrival);
  for (const auto& [b, arrival] : residents) {
    if (std::ranges::binary_search(kept, b)) continue;
    const std::unique_lock guard(b->lock, std::try_to_lock);
    if (!guard) continue;
    block::replica* const r = b->find(number);
    if (r == nullptr) continue;
    const memory::piece holds{r->where, space.allocated_size(b->bytes)};
    if (r->state == block::replica_state::draining) {
      found.leaving.push_back(holds);
      continue;
    }
    const use_log::coming_use coming = m_wants_uses ? use_log::next_use(*b) : use_log::coming_use();
    // What was expected for long ago will not come.
    std::uint64_t next = coming.expected && coming.age < sequence ? use_log::never : coming.age;
    if (!may_leave(*r)) {
      if (m_wants_uses && next == use_log::never && r->pins != 0) found.dying.push_back(holds);
      continue;
    }
    if (r->state != block::replica_state::cleaning && in_use(*r)) continue;
    if (!m_replicas.usable(*r, *b)) next = use_log::never;  // nobody wants what is stale
    if (next < sequence) continue;
    // A use noted after `now` counts as just now; the clock may wrap around.
    const auto idle = static_cast<std::uint64_t>(std::max(static_cast<std::int32_t>(now - r->last_use), 0));
    found.may_leave.push_back({next, m_settings.policy == eviction_policy::fifo ? arrivals - arrival : idle, b, holds,
                               b->only_valid_in(number)});
  }
  std::ranges::sort(found.may_leave, [](const candidate& a, const candidate& b) {
    return a.next_use != b.next_use ? a.next_use > b.next_use : a.age > b.age;
  });
  return found;
}

/// It is dropped, or copied to the parent first.
evictor::room_made evictor::send_away(const candidate& leaving, memory::space_number number, std::uint64_t sequence,
                                      std::uint64_t& deficit) {
  block::record& b = *leaving.block;
  std::uint64_t room = 0;  // that it takes; the record may be another block's when the lock is gone
  {
    const std::unique_lock guard(b.lock, std::try_to_lock);
    if (!guard) return {};
    block::replica* r = b.find(number);
    if (r == nullptr || !may_leave(*r)) return {};
    room = m_memories.at(number).allocated_size(b.bytes);
    if (r->state == block::replica_state::cleaning) {
      begin_eviction(*r, b.bytes);
      return {.leaving = room};
    }
    if (in_use(*r)) return {};
    if (!m_replicas.usable(*r, b) || is_elsewhere(b, number)) {
      drop(b, *r);
      return {.freed = room};
    }
    if (!b.only_valid_in(number)) return {};  // its copy is on its way
  }
  std::uint64_t moved = 0;
  if (!write_back(b, number, moved, sequence, deficit)) return {};
  return {.leaving = std::max(moved, room)};  // nothing moved yet: it leaves when room has been made in the parent
}

/// Beyond what is wanted now, the next ones are copied to the parent, so that they can leave at once when their turn
/// comes. Where nothing is known of the uses to come they would often be written again before that, and the copy made
/// for nothing.
void evictor::keep_some_ready(memory::space_number number, std::span<const candidate> next, std::uint64_t sequence) {
  if (!m_wants_uses) return;
  const memory::space& space = m_memories.at(number);
  const auto wanted = static_cast<std::uint64_t>(m_settings.write_ahead * static_cast<double>(space.limit()));
  std::uint64_t ready = 0;
  // In the order in which room is made: a sole copy that is needed last may stay longer than another one.
  struct turn {
    double cost;  // of a byte
    const candidate* leaving;
  };
  std::vector<turn> turns;
  for (const candidate& c : next) turns.push_back({cost_of(c, sequence) / static_cast<double>(c.holds.bytes), &c});
  const auto later = [](const turn& a, const turn& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.leaving > b.leaving;  // as they stand in `next`
  };
  std::ranges::make_heap(turns, later);
  for (; !turns.empty(); turns.pop_back()) {
    std::ranges::pop_heap(turns, later);
    const candidate& c = *turns.back().leaving;
    block::record& b = *c.block;
    std::uint64_t room = 0;
    {
      const std::unique_lock guard(b.lock, std::try_to_lock);
      if (!guard) continue;
      block::replica* r = b.find(number);
      if (r == nullptr || !may_leave(*r)) continue;
      room = space.allocated_size(b.bytes);
      if (ready + room > wanted) return;
      const bool cleaning = r->state == block::replica_state::cleaning;
      if (!cleaning && in_use(*r)) continue;
      if (cleaning || !m_replicas.usable(*r, b) || is_elsewhere(b, number)) {
        ready += room;
        continue;
      }
      if (!b.only_valid_in(number)) continue;
    }
    if (use_log::will_be_written(b)) continue;
    if (!write_ahead(b, number, sequence)) return;
    ready += room;
  }
}

bool evictor::evict(memory::space_number number, std::uint64_t bytes, std::uint64_t sequence) {
  const survey found = look_over(number, sequence);
  const std::uint64_t dying = sequence == 0 ? 0 : sum_of(found.dying);  // for nobody: nothing ends by itself any more
  std::uint64_t freed = 0, leaving = 0, deficit = 0;
  std::size_t next = 0;
  for (; next < found.may_leave.size(); ++next) {
    const candidate& victim = found.may_leave[next];
    if (freed + leaving + (victim.next_use == use_log::never ? 0 : dying) >= bytes) break;
    const room_made made = send_away(victim, number, sequence, deficit);
    freed += made.freed;
    leaving += made.leaving;
  }
  keep_some_ready(number, std::span(found.may_leave).subspan(next), sequence);
  if (freed > 0) m_memories.at(number).waiters().notify();
  return freed + leaving > 0;
}

evacuation evictor::evacuate(memory::space_number number) {
  memory::space& space = m_memories.at(number);
  const memory::space_number to = m_memories.parent_of(number);
  evacuation out;
  bool freed = false;
  std::uint64_t deficit = 0;
  for (const auto& [b, arrival] : space.residents().all()) {
    std::uint64_t bytes = 0;
    block::version_number version = 0;
    {
      const std::lock_guard guard(b->lock);
      block::replica* r = b->find(number);
      if (r == nullptr) continue;
      ++out.left;
      if (in_use(*r)) {
        out.waiting = true;
        continue;
      }
      if (!m_replicas.usable(*r, *b) || is_elsewhere(*b, number) || b->poison != nullptr) {
        drop(*b, *r);
        --out.left;
        freed = true;
        continue;
      }
      bool arriving = false, target_busy = false;  // a task that overwrites the parent's replica makes this one stale
      b->for_each_replica([&](const block::replica& other) {
        arriving = arriving || (other.space != number && m_replicas.usable(other, *b));
        target_busy = target_busy || (other.space == to && (other.pins != 0 || other.issuing != 0));
      });
      if (arriving || target_busy) {
        out.waiting = true;
        continue;
      }
      bytes = b->bytes;
      version = b->committed;
    }
    std::uint64_t moved = 0;
    if (write_back(*b, number, moved, 0, deficit)) {
      (moved > 0 ? out.progress : out.waiting) = true;  // nothing moved: something leaves the parent first
      continue;
    }
    if (to != memory::no_space && m_failures.exhausted(*b, number, to, version)) {
      out.failing = true;
      continue;
    }
    block::chunk room;
    if (to != memory::no_space && m_memories.links().between(number, to).kind != route_kind::none &&
        m_memories.at(to).reserve({&bytes, 1}, {&room, 1})) {
      m_memories.at(to).give_back(room, bytes);
      out.busy = true;  // it was not for lack of room
      continue;
    }
    if (out.lacking_bytes == 0) {
      const std::lock_guard guard(b->lock);
      out.example = block::name_of(*b);
    }
    out.lacking_bytes += bytes;
  }
  out.progress = out.progress || freed;
  if (freed) space.waiters().notify();
  return out;
}

}  // namespace tessera::transfer
