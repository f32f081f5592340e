/*
 * A device plugin to clone: "null", a device whose memory is host memory and whose streams run their work inside the
 * enqueueing call. It passes the conformance suite; replace one function after the other by your device's, and run
 * the suite again after each. README.md has the steps. The contracts are in <tessera/plugin.h>; the comments here say what
 * a real device does in the same place.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/plugin.h>

#ifndef TSR_BUILD_SANITIZER /* set it to TSR_SANITIZER_ADDRESS or _THREAD when you build with one */
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

enum { ALIGNMENT = 64 };

/* ---- Handles. A real device keeps its driver's handles here. Live ones are kept in lists, so that a stale or foreign
 * handle is recognised without being touched. */
struct tsr_memory_s {
  struct tsr_memory_s* next;
  unsigned char* base;
  uint64_t bytes;
};
struct tsr_stream_s {
  struct tsr_stream_s* next;
  _Atomic uint64_t reached; /* all work is done when it is enqueued, so every signalled value is reached */
};
struct tsr_device_s {
  tsr_plugin* plugin;
  pthread_mutex_t mutex; /* guards the lists: memory calls may come from any thread (rule R5) */
  struct tsr_memory_s* memories;
  struct tsr_stream_s* streams;
  uint64_t allocated, live;
};
struct tsr_plugin_s {
  const tsr_host* host;
  uint64_t capacity;
  tsr_device* device; /* NULL while closed */
};

/* Every failure leaves one sentence with the host before the status is returned (rule R3). */
static tsr_status fail(const tsr_plugin* plugin, tsr_status status, const char* message) {
  plugin->host->error(plugin->host->context, status, message);
  return status;
}

/* Rule R1: write no more of a struct than the room that the caller announced. */
static void fill_out(void* out, void* value, uint32_t size) {
  uint32_t room = *(uint32_t*)out;
  *(uint32_t*)value = room != 0 && room < size ? room : size;
  memcpy(out, value, *(uint32_t*)value);
}

static struct tsr_memory_s** find_memory(tsr_device* device, const tsr_memory* memory) { /* under the mutex */
  struct tsr_memory_s** at = &device->memories;
  while (*at != NULL && *at != memory) at = &(*at)->next;
  return at;
}

static bool is_stream(tsr_device* device, const tsr_stream* stream) {
  pthread_mutex_lock(&device->mutex);
  const struct tsr_stream_s* one = device->streams;
  while (one != NULL && one != stream) one = one->next;
  pthread_mutex_unlock(&device->mutex);
  return one != NULL;
}
#define CHECK_DEVICE(device) \
  if ((device) == NULL) return TSR_INVALID_ARGUMENT
#define CHECK_STREAM(device, stream) \
  CHECK_DEVICE(device);              \
  if (!is_stream(device, stream)) return fail((device)->plugin, TSR_INVALID_ARGUMENT, "not a live stream of this device")

/* ---- Spaces and links. Describe each memory that the core may allocate in, and what direct copies cost. */
static tsr_status spaces(tsr_device* device, uint32_t index, tsr_space_desc* out_desc) {
  CHECK_DEVICE(device);
  if (out_desc == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "out_desc is NULL");
  if (index > 0) return fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
  tsr_space_desc desc = {.kind = TSR_SPACE_HOST, /* a discrete device: TSR_SPACE_DEVICE and no HOST_VISIBLE */
                         .capabilities = TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE, .numa_node = -1,
                         .bytes = device->plugin->capacity, .granularity = ALIGNMENT, .alignment = ALIGNMENT,
                         .name = "memory"};
  fill_out(out_desc, &desc, sizeof desc);
  return TSR_OK;
}

static tsr_status check_side(tsr_device* device, tsr_space_ref side) {
  if (side.device == NULL) return TSR_OK; /* plain host memory: every device copies from and to it */
  if (side.device != device) return fail(device->plugin, TSR_INVALID_ARGUMENT, "a side is of another plugin");
  return side.space == 0 ? TSR_OK : fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
}

static tsr_status link_of(tsr_device* device, tsr_space_ref source, tsr_space_ref destination, tsr_link_desc* out) {
  CHECK_DEVICE(device);
  if (out == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "out_link is NULL");
  tsr_status status = check_side(device, source);
  if (status == TSR_OK) status = check_side(device, destination);
  if (status != TSR_OK) return status;
  if (source.device == NULL && destination.device == NULL)
    return fail(device->plugin, TSR_UNIMPLEMENTED, "neither side is this device's");
  /* A discrete device: TSR_LINK_BUS, and what its bus reaches. Estimates are better than nothing. */
  tsr_link_desc desc = {.link_class = TSR_LINK_SAME, .bandwidth = 8e9, .latency = 100};
  fill_out(out, &desc, sizeof desc);
  return TSR_OK;
}

