#pragma once
// What the ranks of a process share: mailboxes, collectives, windows, who is lost.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/transport/inprocess/settings.hpp"

namespace tessera::inprocess {

using clock = std::chrono::steady_clock;

/// Bytes at a multiple of 64, zeroed.
class bytes_at_64 {
 public:
  bytes_at_64() = default;
  explicit bytes_at_64(std::uint64_t bytes);  ///< throws std::bad_alloc
  std::byte* data() const noexcept { return m_bytes.get(); }

 private:
  struct release {
    void operator()(std::byte* bytes) const noexcept;
  };
  std::unique_ptr<std::byte[], release> m_bytes;
};

/// A message on its way. Both parts are copies.
struct letter {
  std::uint32_t id = 0, header_bytes = 0;
  std::uint64_t payload_bytes = 0;
  clock::time_point due;
  alignas(8) std::byte header[TSR_MAX_HEADER_BYTES];
  bytes_at_64 payload;
};

/// What a rank receives, and what wakes it. A rank's own thread sleeps on it; others put letters in and raise it.
struct mailbox {
  std::mutex guard;
  std::condition_variable changed;
  std::vector<std::deque<std::unique_ptr<letter>>> from;  ///< by source, in the order of sending
  std::vector<clock::time_point> last_due;                ///< by source: no letter overtakes another one of its pair
  std::vector<bool> sender_waits;                         ///< for room, by source
  bool raised = false;                                    ///< something may have happened since the last progress
  bool woken = false;                                     ///< by `wake`, since the last wait
};

/// One rank's part of a window. Additions and operations on words hold the guard.
struct window_part {
  bytes_at_64 memory;
  std::uint64_t bytes = 0;
  std::mutex guard;
};

/// One call of all ranks. That of a window's creation is the window's memory, which lives while one of them keeps it.
struct collective {
  enum class kind : std::uint8_t {
    barrier,
    agree,
    create,
    destroy
  };
  ~collective() {
    if (used != nullptr) used->fetch_sub(taken);
  }

  kind what = kind::barrier;
  std::uint64_t bytes = 0;  ///< of agree
  std::vector<bool> arrived;
  std::size_t missing = 0;
  bool differs = false;              ///< not all ranks called the same
  bool exhausted = false;            ///< there is not so much memory
  std::vector<std::byte> all;        ///< of agree
  std::vector<std::uint64_t> sizes;  ///< of create
  std::vector<std::unique_ptr<window_part>> parts;
  std::shared_ptr<std::atomic<std::uint64_t>> used;  ///< bytes of all windows, of which these are
  std::uint64_t taken = 0;
  clock::time_point due;  ///< once nobody is missing
};

/// Thread-safe.
class world {
 public:
  explicit world(const settings& setting);

  const settings& setting() const noexcept { return m_setting; }
  std::size_t size() const noexcept { return m_mailboxes.size(); }
  std::int32_t node_of(std::int32_t rank) const noexcept;
  std::int32_t nodes() const noexcept;

  /// How long something between two ranks takes.
  std::chrono::nanoseconds delay(std::int32_t one, std::int32_t other) const noexcept;

  mailbox& box(std::int32_t rank) noexcept { return *m_mailboxes[static_cast<std::size_t>(rank)]; }
  /// Something happened that the rank may be waiting for.
  void raise(std::int32_t rank);
  void raise_all();

  /// A rank's next collective, number `index` of its calls. `contribution` is what agree gives; `bytes` is its size, or
  /// that of the part to be created.
  std::shared_ptr<const collective> join(std::uint64_t index, std::int32_t rank, collective::kind what,
                                         const void* contribution, std::uint64_t bytes);
  enum class state : std::uint8_t {
    waits,
    done,
    lost
  };
  /// Of a collective that this rank has joined; `out_due`, where it is only a matter of time.
  state state_of(const collective& one, clock::time_point now, clock::time_point* out_due) const;

  void lose(std::int32_t rank);
  bool lost(std::int32_t rank) const noexcept { return m_lost[static_cast<std::size_t>(rank)].load(); }
  /// How many are; grows only.
  std::uint32_t losses() const noexcept { return m_losses.load(); }

  void abort(std::int32_t by, std::int32_t code, const std::string& text);
  bool aborted() const noexcept { return m_aborted.load(); }
  std::string abort_text() const;

 private:
  void complete(collective& one);

  const settings m_setting;
  std::vector<std::unique_ptr<mailbox>> m_mailboxes;
  std::vector<std::atomic<bool>> m_lost;
  std::atomic<std::uint32_t> m_losses{0};
  std::atomic<bool> m_aborted{false};
  const std::shared_ptr<std::atomic<std::uint64_t>> m_used = std::make_shared<std::atomic<std::uint64_t>>(0);
  mutable std::mutex m_guard;  ///< of what follows; no other lock is taken under it
  std::map<std::uint64_t, std::shared_ptr<collective>> m_collectives;
  std::string m_abort_text;
};

}  // namespace tessera::inprocess
