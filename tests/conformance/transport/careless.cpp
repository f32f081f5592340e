// The transport inprocess with one promise broken, chosen by the option `fault`: what the suite has to find.
#include <dlfcn.h>
#include <tessera/transport.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace {

tsr_endpoint_table inner{}, outer{};
tsr_transport_table inner_transport{}, outer_transport{};
std::string fault;
std::atomic<unsigned> calls{0};

bool every(unsigned n) { return calls.fetch_add(1) % n == n - 1; }

tsr_status done(tsr_request* request) {
  request->status = TSR_OK;
  return TSR_OK;
}

tsr_status lost_message(tsr_endpoint* on, const tsr_message* message, tsr_request* request) {
  return every(50) ? done(request) : inner.send(on, message, request);
}

tsr_status changed_header(tsr_endpoint* on, const tsr_message* message, tsr_request* request) {
  if (message == nullptr || message->header_bytes != TSR_MAX_HEADER_BYTES) return inner.send(on, message, request);
  tsr_message changed = *message;
  changed.header_bytes -= 8;
  return inner.send(on, &changed, request);
}

tsr_status touched_request(tsr_endpoint* on, const tsr_message* message, tsr_request* request) {
  const tsr_status status = inner.send(on, message, request);
  if (status != TSR_OK && request != nullptr) request->status = status;
  return status;
}

tsr_status deaf_to_budget(tsr_endpoint* on, std::uint32_t, bool* out_happened) {
  return inner.progress(on, 1000, out_happened);
}

tsr_status early_flush(tsr_endpoint*, tsr_window*, std::int32_t, tsr_request* request) { return done(request); }
tsr_status early_barrier(tsr_endpoint*, tsr_request* request) { return done(request); }

tsr_status lost_add(tsr_endpoint* on, const tsr_transfer* block, tsr_type type, tsr_request* request) {
  return every(7) ? done(request) : inner.accumulate(on, block, type, request);
}

tsr_status torn_put(tsr_endpoint* on, const tsr_transfer* block, tsr_request* request) {
  tsr_transfer torn = *block;
  if (torn.bytes > 1000) torn.bytes -= 1;
  return inner.put(on, &torn, request);
}

/// Says that the memory may be used again, and reads it later.
tsr_status early_put(tsr_endpoint* on, const tsr_transfer* block, tsr_request* request) {
  thread_local std::deque<tsr_request> own;
  const tsr_status status = inner.put(on, block, &own.emplace_back(tsr_request{sizeof(tsr_request), 0, {}}));
  return status == TSR_OK ? done(request) : status;
}

tsr_status one_row(tsr_endpoint* on, const tsr_transfer* block, tsr_request* request) {
  tsr_transfer row = *block;
  if (row.rows > 1) row.rows -= 1;
  return inner.get(on, &row, request);
}

tsr_status no_bounds(tsr_endpoint* on, const tsr_transfer* block, tsr_request* request) {
  const tsr_status status = inner.get(on, block, request);
  return status == TSR_OUT_OF_RANGE ? tsr_status{TSR_OK} : status;
}

tsr_status ticket_twice(tsr_endpoint* on, tsr_window* window, std::int32_t rank, std::uint64_t offset,
                        std::int64_t value, std::int64_t* out_before, tsr_request* request) {
  return inner.fetch_add(on, window, rank, offset, every(40) ? 0 : value, out_before, request);
}

tsr_status swap_always(tsr_endpoint* on, tsr_window* window, std::int32_t rank, std::uint64_t offset,
                       std::int64_t expected, std::int64_t desired, std::int64_t* out_before, tsr_request* request) {
  if (every(30)) {
    *out_before = expected;
    return done(request);
  }
  return inner.compare_swap(on, window, rank, offset, expected, desired, out_before, request);
}

tsr_status always_alive(tsr_endpoint*, std::int32_t, bool* out_alive) {
  *out_alive = true;
  return TSR_OK;
}