/* ---- Memory. Allocate coarsely; the core carves. Exhaustion is an answer, not a disaster. */
static tsr_status mem_alloc(tsr_device* device, uint32_t space, uint64_t bytes, tsr_memory** out_memory) {
  CHECK_DEVICE(device);
  if (space > 0) return fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
  if (bytes == 0 || out_memory == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "0 bytes, or no out_memory");
  if (bytes > device->plugin->capacity) return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "more than the capacity");
  struct tsr_memory_s* memory = calloc(1, sizeof *memory);
  const uint64_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  pthread_mutex_lock(&device->mutex);
  const bool fits = device->allocated + rounded <= device->plugin->capacity;
  if (memory != NULL && fits) memory->base = aligned_alloc(ALIGNMENT, rounded); /* your driver's allocation */
  const bool done = memory != NULL && memory->base != NULL;
  if (done) {
    memory->bytes = bytes;
    memory->next = device->memories;
    device->memories = memory;
    device->allocated += rounded;
    ++device->live;
  }
  pthread_mutex_unlock(&device->mutex);
  if (!done) {
    free(memory);
    return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "the device's memory is used up");
  }
  *out_memory = memory;
  return TSR_OK;
}

static tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
  CHECK_DEVICE(device);
  pthread_mutex_lock(&device->mutex);
  struct tsr_memory_s** at = find_memory(device, memory);
  struct tsr_memory_s* found = *at;
  if (found != NULL) {
    *at = found->next;
    device->allocated -= (found->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    --device->live;
  }
  pthread_mutex_unlock(&device->mutex);
  if (found == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "not live memory of this device");
  free(found->base);
  free(found);
  return TSR_OK;
}

/* Turns {memory, offset} into a pointer and checks that `bytes` lie inside. */
static tsr_status resolve(tsr_device* device, tsr_address address, uint64_t bytes, unsigned char** out) {
  if (address.memory == NULL) { /* a plain host pointer */
    if (address.offset == 0 && bytes > 0) return fail(device->plugin, TSR_INVALID_ARGUMENT, "a null pointer");
    *out = (unsigned char*)(uintptr_t)address.offset;
    return TSR_OK;
  }
  pthread_mutex_lock(&device->mutex);
  const struct tsr_memory_s* found = *find_memory(device, address.memory);
  pthread_mutex_unlock(&device->mutex);
  if (found == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "not live memory of this device");
  if (address.offset > found->bytes || bytes > found->bytes - address.offset)
    return fail(device->plugin, TSR_OUT_OF_RANGE, "the range leaves its allocation");
  *out = found->base + address.offset;
  return TSR_OK;
}

static tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base) {
  CHECK_DEVICE(device);
  if (memory == NULL || out_base == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "a NULL argument");
  unsigned char* base = NULL;
  const tsr_status status = resolve(device, (tsr_address){memory, 0}, 0, &base);
  if (status == TSR_OK) *out_base = base;
  return status;
}

/* ---- Streams. A real device creates its queue and, for tickets, events: record one in stream_signal, query them in
 * stream_progress, which never blocks and also reports failed work; wait for one in stream_host_wait. */
static tsr_status stream_create(tsr_device* device, uint32_t flags, tsr_stream** out_stream) {
  CHECK_DEVICE(device);
  if (out_stream == NULL || (flags & ~(uint32_t)(TSR_STREAM_COPY | TSR_STREAM_INLINE)) != 0)
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "unknown flags, or no out_stream");
  struct tsr_stream_s* stream = calloc(1, sizeof *stream);
  if (stream == NULL) return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "out of host memory");
  pthread_mutex_lock(&device->mutex);
  stream->next = device->streams;
  device->streams = stream;
  pthread_mutex_unlock(&device->mutex);
  *out_stream = stream;
  return TSR_OK;
}

static tsr_status stream_destroy(tsr_device* device, tsr_stream* stream) {
  CHECK_STREAM(device, stream);
  pthread_mutex_lock(&device->mutex);
  struct tsr_stream_s** at = &device->streams;
  while (*at != NULL && *at != stream) at = &(*at)->next;
  if (*at != NULL) *at = stream->next;
  pthread_mutex_unlock(&device->mutex);
  free(stream);
  return TSR_OK;
}

static tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  CHECK_STREAM(device, stream);
  if (out_ticket == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "out_ticket is NULL");
  *out_ticket = (tsr_ticket){stream, atomic_fetch_add(&stream->reached, 1) + 1};
  return TSR_OK;
}

static tsr_status stream_progress(tsr_device* device, tsr_stream* stream, uint64_t* out_value, uint64_t* out_failed) {
  CHECK_STREAM(device, stream);
  if (out_value == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "out_value is NULL");
  *out_value = atomic_load(&stream->reached);
  if (out_failed != NULL) *out_failed = 0; /* copies in host memory do not fail */
  return TSR_OK;
}

