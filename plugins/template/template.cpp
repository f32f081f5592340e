// A device plugin in C++ to clone: a device whose memory is host memory and whose streams run their work inside the
// enqueueing call. It passes the conformance suite; replace one function after the other by your device's, and run the
// suite again after each. README.md has the steps. The contracts in full are in <tessera/plugin.h>.
//
// Nothing of C++ crosses the boundary: every entry that can fail runs its body inside `contained`.
#include <tessera/plugin.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#ifndef TSR_BUILD_SANITIZER  // set it to TSR_SANITIZER_ADDRESS or _THREAD when you build with one
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

#define PLUGIN_NAME "template"  // of its table in the configuration, [plugin.NAME], and of its file

namespace {

constexpr std::uint64_t alignment = 64, capacity = 256u << 20;

// ---- Failures: a status and one sentence, thrown here, and ended in `contained`.
struct failure : std::runtime_error {
  failure(tsr_status s, const std::string& message) : std::runtime_error(message), status(s) {}
  tsr_status status;
};
void require(bool holds, const char* message, tsr_status otherwise = TSR_INVALID_ARGUMENT) {
  if (!holds) throw failure(otherwise, message);
}

/// A failure leaves one sentence with the host before the status is returned (rule R3).
tsr_status recorded(const tsr_host* host, tsr_status status, const char* message) noexcept {
  host->error(host->context, status, message);
  return status;
}
/// Runs the body of an entry; whatever it throws ends here (rule R4).
template <class Body>
tsr_status contained(const tsr_host* host, Body&& body) noexcept {
  try {
    body();
    return TSR_OK;
  } catch (const failure& known) {
    return recorded(host, known.status, known.what());
  } catch (const std::bad_alloc&) {
    return recorded(host, TSR_RESOURCE_EXHAUSTED, "out of host memory");
  } catch (const std::exception& other) {
    return recorded(host, TSR_INTERNAL, other.what());
  } catch (...) {
    return recorded(host, TSR_INTERNAL, "an exception of an unknown type");
  }
}

/// Rule R1: write no more of a struct than the room that the caller announced.
template <class T>
void fill_out(T* out, T value) {
  require(out != nullptr, "an out_ argument is NULL");
  require(out->struct_size != 0, "an out_ struct does not say its size");
  value.struct_size = std::min<std::uint32_t>(out->struct_size, sizeof value);
  std::memcpy(static_cast<void*>(out), &value, value.struct_size);
}

// ---- Handles. Live ones are kept, so that a stale or foreign handle is recognised without being touched. Memory calls
// may come from any thread (rule R5).
template <class T>
class live {
 public:
  T* add(std::unique_ptr<T> one) {
    const std::lock_guard lock(m_mutex);
    T* const handle = one.get();
    m_all.emplace(handle, std::move(one));
    return handle;
  }
  T& at(const T* handle) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_all.find(handle);
    require(found != m_all.end(), "not a live handle of this device");
    return *found->second;
  }
  std::unique_ptr<T> take(const T* handle) {
    const std::lock_guard lock(m_mutex);
    auto taken = m_all.extract(handle);
    require(!taken.empty(), "not a live handle of this device");
    return std::move(taken.mapped());
  }

 private:
  std::mutex m_mutex;
  std::unordered_map<const T*, std::unique_ptr<T>> m_all;
};

}  // namespace

// A real device keeps its driver's handles here.
struct tsr_memory_s {
  tsr_memory_s(std::atomic<std::uint64_t>& sum, std::uint64_t size) : used(sum), bytes(size) {
    require(bytes <= capacity, "more than the device has", TSR_RESOURCE_EXHAUSTED);
    const std::uint64_t before = used.fetch_add(rounded());
    if (before + rounded() <= capacity)
      base = static_cast<unsigned char*>(std::aligned_alloc(alignment, rounded()));  // your driver's
    if (base != nullptr) return;
    used -= rounded();
    throw failure(TSR_RESOURCE_EXHAUSTED, "the device's memory is used up");
  }
  ~tsr_memory_s() {
    std::free(base);
    used -= rounded();
  }
  tsr_memory_s(const tsr_memory_s&) = delete;
  tsr_memory_s& operator=(const tsr_memory_s&) = delete;
  std::uint64_t rounded() const { return (bytes + alignment - 1) / alignment * alignment; }

