#pragma once
// One rank of a process.
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "plugins/transport/common/endpoint.hpp"
#include "plugins/transport/inprocess/world.hpp"

namespace tessera::inprocess {

struct window final : tsr_window_s {
  std::shared_ptr<const collective> memory;  ///< null once it is destroyed
};

class endpoint final : public tsr_endpoint_s {
 public:
  endpoint(std::shared_ptr<world> of, std::int32_t own_rank);

  tsr_status enter() override;
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
  bool alive(std::int32_t of) const override { return !m_world->lost(of); }
  tsr_status abort(std::int32_t code, const std::string& text) override;
  tsr_status lose() override;

  /// Gives everything up and leaves the job.
  void close();

 private:
  /// A get, put, accumulate or operation on a word that is not done yet.
  struct operation {
    bool is_word = false;
    direction way = direction::get;
    tsr_type type = TSR_TYPE_NONE;
    tsr_transfer block{};
    word_call call{};
    tsr_request* request = nullptr;  ///< null once it has ended
    std::uint64_t number = 0;
    clock::time_point due;
    std::vector<std::byte> staged;  ///< what a put or an accumulate was given, its rows one behind the other
    std::int32_t rank() const noexcept { return is_word ? call.rank : block.rank; }
    const tsr_window_s* window() const noexcept { return is_word ? call.window : block.window; }
  };
  struct held_letter {
    std::unique_ptr<letter> what;
    const void* payload;
    tsr_request* request;
  };
  struct pending_flush {
    const tsr_window_s* window;
    std::int32_t rank;
    std::uint64_t upto, operations;
    bool failed;
    tsr_request* request;
    bool covers(const operation& one) const noexcept {
      return one.number <= upto && (window == nullptr || window == one.window()) &&
             (rank == TSR_ALL_RANKS || rank == one.rank());
    }
  };
  struct pending_collective {
    std::shared_ptr<const collective> what;
    void* out_all;
    tsr_window** out_window;
    tsr_request* request;
  };

  clock::time_point due_towards(std::int32_t rank);
  bool deferred(std::int32_t rank) const noexcept;
  bool room_towards(std::int32_t rank);
  void post(std::int32_t rank, std::unique_ptr<letter> what);
  void stage(operation& one);
  void run(const operation& one);
  void start(operation&& one);
  void drop_what_lost_ranks_owe();
  bool complete_operations();
  bool send_held_letters();
  bool complete_flushes();
  bool complete_collectives();
  void end_collective(pending_collective& one, bool lost);
  bool hand_over_one();
  void end_all(tsr_status status);
  void join(collective::kind what, const void* contribution, std::uint64_t bytes, void* out_all,
            tsr_window** out_window, tsr_request& request);

  const std::shared_ptr<world> m_world;
  std::vector<std::int32_t> m_nodes;
  std::string m_node_name;
  std::mt19937_64 m_random;
  std::vector<operation> m_operations;
  std::vector<std::deque<held_letter>> m_held;  ///< by receiver: what was not copied yet, in order
  std::vector<pending_flush> m_flushes;
  std::deque<pending_collective> m_collectives;
  std::vector<std::pair<const tsr_window_s*, std::int32_t>> m_dropped;  ///< of lost ranks, that no flush has told
  std::uint64_t m_calls = 0, m_number = 0, m_collective = 0;
  std::uint32_t m_losses = 0;
  std::int32_t m_next_source = 0;
};

}  // namespace tessera::inprocess