/* A ticket in hand is reached already; a device with queues makes its queue wait for the ticket's event. */
static tsr_status check_ticket(tsr_device* device, tsr_ticket ticket) {
  CHECK_DEVICE(device);
  if (ticket.stream == NULL) return TSR_OK;
  if (!is_stream(device, ticket.stream) || ticket.value > atomic_load(&ticket.stream->reached))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "not a ticket of a live stream");
  return TSR_OK;
}
static tsr_status stream_wait(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  CHECK_STREAM(device, stream);
  return check_ticket(device, ticket);
}
static tsr_status stream_host_wait(tsr_device* device, tsr_ticket ticket, uint64_t timeout_ns) {
  (void)timeout_ns;
  return check_ticket(device, ticket);
}
static tsr_status stream_callback(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  CHECK_STREAM(device, stream);
  if (function == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "function is NULL");
  function(argument); /* everything enqueued before has finished */
  return TSR_OK;
}

/* Bytes from the first to one past the last that one side of a copy touches; false: strides that cannot be right. */
static bool span_of(const tsr_copy* c, const uint64_t stride[2], uint64_t rows, uint64_t planes, uint64_t* out) {
  uint64_t plane = 0, all = 0;
  if (rows > 1 && stride[0] < c->bytes) return false;
  if (__builtin_mul_overflow(rows - 1, stride[0], &plane) || __builtin_add_overflow(plane, c->bytes, &plane)) return false;
  if (planes > 1 && stride[1] < plane) return false;
  return !__builtin_mul_overflow(planes - 1, stride[1], &all) && !__builtin_add_overflow(all, plane, out);
}

/* ---- Copies of up to three dimensions. Your driver's asynchronous copy goes here. */
static tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* c) {
  CHECK_STREAM(device, stream);
  if (!TSR_HAS(tsr_copy, c, source_stride)) return fail(device->plugin, TSR_INVALID_ARGUMENT, "copy: no description");
  tsr_link_desc unused = {.struct_size = sizeof unused};
  tsr_status status = link_of(device, c->source_space, c->destination_space, &unused); /* what link refuses, copy does */
  if (status != TSR_OK) return status;
  const uint64_t rows = c->rows[0] > 1 ? c->rows[0] : 1, planes = c->rows[1] > 1 ? c->rows[1] : 1;
  uint64_t to_bytes = 0, from_bytes = 0;
  unsigned char *to = NULL, *from = NULL;
  if (!span_of(c, c->destination_stride, rows, planes, &to_bytes) || !span_of(c, c->source_stride, rows, planes, &from_bytes))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "copy: a stride is shorter than what it steps over");
  if (c->bytes == 0) return TSR_OK;
  if ((status = resolve(device, c->destination, to_bytes, &to)) != TSR_OK) return status;
  if ((status = resolve(device, c->source, from_bytes, &from)) != TSR_OK) return status;
  for (uint64_t p = 0; p < planes; ++p)
    for (uint64_t r = 0; r < rows; ++r)
      memmove(to + p * c->destination_stride[1] + r * c->destination_stride[0],
              from + p * c->source_stride[1] + r * c->source_stride[0], c->bytes);
  return TSR_OK;
}

static tsr_status query(tsr_device* device, tsr_query_key key, uint32_t index, uint64_t* out_value) {
  CHECK_DEVICE(device);
  if (out_value == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "out_value is NULL");
  if (key != TSR_QUERY_FREE_BYTES && key != TSR_QUERY_LIVE_ALLOCATIONS)
    return fail(device->plugin, TSR_UNIMPLEMENTED, "the key is not offered");
  if (key == TSR_QUERY_FREE_BYTES && index > 0) return fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
  pthread_mutex_lock(&device->mutex);
  *out_value = key == TSR_QUERY_FREE_BYTES ? device->plugin->capacity - device->allocated : device->live;
  pthread_mutex_unlock(&device->mutex);
  return TSR_OK;
}

/* Entries that are not named are NULL: optional, and the core takes another way. */
static const tsr_device_table device_table = {
    .struct_size = sizeof(tsr_device_table), .spaces = spaces, .link = link_of, .mem_alloc = mem_alloc,
    .mem_free = mem_free, .stream_create = stream_create, .stream_destroy = stream_destroy,
    .stream_signal = stream_signal, .stream_progress = stream_progress, .copy = copy, .query = query,
    .mem_base = mem_base, .stream_wait = stream_wait, .stream_host_wait = stream_host_wait,
    .stream_callback = stream_callback};

