#include "plugins/opencl/queue.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace tessera::gpu::opencl {
namespace {

/// What a driver made of a command: CL_COMPLETE, a positive number while it is under way, an error.
cl_int state_of(cl_event event) {
  cl_int state = CL_COMPLETE;
  const cl_int code = cl().event_info(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  return code == CL_SUCCESS ? state : code;
}

/// Shared with a driver that will report an event.
struct report_to {
  std::shared_ptr<callback_line> line;
  std::uint64_t number;
};

void CL_CALLBACK reported(cl_event, cl_int, void* data) {
  const std::unique_ptr<report_to> to(static_cast<report_to*>(data));
  to->line->fire(to->number);
}

void CL_CALLBACK open_gate(cl_event, cl_int, void* gate) {
  cl().set_user_event(static_cast<cl_event>(gate), CL_COMPLETE);
  cl().release_event(static_cast<cl_event>(gate));
}

/// More than this, and an event is put in between: some drivers walk the list.
constexpr std::size_t max_commands = 256;

}  // namespace

void event::clear() {
  if (marker != nullptr) cl().release_event(marker);
  for (const command& one : covered) cl().release_event(one.event);
  marker = nullptr;
  covered.clear();
}

std::uint64_t callback_line::add(void (*function)(void*), void* argument) {
  const std::lock_guard lock(m_mutex);
  m_entries.push_back({function, argument});
  return m_first + m_entries.size() - 1;
}

void callback_line::fire(std::uint64_t number) noexcept {
  std::unique_lock lock(m_mutex);
  m_fired = std::max(m_fired, number + 1);
  if (m_calling) return;  // whoever calls goes on to these
  m_calling = true;
  while (!m_entries.empty() && m_first < m_fired) {
    const entry next = m_entries.front();
    lock.unlock();
    next.function(next.argument);
    lock.lock();
    if (m_entries.empty()) break;  // abandoned meanwhile
    m_entries.pop_front();
    ++m_first;
  }
  m_calling = false;
  m_empty.notify_all();
}

void callback_line::drop_last() {
  const std::lock_guard lock(m_mutex);
  if (!m_entries.empty()) m_entries.pop_back();
}

void callback_line::wait() {
  std::unique_lock lock(m_mutex);
  m_empty.wait(lock, [&] { return m_entries.empty() && !m_calling; });
}

void callback_line::abandon() {
  const std::lock_guard lock(m_mutex);
  m_first += m_entries.size();
  m_entries.clear();
  m_empty.notify_all();
}

queue::~queue() {
  for (const command& one : m_commands) cl().release_event(one.event);
  cl().release_queue(m_native);
}

error_t queue::keep(cl_event event, const char* what) {
  m_commands.push_back({event, what});
  if (m_commands.size() < max_commands) return {};
  opencl::event so_far;
  if (const error_t error = record(so_far); error.kind() != error_kind::none) return error;
  cl().retain_event(so_far.marker);
  m_commands.push_back({so_far.marker, "an event"});
  return {};
}

error_t queue::record(event& into) {
  std::vector<cl_event> events;
  events.reserve(m_commands.size());
  for (const command& one : m_commands) events.push_back(one.event);
  // The queue is in order; the list makes the marker fail when one of the commands did.
  cl_event marker = nullptr;
  cl_int code = cl().enqueue_marker(m_native, static_cast<cl_uint>(events.size()),
                                    events.empty() ? nullptr : events.data(), &marker);
  if (code != CL_SUCCESS) return {code, "clEnqueueMarkerWithWaitList"};
  into.clear();
  into.device = &m_device;
  into.marker = marker;
  into.covered = std::exchange(m_commands, {});
  return result_of(cl().flush(m_native), "clFlush");  // else nothing need begin
}

error_t queue::wait(const event& point) {
  if (point.marker == nullptr) return {};
  if (state_of(point.marker) <= CL_COMPLETE) return {};  // what failed lets waits pass
  const auto barrier = [&](const cl_event& of) {
    return enqueue("clEnqueueBarrierWithWaitList",
                   [&](cl_event* event) { return cl().enqueue_barrier(m_native, 1, &of, event); });
  };
  if (point.device == &m_device) return barrier(point.marker);
  // An event of another context means nothing here; its callback opens a gate.
  cl_int code = CL_SUCCESS;
  const cl_event gate = cl().create_user_event(m_device.context, &code);
  if (code != CL_SUCCESS) return {code, "clCreateUserEvent"};
  const error_t taken = barrier(gate);
  const bool waits = taken.kind() == error_kind::none;
  if (waits) cl().retain_event(gate);
  if (waits && cl().set_event_callback(point.marker, CL_COMPLETE, open_gate, gate) != CL_SUCCESS) {
    while (state_of(point.marker) > CL_COMPLETE) std::this_thread::yield();  // without a callback the host waits
    open_gate(nullptr, CL_COMPLETE, gate);
  }
  cl().release_event(gate);
  return taken;
}

error_t queue::call_back(void (*function)(void*), void* argument) {
  cl_event marker = nullptr;
  cl_int code = cl().enqueue_marker(m_native, 0, nullptr, &marker);
  if (code != CL_SUCCESS) return {code, "clEnqueueMarkerWithWaitList"};
  auto to = std::make_unique<report_to>(report_to{m_callbacks, m_callbacks->add(function, argument)});
  code = cl().set_event_callback(marker, CL_COMPLETE, reported, to.get());
  if (code == CL_SUCCESS) {
    to.release();  // reported() has it
    cl().flush(m_native);
  } else {
    m_callbacks->drop_last();
  }
  cl().release_event(marker);
  return result_of(code, "clSetEventCallback");
}

error_t queue::finish() {
  const cl_int code = cl().finish(m_native);
  if (code == CL_SUCCESS) m_callbacks->wait();
  return result_of(code, "clFinish");
}

}  // namespace tessera::gpu::opencl

