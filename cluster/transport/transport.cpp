#include "cluster/transport/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/plugin/device.hpp"
#include "core/plugin/host.hpp"
#include "core/plugin/loaded_plugin.hpp"
#include "core/plugin/option.hpp"
#include "core/plugin/refuse.hpp"
#include "core/plugin/tables.hpp"

namespace tessera::cluster {
namespace {

std::string word_for(tsr_status status) {
  return status == TSR_RANK_LOST ? std::string("RANK_LOST") : std::string(plugin::name_of(status));
}

/// Completed, with all entries that are not optional.
tsr_endpoint_table checked(const tsr_endpoint_table* raw, const std::filesystem::path& file) {
  const tsr_endpoint_table table = plugin::completed(raw);
  const auto need = [&](const auto& entry, const char* name) {
    if (entry == nullptr)
      plugin::refuse(file, fmt::format("the mandatory entry \"{}\" of the endpoint's table is missing", name),
                     "set it, and set struct_size to sizeof(tsr_endpoint_table)");
  };
  need(table.describe, "describe");
  need(table.progress, "progress");
  need(table.wait, "wait");
  need(table.wake, "wake");
  need(table.send, "send");
  need(table.window_create, "window_create");
  need(table.window_base, "window_base");
  need(table.window_destroy, "window_destroy");
  need(table.get, "get");
  need(table.put, "put");
  need(table.accumulate, "accumulate");
  need(table.fetch_add, "fetch_add");
  need(table.compare_swap, "compare_swap");
  need(table.flush, "flush");
  need(table.barrier, "barrier");
  need(table.agree, "agree");
  need(table.alive, "alive");
  need(table.abort, "abort");
  return table;
}

}  // namespace

void check(tsr_status status, const char* what, const std::filesystem::path& file) {
  if (status == TSR_OK || status == TSR_NOT_READY) return;
  const std::string details = plugin::take_error_details();
  const std::string text = details.empty() ? fmt::format("{} answered {}", what, word_for(status))
                                           : fmt::format("{} ({} answered {})", details, what, word_for(status));
  if (status == TSR_RANK_LOST)
    throw rank_lost(error_kind::device, text, file.string(), "the job goes on without that rank, or ends");
  if (status == TSR_CANCELLED) throw job_ended(error_kind::interrupted, text, file.string());
  throw error(status == TSR_RESOURCE_EXHAUSTED ? error_kind::memory : error_kind::plugin, text, file.string());
}

transport::transport(const transport_options& options)
    : m_loaded(load_transport(options)),
      m_log(options.log),
      m_host(std::make_unique<plugin::host>(options.cpu_mask, options.log)) {
  const auto values = plugin::check_options(m_loaded.name, m_loaded.options, options.values);
  std::vector<tsr_option_value> given;
  for (const plugin::option_value& value : values)
    given.push_back(
        {sizeof(tsr_option_value), value.type, value.name.c_str(), value.integer, value.number, value.text.c_str()});
  const tsr_transport_table* table = nullptr;
  plugin::take_error_details();
  const tsr_status status = plugin::call_plugin(m_loaded.path, "open", [&] {
    return m_loaded.header.open(m_host->table(), given.data(), static_cast<std::uint32_t>(given.size()), &m_handle,
                                &table);
  });
  check(status, fmt::format("opening the transport \"{}\"", m_loaded.name).c_str(), m_loaded.path);
  m_table = plugin::completed(table);
  const auto give_up = [&] {
    if (m_table.shutdown != nullptr) m_table.shutdown(std::exchange(m_handle, nullptr));
  };
  if (m_table.describe == nullptr || m_table.endpoint_open == nullptr || m_table.endpoint_close == nullptr ||
      m_table.shutdown == nullptr) {
    give_up();
    plugin::refuse(m_loaded.path, "a mandatory entry of the transport's table is missing",
                   "set describe, endpoint_open, endpoint_close and shutdown");
  }
  m_description.struct_size = sizeof m_description;
  try {
    check(m_table.describe(m_handle, &m_description), "describe", m_loaded.path);
  } catch (...) {
    give_up();
    throw;
  }
}

transport::~transport() {
  if (m_handle == nullptr) return;
  const tsr_status status = m_table.shutdown(m_handle);
  const std::string details = plugin::take_error_details();
  if (status != TSR_OK && m_log)
    m_log(2, fmt::format("transport {}: shutdown answered {}: {}", m_loaded.name, word_for(status), details));
}

std::unique_ptr<endpoint> transport::open(std::int32_t rank, std::function<void(const message_view&)> receive) {
  return std::unique_ptr<endpoint>(new endpoint(*this, rank, std::move(receive)));
}

endpoint::endpoint(transport& of, std::int32_t rank, std::function<void(const message_view&)> receive)
    : m_transport(of), m_receive(std::move(receive)) {
  const tsr_endpoint_table* table = nullptr;
  check(of.m_table.endpoint_open(of.m_handle, rank, &endpoint::on_message, this, &m_handle, &table), "endpoint_open",
        of.file());
  m_table = checked(table, of.file());
  m_description.struct_size = sizeof m_description;
  check(m_table.describe(m_handle, &m_description), "describe", of.file());
}

endpoint::~endpoint() {
  if (m_handle == nullptr) return;
  const tsr_status status = m_transport.m_table.endpoint_close(m_transport.m_handle, m_handle);
  const std::string details = plugin::take_error_details();
  if (status != TSR_OK && m_transport.m_log)
    m_transport.m_log(
        2, fmt::format("transport {}: endpoint_close answered {}: {}", m_transport.name(), word_for(status), details));
}

void endpoint::on_message(void* context, std::int32_t source, std::uint32_t id, const void* header,
                          std::uint32_t header_bytes, const void* payload, std::uint64_t payload_bytes) {
  endpoint& self = *static_cast<endpoint*>(context);
  try {
    self.m_receive({source,
                    id,
                    {static_cast<const std::byte*>(header), header_bytes},
                    {static_cast<const std::byte*>(payload), payload_bytes}});
  } catch (...) {
    if (self.m_thrown == nullptr) self.m_thrown = std::current_exception();
  }
}

bool endpoint::started(tsr_status status, const char* what) const {
  if (status == TSR_NOT_READY) {
    plugin::take_error_details();
    return false;
  }
  check(status, what, m_transport.file());
  return true;
}

bool endpoint::progress(std::uint32_t budget) {
  bool happened = false;
  const tsr_status status = m_table.progress(m_handle, budget, &happened);
  if (const auto thrown = std::exchange(m_thrown, nullptr)) std::rethrow_exception(thrown);
  check(status, "progress", m_transport.file());
  return happened;
}

bool endpoint::wait(std::chrono::nanoseconds longest) {
  const tsr_status status = m_table.wait(
      m_handle, static_cast<std::uint64_t>(std::max<std::int64_t>(std::chrono::nanoseconds(longest).count(), 0)));
  if (status == TSR_DEADLINE_EXCEEDED) {
    plugin::take_error_details();
    return false;
  }
  check(status, "wait", m_transport.file());
  return true;
}

void endpoint::wake() noexcept { m_table.wake(m_handle); }

bool endpoint::send(std::int32_t to, std::uint32_t id, std::span<const std::byte> header,
                    std::span<const std::byte> payload, request& done) {
  if (header.size() > TSR_MAX_HEADER_BYTES)
    throw error(error_kind::internal,
                fmt::format("a message's header of {} bytes; at most {}", header.size(), TSR_MAX_HEADER_BYTES));
  const tsr_message message{
      sizeof(tsr_message), to, id, static_cast<std::uint32_t>(header.size()), header.data(), payload.data(),
      payload.size()};
  return started(m_table.send(m_handle, &message, &done), "send");
}

void endpoint::window_create(std::uint64_t bytes, tsr_window*& out_window, request& done) {
  check(m_table.window_create(m_handle, bytes, &out_window, &done), "window_create", m_transport.file());
}

void endpoint::window_destroy(tsr_window* window, request& done) {
  check(m_table.window_destroy(m_handle, window, &done), "window_destroy", m_transport.file());
}

std::span<std::byte> endpoint::window_part(tsr_window* window, std::int32_t of) const {
  void* base = nullptr;
  std::uint64_t bytes = 0;
  check(m_table.window_base(m_handle, window, of, &base, &bytes), "window_base", m_transport.file());
  return base == nullptr ? std::span<std::byte>() : std::span(static_cast<std::byte*>(base), bytes);
}

bool endpoint::get(const tsr_transfer& block, request& done) {
  return started(m_table.get(m_handle, &block, &done), "get");
}

bool endpoint::put(const tsr_transfer& block, request& done) {
  return started(m_table.put(m_handle, &block, &done), "put");
}

bool endpoint::accumulate(const tsr_transfer& block, tsr_type type, request& done) {
  return started(m_table.accumulate(m_handle, &block, type, &done), "accumulate");
}

bool endpoint::fetch_add(tsr_window* window, std::int32_t to, std::uint64_t offset, std::int64_t value,
                         std::int64_t& out_before, request& done) {
  return started(m_table.fetch_add(m_handle, window, to, offset, value, &out_before, &done), "fetch_add");
}

bool endpoint::compare_swap(tsr_window* window, std::int32_t to, std::uint64_t offset, std::int64_t expected,
                            std::int64_t desired, std::int64_t& out_before, request& done) {
  return started(m_table.compare_swap(m_handle, window, to, offset, expected, desired, &out_before, &done),
                 "compare_swap");
}

void endpoint::flush(tsr_window* window, std::int32_t to, request& done) {
  check(m_table.flush(m_handle, window, to, &done), "flush", m_transport.file());
}

void endpoint::barrier(request& done) { check(m_table.barrier(m_handle, &done), "barrier", m_transport.file()); }

void endpoint::agree(std::span<const std::byte> mine, void* out_all, request& done) {
  check(m_table.agree(m_handle, mine.data(), mine.size(), out_all, &done), "agree", m_transport.file());
}

bool endpoint::alive(std::int32_t of) const {
  bool answer = false;
  check(m_table.alive(m_handle, of, &answer), "alive", m_transport.file());
  return answer;
}

void endpoint::abort(std::int32_t code, const std::string& text) {
  check(m_table.abort(m_handle, code, text.c_str()), "abort", m_transport.file());
}

void endpoint::lose() {
  if (m_table.lose == nullptr)
    throw error(error_kind::plugin, "the transport has no lose: its ranks are not lost by a call",
                m_transport.file().string());
  check(m_table.lose(m_handle), "lose", m_transport.file());
}

void endpoint::finish(const request& one) {
  while (one.under_way())
    if (!progress()) wait(std::chrono::milliseconds(100));
  check(one.status, "a request", m_transport.file());
}

}  // namespace tessera::cluster