/* ---- The plugin: what there is, and its life. */
static tsr_status enumerate(tsr_plugin* plugin, uint32_t index, tsr_device_desc* out_desc, uint32_t* out_count) {
  if (plugin == NULL) return TSR_INVALID_ARGUMENT;
  if (out_desc != NULL && index > 0) return fail(plugin, TSR_OUT_OF_RANGE, "the plugin has one device");
  if (out_count != NULL) *out_count = 1;
  if (out_desc == NULL) return TSR_OK;
  tsr_device_desc desc = {.device_class = TSR_DEVICE_ACCELERATOR, .numa_node = -1, .space_count = 1, .compute_units = 1,
                          .capabilities = TSR_DEVICE_INLINE | TSR_DEVICE_CALLBACK | TSR_DEVICE_DEVICE_WAIT,
                          .copy_engines = 1, .uuid = "tessera.null", .name = "null"};
  fill_out(out_desc, &desc, sizeof desc);
  return TSR_OK;
}

static tsr_status device_open(tsr_plugin* plugin, uint32_t index, tsr_device** out_device,
                              const tsr_device_table** out_table) {
  if (plugin == NULL) return TSR_INVALID_ARGUMENT;
  if (out_device == NULL || out_table == NULL) return fail(plugin, TSR_INVALID_ARGUMENT, "a NULL argument");
  if (index > 0) return fail(plugin, TSR_OUT_OF_RANGE, "the plugin has one device");
  if (plugin->device != NULL) return fail(plugin, TSR_ALREADY_EXISTS, "the device is open");
  tsr_device* device = calloc(1, sizeof *device); /* create your driver's context here, not earlier */
  if (device == NULL) return fail(plugin, TSR_RESOURCE_EXHAUSTED, "out of host memory");
  device->plugin = plugin;
  pthread_mutex_init(&device->mutex, NULL);
  plugin->device = device;
  *out_device = device;
  *out_table = &device_table;
  return TSR_OK;
}

static tsr_status device_close(tsr_plugin* plugin, tsr_device* device) {
  if (plugin == NULL) return TSR_INVALID_ARGUMENT;
  if (device == NULL || device != plugin->device) return fail(plugin, TSR_INVALID_ARGUMENT, "not an open device");
  while (device->streams != NULL) stream_destroy(device, device->streams);
  while (device->memories != NULL) mem_free(device, device->memories);
  pthread_mutex_destroy(&device->mutex);
  free(device);
  plugin->device = NULL;
  return TSR_OK;
}

static tsr_status shut_down(tsr_plugin* plugin) {
  if (plugin == NULL) return TSR_INVALID_ARGUMENT;
  if (plugin->device != NULL) device_close(plugin, plugin->device);
  free(plugin);
  return TSR_OK;
}

static const tsr_plugin_table plugin_table = {.struct_size = sizeof(tsr_plugin_table), .enumerate = enumerate,
                                              .device_open = device_open, .device_close = device_close,
                                              .shutdown = shut_down};

static const tsr_option options[] = {{.struct_size = sizeof(tsr_option), .type = TSR_OPTION_BYTES, .name = "memory",
                                      .default_text = "256 MiB", .min_value = 1, .max_value = 1e15,
                                      .doc = "Capacity of the device's memory."}};

static tsr_status open_plugin(const tsr_host* host, const tsr_option_value* values, uint32_t count,
                              tsr_plugin** out_plugin, const void** out_table) {
  if (host == NULL || out_plugin == NULL || out_table == NULL) return TSR_INVALID_ARGUMENT;
  tsr_plugin* plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return TSR_RESOURCE_EXHAUSTED;
  plugin->host = host;
  plugin->capacity = 256u << 20;
  const char* at = (const char*)values; /* values lie struct_size apart: the host may know more fields (rule R1) */
  for (uint32_t i = 0; i < count; ++i, at += values->struct_size) {
    const tsr_option_value* value = (const tsr_option_value*)(const void*)at;
    if (strcmp(value->name, "memory") == 0) plugin->capacity = (uint64_t)value->integer;
  }
  *out_plugin = plugin;
  *out_table = &plugin_table;
  return TSR_OK;
}

/* A probe that needs a driver looks for it here: cheap, and without creating a context. 0: not on this machine. */
static uint32_t probe(const tsr_host* host, char* reason, uint32_t reason_bytes) {
  (void)host, (void)reason, (void)reason_bytes;
  return 1;
}

static const tsr_plugin_header header = {
    .struct_size = sizeof(tsr_plugin_header), .abi_major = TSR_ABI_MAJOR, .abi_minor = TSR_ABI_MINOR,
    .kind = TSR_PLUGIN_DEVICE, .sanitizer = TSR_BUILD_SANITIZER, .name = "template", .vendor = "Tessera",
    .version = "0.1.0", .build = __VERSION__, .options = options, .option_count = 1, .probe = probe, .open = open_plugin};

TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(uint32_t host_major, uint32_t host_minor) {
  (void)host_minor; /* the host uses what it knows of our tables: they only grow at their end */
  return host_major == TSR_ABI_MAJOR ? &header : NULL;
}
