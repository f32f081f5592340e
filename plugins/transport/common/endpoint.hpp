#pragma once
// What an endpoint and a window are behind the C ABI. A transport derives from both; the entries of the C table
// (calls.hpp) check what the caller gave before they call it.
#include <tessera/transport.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/kit/abi/handle_pool.hpp"
#include "plugins/kit/abi/report.hpp"

/// A rank's handle of memory that all ranks have a part of. It stays where it is until its endpoint is closed, so that
/// a stale handle is recognised.
struct tsr_window_s {
  virtual ~tsr_window_s() = default;

  tessera::kit::magic_word magic;
  tsr_endpoint* endpoint = nullptr;
  std::vector<std::uint64_t> bytes;      ///< of each rank's part
  std::vector<std::byte*> bases;         ///< where it can be read in place; else null
  std::vector<std::uint64_t> unflushed;  ///< number of the last put or accumulate that no flush has covered; 0: none
};

/// The calls come from one thread at a time, but `wake`. Arguments are checked: ranks exist, windows are live and of
/// this endpoint, blocks lie inside of the part and have bytes, sizes are set.
struct tsr_endpoint_s {
  enum class direction : std::uint8_t {
    get,
    put,
    accumulate
  };
  enum class word_operation : std::uint8_t {
    fetch_add,
    compare_swap
  };
  /// One word of a window, and where its former value goes.
  struct word_call {
    word_operation what;
    tsr_window_s* window;
    std::int32_t rank;
    std::uint64_t offset;
    std::int64_t expected;  ///< of compare_swap
    std::int64_t value;     ///< what is added, or written
    std::int64_t* out_before;
  };

  virtual ~tsr_endpoint_s() = default;

  /// Before every call but describe, wake and alive: why it cannot be made now, with a record; TSR_OK.
  virtual tsr_status enter() = 0;
  virtual tsr_endpoint_desc describe() const = 0;
  virtual tsr_status progress(std::uint32_t budget, bool& out_happened) = 0;
  virtual tsr_status wait(std::uint64_t nanoseconds) = 0;
  virtual void wake() = 0;
  virtual tsr_status send(const tsr_message& message, tsr_request& request) = 0;
  virtual tsr_status create_window(std::uint64_t part_bytes, tsr_window** out_window, tsr_request& request) = 0;
  /// The handle is dead already.
  virtual tsr_status destroy_window(tsr_window_s& window, tsr_request& request) = 0;
  /// At least one row of at least one byte; rows of 1 where the block is one piece on both sides.
  virtual tsr_status transfer(direction way, const tsr_transfer& block, tsr_type type, tsr_request& request) = 0;
  virtual tsr_status word(const word_call& call, tsr_request& request) = 0;
  /// `window` null: all. When it is complete the transport calls flushed().
  virtual tsr_status flush(tsr_window_s* window, std::int32_t rank, tsr_request& request) = 0;
  virtual tsr_status barrier(tsr_request& request) = 0;
  virtual tsr_status agree(const void* mine, std::uint64_t bytes, void* out_all, tsr_request& request) = 0;
  virtual bool alive(std::int32_t of) const = 0;
  virtual tsr_status abort(std::int32_t code, const std::string& text) = 0;
  virtual tsr_status lose() = 0;

  /// Hands a message to the host. Nothing else calls the host's function.
  void hand_over(std::int32_t source, std::uint32_t id, const void* header, std::uint32_t header_bytes,
                 const void* payload, std::uint64_t payload_bytes) {
    handing_over = true;
    receive(context, source, id, header, header_bytes, payload, payload_bytes);
    handing_over = false;
  }

  /// What was called up to number `operation` towards the rank, or all, is complete remotely.
  void flushed(const tsr_window_s* window, std::int32_t rank_of, std::uint64_t operation) {
    for (const auto& one : windows) {
      if (window != nullptr && one.get() != window) continue;
      for (std::size_t k = 0; k < one->unflushed.size(); ++k)
        if ((rank_of == TSR_ALL_RANKS || static_cast<std::size_t>(rank_of) == k) && one->unflushed[k] <= operation)
          one->unflushed[k] = 0;
    }
  }

  tessera::kit::magic_word magic;
  tessera::kit::reporter report;
  std::int32_t rank = 0, size = 1;
  tsr_receive_function receive = nullptr;
  void* context = nullptr;
  bool handing_over = false;                           ///< inside of the host's function
  std::uint64_t operations = 0;                        ///< puts and accumulates that were called
  std::vector<std::unique_ptr<tsr_window_s>> windows;  ///< all that ever were
};

namespace tessera::transport {

constexpr std::uint64_t endpoint_magic = 0x7473725f656e6470, window_magic = 0x7473725f77696e64,
                        transport_magic = 0x7473725f7472616e;

inline void begin(tsr_request& request) noexcept { request.status = TSR_NOT_READY; }
inline void end(tsr_request& request, tsr_status status) noexcept { request.status = status; }

}  // namespace tessera::transport
