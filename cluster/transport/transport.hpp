#pragma once
// An opened transport and the ranks of this process.
#include <tessera/transport.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/transport/loaded_transport.hpp"
#include "core/base/error.hpp"

namespace tessera::plugin {
class host;
}

namespace tessera::cluster {

/// A rank that a call needs is gone.
struct rank_lost : error {
  using error::error;
};
/// The job was ended (endpoint::abort, by any rank).
struct job_ended : error {
  using error::error;
};

/// Throws what a status of a transport means; TSR_OK and TSR_NOT_READY pass. `what`: the call. Takes the details that
/// the transport has left on this thread.
void check(tsr_status status, const char* what, const std::filesystem::path& transport);

/// A message as the receiving rank sees it; valid while its function runs.
struct message_view {
  std::int32_t source;
  std::uint32_t id;
  std::span<const std::byte> header, payload;
};

class endpoint;

/// Opens in the constructor and shuts down in the destructor, where failures go to the log. With thread_mode
/// TSR_THREAD_ONE by the thread that uses its endpoint; see rule T1 of tessera/transport.h. Errors are of kind plugin,
/// those of options of kind configuration.
class transport {
 public:
  explicit transport(const transport_options& options);
  ~transport();
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  const std::string& name() const noexcept { return m_loaded.name; }
  const std::filesystem::path& file() const noexcept { return m_loaded.path; }
  const tsr_transport_desc& description() const noexcept { return m_description; }

  /// Opens a rank of this process, once. `receive` runs inside of endpoint::progress; what it throws comes out of
  /// there.
  std::unique_ptr<endpoint> open(std::int32_t rank, std::function<void(const message_view&)> receive);

 private:
  friend class endpoint;
  loaded_transport m_loaded;
  std::function<void(int, const std::string&)> m_log;
  std::unique_ptr<plugin::host> m_host;
  tsr_transport* m_handle = nullptr;
  tsr_transport_table m_table{};
  tsr_transport_desc m_description{};
};

/// A request of a transport. It stays where it is while it is under way; to give it up, close the endpoint first.
struct request : tsr_request {
  request() : tsr_request{sizeof(tsr_request), TSR_OK, {}} {}
  request(const request&) = delete;
  request& operator=(const request&) = delete;
  bool under_way() const noexcept { return status == TSR_NOT_READY; }
};

/// One rank. Closed in the destructor, before its transport. Every call as in tessera/transport.h, by one thread at a
/// time but `wake`; those that start a request return false where the transport has no room now and nothing was
/// started. Failures throw: rank_lost, job_ended, or tessera::error.
class endpoint {
 public:
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  std::int32_t rank() const noexcept { return m_description.rank; }
  std::int32_t size() const noexcept { return m_description.size; }
  const tsr_endpoint_desc& description() const noexcept { return m_description; }

  bool progress(std::uint32_t budget = 64);     ///< whether something happened
  bool wait(std::chrono::nanoseconds longest);  ///< false: the time is over
  void wake() noexcept;                         ///< any thread

  bool send(std::int32_t to, std::uint32_t id, std::span<const std::byte> header, std::span<const std::byte> payload,
            request& done);
  void window_create(std::uint64_t bytes, tsr_window*& out_window, request& done);
  void window_destroy(tsr_window* window, request& done);
  std::span<std::byte> window_part(tsr_window* window, std::int32_t of) const;  ///< in place; empty: it cannot be
  bool get(const tsr_transfer& block, request& done);
  bool put(const tsr_transfer& block, request& done);
  bool accumulate(const tsr_transfer& block, tsr_type type, request& done);
  bool fetch_add(tsr_window* window, std::int32_t to, std::uint64_t offset, std::int64_t value,
                 std::int64_t& out_before, request& done);
  bool compare_swap(tsr_window* window, std::int32_t to, std::uint64_t offset, std::int64_t expected,
                    std::int64_t desired, std::int64_t& out_before, request& done);
  void flush(tsr_window* window, std::int32_t to, request& done);
  void barrier(request& done);
  void agree(std::span<const std::byte> mine, void* out_all, request& done);
  bool alive(std::int32_t of) const;
  void abort(std::int32_t code, const std::string& text);
  void lose();  ///< for tests; throws where the transport cannot

  /// Makes progress and sleeps until the request has ended; throws what it ended with. For programs with one thread.
  void finish(const request& one);

 private:
  friend class transport;
  endpoint(transport& of, std::int32_t rank, std::function<void(const message_view&)> receive);
  static void on_message(void* context, std::int32_t source, std::uint32_t id, const void* header,
                         std::uint32_t header_bytes, const void* payload, std::uint64_t payload_bytes);
  bool started(tsr_status status, const char* what) const;

  transport& m_transport;
  const std::function<void(const message_view&)> m_receive;
  std::exception_ptr m_thrown;  ///< by m_receive
  tsr_endpoint* m_handle = nullptr;
  tsr_endpoint_table m_table{};
  tsr_endpoint_desc m_description{};
};

}  // namespace tessera::cluster