namespace tessera::gpu {

using namespace opencl;

error_t create_stream(stream_t* out) {
  device_state& device = current_device();
  if (error_t error = open(device); error.kind() != error_kind::none) return error;
  cl_int code = CL_SUCCESS;
  const cl_command_queue native = cl().create_queue(device.context, device.id, 0, &code);
  if (code != CL_SUCCESS) return {code, "clCreateCommandQueue"};
  auto made = std::make_unique<queue>(device, native);
  const std::lock_guard lock(device.mutex);
  device.queues.push_back(made.get());
  *out = made.release();
  return {};
}

namespace {

bool has_ended(device_state& device) {
  const std::shared_lock lock(device.work);
  return device.ended;
}

}  // namespace

error_t synchronize_stream(stream_t stream) { return has_ended(stream->device()) ? error_t{} : stream->finish(); }

error_t destroy_stream(stream_t stream) {
  const std::unique_ptr<queue> owner(stream);
  device_state& device = stream->device();
  {
    const std::lock_guard lock(device.mutex);
    device.queues.erase(std::find(device.queues.begin(), device.queues.end(), stream));
  }
  const error_t error = synchronize_stream(stream);
  stream->abandon();
  return error;
}

void* native_handle(stream_t stream) noexcept { return stream->native(); }

error_t create_event(event_t* out) {
  *out = new opencl::event;  // owned by the pool, which ends it with destroy_event
  return {};
}

error_t destroy_event(event_t event) {
  const std::unique_ptr<opencl::event> owner(event);
  return {};
}

error_t record(event_t event, stream_t stream) { return stream->record(*event); }

error_t query(event_t event) {
  if (event->marker == nullptr) return {};
  const cl_int state = state_of(event->marker);
  if (state > CL_COMPLETE) return error_t(error_kind::not_ready);
  if (state == CL_COMPLETE) {
    event->clear();  // what the commands hold goes early
    return {};
  }
  for (const command& one : event->covered)
    if (const cl_int of_one = state_of(one.event); of_one < 0)
      return {of_one, error_kind::sticky,
              std::string(one.description) + " was ended by the driver: " + name_of(of_one)};
  return {state, error_kind::sticky, std::string("a command was ended by the driver: ") + name_of(state)};
}

error_t wait(stream_t stream, event_t event) { return stream->wait(*event); }

error_t host_function(stream_t stream, void (*function)(void*), void* argument) {
  return stream->call_back(function, argument);
}

error_t synchronize_device() {
  device_state& device = current_device();
  const std::unique_lock last(device.work);
  device.ended = true;
  const std::lock_guard lock(device.mutex);
  error_t first;
  for (queue* const one : device.queues)
    if (const cl_int code = cl().finish(one->native()); code != CL_SUCCESS && first.kind() == error_kind::none)
      first = error_t(code, "clFinish");
  for (queue* const one : device.queues) one->abandon();
  return first;
}

}  // namespace tessera::gpu
