#pragma once
// The version table at work: makes the blocks of a task available in one space, publishes what it made, makes room.
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/block/record.hpp"
#include "core/memory/space.hpp"
#include "core/transfer/claims.hpp"
#include "core/transfer/link_map.hpp"
#include "core/transfer/losses.hpp"
#include "core/transfer/staging_ring.hpp"
#include "core/transfer/stream.hpp"
#include "core/trace/recorder.hpp"
#include "core/transfer/trouble.hpp"

namespace tessera::transfer {

/// What became of an attempt to acquire.
enum class outcome : std::uint8_t {
  ready,      ///< all replicas are (or, after `waits`, will be) usable and pinned
  retry,      ///< nothing is held; try again when `waits` are reached (a copy goes through an intermediate space)
  no_memory,  ///< nothing is held; `missing_bytes` could not be reserved
  lost,       ///< nothing is held; the device of the space is lost
  failed      ///< nothing is held; `cause` says why the contents cannot be had
};

/// Result of an attempt; reused between attempts to keep its capacity.
struct acquisition {
  outcome what = outcome::ready;
  std::vector<block::ticket> waits;  ///< reached or not; at most one per stream and block
  std::vector<block::ticket> sources;  ///< ready: exact points that make contents it needs, not reached yet
  bool copying = false;              ///< ready: some of these are copies
  memory::space_number lacking = memory::no_space;  ///< no_memory: the space that is full
  std::uint64_t missing_bytes = 0;
  std::uint64_t memory_events = 0;   ///< of that space, read before the reservation that failed
  std::shared_ptr<const block::failure> cause;
};

/// Totals since the start; a snapshot.
struct coherence_statistics {
  std::uint64_t versions = 0;        ///< committed by coherence (the fast path of a single space counts its own)
  std::uint64_t saved_fetches = 0;   ///< write intents that found a valid copy elsewhere and did not fetch it
  std::uint64_t saved_bytes = 0;
  std::uint64_t joined = 0;          ///< reads that joined a transfer already under way
  std::uint64_t dropped = 0;         ///< replicas evicted without a copy
  std::uint64_t written_back = 0;    ///< replicas evicted with a copy to the parent memory
  std::uint64_t written_ahead = 0;   ///< copies to the parent memory made before anything had to leave
};

/// Copy streams of one device.
struct copy_streams {
  stream* in = nullptr;     ///< towards the device; for a host device: inline
  stream* out = nullptr;    ///< from the device
};

/// Which replica leaves a full memory first.
enum class eviction_policy : std::uint8_t {
  next_use,  ///< the one that the submitted tasks use last; ties and unannounced uses: the least recently used
  lru,       ///< the least recently used
  fifo       ///< the one that came first
};
/// "next_use", "lru", "fifo"; throws tessera::error (configuration).
eviction_policy parse_eviction(std::string_view text);

/// How full a space may be. Only spaces that have been full once are relieved in the background.
struct eviction_settings {
  eviction_policy policy = eviction_policy::next_use;
  double high_watermark = 0.95;  ///< of the limit: above it blocks leave before anybody waits for the room
  double low_watermark = 0.90;   ///< until that much is in use
  double write_ahead = 0.03;     ///< of the limit: as much is kept ready to leave at once, by copies to the parent memory
};

struct planned;   // a transfer decided under locks, issued after them (planned_transfer.hpp)
struct transfer;  // a transfer under way

/// One per runtime. Thread-safe. Lock order: blocks by slot, then the space's own lock. No block's lock is held across an
/// enqueueing call of a plugin (replicas that a call will leave a ticket on are marked `issuing` instead, and others wait
/// for that); a reservation may ask the plugin for a slab, and dropping adopted memory may unregister it.
class coherence {
 public:
  /// @param parents  per space: where its evicted data go, or no_space
  coherence(std::span<const std::unique_ptr<memory::space>> spaces, std::vector<memory::space_number> parents,
            stream_table& streams, std::uint64_t staging_bytes, eviction_settings eviction = {},
            std::uint32_t copy_retries = 3);
  ~coherence();

  /// Writes transfers and evictions down from now on. Before anything is transferred.
  void record_to(trace::recorder& events) noexcept { m_recorder = &events; }