  std::atomic<std::uint64_t>& used;  // of the device
  std::uint64_t bytes;
  unsigned char* base = nullptr;
};
struct tsr_stream_s {
  std::atomic<std::uint64_t> reached{0};  // all work is done when it is enqueued, so every signalled value is reached
};
struct tsr_device_s {
  const tsr_host* host;
  std::atomic<std::uint64_t> used{0};
  live<tsr_stream> streams{};
  live<tsr_memory> memories{};
};
struct tsr_plugin_s {
  const tsr_host* host;
  std::unique_ptr<tsr_device> device{};  // null while closed
};

namespace {

/// The body of an entry, with the handle that it is called on: tsr_device or tsr_plugin.
template <class Handle, class Body>
tsr_status on(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return TSR_INVALID_ARGUMENT;
  return contained(handle->host, [&] { body(*handle); });
}

// ---- Spaces and links. Describe each memory that the core may allocate in, and what direct copies cost.
tsr_status spaces(tsr_device* device, std::uint32_t index, tsr_space_desc* out_desc) {
  return on(device, [&](tsr_device&) {
    require(index == 0, "the device has one space", TSR_OUT_OF_RANGE);
    fill_out(out_desc, tsr_space_desc{.struct_size = 0,
                                      // A memory of the device's own, so that tasks can be placed here. HOST_VISIBLE:
                                      // the host may read it through mem_base, which a discrete device does not claim.
                                      .kind = TSR_SPACE_DEVICE,
                                      .capabilities = TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE,
                                      .numa_node = -1,
                                      .bytes = capacity,
                                      .granularity = alignment,
                                      .alignment = alignment,
                                      .name = "memory"});
  });
}
void check_link(const tsr_device& device, tsr_space_ref source, tsr_space_ref destination) {
  for (const tsr_space_ref& side : {source, destination}) {
    if (side.device == nullptr) continue;  // plain host memory: every device copies from and to it
    require(side.device == &device, "a side is of another plugin");
    require(side.space == 0, "the device has one space", TSR_OUT_OF_RANGE);
  }
  require(source.device != nullptr || destination.device != nullptr, "neither side is this device's",
          TSR_UNIMPLEMENTED);
}
tsr_status link_of(tsr_device* device, tsr_space_ref source, tsr_space_ref destination, tsr_link_desc* out_link) {
  return on(device, [&](const tsr_device& self) {
    check_link(self, source, destination);
    // A discrete device: TSR_LINK_BUS, and what its bus reaches. Estimates are better than nothing.
    fill_out(out_link, tsr_link_desc{.struct_size = 0, .link_class = TSR_LINK_SAME, .bandwidth = 8e9, .latency = 100});
  });
}

// ---- Memory. Allocate coarsely; the core carves. Exhaustion is an answer, not a disaster.
tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory) {
  return on(device, [&](tsr_device& self) {
    require(space == 0, "the device has one space", TSR_OUT_OF_RANGE);
    require(bytes > 0 && out_memory != nullptr, "0 bytes, or no out_memory");
    *out_memory = self.memories.add(std::make_unique<tsr_memory>(self.used, bytes));
  });
}
tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
  return on(device, [&](tsr_device& self) { self.memories.take(memory); });
}
tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base) {
  return on(device, [&](tsr_device& self) {
    require(out_base != nullptr, "no out_base");
    *out_base = self.memories.at(memory).base;
  });
}
/// {memory, offset} as a pointer, when `bytes` lie inside; without memory the offset is a plain host pointer.
unsigned char* resolve(tsr_device& device, tsr_address address, std::uint64_t bytes) {
  if (address.memory == nullptr) {
    require(address.offset != 0 || bytes == 0, "a null pointer");
    return reinterpret_cast<unsigned char*>(static_cast<std::uintptr_t>(address.offset));
  }
  const tsr_memory& memory = device.memories.at(address.memory);
  require(address.offset <= memory.bytes && bytes <= memory.bytes - address.offset, "the range leaves its allocation",
          TSR_OUT_OF_RANGE);
  return memory.base + address.offset;
}

