#pragma once
// A device whose streams advance only when a test says so: asynchrony without threads, every interleaving repeatable.
#include <tessera/plugin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin/device.hpp"

namespace tessera::testing {

struct fake_stream;
struct fake_memory;

/// Shared by the fake devices of one test. Devices with the same plugin name count as devices of one plugin.
struct fake_world {
  std::vector<fake_stream*> streams;
  bool has_peer_links = false;
  std::uint64_t live_allocations = 0;
};

/// A host range registered with a device.
struct fake_range {
  std::uintptr_t begin = 0, end = 0;
};

/// One operation in a stream. `fail`: the work before the next signal has failed with status `value`.
struct fake_step {
  enum class kind {
    work,
    signal,
    wait,
    fail
  } what = kind::work;
  std::function<void()> run;
  std::uint64_t value = 0;
  fake_stream* other = nullptr;
};

struct fake_device_state {
  fake_world* world = nullptr;
  bool host = false;
  std::uint64_t capacity = 0, used = 0;
  // What goes wrong, and when.
  tsr_status fail_alloc = TSR_OK;      ///< every allocation
  tsr_status fail_mem_base = TSR_OK;   ///< every address
  tsr_status fail_copy_call = TSR_OK;  ///< every copy, at once
  tsr_status fail_copy_work = TSR_OK;  ///< every copy that is enqueued now, when it runs
  tsr_status fail_register = TSR_OK;   ///< every registration
  bool lost = false;                   ///< from now on
  bool calls_early = false;            ///< call-backs come before the work is done
  std::vector<fake_range> registered;
};

struct fake_stream {
  fake_device_state* device = nullptr;
  bool immediate = false;
  std::deque<fake_step> steps;
  std::uint64_t signalled = 0, completed = 0;
  tsr_status failing = TSR_OK;                              ///< of the work since the last signal
  std::deque<std::pair<std::uint64_t, tsr_status>> failed;  ///< not yet reported

