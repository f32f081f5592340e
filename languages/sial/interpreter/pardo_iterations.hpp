#pragma once
// The iterations of a pardo that one worker executes.
#include <cstdint>
#include <memory>

#include "languages/sial/exchange/loop_scheduler.hpp"
#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// Takes chunks of candidates from the loop's scheduler and sets the indices for one after another. One thread.
class pardo_iterations {
 public:
  explicit pardo_iterations(worker_state& state) : m_state(state) {}

  bool is_open() const noexcept { return m_scheduler != nullptr; }
  /// The pardo with this number begins; no candidate is taken yet. Throws run_error when it must not begin here.
  void begin(std::uint32_t number);
  /// The next chunk, and the indices of its first candidate. False: there is none. Throws given_up when all are to
  /// stop.
  bool take_chunk();
  /// A candidate is done: sets the indices of the next one of the chunk. False: there is none.
  bool next_of_chunk() noexcept {
    m_scheduler->finished(m_state.number);
    if (++m_at == m_end) return false;
    m_state.values.next_candidate(*m_pardo);
    return true;
  }
  /// The indices have no values any more.
  void end() noexcept;

  const pardo& loop() const noexcept { return *m_pardo; }       ///< that is open
  std::int64_t candidate() const noexcept { return m_at; }      ///< that is under way
  std::int64_t end_of_chunk() const noexcept { return m_end; }  ///< the first candidate behind the chunk

 private:
  worker_state& m_state;
  const pardo* m_pardo = nullptr;
  std::shared_ptr<loop_scheduler> m_scheduler;
  std::int64_t m_at = 0, m_end = 0;
  std::uint64_t m_begun = 0;  // pardos so far
};

}  // namespace tessera::sial
