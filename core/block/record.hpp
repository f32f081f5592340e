#pragma once
// What the runtime knows of one block.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/spin_lock.hpp"
#include "core/block/access.hpp"
#include "core/block/element_type.hpp"
#include "core/block/intent.hpp"
#include "core/block/shape.hpp"
#include "core/block/space_set.hpp"
#include "core/block/ticket.hpp"

namespace tessera::block {

/// The number `count` versions after another one.
constexpr version_number version_after(version_number last, version_number count = 1) noexcept {
  constexpr std::uint64_t most = 0xffff'ffff;
  const std::uint64_t sum = std::uint64_t{last} + count;
  return static_cast<version_number>(sum > most ? sum - most : sum);
}

/// A piece of a space's memory: slab number and offset in one word. The all-ones word is no memory.
struct chunk {
  std::uint64_t word = ~std::uint64_t{0};
  static chunk at(std::uint32_t slab, std::uint64_t offset) noexcept { return {std::uint64_t{slab} << 48 | offset}; }
  std::uint32_t slab() const noexcept { return static_cast<std::uint32_t>(word >> 48); }
  std::uint64_t offset() const noexcept { return word & 0xffff'ffff'ffffu; }
  explicit operator bool() const noexcept { return word != ~std::uint64_t{0}; }
};

/// Where a replica is in its life. `modified`, `shared`, `invalid` of other systems are derived, never stored.
enum class replica_state : std::uint8_t {
  absent,    ///< the entry is free
  filling,   ///< a transfer into it is under way; `ready` tells when it is done
  valid,     ///< holds `version` (which may be stale)
  cleaning,  ///< being copied to the parent memory ahead of time; used as if it were valid
  draining   ///< being written back to the parent memory before it is dropped
};

/// One copy of a block in one space; 48 bytes. Guarded by the record's lock.
struct replica {
  std::uint16_t space = 0;
  replica_state state = replica_state::absent;
  std::uint8_t issuing = 0;  ///< plugin calls under way that will leave a ticket here; others wait for 0
  std::uint32_t pins = 0;    ///< uses not yet completed; a pinned replica is never evicted
  version_number version = 0;
  std::uint32_t last_use = 0;  ///< the space's clock
  chunk where;
  ticket ready;                                  ///< when the contents are there
  std::unique_ptr<std::vector<ticket>> readers;  ///< device work that may still read it; at most one per stream
};
static_assert(sizeof(replica) == 48);

/// A reference to a task that survives the task: record address and generation in one word (see task/record.hpp).
using task_reference = std::uint64_t;

/// Adders of an open group of accumulates; defined in accumulation.hpp.
struct accumulation;
/// A use that is to come; defined in announced_use.hpp.
struct announced_use;

/// Whether the last writers of a block are tasks that commute.
enum class commuting : std::uint8_t {
  none,   ///< they are not: there is one last writer
  open,   ///< more may join them
  closed  ///< they have been read since
};

/// What does not fit into a flow record.
struct flow_lists {
  std::vector<task_reference> readers;    ///< beyond the inline ones
  std::vector<task_reference> commuters;  ///< instead of the last writer; unfinished ones at least
  std::vector<task_reference> before;     ///< what each commuter waits for
};

/// Dependencies of later tasks follow from this; touched only while a task is linked, under `lock`.
struct alignas(64) flow_record {
  spin_lock lock;
  bool is_private = false;  ///< used by one submitting thread only (array::keep_to_this_thread): no lock in linking
  std::uint8_t reader_count = 0;  ///< inline readers in use
  block::commuting commuting = block::commuting::none;
  version_number next_version = 1;  ///< the version that the next writer makes
  task_reference last_writer = 0;
  std::array<task_reference, 4> readers{};  ///< since the last writer
  std::unique_ptr<flow_lists> more;
  std::atomic<announced_use*> last_announced{nullptr};  ///< the end of the chain of its uses; needs no lock

