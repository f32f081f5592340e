// A device that is lost, rule R10: it says so for good, what was pending counts as reached, callbacks come, and no
// memory is touched any more. A device loses itself by a host task that answers DEVICE_LOST, where such a task does
// that, or as request::lose_with says.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <span>
#include <thread>
#include <utility>

#include "tests/conformance/suite/host_code.hpp"
#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {
namespace {

/// One stream with work that is under way when the device is lost.
struct line {
  tsr_stream* stream = nullptr;
  std::vector<unsigned char> host;
  std::vector<tsr_ticket> points;
  int due = 0;  ///< callbacks that were taken
  std::atomic<int> called{0}, out_of_order{0};
};
struct numbered {
  line* of;
  int number;
  static void call(void* self) {
    const auto& one = *static_cast<numbered*>(self);
    if (one.of->called.fetch_add(1) != one.number) ++one.of->out_of_order;
  }
};

tsr_status lose(void*, void* const*) { return TSR_DEVICE_LOST; }

/// A device with copies to the host under way on three streams, which is then lost. Skips the check where that cannot
/// be had.
class lost_device {
 public:
  lost_device(const subject& what, const device& on) : m_device(on), m_named(!what.asked.lose_with.empty()) {
    if (!m_named && !runs_host_code(on))
      skip("no device can be made to lose itself: --lose-with names an option that does it");
    const std::uint64_t room = on.spaces()[compute_space(on)].description.bytes,
                        wanted = m_named ? 64u << 10 : 1u << 20;
    m_bytes = allocatable(
        on, copyable(on, room == 0 ? wanted : std::min<std::uint64_t>(wanted, std::max<std::uint64_t>(room / 8, 64))));
    if (!answers(on.table().mem_alloc(on.handle(), compute_space(on), m_bytes, &m_memory), "mem_alloc")) return;
    for (line& one : lines()) {
      one.host.assign(m_bytes, 0x11);
      if (!answers(on.table().stream_create(on.handle(), TSR_STREAM_COMPUTE, &one.stream), "stream_create")) return;
    }
    for (int round = 0; round < (m_named ? 1000 : 24) && !m_told; ++round)
      if (!enqueue(round)) return;
    wait_for_the_loss();
  }
  /// Gives back what the check has not.
  ~lost_device() {
    for (line& one : lines())
      if (one.stream != nullptr) m_device.table().stream_destroy(m_device.handle(), one.stream);
    if (m_memory != nullptr) m_device.table().mem_free(m_device.handle(), m_memory);
  }
  lost_device(const lost_device&) = delete;
  lost_device& operator=(const lost_device&) = delete;

  std::span<line> lines() { return std::span(m_lines).first(streams_of(m_device, m_lines.size())); }
  tsr_memory*& memory() { return m_memory; }
  std::uint64_t bytes() const { return m_bytes; }
  /// The first point behind the task that lost the device; 0 where no task did.
  std::uint64_t failing_point() const { return m_failing_point; }
  static constexpr int lose_in_round = 8;

 private:
  /// False: the call has told that the device is lost.
  bool answers(tsr_status status, const char* call) {
    if (status == TSR_DEVICE_LOST)
      m_told = true;
    else
      need_ok(status, call);
    return !m_told;
  }

  bool enqueue(int round) {
    const tsr_device_table& table = m_device.table();
    for (line& one : lines()) {
      const bool loses = !m_named && &one == m_lines.data() && round == lose_in_round;
      if (loses && !answers(enqueue_host_code(m_device, one.stream, lose, nullptr), "enqueueing a host task"))
        return false;
      const tsr_copy out = plain_copy(host_space, host_address(one.host.data()),
                                      {m_device.handle(), compute_space(m_device)}, {m_memory, 0}, m_bytes);
      if (!answers(table.copy(m_device.handle(), one.stream, &out), "copy")) return false;
      if (table.stream_callback != nullptr) {
        m_numbers.push_back({&one, one.due});
        if (!answers(table.stream_callback(m_device.handle(), one.stream, numbered::call, &m_numbers.back()),
                     "stream_callback"))
          return false;
        ++one.due;
      }
      tsr_ticket point{};
      if (!answers(table.stream_signal(m_device.handle(), one.stream, &point), "stream_signal")) return false;
      one.points.push_back(point);
      if (loses) m_failing_point = point.value;
    }
    return true;
  }

