#pragma once
// This process's rank.
#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "plugins/transport/common/endpoint.hpp"
#include "plugins/transport/mpi/job.hpp"

namespace tessera::mpi {

/// Memory of MPI. Where a node shares memory, `bases` of its ranks are set, and a line in front of each part has the
/// lock of its accumulates.
struct window final : tsr_window_s {
  MPI_Win node_memory = MPI_WIN_NULL;  ///< shared by the node; or
  MPI_Win all = MPI_WIN_NULL;          ///< of all ranks, for operations through MPI
  void* own_memory = nullptr;          ///< private memory that `all` was made on
  std::vector<std::uint64_t> shifts;   ///< where parts begin behind the displacement 0 of `all`
};

class endpoint final : public tsr_endpoint_s {
 public:
  explicit endpoint(job& of);

  tsr_status enter() override { return TSR_OK; }
  tsr_endpoint_desc describe() const override;
  tsr_status progress(std::uint32_t budget, bool& out_happened) override;
  tsr_status wait(std::uint64_t nanoseconds) override;
  void wake() override;
  tsr_status send(const tsr_message& message, tsr_request& request) override;
  tsr_status create_window(std::uint64_t part_bytes, tsr_window** out_window, tsr_request& request) override;
  tsr_status destroy_window(tsr_window_s& window, tsr_request& request) override;
  tsr_status transfer(direction way, const tsr_transfer& block, tsr_type type, tsr_request& request) override;
  tsr_status word(const word_call& call, tsr_request& request) override;
  tsr_status flush(tsr_window_s* window, std::int32_t rank, tsr_request& request) override;
  tsr_status barrier(tsr_request& request) override;
  tsr_status agree(const void* mine, std::uint64_t bytes, void* out_all, tsr_request& request) override;
  bool alive(std::int32_t) const override { return true; }
  tsr_status abort(std::int32_t code, const std::string& text) override;
  tsr_status lose() override { return report.fail(TSR_UNIMPLEMENTED, "lose: a lost rank ends a job of MPI"); }

  tsr_status close();

 private:
  struct line_of_bytes {  ///< at a multiple of 64
    void operator()(std::byte* bytes) const noexcept;
  };
  using bytes_at_64 = std::unique_ptr<std::byte[], line_of_bytes>;
  static bytes_at_64 make_bytes(std::uint64_t bytes);

  /// One message or operation that MPI works on, in one or several pieces.
  struct under_way {
    std::list<under_way>::iterator self;
    std::uint64_t number = 0;
    std::size_t left = 0;            ///< pieces
    tsr_request* request = nullptr;  ///< null: it has ended already
    const tsr_window_s* of = nullptr;
    std::int32_t rank = -1;        ///< of the window
    std::int32_t message_to = -1;  ///< counts towards that rank's room
    bytes_at_64 buffer;
    std::int64_t word[2] = {};  ///< operand, former value
    std::int64_t* out_before = nullptr;
  };
  /// compare_swap beyond the node, done by the target's own rank: MPI-3.1 has no request for it, and that of Open MPI
  /// 4.1.4 ends the process where a rank asks itself through shared memory.
  struct control {
    enum class kind : std::uint32_t {
      ask,
      answer
    };
    kind what;
    std::uint32_t window;  ///< its place in `windows`, the same at all ranks
    std::uint64_t offset;
    std::int64_t expected, desired;  ///< of the answer: what was there before
    std::uint64_t token;             ///< of the asking rank
  };
  struct pending_flush {
    const tsr_window_s* window;
    std::int32_t rank;
    std::uint64_t upto;  ///< numbers of what is under way
    std::uint64_t operations;
    tsr_request* request;
  };
  struct incoming {
    std::uint32_t id = 0, header_bytes = 0;
    std::uint64_t payload_bytes = 0;
    bytes_at_64 header, payload;
    std::vector<MPI_Request> pieces;  ///< still to come; null in front
  };
  struct collective {
    enum class kind : std::int64_t {
      barrier = 1,
      agree,
      create,
      destroy
    };
    kind what = kind::barrier;
    std::uint64_t bytes = 0;
    tsr_request* request = nullptr;
    std::vector<std::byte> mine;
    void* out_all = nullptr;
    tsr_window** out_window = nullptr;
    window* of = nullptr;
    int phase = 0;
    MPI_Request handle = MPI_REQUEST_NULL;
    std::int64_t own[4] = {}, most[4] = {};
  };
  static constexpr std::size_t most_under_way = 4096;

  /// What MPI fails at becomes a status.
  template <class Function>
  tsr_status asked(Function&& function) const {
    try {
      return function();
    } catch (const failed& failure) {
      return report.fail(TSR_UNKNOWN, "%s", failure.what());
    }
  }

  void post_receive(std::size_t at);
  bool take_messages(std::uint32_t& budget);
  void post_control(std::size_t at);
  bool take_controls();
  void send_control(std::int32_t to, const control& what);
  bool swap_in_own_part(const control& what, std::int64_t& out_before);
  bool complete_flushes();
  bool hand_over_arrived(std::uint32_t& budget);
  void keep(std::int32_t source, const std::byte* at);

  under_way& new_under_way(tsr_request* request);
  void add(under_way& one, MPI_Request handle);
  void settle(under_way& one);
  bool test_handles();

  void start(collective one);
  bool advance_collectives();
  bool advance(collective& one);
  tsr_status make_window(collective& one);
  void free_window(window& of);
  bool choose_memory(std::uint64_t needed, std::uint64_t& out_choice);

  void accumulate_in_place(const tsr_transfer& block, tsr_type type, std::byte* part);
  void through_mpi(direction way, const tsr_transfer& block, tsr_type type, under_way& one);
  bool something_came();

  job& m_job;
  std::vector<std::uint64_t> m_room;  ///< messages on their way, by receiver

  struct slot {
    bytes_at_64 memory;
    MPI_Request handle = MPI_REQUEST_NULL;
  };
  std::vector<slot> m_slots;  ///< posted receives, in order from m_first
  std::size_t m_first = 0;
  std::uint64_t m_slot_bytes = 0;
  std::vector<slot> m_controls;  ///< likewise, of compare_swap
  std::size_t m_first_control = 0;
  std::vector<std::deque<incoming>> m_incoming;  ///< by source, in order
  std::size_t m_incoming_count = 0;
  std::int32_t m_next_source = 0;

  std::vector<MPI_Request> m_handles;
  std::vector<under_way*> m_owners;  ///< of the handles
  std::list<under_way> m_under_way;
  std::vector<int> m_done;  ///< indices, kept for their memory
  std::uint64_t m_number = 0;
  std::vector<pending_flush> m_flushes;
  std::deque<collective> m_collectives;

  std::mutex m_guard;
  std::condition_variable m_changed;
  bool m_woken = false;
};

}  // namespace tessera::mpi
