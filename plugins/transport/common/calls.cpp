// The entries of the C tables: everything that a caller can get wrong is found here, for all transports alike.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "plugins/kit/abi/out_struct.hpp"
#include "plugins/transport/common/transport.hpp"

namespace tessera::transport {
namespace {

using endpoint = tsr_endpoint_s;

/// For calls that are also made after a loss or an abort.
template <class Function>
tsr_status on_any(endpoint* on, Function&& function) noexcept {
  if (on == nullptr || !on->magic.is(endpoint_magic)) return TSR_INVALID_ARGUMENT;
  return kit::guarded(on->report, std::forward<Function>(function));
}

template <class Function>
tsr_status on_live(endpoint* on, Function&& function) noexcept {
  return on_any(on, [&]() -> tsr_status {
    if (const auto status = on->enter()) return status;
    return function();
  });
}

/// Of version 1.0, whose fields a caller must have set.
template <class Struct>
tsr_status check_struct(const endpoint& on, const Struct* given, const char* call) {
  if (given == nullptr) return on.report.fail(TSR_INVALID_ARGUMENT, "%s: %s is NULL", call, "its struct");
  if (given->struct_size < sizeof(Struct))
    return on.report.fail(TSR_INVALID_ARGUMENT, "%s: struct_size is %u; expected at least %zu", call,
                          given->struct_size, sizeof(Struct));
  return TSR_OK;
}

tsr_status check_request(const endpoint& on, const tsr_request* request, const char* call) {
  if (request == nullptr) return on.report.fail(TSR_INVALID_ARGUMENT, "%s: request is NULL", call);
  if (request->struct_size < sizeof(tsr_request))
    return on.report.fail(TSR_INVALID_ARGUMENT, "%s: the request's struct_size is %u; expected at least %zu", call,
                          request->struct_size, sizeof(tsr_request));
  return TSR_OK;
}

tsr_status check_rank(const endpoint& on, std::int32_t rank, const char* call) {
  if (rank < 0 || rank >= on.size)
    return on.report.fail(TSR_OUT_OF_RANGE, "%s: rank %d; expected 0 to %d", call, rank, on.size - 1);
  return TSR_OK;
}

tsr_status check_alive(const endpoint& on, std::int32_t rank, const char* call) {
  if (on.alive(rank)) return TSR_OK;
  return on.report.fail(TSR_RANK_LOST, "%s: rank %d is lost", call, rank);
}

tsr_status check_window(const endpoint& on, const tsr_window* window, const char* call) {
  if (window == nullptr || !window->magic.is(window_magic) || window->endpoint != &on)
    return on.report.fail(TSR_INVALID_ARGUMENT, "%s: not a live window of this endpoint", call);
  return TSR_OK;
}

unsigned long long number(std::uint64_t value) noexcept { return value; }

/// Checks a block with bytes and makes it one row where it is one piece on both sides.
tsr_status check_block(const endpoint& on, tsr_transfer& block, const char* call) {
  if (block.local == nullptr) return on.report.fail(TSR_INVALID_ARGUMENT, "%s: local is NULL with bytes", call);
  if (block.rows == 1 || (block.offset_stride == block.bytes && block.local_stride == block.bytes)) {
    if (__builtin_mul_overflow(block.bytes, block.rows, &block.bytes))
      return on.report.fail(TSR_OUT_OF_RANGE, "%s: more bytes than 64 bits count", call);
    block.rows = 1;
    block.offset_stride = block.local_stride = block.bytes;
  }
  if (block.offset_stride < block.bytes || block.local_stride < block.bytes)
    return on.report.fail(TSR_INVALID_ARGUMENT, "%s: strides %llu and %llu for rows of %llu bytes; expected no less",
                          call, number(block.offset_stride), number(block.local_stride), number(block.bytes));
  std::uint64_t end = 0, local = 0;
  if (__builtin_mul_overflow(block.rows - 1, block.offset_stride, &end) ||
      __builtin_add_overflow(end, block.bytes, &end) || __builtin_add_overflow(end, block.offset, &end) ||
      __builtin_mul_overflow(block.rows - 1, block.local_stride, &local) ||
      __builtin_add_overflow(local, block.bytes, &local) || local > PTRDIFF_MAX)
    return on.report.fail(TSR_OUT_OF_RANGE, "%s: more bytes than 64 bits count", call);
  const std::uint64_t part = block.window->bytes[static_cast<std::size_t>(block.rank)];
  if (end > part)
    return on.report.fail(TSR_OUT_OF_RANGE, "%s: bytes %llu to %llu of rank %d's part, which has %llu", call,
                          number(block.offset), number(end), block.rank, number(part));
  return TSR_OK;
}

std::uint64_t element_bytes(tsr_type type) noexcept {
  return type == TSR_F32 ? 4 : type == TSR_F64 || type == TSR_I64 ? 8 : 0;
}

tsr_status transfer(endpoint* on, endpoint::direction way, const tsr_transfer* given, tsr_type type,
                    tsr_request* request, const char* call) noexcept {
  return on_live(on, [&]() -> tsr_status {
    if (const auto status = check_struct(*on, given, call)) return status;
    if (const auto status = check_request(*on, request, call)) return status;
    tsr_transfer block = *given;
    block.struct_size = sizeof block;
    if (const auto status = check_window(*on, block.window, call)) return status;
    if (const auto status = check_rank(*on, block.rank, call)) return status;
    const bool adds = way == endpoint::direction::accumulate;
    if (adds && element_bytes(type) == 0)
      return on->report.fail(TSR_INVALID_ARGUMENT, "%s: type %u; expected F32 (1), F64 (2) or I64 (6)", call, type);
    if (const auto status = check_alive(*on, block.rank, call)) return status;
    if (block.bytes == 0 || block.rows == 0) {  // nothing, wherever it is
      end(*request, TSR_OK);
      return TSR_OK;
    }
    if (const auto status = check_block(*on, block, call)) return status;
    if (adds) {
      const std::uint64_t element = element_bytes(type);
      if (((block.offset | block.bytes | block.offset_stride | block.local_stride) % element) != 0)
        return on->report.fail(TSR_INVALID_ARGUMENT, "%s: offset, bytes and strides are multiples of %llu", call,
                               number(element));
    }
    if (way == endpoint::direction::get) return on->transfer(way, block, type, *request);
    // Before the call, which may complete it; the number of an operation that was not taken is nobody's.
    std::uint64_t& mark = block.window->unflushed[static_cast<std::size_t>(block.rank)];
    const std::uint64_t before = mark;
    mark = ++on->operations;
    const tsr_status status = on->transfer(way, block, type, *request);
    if (status != TSR_OK) mark = before;
    return status;
  });
}

tsr_status word(endpoint* on, const endpoint::word_call& what, tsr_request* request, const char* call) noexcept {
  return on_live(on, [&]() -> tsr_status {
    if (const auto status = check_request(*on, request, call)) return status;
    if (const auto status = check_window(*on, what.window, call)) return status;
    if (const auto status = check_rank(*on, what.rank, call)) return status;
    if (what.out_before == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "%s: out_before is NULL", call);
    if (what.offset % 8 != 0)
      return on->report.fail(TSR_INVALID_ARGUMENT, "%s: offset %llu; expected a multiple of 8", call,
                             number(what.offset));
    const std::uint64_t part = what.window->bytes[static_cast<std::size_t>(what.rank)];
    if (part < 8 || what.offset > part - 8)
      return on->report.fail(TSR_OUT_OF_RANGE, "%s: offset %llu of rank %d's part, which has %llu bytes", call,
                             number(what.offset), what.rank, number(part));
    if (const auto status = check_alive(*on, what.rank, call)) return status;
    return on->word(what, *request);
  });
}

/// What must not be called while a message is handed over.
tsr_status refuse_inside(const endpoint& on, const char* call) {
  if (!on.handing_over) return TSR_OK;
  return on.report.fail(TSR_FAILED_PRECONDITION, "%s: called while a message is handed over", call);
}

tsr_status describe(endpoint* on, tsr_endpoint_desc* out_desc) {
  return on_any(on, [&]() -> tsr_status {
    if (out_desc == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "describe: out_desc is NULL");
    kit::fill_out(out_desc, on->describe());
    return TSR_OK;
  });
}

tsr_status progress(endpoint* on, std::uint32_t budget, bool* out_happened) {
  return on_live(on, [&]() -> tsr_status {
    if (out_happened == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "progress: out_happened is NULL");
    if (const auto status = refuse_inside(*on, "progress")) return status;
    bool happened = false;
    if (const auto status = on->progress(budget, happened)) return status;
    *out_happened = happened;
    return TSR_OK;
  });
}

tsr_status wait(endpoint* on, std::uint64_t nanoseconds) {
  return on_live(on, [&]() -> tsr_status {
    if (const auto status = refuse_inside(*on, "wait")) return status;
    return on->wait(nanoseconds);
  });
}

tsr_status wake(endpoint* on) {
  return on_any(on, [&]() -> tsr_status {
    on->wake();
    return TSR_OK;
  });
}

tsr_status send(endpoint* on, const tsr_message* given, tsr_request* request) {
  return on_live(on, [&]() -> tsr_status {
    if (const auto status = check_struct(*on, given, "send")) return status;
    if (const auto status = check_request(*on, request, "send")) return status;
    if (const auto status = check_rank(*on, given->rank, "send")) return status;
    if (given->header_bytes > TSR_MAX_HEADER_BYTES)
      return on->report.fail(TSR_INVALID_ARGUMENT, "send: a header of %u bytes; at most %u", given->header_bytes,
                             TSR_MAX_HEADER_BYTES);
    if ((given->header == nullptr && given->header_bytes != 0) ||
        (given->payload == nullptr && given->payload_bytes != 0))
      return on->report.fail(TSR_INVALID_ARGUMENT, "send: header or payload is NULL with bytes");
    if (const auto status = check_alive(*on, given->rank, "send")) return status;
    return on->send(*given, *request);
  });
}

tsr_status window_create(endpoint* on, std::uint64_t bytes, tsr_window** out_window, tsr_request* request) {
  return on_live(on, [&]() -> tsr_status {
    if (const auto status = check_request(*on, request, "window_create")) return status;
    if (out_window == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "window_create: out_window is NULL");
    return on->create_window(bytes, out_window, *request);
  });
}

tsr_status window_base(endpoint* on, tsr_window* window, std::int32_t rank, void** out_base, std::uint64_t* out_bytes) {
  return on_live(on, [&]() -> tsr_status {
    if (out_base == nullptr || out_bytes == nullptr)
      return on->report.fail(TSR_INVALID_ARGUMENT, "window_base: a NULL argument");
    if (const auto status = check_window(*on, window, "window_base")) return status;
    if (const auto status = check_rank(*on, rank, "window_base")) return status;
    *out_base = window->bases[static_cast<std::size_t>(rank)];
    *out_bytes = window->bytes[static_cast<std::size_t>(rank)];
    return TSR_OK;
  });
}

tsr_status window_destroy(endpoint* on, tsr_window* window, tsr_request* request) {
  return on_live(on, [&]() -> tsr_status {
    if (const auto status = check_request(*on, request, "window_destroy")) return status;
    if (const auto status = check_window(*on, window, "window_destroy")) return status;
    for (std::size_t k = 0; k < window->unflushed.size(); ++k)
      if (window->unflushed[k] != 0 && on->alive(static_cast<std::int32_t>(k)))
        return on->report.fail(TSR_FAILED_PRECONDITION, "window_destroy: operations towards rank %zu are not flushed",
                               k);
    const tsr_status status = on->destroy_window(*window, *request);
    if (status == TSR_OK) window->magic.set(0);
    return status;
  });
}

tsr_status get(endpoint* on, const tsr_transfer* block, tsr_request* request) {
  return transfer(on, endpoint::direction::get, block, TSR_TYPE_NONE, request, "get");
}

tsr_status put(endpoint* on, const tsr_transfer* block, tsr_request* request) {
  return transfer(on, endpoint::direction::put, block, TSR_TYPE_NONE, request, "put");
}

tsr_status accumulate(endpoint* on, const tsr_transfer* block, tsr_type type, tsr_request* request) {
  return transfer(on, endpoint::direction::accumulate, block, type, request, "accumulate");
}

tsr_status fetch_add(endpoint* on, tsr_window* window, std::int32_t rank, std::uint64_t offset, std::int64_t value,
                     std::int64_t* out_before, tsr_request* request) {
  return word(on, {endpoint::word_operation::fetch_add, window, rank, offset, 0, value, out_before}, request,
              "fetch_add");
}

tsr_status compare_swap(endpoint* on, tsr_window* window, std::int32_t rank, std::uint64_t offset,
                        std::int64_t expected, std::int64_t desired, std::int64_t* out_before, tsr_request* request) {
  return word(on, {endpoint::word_operation::compare_swap, window, rank, offset, expected, desired, out_before},
              request, "compare_swap");
}

tsr_status flush(endpoint* on, tsr_window* window, std::int32_t rank, tsr_request* request) {
  return on_live(on, [&]() -> tsr_status {
    if (const auto status = check_request(*on, request, "flush")) return status;
    if (window != nullptr)
      if (const auto status = check_window(*on, window, "flush")) return status;
    if (rank != TSR_ALL_RANKS) {
      if (const auto status = check_rank(*on, rank, "flush")) return status;
      if (const auto status = check_alive(*on, rank, "flush")) return status;
    }
    return on->flush(window, rank, *request);
  });
}

tsr_status barrier(endpoint* on, tsr_request* request) {
  return on_live(on, [&]() -> tsr_status {
    if (const auto status = check_request(*on, request, "barrier")) return status;
    return on->barrier(*request);
  });
}

tsr_status agree(endpoint* on, const void* mine, std::uint64_t bytes, void* out_all, tsr_request* request) {
  return on_live(on, [&]() -> tsr_status {
    if (const auto status = check_request(*on, request, "agree")) return status;
    if (bytes > TSR_MAX_AGREE_BYTES)
      return on->report.fail(TSR_INVALID_ARGUMENT, "agree: %llu bytes; at most %u", number(bytes), TSR_MAX_AGREE_BYTES);
    if (bytes != 0 && (mine == nullptr || out_all == nullptr))
      return on->report.fail(TSR_INVALID_ARGUMENT, "agree: a NULL argument with bytes");
    return on->agree(mine, bytes, out_all, *request);
  });
}

tsr_status alive(endpoint* on, std::int32_t rank, bool* out_alive) {
  return on_any(on, [&]() -> tsr_status {
    if (out_alive == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "alive: out_alive is NULL");
    if (const auto status = check_rank(*on, rank, "alive")) return status;
    *out_alive = on->alive(rank);
    return TSR_OK;
  });
}

tsr_status abort(endpoint* on, std::int32_t code, const char* text) {
  return on_live(on, [&]() -> tsr_status { return on->abort(code, text != nullptr ? text : ""); });
}

tsr_status lose(endpoint* on) {
  return on_live(on, [&]() -> tsr_status { return on->lose(); });
}

// --------------------------------------------------------------------------------------------------- transport -----

template <class Function>
tsr_status on_transport(tsr_transport* on, Function&& function) noexcept {
  if (on == nullptr || !on->magic.is(transport_magic)) return TSR_INVALID_ARGUMENT;
  return kit::guarded(on->report, std::forward<Function>(function));
}

tsr_status transport_describe(tsr_transport* on, tsr_transport_desc* out_desc) {
  return on_transport(on, [&]() -> tsr_status {
    if (out_desc == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "describe: out_desc is NULL");
    kit::fill_out(out_desc, on->describe());
    return TSR_OK;
  });
}

tsr_status endpoint_open(tsr_transport* on, std::int32_t rank, tsr_receive_function receive, void* context,
                         tsr_endpoint** out_endpoint, const tsr_endpoint_table** out_table) {
  return on_transport(on, [&]() -> tsr_status {
    if (receive == nullptr || out_endpoint == nullptr || out_table == nullptr)
      return on->report.fail(TSR_INVALID_ARGUMENT, "endpoint_open: a NULL argument");
    const tsr_transport_desc desc = on->describe();
    if (rank < desc.first_rank || rank >= desc.first_rank + desc.local_count)
      return on->report.fail(TSR_OUT_OF_RANGE, "endpoint_open: rank %d; this process has ranks %d to %d", rank,
                             desc.first_rank, desc.first_rank + desc.local_count - 1);
    const std::lock_guard lock(on->guard);
    on->endpoints.resize(static_cast<std::size_t>(desc.local_count));
    auto& slot = on->endpoints[static_cast<std::size_t>(rank - desc.first_rank)];
    if (slot != nullptr)
      return on->report.fail(TSR_ALREADY_EXISTS, "endpoint_open: rank %d is or was open; it opens once", rank);
    auto made = on->make_endpoint(rank);
    made->report = on->report;
    made->rank = rank;
    made->size = desc.size;
    made->receive = receive;
    made->context = context;
    made->magic.set(endpoint_magic);
    slot = std::move(made);
    *out_endpoint = slot.get();
    *out_table = &endpoint_table(on->can_lose());
    return TSR_OK;
  });
}

tsr_status endpoint_close(tsr_transport* on, tsr_endpoint* closed) {
  return on_transport(on, [&]() -> tsr_status {
    {
      const std::lock_guard lock(on->guard);
      const auto is_it = [&](const auto& one) { return one.get() == closed; };
      if (closed == nullptr || std::none_of(on->endpoints.begin(), on->endpoints.end(), is_it) ||
          !closed->magic.is(endpoint_magic))
        return on->report.fail(TSR_INVALID_ARGUMENT, "endpoint_close: not an open endpoint of this transport");
      if (const auto status = refuse_inside(*closed, "endpoint_close")) return status;
      closed->magic.set(0);
    }
    return on->close(*closed);
  });
}

tsr_status shutdown(tsr_transport* on) {
  if (on == nullptr || !on->magic.take(transport_magic)) return TSR_INVALID_ARGUMENT;
  const std::unique_ptr<tsr_transport_s> owned(on);
  return kit::guarded(on->report, [&]() -> tsr_status {
    for (const auto& one : on->endpoints)
      if (one != nullptr && one->magic.take(endpoint_magic)) on->close(*one);
    return on->shut_down();
  });
}

constexpr tsr_endpoint_table table_of(bool can_lose) noexcept {
  tsr_endpoint_table table{};
  table.struct_size = sizeof table;
  table.describe = describe;
  table.progress = progress;
  table.wait = wait;
  table.wake = wake;
  table.send = send;
  table.window_create = window_create;
  table.window_base = window_base;
  table.window_destroy = window_destroy;
  table.get = get;
  table.put = put;
  table.accumulate = accumulate;
  table.fetch_add = fetch_add;
  table.compare_swap = compare_swap;
  table.flush = flush;
  table.barrier = barrier;
  table.agree = agree;
  table.alive = alive;
  table.abort = abort;
  if (can_lose) table.lose = lose;
  return table;
}

constexpr tsr_endpoint_table with_loss = table_of(true), without_loss = table_of(false);
constexpr tsr_transport_table transport_entries = {sizeof(tsr_transport_table), transport_describe, endpoint_open,
                                                   endpoint_close, shutdown};

}  // namespace

const tsr_endpoint_table& endpoint_table(bool can_lose) noexcept { return can_lose ? with_loss : without_loss; }
const tsr_transport_table& transport_table() noexcept { return transport_entries; }

}  // namespace tessera::transport