  /// Reserves, transfers and pins everything that a task with these accesses needs in `space`; see outcome. Sets
  /// access::space. `consumer` (may be null) is the stream that will use the data: tickets that it can wait for on the
  /// device are left in `waits` like all others; the caller decides how to wait.
  /// `sequence` is the task's age: 0 for none. Who lacks memory, here or where a block stops on its way, may have a claim there from
  /// then on (claims.hpp), until a later attempt succeeds, or give_up.
  void acquire(std::span<block::access> accesses, memory::space_number space, acquisition& out, std::uint64_t sequence = 0);

  /// The task of this age is given up: it will not acquire.
  void give_up(std::span<const block::access> accesses, std::uint64_t sequence) { end_claims(accesses, sequence); }

  /// The task has been enqueued (device: `done` is its ticket) or has run (host: no ticket): its versions are now the
  /// committed ones, other replicas are stale, readers are noted.
  void publish(std::span<const block::access> accesses, block::ticket done);

  /// The task is complete: unpins. With `why`, what it made is poisoned; `done`: the ticket that it was published with.
  void finish(std::span<const block::access> accesses, const std::shared_ptr<const block::failure>& why = nullptr,
              block::ticket done = {});
  /// Whether everything that an acquired task reads is where it was acquired, once its waits are reached. False: a copy has
  /// failed; finish, and acquire again.
  bool arrived(std::span<const block::access> accesses) const;
  /// Failures of copies so far.
  const trouble& troubles() const noexcept { return m_trouble; }
  /// Why nothing leaves a full space, as far as something is wrong; else empty.
  std::string why_stuck(memory::space_number space) const;

  /// publish and finish in one pass, for tasks that ran on the host.
  void publish_and_finish(std::span<const block::access> accesses);

  /// Marks what an unstarted task would have made as unusable.
  void poison(std::span<const block::access> accesses, const std::shared_ptr<const block::failure>& why);

  /// Starts to make `bytes` available in a space: drops replicas that are stale or valid elsewhere, writes sole copies
  /// back to the parent, least recently used first. Returns true when something was freed at once or is on its way.
  /// With a `sequence`, and by next use, nothing leaves that is needed before the task of that age.
  bool evict(memory::space_number space, std::uint64_t bytes, std::uint64_t sequence = 0);
  /// The same so that `bytes` are free in the end: what is free, and what leaves already, counts.
  bool make_room(memory::space_number space, std::uint64_t bytes, std::uint64_t sequence);
  /// Evicts from a space that is above its high watermark; for the task of age `sequence`, whose blocks have come.
  void relieve(memory::space_number space, std::uint64_t sequence);
  /// One step of emptying a space: drops what is stale or valid elsewhere, writes sole copies back to the parent, and says
  /// what is left. Call it again until nothing is; by one thread at a time for each space.
  struct evacuation {
    std::size_t left = 0;      ///< blocks that still have a replica there
    bool progress = false;     ///< something was dropped or has started to leave
    bool waiting = false;      ///< work or transfers that use some of them are under way
    bool again = false;        ///< a lock was busy: try at once
    std::uint64_t lacking_bytes = 0;  ///< of sole copies for which the parent has no room; 0: none was found
    std::string example;       ///< one of those blocks
  };
  evacuation evacuate(memory::space_number space);
  memory::space_number parent_of(memory::space_number space) const noexcept { return m_parents[space]; }
  /// Write-backs that have failed under way so far.
  std::uint64_t failed_write_backs() const noexcept { return m_failed_write_backs.load(std::memory_order_relaxed); }
  /// Whether submitters should announce uses.
  bool wants_uses() const noexcept { return m_wants_uses; }

  // Devices that are lost (loss.cpp). What only they had is poisoned; replicas there count for nothing.
  bool lost(memory::space_number space) const noexcept { return m_lost.has(space); }
  /// Drops the replicas of a lost space that nobody uses, and takes down what had no other copy. Returns how many are left: call it
  /// again when they are no longer used.
  std::size_t forsake(memory::space_number space);
  /// Whether none are left there.
  bool forsaken(memory::space_number space) const noexcept { return m_forsaken.has(space); }
  /// Whether that is so for all lost spaces, so that take_losses knows everything.
  bool losses_known() const noexcept { return m_lost.within(m_forsaken); }
  /// Takes down that a block's contents cannot be had because of a loss.
  void note_lost(block::record& block, const std::shared_ptr<const block::failure>& why);
  /// What was lost since the last call and is still missed.
  loss_report take_losses();
  loss_statistics lost_so_far() const;

