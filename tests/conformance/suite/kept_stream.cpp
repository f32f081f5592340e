#include "tests/conformance/suite/kept_stream.hpp"

namespace tessera::conformance {

kept_stream::kept_stream(const device& on, std::uint64_t bytes, kept_memory& kept) : m_device(on), m_kept(kept) {
  need_ok(on.table().stream_create(on.handle(), TSR_STREAM_COMPUTE, &m_stream), "stream_create");
  need(m_stream != nullptr, "stream_create answers OK and gives no stream");
  need_ok(on.table().mem_alloc(on.handle(), compute_space(on), bytes, &m_memory),
          fmt::format("mem_alloc({} bytes)", bytes));
  need(m_memory != nullptr, "mem_alloc answers OK and gives no memory");
}

tsr_copy& kept_stream::into(std::uint64_t offset, const std::vector<unsigned char>& from) {
  return enqueued(plain_copy(here(), {m_memory, offset}, host_space, host_address(from.data()), from.size()));
}

tsr_copy& kept_stream::out_of(std::uint64_t offset, std::vector<unsigned char>& to) {
  return enqueued(plain_copy(host_space, host_address(to.data()), here(), {m_memory, offset}, to.size()));
}

tsr_ticket kept_stream::signal() {
  tsr_ticket ticket{nullptr, 0};
  expect_ok(m_device.table().stream_signal(m_device.handle(), m_stream, &ticket), "stream_signal");
  expect(ticket.stream == m_stream, "stream_signal gives a ticket of another stream");
  expect(
      ticket.value > m_last,
      "stream_signal gives the value {} after {}: the values of one stream increase, so that no point is taken for an "
      "earlier one",
      ticket.value, m_last);
  m_last = ticket.value;
  return ticket;
}

bool kept_stream::reached(const tsr_ticket& point) const {
  std::uint64_t value = 0, failed = 0;
  expect_ok(m_device.table().stream_progress(m_device.handle(), m_stream, &value, &failed), "stream_progress");
  return value >= point.value;
}

void kept_stream::wait() {
  const tsr_ticket point = signal();
  wait_until([&] { return reached(point); }, "the point of stream_signal behind all work of a stream");
}

void kept_stream::destroy() { need_ok(m_device.table().stream_destroy(m_device.handle(), m_stream), "stream_destroy"); }

void kept_stream::free() { need_ok(m_device.table().mem_free(m_device.handle(), m_memory), "mem_free"); }

tsr_copy& kept_stream::enqueued(const tsr_copy& copy) {
  tsr_copy& kept = m_kept.copies.emplace_back(copy);
  expect_ok(m_device.table().copy(m_device.handle(), m_stream, &kept), "copy");
  return kept;
}

}  // namespace tessera::conformance