/// Whether there is such a fault.
bool choose() {
  outer = inner;
  const auto is = [](const char* name) { return fault == name; };
  if (is("lost_message")) return outer.send = lost_message, true;
  if (is("changed_header")) return outer.send = changed_header, true;
  if (is("touched_request")) return outer.send = touched_request, true;
  if (is("deaf_to_budget")) return outer.progress = deaf_to_budget, true;
  if (is("early_flush")) return outer.flush = early_flush, true;
  if (is("early_barrier")) return outer.barrier = early_barrier, true;
  if (is("lost_add")) return outer.accumulate = lost_add, true;
  if (is("torn_put")) return outer.put = torn_put, true;
  if (is("early_put")) return outer.put = early_put, true;
  if (is("one_row")) return outer.get = one_row, true;
  if (is("no_bounds")) return outer.get = no_bounds, true;
  if (is("ticket_twice")) return outer.fetch_add = ticket_twice, true;
  if (is("swap_always")) return outer.compare_swap = swap_always, true;
  if (is("always_alive")) return outer.alive = always_alive, true;
  return is("none");
}

tsr_status endpoint_open(tsr_transport* transport, std::int32_t rank, tsr_receive_function receive, void* context,
                         tsr_endpoint** out_endpoint, const tsr_endpoint_table** out_table) {
  const tsr_endpoint_table* table = nullptr;
  const tsr_status status = inner_transport.endpoint_open(transport, rank, receive, context, out_endpoint, &table);
  if (status == TSR_OK) *out_table = &outer;
  return status;
}

const tsr_transport_header* inner_header() {
  static void* const library = dlopen(INNER_TRANSPORT, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto query = reinterpret_cast<tsr_transport_query_function>(dlsym(library, "tsr_transport_query"));
  return query == nullptr ? nullptr : query(TSR_TRANSPORT_MAJOR, TSR_TRANSPORT_MINOR);
}

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                tsr_transport** out_transport, const tsr_transport_table** out_table) {
  std::vector<tsr_option_value> others;
  for (std::uint32_t k = 0; k < count; ++k) {
    if (std::strcmp(values[k].name, "fault") == 0)
      fault = values[k].text;
    else
      others.push_back(values[k]);
  }
  const tsr_transport_table* table = nullptr;
  const tsr_status status = inner_header()->open(host, others.data(), static_cast<std::uint32_t>(others.size()),
                                                 out_transport, out_table == nullptr ? nullptr : &table);
  if (status != TSR_OK) return status;
  inner_transport = outer_transport = *table;
  outer_transport.endpoint_open = endpoint_open;
  // The table of endpoints is the same for all; one is opened to see it.
  tsr_transport* probe = nullptr;
  const tsr_transport_table* probe_table = nullptr;
  const tsr_endpoint_table* endpoint_table = nullptr;
  tsr_endpoint* end = nullptr;
  if (inner_header()->open(host, nullptr, 0, &probe, &probe_table) != TSR_OK) return TSR_INTERNAL;
  probe_table->endpoint_open(
      probe, 0, [](void*, std::int32_t, std::uint32_t, const void*, std::uint32_t, const void*, std::uint64_t) {},
      nullptr, &end, &endpoint_table);
  inner = *endpoint_table;
  probe_table->shutdown(probe);
  if (!choose()) {
    host->error(host->context, TSR_INVALID_ARGUMENT, ("there is no fault \"" + fault + "\"").c_str());
    inner_transport.shutdown(*out_transport);
    return TSR_INVALID_ARGUMENT;
  }
  *out_table = &outer_transport;
  return TSR_OK;
}

}  // namespace

extern "C" const tsr_transport_header* tsr_transport_query(std::uint32_t, std::uint32_t) {
  if (inner_header() == nullptr) return nullptr;
  static std::vector<tsr_option> options;
  static const tsr_transport_header header = [] {
    tsr_transport_header made = *inner_header();
    options.assign(made.options, made.options + made.option_count);
    options.push_back({sizeof(tsr_option), TSR_OPTION_STRING, "fault", "none", 0, 0, nullptr, "Which promise breaks."});
    made.name = "careless";
    made.sanitizer = TSR_BUILD_SANITIZER;
    made.options = options.data();
    made.option_count = static_cast<std::uint32_t>(options.size());
    made.open = open;
    return made;
  }();
  return &header;
}