  /// Runs the first step if it can run. Returns whether it did.
  bool advance() {
    if (steps.empty()) return false;
    fake_step& first = steps.front();
    if (first.what == fake_step::kind::wait && first.other->completed < first.value) return false;
    if (first.what == fake_step::kind::work) first.run();
    if (first.what == fake_step::kind::fail) failing = static_cast<tsr_status>(first.value);
    if (first.what == fake_step::kind::signal) {
      if (failing != TSR_OK) failed.emplace_back(first.value, std::exchange(failing, TSR_OK));
      completed = first.value;
    }
    steps.pop_front();
    return true;
  }
  void push(fake_step step) {
    steps.push_back(std::move(step));
    if (immediate)
      while (advance()) {
      }
  }
};

struct fake_memory {
  fake_device_state* device;
  std::vector<std::byte> bytes;
};

inline std::byte* resolve(tsr_address a) {
  return a.memory == nullptr ? reinterpret_cast<std::byte*>(a.offset)
                             : reinterpret_cast<fake_memory*>(a.memory)->bytes.data() + a.offset;
}

/// Makes plugin::device objects over a fake_world. The world and the states must outlive them.
class fake_device {
 public:
  /// @param capacity  bytes; 0: unlimited
  /// @param plugin    whose device it is, unless it is the host
  /// @param alignment of its space's allocations
  fake_device(fake_world& world, std::uint32_t index, bool host, std::uint64_t capacity,
              const std::string& plugin = "fake", std::uint64_t alignment = 64) {
    m_state.world = &world;
    m_state.host = host;
    m_state.capacity = capacity;
    tsr_device_table t{};
    t.struct_size = sizeof t;
    t.link = [](tsr_device* d, tsr_space_ref from, tsr_space_ref to, tsr_link_desc* out) -> tsr_status {
      const auto* self = reinterpret_cast<fake_device_state*>(d);
      const bool peer = from.device != nullptr && to.device != nullptr && from.device != to.device;
      if (peer && !self->world->has_peer_links) return TSR_UNIMPLEMENTED;
      *out = {sizeof *out, peer ? TSR_LINK_PEER : TSR_LINK_BUS, peer ? 4e10 : 1e10, 1000};
      return TSR_OK;
    };
    t.mem_alloc = [](tsr_device* d, std::uint32_t, std::uint64_t bytes, tsr_memory** out) -> tsr_status {
      auto* self = reinterpret_cast<fake_device_state*>(d);
      if (self->fail_alloc != TSR_OK) return self->fail_alloc;
      if (self->capacity != 0 && self->used + bytes > self->capacity) return TSR_RESOURCE_EXHAUSTED;
      self->used += bytes;
      ++self->world->live_allocations;
      *out = reinterpret_cast<tsr_memory*>(new fake_memory{self, std::vector<std::byte>(bytes, std::byte{0xee})});
      return TSR_OK;
    };
    t.mem_free = [](tsr_device* d, tsr_memory* m) -> tsr_status {
      auto* self = reinterpret_cast<fake_device_state*>(d);
      const std::unique_ptr<fake_memory> owned(reinterpret_cast<fake_memory*>(m));
      self->used -= owned->bytes.size();
      --self->world->live_allocations;
      return TSR_OK;
    };
    t.mem_base = [](tsr_device* d, tsr_memory* m, void** out) -> tsr_status {
      if (const auto status = reinterpret_cast<fake_device_state*>(d)->fail_mem_base; status != TSR_OK) return status;
      *out = reinterpret_cast<fake_memory*>(m)->bytes.data();
      return TSR_OK;
    };
    t.stream_create = [](tsr_device* d, std::uint32_t flags, tsr_stream** out) -> tsr_status {
      auto* self = reinterpret_cast<fake_device_state*>(d);
      auto s = std::make_unique<fake_stream>();
      s->device = self;
      s->immediate = (flags & TSR_STREAM_INLINE) != 0;
      self->world->streams.push_back(s.get());
      *out = reinterpret_cast<tsr_stream*>(s.release());
      return TSR_OK;
    };
    t.stream_destroy = [](tsr_device*, tsr_stream* s) -> tsr_status {
      const std::unique_ptr<fake_stream> owned(reinterpret_cast<fake_stream*>(s));
      std::erase(owned->device->world->streams, owned.get());
      return TSR_OK;
    };
    t.stream_signal = [](tsr_device*, tsr_stream* s, tsr_ticket* out) -> tsr_status {
      auto* self = reinterpret_cast<fake_stream*>(s);
      *out = {s, ++self->signalled};
      self->push({fake_step::kind::signal, {}, self->signalled, nullptr});
      return TSR_OK;
    };
    t.stream_progress = [](tsr_device* d, tsr_stream* s, std::uint64_t* out, std::uint64_t* out_failed) -> tsr_status {
      auto* self = reinterpret_cast<fake_stream*>(s);
      if (reinterpret_cast<fake_device_state*>(d)->lost) {
        *out = self->signalled;
        return TSR_DEVICE_LOST;
      }
      *out = self->completed;
      if (self->failed.empty()) return TSR_OK;
      const auto [value, status] = self->failed.front();
      self->failed.pop_front();
      if (!self->failed.empty()) *out = self->failed.front().first - 1;  // so that the next one is asked for
      *out_failed = value;
      return status;
    };
    t.host_register = [](tsr_device* d, void* pointer, std::uint64_t bytes) -> tsr_status {
      auto* self = reinterpret_cast<fake_device_state*>(d);
      const auto begin = reinterpret_cast<std::uintptr_t>(pointer), end = begin + bytes;
      if (self->fail_register != TSR_OK) return self->fail_register;
      for (const fake_range& r : self->registered)
        if (r.begin < end && begin < r.end) return TSR_ALREADY_EXISTS;
      self->registered.push_back({begin, end});
      return TSR_OK;
    };
    t.host_unregister = [](tsr_device* d, void* pointer) -> tsr_status {
      auto* self = reinterpret_cast<fake_device_state*>(d);
      const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
      return std::erase_if(self->registered, [&](const fake_range& r) { return r.begin == begin; }) == 1
                 ? TSR_OK
                 : TSR_NOT_FOUND;
    };
    t.stream_wait = [](tsr_device*, tsr_stream* s, tsr_ticket ticket) -> tsr_status {
      reinterpret_cast<fake_stream*>(s)->push(
          {fake_step::kind::wait, {}, ticket.value, reinterpret_cast<fake_stream*>(ticket.stream)});
      return TSR_OK;
    };
    t.stream_callback = [](tsr_device* d, tsr_stream* s, void (*call)(void*), void* with) -> tsr_status {
      if (reinterpret_cast<fake_device_state*>(d)->calls_early)
        call(with);
      else
        reinterpret_cast<fake_stream*>(s)->push({fake_step::kind::work, [=] { call(with); }, 0, nullptr});
      return TSR_OK;
    };
    t.copy = [](tsr_device* d, tsr_stream* s, const tsr_copy* c) -> tsr_status {
      const tsr_copy what = *c;
      const auto* self = reinterpret_cast<fake_device_state*>(d);
      if (self->fail_copy_call != TSR_OK) return self->fail_copy_call;
      if (self->fail_copy_work != TSR_OK) {
        reinterpret_cast<fake_stream*>(s)->push(
            {fake_step::kind::fail, {}, static_cast<std::uint64_t>(self->fail_copy_work), nullptr});
        return TSR_OK;
      }
      reinterpret_cast<fake_stream*>(s)->push(
          {fake_step::kind::work, [what] { std::memcpy(resolve(what.destination), resolve(what.source), what.bytes); },
           0, nullptr});
      return TSR_OK;
    };
    tsr_device_desc description{};
    description.struct_size = sizeof description;
    description.device_class = host ? TSR_DEVICE_CPU : TSR_DEVICE_ACCELERATOR;
    description.capabilities =
        TSR_DEVICE_HAS_FP64 | (host ? TSR_DEVICE_INLINE : TSR_DEVICE_DEVICE_WAIT | TSR_DEVICE_CALLBACK);
    description.space_count = 1;
    tessera::plugin::space space;
    space.name = host ? "host:memory" : plugin + std::to_string(index) + ":memory";
    space.description.struct_size = sizeof space.description;
    space.description.kind = host ? TSR_SPACE_HOST : TSR_SPACE_DEVICE;
    space.description.capabilities = host ? TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE : 0;
    space.description.bytes = capacity;
    space.description.granularity = space.description.alignment = alignment;
    m_device = std::make_unique<tessera::plugin::device>(host ? "host" : plugin + std::to_string(index),
                                                         host ? "host" : plugin, index,
                                                         reinterpret_cast<tsr_device*>(&m_state), description, t,
                                                         std::vector<tessera::plugin::space>{space}, nullptr, nullptr);
  }
  const tessera::plugin::device& device() const { return *m_device; }
  fake_device_state& state() { return m_state; }

 private:
  fake_device_state m_state;
  std::unique_ptr<tessera::plugin::device> m_device;
};

inline fake_stream& fake_of(tsr_stream* s) { return *reinterpret_cast<fake_stream*>(s); }

}  // namespace tessera::testing