  /// The number of the next version, which is given out by that. Call with the lock held.
  version_number make_version() noexcept { return std::exchange(next_version, version_after(next_version)); }
};
static_assert(sizeof(flow_record) == 64);

/// Why a block's contents cannot be used: the failure of the task that should have made them.
struct failure {
  std::string text;        ///< what happened
  std::string where = {};  ///< the task: operation and site
  error_kind kind = error_kind::task;
  bool by_loss = false;   ///< what it was made from, or where, was lost with a device
  std::string hint = {};  ///< what to do about it, where the one who found it knows
};

/// Where a block belongs, for people: array name and block indices. Shared by the blocks of one array.
struct origin {
  std::string array_name;
  std::vector<std::int64_t> counts;  ///< blocks per dimension, max_rank of them at most
  bool last_is_fastest = false;      ///< of the indices, from one block to the next; else the first
  std::int64_t per_element = 1;      ///< how many elements of the blocks' type one of the program's is
  mutable std::uint64_t blocks = 0;  ///< that refer to it; under the table's mutex
};

/// Of a block in memory of the program: whether that memory has its last version, as far as a fence has to look.
enum class home_state : std::uint8_t {
  there,   ///< or the block is not in memory of the program
  listed,  ///< a version was made elsewhere; a fence will look at it
  ending   ///< its array has ended, and takes the last version home itself
};

/// Everything about one block. 64-byte aligned; addresses are stable and reused (table.hpp).
struct alignas(64) record {
  // submission side
  flow_record flow;

  // execution side, guarded by `lock`; no thread enqueues work of a plugin while holding it
  spin_lock lock;
  std::uint8_t replica_count = 0;  ///< entries in use among the first two and `more`
  element_type type = element_type::none;
  bool foreign = false;  ///< one of its replicas is memory of the program: never freed, never moved
  version_number committed = 0;
  space_set valid_spaces;  ///< whose replicas have the committed version
  std::uint64_t bytes = 0;
  const shape* extents = nullptr;                    ///< owned by the table, shared among equal blocks
  const origin* from = nullptr;                      ///< owned by the table; null for hidden blocks
  std::uint32_t slot = 0;                            ///< position in the table: the order in which locks are taken
  std::uint32_t owner = 0;                           ///< table::number of its runtime; 0: it may not be named any more
  std::shared_ptr<const failure>* poison = nullptr;  ///< set: the committed contents are not to be used

  std::array<replica, 2> replicas;
  std::unique_ptr<std::vector<replica>> more;     ///< third and later replicas
  std::atomic<announced_use*> next_use{nullptr};  ///< the beginning of the chain of its uses, or before it
  accumulation* sums = nullptr;  ///< the open group of accumulates; part of the flow side, guarded by flow.lock
  home_state home = home_state::there;
  std::uint32_t position = 0;  ///< ordinal within its array; of a private copy: its combination

  /// The replica in a space, or null. Call with the lock held.
  replica* find(std::uint16_t space) noexcept {
    for (replica& r : replicas)
      if (r.state != replica_state::absent && r.space == space) return &r;
    if (more)
      for (replica& r : *more)
        if (r.state != replica_state::absent && r.space == space) return &r;
    return nullptr;
  }
  /// A new entry (state still absent; the caller fills it). Call with the lock held; invalidates pointers from find.
  replica& add() {
    for (replica& r : replicas)
      if (r.state == replica_state::absent) return r;
    if (!more) more = std::make_unique<std::vector<replica>>();
    for (replica& r : *more)
      if (r.state == replica_state::absent) return r;
    return more->emplace_back();
  }
  template <class Function>
  void for_each_replica(Function&& function) {
    for (replica& r : replicas)
      if (r.state != replica_state::absent) function(r);
    if (more)
      for (replica& r : *more)
        if (r.state != replica_state::absent) function(r);
  }
  /// The committed contents are not to be used. Call with the lock held.
  void set_poison(const std::shared_ptr<const failure>& why) {
    if (poison == nullptr)
      poison = new std::shared_ptr<const failure>(why);
    else
      *poison = why;
  }
  /// They are, again. Call with the lock held.
  void clear_poison() noexcept { delete std::exchange(poison, nullptr); }
  bool valid_in(std::uint16_t space) const noexcept { return valid_spaces.has(space); }
  bool only_valid_in(std::uint16_t space) const noexcept { return valid_spaces == space_set::of(space); }
};

static_assert(sizeof(record) == 256, "a block with two replicas costs 256 bytes of metadata");

/// "A(3,1)", or "block 17" for a block of no array.
std::string name_of(const record& block);

}  // namespace tessera::block