// ---- Streams. A real device creates its queue and, for tickets, events: record one in stream_signal, query them in
// stream_progress, which never blocks and also reports failed work; wait for one in stream_host_wait.
tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream) {
  return on(device, [&](tsr_device& self) {
    require(out_stream != nullptr && (flags & ~std::uint32_t{TSR_STREAM_COPY | TSR_STREAM_INLINE}) == 0,
            "unknown flags, or no out_stream");
    *out_stream = self.streams.add(std::make_unique<tsr_stream>());
  });
}
tsr_status stream_destroy(tsr_device* device, tsr_stream* stream) {  // waits for its work; there is none left
  return on(device, [&](tsr_device& self) { self.streams.take(stream); });
}
tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  return on(device, [&](tsr_device& self) {
    require(out_ticket != nullptr, "no out_ticket");
    *out_ticket = {stream, ++self.streams.at(stream).reached};
  });
}
tsr_status stream_progress(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                           std::uint64_t* out_failed) {
  return on(device, [&](tsr_device& self) {
    require(out_value != nullptr, "no out_value");
    *out_value = self.streams.at(stream).reached;
    if (out_failed != nullptr) *out_failed = 0;  // copies in host memory do not fail
  });
}

// ---- Copies of up to three dimensions. Your driver's asynchronous copy goes here.
/// Bytes from the first to one past the last that one side of a copy touches.
std::uint64_t span_of(std::uint64_t bytes, const std::uint64_t stride[2], std::uint64_t rows, std::uint64_t planes) {
  std::uint64_t plane = 0, all = 0;
  require(rows == 1 || stride[0] >= bytes, "copy: a stride that is shorter than what it steps over");
  const bool fits = !__builtin_mul_overflow(rows - 1, stride[0], &plane) &&
                    !__builtin_add_overflow(plane, bytes, &plane) &&
                    !__builtin_mul_overflow(planes - 1, stride[1], &all) && !__builtin_add_overflow(all, plane, &all);
  require(fits, "copy: more than 64 bits of bytes", TSR_OUT_OF_RANGE);
  require(planes == 1 || stride[1] >= plane, "copy: a stride that is shorter than what it steps over");
  return all;
}
tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* c) {
  return on(device, [&](tsr_device& self) {
    self.streams.at(stream);
    require(TSR_HAS(tsr_copy, c, source_stride), "copy: no description");
    check_link(self, c->source_space, c->destination_space);  // copy refuses what link does
    const std::uint64_t rows = std::max<std::uint64_t>(c->rows[0], 1), planes = std::max<std::uint64_t>(c->rows[1], 1);
    const std::uint64_t to_bytes = span_of(c->bytes, c->destination_stride, rows, planes);
    const std::uint64_t from_bytes = span_of(c->bytes, c->source_stride, rows, planes);
    if (c->bytes == 0) return;
    unsigned char* const to = resolve(self, c->destination, to_bytes);
    const unsigned char* const from = resolve(self, c->source, from_bytes);
    for (std::uint64_t p = 0; p < planes; ++p)
      for (std::uint64_t r = 0; r < rows; ++r)
        std::memmove(to + p * c->destination_stride[1] + r * c->destination_stride[0],
                     from + p * c->source_stride[1] + r * c->source_stride[0], c->bytes);
  });
}