  /// Drops all replicas of a block that no task uses any more. False: device work or transfers still read it; try again
  /// when `waits` are reached.
  bool try_drop(block::record& block, std::vector<block::ticket>& waits);

  // Memory of the program (adopted.cpp).
  /// New blocks that lie one behind the other in it: it has their first versions from now on. All is adopted in one space, its home. Throws
  /// as memory::space::adopt_foreign, and has changed nothing then.
  void adopt(std::span<block::record* const> blocks, void* memory, memory::space_number home);
  /// Whether versions were made elsewhere since the last take_away; relaxed.
  bool any_away() const noexcept { return m_any_away.load(std::memory_order_relaxed); }
  /// A block in memory of the program is being added to: its last version is made when somebody asks for it.
  void note_open_sum(const block::record& base);
  /// Those of these blocks whose last version is not in memory of the program now, though it could be; but for those that are kept to one thread.
  std::vector<block::record*> take_away();
  void none_away();  ///< when what take_away gave is on its way: any_away says so, unless there is more
  /// Whether a block is one of those.
  bool away(block::record& block) const;
  /// The array of the block ends: take_away does not return it any more.
  void end_adoption(block::record& block);

  /// Address of an acquired block at its space, and its host pointer where there is one (else null). The replica must be
  /// pinned by the caller; the block's lock is taken for the search only.
  tsr_address address_of(const block::access& held, void** out_host = nullptr) const;

  /// Nothing moves any more: ends all claims until somebody has acquired, and wakes who waited for them. False when there were none.
  bool lift_claims();
  /// How often note_stuck was called since the last task acquired.
  std::uint32_t stuck_rounds() const noexcept { return m_stuck.load(std::memory_order_relaxed); }
  void note_stuck() noexcept { m_stuck.fetch_add(1, std::memory_order_relaxed); }

  /// Estimated seconds until the blocks that are read would be at `space`, and their bytes that already are. Looks at one
  /// block after the other, each under its lock: the answer may be stale.
  struct estimate {
    double seconds = 0;
    std::uint64_t resident_bytes = 0, missing_bytes = 0;
  };
  estimate cost_of(std::span<const block::access> accesses, memory::space_number space) const;
  /// The same for several spaces in one go: each block is locked once. `out` has the length of `spaces`.
  void costs_of(std::span<const block::access> accesses, std::span<const memory::space_number> spaces, std::span<estimate> out) const;

  /// Fires what is due on all copy streams of a device.
  bool poll(std::uint32_t device_index);
  /// Whether any transfer is still under way.
  bool transfers_pending() const noexcept { return m_in_flight.load(std::memory_order_acquire) != 0; }

  const link_map& links() const noexcept { return m_links; }
  link_map& links() noexcept { return m_links; }
  coherence_statistics statistics() const;
  memory::space& space_at(memory::space_number number) const noexcept { return *m_spaces[number]; }
  std::size_t space_count() const noexcept { return m_spaces.size(); }
  copy_streams& copies_of(std::uint32_t device_index) noexcept { return m_copies[device_index]; }
  stream_table& streams() noexcept { return m_streams; }

 private:
  bool usable(const block::replica& r, const block::record& b) const noexcept;
  const block::replica* cheapest_source(block::record& block, memory::space_number to) const;
  bool attempt(std::span<const block::access> whole, std::span<block::access> accesses, memory::space_number space, acquisition& out,
               std::uint64_t sequence);