  void wait_for_the_loss() {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!m_told) {
      bool all = true;
      for (line& one : lines()) {
        std::uint64_t value = 0, failed = 0;
        const tsr_status status = m_device.table().stream_progress(m_device.handle(), one.stream, &value, &failed);
        if (status == TSR_DEVICE_LOST) {
          if (!m_named && works_on(one)) skip(merely_fails);
          m_told = true;
          return;
        }
        all = all && value >= one.points.back().value;
      }
      if (all && m_named) throw check_failed("the options of --lose-with lose no device in the course of 3000 copies");
      if (all) skip(merely_fails);
      need(std::chrono::steady_clock::now() < limit,
           "work behind a host task that answers DEVICE_LOST neither ends within 30 seconds nor is the device lost");
      std::this_thread::yield();
    }
  }

  /// Whether DEVICE_LOST was told as the failure of one task, as the header allows: all that could say that the device
  /// is gone says that it is there.
  bool works_on(const line& told) {
    const tsr_device_table& table = m_device.table();
    std::uint64_t value = 0, failed = 0;
    if (table.stream_progress(m_device.handle(), told.stream, &value, &failed) != TSR_OK) return false;
    if (table.health != nullptr && table.health(m_device.handle()) != TSR_OK) return false;
    tsr_memory* memory = nullptr;
    if (table.mem_alloc(m_device.handle(), compute_space(m_device), 64, &memory) != TSR_OK) return false;
    return table.mem_free(m_device.handle(), memory) == TSR_OK;
  }

  static constexpr const char* merely_fails =
      "no device can be made to lose itself (a host task that answers DEVICE_LOST merely fails): --lose-with names an "
      "option that does it";
  const device& m_device;
  const bool m_named;
  bool m_told = false;
  tsr_memory* m_memory = nullptr;
  std::uint64_t m_bytes = 0, m_failing_point = 0;
  std::array<line, 3> m_lines;
  std::deque<numbered> m_numbers;
};

/// Runs `look(device, lost)` on each device, lost one after the other.
template <class Look>
void each_lost(const subject& what, Look&& look) {
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    lost_device lost(what, device);
    look(device, lost);
  });
}

void is_sticky(const subject& what) {
  each_lost(what, [](const device& device, lost_device& lost) {
    const tsr_device_table& table = device.table();
    const auto refused = [](tsr_status status, const char* call) {
      expect(status == TSR_DEVICE_LOST,
             "{} answers {} on a device that was lost: it answers DEVICE_LOST from then on (rule R10)", call,
             plugin::name_of(status));
      expect(!plugin::take_error_details().empty(),
             "{} answers DEVICE_LOST and leaves no details with host->error (rule R3)", call);
    };
    line* const first = lost.lines().data();
    for (int again = 0; again < 3; ++again) {
      plugin::take_error_details();
      auto* const untouched = reinterpret_cast<tsr_memory*>(std::uintptr_t{64});
      tsr_memory* memory = untouched;
      refused(table.mem_alloc(device.handle(), compute_space(device), 64, &memory), "mem_alloc");
      expect(memory == untouched, "a failed mem_alloc wrote its out_ argument");
      tsr_stream* stream = nullptr;
      refused(table.stream_create(device.handle(), TSR_STREAM_COMPUTE, &stream), "stream_create");
      expect(stream == nullptr, "a failed stream_create wrote its out_ argument");
      if (table.health != nullptr) refused(table.health(device.handle()), "health");
      for (line& one : lost.lines()) {
        if (one.stream == nullptr) continue;
        std::uint64_t value = 0, failed = 0;
        refused(table.stream_progress(device.handle(), one.stream, &value, &failed), "stream_progress");
      }
      if (first->stream == nullptr || lost.memory() == nullptr) continue;
      tsr_ticket point{};
      refused(table.stream_signal(device.handle(), first->stream, &point), "stream_signal");
      const tsr_copy in = plain_copy({device.handle(), compute_space(device)}, {lost.memory(), 0}, host_space,
                                     host_address(first->host.data()), 8);
      refused(table.copy(device.handle(), first->stream, &in), "copy");
      const unsigned char pattern = 1;
      if (table.fill != nullptr)
        refused(table.fill(device.handle(), first->stream, {lost.memory(), 0}, &pattern, 1, 8), "fill");
      if (runs_host_code(device))
        refused(enqueue_host_code(
                    device, first->stream, [](void*, void* const*) { return tsr_status{TSR_OK}; }, nullptr),
                "enqueueing a host task");
    }
    // What gives something back does so.
    for (line& one : lost.lines())
      if (one.stream != nullptr)
        refused(table.stream_destroy(device.handle(), std::exchange(one.stream, nullptr)), "stream_destroy");
    if (lost.memory() == nullptr) return;
    const tsr_status given_back = table.mem_free(device.handle(), std::exchange(lost.memory(), nullptr));
    expect(given_back == TSR_OK || given_back == TSR_DEVICE_LOST,
           "mem_free answers {} on a lost device: it gives back there too", plugin::name_of(given_back));
  });
}

