#pragma once
// One rank of a check: the calls of tessera/transport.h as the header has them, and what every check needs around them.
#include <tessera/transport.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::transport_conformance {

/// Ends a check at once.
struct broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct request : tsr_request {
  request() : tsr_request{sizeof(tsr_request), 4711, {}} {}  // a status that no transport sets
  bool under_way() const noexcept { return status == TSR_NOT_READY; }
};

struct received {
  std::int32_t source;
  std::uint32_t id;
  std::vector<std::byte> header, payload;
};

/// The text of what went wrong last, as the host was told; per thread.
std::string& last_error();

class rig {
 public:
  rig(tsr_endpoint* endpoint, const tsr_endpoint_table& table, std::chrono::seconds patience);

  tsr_endpoint* const endpoint;
  const tsr_endpoint_table& call;
  tsr_endpoint_desc desc{};
  std::deque<received> inbox;
  using handler = std::function<void(std::int32_t source, std::uint32_t id, std::span<const std::byte> header,
                                     std::span<const std::byte> payload)>;
  /// From here on this is called for each message, and now for those that have come; null: they are kept.
  void listen(handler to);
  std::uint64_t seed = 1;
  std::vector<std::string> failures;

  std::int32_t rank() const noexcept { return desc.rank; }
  std::int32_t size() const noexcept { return desc.size; }
  std::int32_t next() const noexcept { return (rank() + 1) % size(); }

  /// What must hold; the check goes on.
  void expect(bool holds, const std::string& text);
  void expect_status(tsr_status found, tsr_status expected, const std::string& text);
  /// What must hold for the check to go on.
  void need(bool holds, const std::string& text);
  void need_ok(tsr_status found, const std::string& text);

  /// Makes progress, sleeping in between, until `done`; breaks the check when the patience is over.
  void until(const std::function<bool()>& done, const char* what);
  /// Until it has ended; its status.
  tsr_status finish(request& one, const char* what);
  void finish_ok(request& one, const char* what);
  bool progress(std::uint32_t budget = 64);
  /// Repeats a call for as long as it has no room.
  tsr_status with_room(const std::function<tsr_status()>& start, const char* what);

  void barrier();
  std::vector<std::int64_t> agree(std::int64_t mine);
  tsr_window* window(std::uint64_t bytes);
  void destroy(tsr_window* one);
  void flush(tsr_window* one, std::int32_t rank_of = TSR_ALL_RANKS);
  std::byte* base(tsr_window* one, std::int32_t of, std::uint64_t* out_bytes = nullptr);
  /// Blocking, for checks of something else.
  void put(tsr_window* one, std::int32_t to, std::uint64_t offset, const void* from, std::uint64_t bytes);
  void get(tsr_window* one, std::int32_t to, std::uint64_t offset, void* into, std::uint64_t bytes);
  std::int64_t fetch_add(tsr_window* one, std::int32_t to, std::uint64_t offset, std::int64_t value);
  void send(std::int32_t to, std::uint32_t id, std::span<const std::byte> header, std::span<const std::byte> payload);
  /// The next message that came, or comes.
  received take(const char* what);

  /// What failed since the last time; the next check has its own patience. Messages that came early are its own.
  std::vector<std::string> next_check(std::chrono::seconds patience);

  static void on_message(void* context, std::int32_t source, std::uint32_t id, const void* header,
                         std::uint32_t header_bytes, const void* payload, std::uint64_t payload_bytes);

 private:
  std::chrono::steady_clock::time_point m_deadline;
  handler m_handler;
};

/// A contiguous block.
tsr_transfer block_of(tsr_window* window, std::int32_t rank, std::uint64_t offset, const void* local,
                      std::uint64_t bytes);

/// Bytes that tell where they are from.
std::vector<std::byte> pattern(std::uint64_t bytes, std::uint64_t seed);

struct check {
  const char* name;
  void (*run)(rig&);
  /// breaks: ends with a rank lost, the job ended, or endpoints left as they are; it has a transport of its own, whose
  /// ranks are all of one process.
  bool breaks = false;
};

std::vector<check> message_checks();
std::vector<check> window_checks();
std::vector<check> collective_checks();
std::vector<check> argument_checks();
std::vector<check> loss_checks();
std::vector<check> random_checks();

/// How many operations the random checks make, over all ranks together.
std::uint64_t& random_operations();

}  // namespace tessera::transport_conformance