/// Entries that are not named stay null: optional, and the core takes another way.
const tsr_device_table& device_table() {
  static const tsr_device_table table = [] {
    tsr_device_table t{};
    t.struct_size = sizeof t;
    t.spaces = spaces, t.link = link_of;
    t.mem_alloc = mem_alloc, t.mem_free = mem_free, t.mem_base = mem_base;
    t.stream_create = stream_create, t.stream_destroy = stream_destroy;
    t.stream_signal = stream_signal, t.stream_progress = stream_progress;
    t.copy = copy;
    return t;
  }();
  return table;
}

// ---- The plugin: what there is, and its life.
tsr_status enumerate(tsr_plugin* plugin, std::uint32_t index, tsr_device_desc* out_desc, std::uint32_t* out_count) {
  return on(plugin, [&](tsr_plugin&) {
    require(out_desc == nullptr || index == 0, "the plugin has one device", TSR_OUT_OF_RANGE);
    if (out_count != nullptr) *out_count = 1;
    if (out_desc == nullptr) return;
    tsr_device_desc desc{};
    desc.device_class = TSR_DEVICE_ACCELERATOR;
    desc.capabilities = TSR_DEVICE_INLINE;
    desc.numa_node = -1;
    desc.space_count = desc.compute_units = desc.copy_engines = 1;
    constexpr std::string_view name = PLUGIN_NAME;
    name.copy(reinterpret_cast<char*>(desc.uuid), sizeof desc.uuid);
    name.copy(desc.name, sizeof desc.name - 1);
    fill_out(out_desc, desc);
  });
}
tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
  return on(plugin, [&](tsr_plugin& self) {
    require(out_device != nullptr && out_table != nullptr, "an out_ argument is NULL");
    require(index == 0, "the plugin has one device", TSR_OUT_OF_RANGE);
    require(self.device == nullptr, "the device is open", TSR_ALREADY_EXISTS);
    self.device.reset(new tsr_device{self.host});  // create your driver's context here, not earlier
    *out_device = self.device.get();
    *out_table = &device_table();
  });
}
tsr_status device_close(tsr_plugin* plugin, tsr_device* device) {
  return on(plugin, [&](tsr_plugin& self) {
    require(device != nullptr && device == self.device.get(), "not an open device");
    self.device.reset();
  });
}
tsr_status shut_down(tsr_plugin* plugin) {  // closes what is open, joins threads; open may come again
  if (plugin == nullptr) return TSR_INVALID_ARGUMENT;
  delete plugin;
  return TSR_OK;
}

/// `values` are the user's settings, checked against the schema in the header (none here: options).
tsr_status open_plugin(const tsr_host* host, const tsr_option_value*, std::uint32_t, tsr_plugin** out_plugin,
                       const void** out_table) {
  if (host == nullptr || out_plugin == nullptr || out_table == nullptr) return TSR_INVALID_ARGUMENT;
  return contained(host, [&] {
    static const tsr_plugin_table table = [] {
      tsr_plugin_table t{};
      t.struct_size = sizeof t;
      t.enumerate = enumerate, t.device_open = device_open, t.device_close = device_close, t.shutdown = shut_down;
      return t;
    }();
    *out_plugin = new tsr_plugin{host};
    *out_table = &table;
  });
}

}  // namespace

/// A plugin that needs a driver sets `probe`: it looks for the driver, cheaply, and answers 0 when there is none.
extern "C" TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  static const tsr_plugin_header header = [] {
    tsr_plugin_header h{};
    h.struct_size = sizeof h;
    h.abi_major = TSR_ABI_MAJOR, h.abi_minor = TSR_ABI_MINOR;
    h.kind = TSR_PLUGIN_DEVICE;
    h.sanitizer = TSR_BUILD_SANITIZER;
    h.name = PLUGIN_NAME, h.vendor = "Tessera", h.version = "0.1.0", h.build = __VERSION__;
    h.open = open_plugin;
    return h;
  }();
  return host_major == TSR_ABI_MAJOR
             ? &header
             : nullptr;  // the host uses what it knows of our tables: they only grow at their end
}
