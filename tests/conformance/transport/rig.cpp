#include "tests/conformance/transport/rig.hpp"

#include <fmt/format.h>

#include <utility>

namespace tessera::transport_conformance {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

rig::rig(tsr_endpoint* on, const tsr_endpoint_table& table, std::chrono::seconds patience)
    : endpoint(on), call(table), m_deadline(std::chrono::steady_clock::now() + patience) {
  desc.struct_size = sizeof desc;
  need_ok(call.describe(endpoint, &desc), "describe");
}

void rig::expect(bool holds, const std::string& text) {
  if (!holds) failures.push_back(text);
}

void rig::expect_status(tsr_status found, tsr_status expected, const std::string& text) {
  if (found != expected)
    failures.push_back(fmt::format("{}: status {}; expected {} ({})", text, found, expected, last_error()));
}

void rig::need(bool holds, const std::string& text) {
  if (!holds) throw broken(text);
}

void rig::need_ok(tsr_status found, const std::string& text) {
  if (found != TSR_OK) throw broken(fmt::format("{}: status {} ({})", text, found, last_error()));
}

void rig::until(const std::function<bool()>& done, const char* what) {
  while (!done()) {
    if (progress()) continue;
    if (done()) return;
    if (std::chrono::steady_clock::now() > m_deadline) throw broken(fmt::format("{}: the time is over", what));
    const tsr_status status = call.wait(endpoint, 50'000'000);
    need(status == TSR_OK || status == TSR_DEADLINE_EXCEEDED, fmt::format("wait: status {}", status));
  }
}

tsr_status rig::finish(request& one, const char* what) {
  until([&] { return !one.under_way(); }, what);
  return one.status;
}

void rig::finish_ok(request& one, const char* what) {
  if (const auto status = finish(one, what)) throw broken(fmt::format("{}: the request ended with {}", what, status));
}

bool rig::progress(std::uint32_t budget) {
  bool happened = false;
  need_ok(call.progress(endpoint, budget, &happened), "progress");
  return happened;
}

tsr_status rig::with_room(const std::function<tsr_status()>& start, const char* what) {
  tsr_status status = TSR_NOT_READY;
  until(
      [&] {
        status = start();
        return status != TSR_NOT_READY;
      },
      what);
  return status;
}

void rig::barrier() {
  request done;
  need_ok(call.barrier(endpoint, &done), "barrier");
  finish_ok(done, "barrier");
}

std::vector<std::int64_t> rig::agree(std::int64_t mine) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size()));
  request done;
  need_ok(call.agree(endpoint, &mine, sizeof mine, all.data(), &done), "agree");
  finish_ok(done, "agree");
  return all;
}

tsr_window* rig::window(std::uint64_t bytes) {
  tsr_window* made = nullptr;
  request done;
  need_ok(call.window_create(endpoint, bytes, &made, &done), "window_create");
  finish_ok(done, "window_create");
  need(made != nullptr, "window_create has ended with OK and no window");
  return made;
}

void rig::destroy(tsr_window* one) {
  request done;
  need_ok(call.window_destroy(endpoint, one, &done), "window_destroy");
  finish_ok(done, "window_destroy");
}

void rig::flush(tsr_window* one, std::int32_t rank_of) {
  request done;
  need_ok(call.flush(endpoint, one, rank_of, &done), "flush");
  finish_ok(done, "flush");
}

std::byte* rig::base(tsr_window* one, std::int32_t of, std::uint64_t* out_bytes) {
  void* at = nullptr;
  std::uint64_t bytes = 0;
  need_ok(call.window_base(endpoint, one, of, &at, &bytes), "window_base");
  if (out_bytes != nullptr) *out_bytes = bytes;
  return static_cast<std::byte*>(at);
}

void rig::put(tsr_window* one, std::int32_t to, std::uint64_t offset, const void* from, std::uint64_t bytes) {
  request done;
  const tsr_transfer block = block_of(one, to, offset, from, bytes);
  need_ok(with_room([&] { return call.put(endpoint, &block, &done); }, "put"), "put");
  finish_ok(done, "put");
}

void rig::get(tsr_window* one, std::int32_t to, std::uint64_t offset, void* into, std::uint64_t bytes) {
  request done;
  const tsr_transfer block = block_of(one, to, offset, into, bytes);
  need_ok(with_room([&] { return call.get(endpoint, &block, &done); }, "get"), "get");
  finish_ok(done, "get");
}

std::int64_t rig::fetch_add(tsr_window* one, std::int32_t to, std::uint64_t offset, std::int64_t value) {
  request done;
  std::int64_t before = -1;
  need_ok(with_room([&] { return call.fetch_add(endpoint, one, to, offset, value, &before, &done); }, "fetch_add"),
          "fetch_add");
  finish_ok(done, "fetch_add");
  return before;
}

void rig::send(std::int32_t to, std::uint32_t id, std::span<const std::byte> header,
               std::span<const std::byte> payload) {
  request done;
  const tsr_message message{
      sizeof(tsr_message), to, id, static_cast<std::uint32_t>(header.size()), header.data(), payload.data(),
      payload.size()};
  need_ok(with_room([&] { return call.send(endpoint, &message, &done); }, "send"), "send");
  finish_ok(done, "send");
}

received rig::take(const char* what) {
  until([&] { return !inbox.empty(); }, what);
  received one = std::move(inbox.front());
  inbox.pop_front();
  return one;
}

std::vector<std::string> rig::next_check(std::chrono::seconds patience) {
  m_deadline = std::chrono::steady_clock::now() + patience;
  m_handler = nullptr;
  return std::exchange(failures, {});
}

void rig::listen(handler to) {
  m_handler = std::move(to);
  while (m_handler && !inbox.empty()) {
    const received one = std::move(inbox.front());
    inbox.pop_front();
    m_handler(one.source, one.id, one.header, one.payload);
  }
}

void rig::on_message(void* context, std::int32_t source, std::uint32_t id, const void* header,
                     std::uint32_t header_bytes, const void* payload, std::uint64_t payload_bytes) {
  rig& self = **static_cast<rig**>(context);
  const std::span head(static_cast<const std::byte*>(header), header_bytes);
  const std::span body(static_cast<const std::byte*>(payload), payload_bytes);
  self.expect(header != nullptr && payload != nullptr, "header and payload are never NULL");
  self.expect(reinterpret_cast<std::uintptr_t>(header) % 8 == 0, "a header lies at a multiple of 8");
  self.expect(reinterpret_cast<std::uintptr_t>(payload) % 16 == 0, "a payload lies at a multiple of 16");
  if (self.m_handler)
    self.m_handler(source, id, head, body);
  else
    self.inbox.push_back({source, id, {head.begin(), head.end()}, {body.begin(), body.end()}});
}

tsr_transfer block_of(tsr_window* window, std::int32_t rank, std::uint64_t offset, const void* local,
                      std::uint64_t bytes) {
  return {sizeof(tsr_transfer), rank, window, offset, const_cast<void*>(local), bytes, 1, 0, 0};
}

std::vector<std::byte> pattern(std::uint64_t bytes, std::uint64_t seed) {
  std::vector<std::byte> all(bytes);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::byte& one : all) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    one = static_cast<std::byte>(state >> 56);
  }
  return all;
}

}  // namespace tessera::transport_conformance