void pending_points_are_reached(const subject& what) {
  each_lost(what, [](const device& device, lost_device& lost) {
    for (line& one : lost.lines()) {
      if (one.stream == nullptr || one.points.empty()) continue;
      const std::uint64_t last = one.points.back().value;
      std::uint64_t value = 0, failed = 0;
      expect_status(device.table().stream_progress(device.handle(), one.stream, &value, &failed), TSR_DEVICE_LOST,
                    "stream_progress of a lost device");
      expect(value >= last,
             "on a lost device stream_progress says that {} is reached, and {} was signalled: all signalled values "
             "count as reached",
             value, last);
      expect(failed <= last, "on a lost device stream_progress names point {} as the failed one, and the last was {}",
             failed, last);
      if (&one == lost.lines().data() && lost.failing_point() != 0)
        expect(failed != 0 && failed <= lost.failing_point(),
               "the device was lost before point {} of a stream, and stream_progress names {} as the first point that "
               "failed",
               lost.failing_point(), failed);
      if (device.table().stream_host_wait == nullptr) continue;
      const tsr_status waited = device.table().stream_host_wait(device.handle(), one.points.back(), 10'000'000'000ull);
      expect(waited == TSR_OK || waited == TSR_DEVICE_LOST, "stream_host_wait for a point of a lost device answers {}",
             plugin::name_of(waited));
    }
  });
}

void due_callbacks_are_called(const subject& what) {
  each_lost(what, [](const device& device, lost_device& lost) {
    if (device.table().stream_callback == nullptr) skip("stream_callback is not offered");
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (line& one : lost.lines())
      while (one.called < one.due && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (line& one : lost.lines()) {
      expect(one.called == one.due,
             "{} callbacks were due on a stream when the device was lost, and {} were called: each is called once",
             one.due, one.called.load());
      expect(one.out_of_order == 0, "callbacks of a lost device come out of order");
    }
  });
}

void memory_is_left_alone(const subject& what) {
  each_lost(what, [](const device&, lost_device& lost) {
    for (line& one : lost.lines()) std::fill(one.host.begin(), one.host.end(), static_cast<unsigned char>(0xa5));
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    do {
      for (line& one : lost.lines())
        expect(std::all_of(one.host.begin(), one.host.end(), [](unsigned char byte) { return byte == 0xa5; }),
               "a copy still writes to host memory after the device has answered DEVICE_LOST: nothing touches memory "
               "then (rule R10)");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } while (std::chrono::steady_clock::now() < end);
  });
}

/// A device is lost alone: another one of the plugin works on, and waits for points of the lost one pass.
void others_work_on(const subject& what) {
  const opened all(what);
  if (all.devices.size() < 2) skip("the plugin has one device: where it can have two, an --option asks for them");
  if (!what.asked.lose_with.empty()) skip("the options of --lose-with may lose the other devices too");
  const device &gone = *all.devices[0], &other = *all.devices[1];
  lost_device lost(what, gone);
  const queue stream(other);
  if (other.table().stream_wait != nullptr)
    for (line& one : lost.lines())
      expect_ok(other.table().stream_wait(other.handle(), stream.handle(), one.points.back()),
                "stream_wait for a point of another device, which is lost,");
  const buffer memory(other, compute_space(other), 8);
  const std::uint64_t word = 0x0123456789abcdef;
  upload(stream, memory, &word, sizeof word);
  expect(downloaded<std::uint64_t>(stream, memory, 1)[0] == word,
         "beside a lost device another one copies wrong bytes");
  if (other.table().health != nullptr)
    expect_ok(other.table().health(other.handle()), "health of another device than the one that is lost");
}

constexpr check losing(const char* name, void (*run)(const subject&)) { return {name, run, devices, true}; }

}  // namespace

std::vector<check> loss_checks() {
  return {losing("loss.is_sticky", is_sticky), losing("loss.pending_points_are_reached", pending_points_are_reached),
          losing("loss.due_callbacks_are_called", due_callbacks_are_called),
          losing("loss.memory_is_left_alone", memory_is_left_alone), losing("loss.others_work_on", others_work_on)};
}

}  // namespace tessera::conformance