  // copies that fail (retries.cpp); the first four with the block's lock held
  bool doubtful(const block::replica& r) const;  ///< the work that makes it failed, and whoever was told is about to say so
  enum class no_source : std::uint8_t { far, doubtful, exhausted, lost };
  no_source why_no_source(block::record& block, memory::space_number to) const;
  std::shared_ptr<const block::failure> gave_up(const block::record& block, memory::space_number to) const;
  void copy_failed(const transfer& t, tsr_status status);
  void copy_refused(const planned& what, const error& why);
  struct loss_watch {
    coherence* owner;
    memory::space_number space;
  };
  void watch_losses();
  void unwatch_losses();
  void ask_health(memory::space_number space) const;  ///< something failed there: perhaps it is lost
  std::shared_ptr<const block::failure> give_up_contents(block::record& block);
  void note_dropped(block::record& block, const block::replica& r);
  stream* executor_of(memory::space_number from, memory::space_number to) const;
  void settle(block::replica& r) const;  // forget tickets that have been reached
  void add_wait(std::vector<block::ticket>& waits, block::ticket t) const;
  planned plan(block::record& block, block::replica& target, memory::space_number from, bool write_back);
  void issue(planned& what, std::vector<block::ticket>* waits);
  void transfer_done(transfer& t, tsr_status status);
  // `whole`: all that the task uses, of which `accesses` may be a block on its way
  void acquire_for(std::span<const block::access> whole, std::span<block::access> accesses, memory::space_number space, acquisition& out,
                   std::uint64_t sequence);
  void bring_near(std::span<const block::access> whole, block::record& block, memory::space_number space, acquisition& out,
                  std::uint64_t sequence);
  void end_claims(std::span<const block::access> accesses, std::uint64_t sequence);
  void wake(const block::space_set& spaces);

  // what leaves a memory, or is about to (write_back.cpp); the first three with the block's lock held
  /// Not memory of the program: a list of residents may be older than a block whose record was used again for an adopted one.
  bool may_leave(const block::replica& r) const noexcept;
  void leave(block::replica& r, std::uint64_t bytes) noexcept;  ///< under a copy to the parent: it is dropped at the end
  void stay(block::replica& r, std::uint64_t bytes) noexcept;   ///< it is not, if it was to be
  struct way_back {
    memory::space_number to;
    std::uint64_t bytes;
    bool needs_room;
    block::chunk room;
  };
  std::optional<way_back> back_from(block::record& block, memory::space_number from) const;
  bool write_back(block::record& block, memory::space_number from, std::uint64_t& out_bytes, std::uint64_t sequence,
                  std::uint64_t& owed);  // owed: bytes for which the parent had no room so far
  bool write_ahead(block::record& block, memory::space_number from, std::uint64_t sequence);
  bool copy_back(block::record& block, memory::space_number from, way_back& way, block::replica_state meanwhile);

  void note_away(block::record& block);
  bool is_away(block::record& block) const;

  void drop_replica(block::record& block, block::replica& r);
  void note_eviction(const block::record& block, memory::space_number space, bool written_back) const;

  friend struct transfer;

  trace::recorder* m_recorder = nullptr;
  std::vector<memory::space*> m_spaces;
  std::vector<memory::space_number> m_parents;
  stream_table& m_streams;
  link_map m_links;
  std::vector<copy_streams> m_copies;  // by registry index of the device
  std::vector<std::unique_ptr<staging_ring>> m_rings;  // by registry index of the receiving device
  claims m_claims;
  std::atomic<std::uint32_t> m_stuck{0};
  std::unique_ptr<std::atomic<std::uint64_t>[]> m_leaving;  // by space: bytes that are being written back from there
  eviction_settings m_eviction;
  bool m_wants_uses = false;
  trouble m_trouble;
  losses m_losses;
  block::atomic_space_set m_lost, m_forsaken;
  std::vector<loss_watch> m_loss_watches;  // not moved once devices know them
  std::atomic<memory::space_number> m_home{memory::no_space};  // the same from the first adoption on
  std::mutex m_away_mutex;                                     // a leaf
  std::vector<block::record*> m_away;                          // not in memory of the program: perhaps, and some of them twice
  std::atomic<bool> m_any_away{false};
  std::atomic<std::uint64_t> m_in_flight{0};
  std::atomic<std::uint64_t> m_versions{0}, m_saved_fetches{0}, m_saved_bytes{0}, m_joined{0}, m_dropped{0},
      m_written_back{0}, m_written_ahead{0}, m_failed_write_backs{0};
};

}  // namespace tessera::transfer
