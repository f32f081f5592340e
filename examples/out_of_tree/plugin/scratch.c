/* A device plugin built from <tessera/plugin.h> alone: "scratch", a device with its own memory, which the host reaches
 * by copies only, and whose kernels are host tasks. Its streams finish work before the enqueueing call returns, which
 * the ABI allows; a device with queues enqueues instead. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/plugin.h>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif
enum {
  ALIGNMENT = 256
};

struct node {
  struct node* next;
};
struct tsr_memory_s {
  struct node node;
  unsigned char* base;
  uint64_t bytes;
};
struct failure { /* a failed point that stream_progress has not told yet */
  struct failure* next;
  uint64_t value;
  tsr_status status;
};
struct tsr_stream_s {
  struct node node;
  pthread_mutex_t mutex; /* the producer and those who ask for progress */
  uint64_t reached;
  tsr_status pending; /* work failed since the last signal */
  struct failure *first, *last;
};
struct tsr_device_s {
  tsr_plugin* plugin;
  pthread_mutex_t mutex; /* the lists */
  struct node *memories, *streams;
  _Atomic uint64_t allocated, live;
};
struct tsr_plugin_s {
  const tsr_host* host;
  uint64_t capacity;
  tsr_device* device;
};

static tsr_status fail(const tsr_plugin* plugin, tsr_status status, const char* message) {
  plugin->host->error(plugin->host->context, status, message);
  return status;
}
static void fill_out(void* out, void* value, uint32_t size) { /* no more than the caller's room (rule R1) */
  const uint32_t room = *(uint32_t*)out;
  *(uint32_t*)value = room != 0 && room < size ? room : size;
  memcpy(out, value, *(uint32_t*)value);
}
static void add(tsr_device* device, struct node** list, struct node* node) {
  pthread_mutex_lock(&device->mutex);
  node->next = *list;
  *list = node;
  pthread_mutex_unlock(&device->mutex);
}
static bool find(tsr_device* device, struct node** list, const void* handle, bool take) {
  pthread_mutex_lock(&device->mutex);
  while (*list != NULL && *list != handle) list = &(*list)->next;
  const bool found = *list != NULL;
  if (found && take) *list = (*list)->next;
  pthread_mutex_unlock(&device->mutex);
  return found;
}
static tsr_status check_stream(tsr_device* device, const tsr_stream* stream) {
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  if (find(device, &device->streams, stream, false)) return TSR_OK;
  return fail(device->plugin, TSR_INVALID_ARGUMENT, "not a live stream of this device");
}

static tsr_status spaces(tsr_device* device, uint32_t index, tsr_space_desc* out_desc) {
  if (device == NULL || out_desc == NULL) return TSR_INVALID_ARGUMENT;
  if (index > 0) return fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
  tsr_space_desc desc = {.kind = TSR_SPACE_DEVICE,
                         .numa_node = -1,
                         .bytes = device->plugin->capacity,
                         .granularity = ALIGNMENT,
                         .alignment = ALIGNMENT,
                         .name = "memory"};
  fill_out(out_desc, &desc, sizeof desc);
  return TSR_OK;
}
static tsr_status check_side(tsr_device* device, tsr_space_ref side) {
  if (side.device != NULL && side.device != device)
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "a side is of another plugin");
  if (side.device != NULL && side.space > 0) return fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
  return TSR_OK;
}
static tsr_status link_of(tsr_device* device, tsr_space_ref source, tsr_space_ref destination, tsr_link_desc* out) {
  if (device == NULL || out == NULL) return TSR_INVALID_ARGUMENT;
  tsr_status status = check_side(device, source);
  if (status != TSR_OK || (status = check_side(device, destination)) != TSR_OK) return status;
  if (source.device == NULL && destination.device == NULL)
    return fail(device->plugin, TSR_UNIMPLEMENTED, "neither side is this device's");
  const bool inside = source.device == destination.device;
  tsr_link_desc desc = {.link_class = inside ? TSR_LINK_SAME : TSR_LINK_BUS, .bandwidth = 8e9, .latency = 200};
  fill_out(out, &desc, sizeof desc);
  return TSR_OK;
}

static uint64_t rounded(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }
static tsr_status mem_alloc(tsr_device* device, uint32_t space, uint64_t bytes, tsr_memory** out_memory) {
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  const uint64_t capacity = device->plugin->capacity;
  if (space > 0) return fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
  if (bytes == 0 || out_memory == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "0 bytes, or no out_memory");
  if (bytes > capacity) return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "more than the device has");
  struct tsr_memory_s* memory = calloc(1, sizeof *memory);
  const bool fits = atomic_fetch_add(&device->allocated, rounded(bytes)) + rounded(bytes) <= capacity;
  if (memory != NULL && fits) memory->base = aligned_alloc(ALIGNMENT, rounded(bytes));
  if (memory == NULL || memory->base == NULL) {
    atomic_fetch_sub(&device->allocated, rounded(bytes));
    free(memory);
    return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "the device's memory is used up");
  }
  memory->bytes = bytes;
  atomic_fetch_add(&device->live, 1);
  add(device, &device->memories, &memory->node);
  *out_memory = memory;
  return TSR_OK;
}
static tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  if (!find(device, &device->memories, memory, true))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "not live memory of this device");
  atomic_fetch_sub(&device->allocated, rounded(memory->bytes));
  atomic_fetch_sub(&device->live, 1);
  free(memory->base);
  free(memory);
  return TSR_OK;
}
/* Host pointers are for copies; kernels (host == false) work on the device's memory only. */
static tsr_status resolve(tsr_device* device, tsr_address address, uint64_t bytes, bool host, unsigned char** out) {
  const struct tsr_memory_s* memory = address.memory;
  if (host != (memory == NULL)) return fail(device->plugin, TSR_INVALID_ARGUMENT, "the wrong kind of memory");
  if (host) {
    if (address.offset == 0) return fail(device->plugin, TSR_INVALID_ARGUMENT, "a null pointer");
    *out = (unsigned char*)(uintptr_t)address.offset;
    return TSR_OK;
  }
  if (!find(device, &device->memories, memory, false))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "not live memory of this device");
  if (address.offset > memory->bytes || bytes > memory->bytes - address.offset)
    return fail(device->plugin, TSR_OUT_OF_RANGE, "the range leaves its allocation");
  *out = memory->base + address.offset;
  return TSR_OK;
}

static tsr_status stream_create(tsr_device* device, uint32_t flags, tsr_stream** out_stream) {
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  if ((flags & TSR_STREAM_INLINE) != 0) return fail(device->plugin, TSR_UNIMPLEMENTED, "no inline streams");
  if (out_stream == NULL || (flags & ~(uint32_t)TSR_STREAM_COPY) != 0)
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "unknown flags, or no out_stream");
  struct tsr_stream_s* stream = calloc(1, sizeof *stream);
  if (stream == NULL) return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "out of host memory");
  pthread_mutex_init(&stream->mutex, NULL);
  add(device, &device->streams, &stream->node);
  *out_stream = stream;
  return TSR_OK;
}
static tsr_status stream_destroy(tsr_device* device, tsr_stream* stream) {
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  if (!find(device, &device->streams, stream, true))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "not a live stream of this device");
  for (struct failure* one = stream->first; one != NULL;) {
    struct failure* next = one->next;
    free(one);
    one = next;
  }
  pthread_mutex_destroy(&stream->mutex);
  free(stream);
  return TSR_OK;
}
static tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  if (check_stream(device, stream) != TSR_OK || out_ticket == NULL) return TSR_INVALID_ARGUMENT;
  pthread_mutex_lock(&stream->mutex);
  struct failure* failed = stream->pending == TSR_OK ? NULL : calloc(1, sizeof *failed);
  const bool out_of_memory = stream->pending != TSR_OK && failed == NULL; /* the failure stays pending */
  if (!out_of_memory) *out_ticket = (tsr_ticket){stream, ++stream->reached};
  if (failed != NULL) {
    failed->value = stream->reached;
    failed->status = stream->pending;
    stream->pending = TSR_OK;
    if (stream->first == NULL)
      stream->first = failed;
    else
      stream->last->next = failed;
    stream->last = failed;
  }
  pthread_mutex_unlock(&stream->mutex);
  return out_of_memory ? fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "out of host memory") : TSR_OK;
}
static tsr_status stream_progress(tsr_device* device, tsr_stream* stream, uint64_t* out_value, uint64_t* out_failed) {
  if (check_stream(device, stream) != TSR_OK || out_value == NULL) return TSR_INVALID_ARGUMENT;
  pthread_mutex_lock(&stream->mutex);
  struct failure* failed = stream->first;
  if (failed != NULL) stream->first = failed->next;
  /* A point that failed and is not told yet must not look reached: the value stops before it. */
  *out_value = failed != NULL && stream->first != NULL ? stream->first->value - 1 : stream->reached;
  pthread_mutex_unlock(&stream->mutex);
  if (out_failed != NULL) *out_failed = failed != NULL ? failed->value : 0;
  const tsr_status status = failed != NULL ? failed->status : TSR_OK;
  free(failed);
  return status == TSR_OK ? TSR_OK : fail(device->plugin, status, "a host task failed");
}
/* Whoever holds a ticket holds a reached one. (stream_host_wait is left out: stream_progress says as much.) */
static tsr_status stream_wait(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  if (check_stream(device, stream) != TSR_OK) return TSR_INVALID_ARGUMENT;
  return ticket.stream == NULL ? TSR_OK : check_stream(device, ticket.stream);
}

static tsr_status span_of(const tsr_copy* c, const uint64_t stride[2], uint64_t rows, uint64_t planes, uint64_t* out) {
  uint64_t plane = 0, all = 0;
  if (rows > 1 && stride[0] < c->bytes) return TSR_INVALID_ARGUMENT; /* shorter than what it steps over */
  if (__builtin_mul_overflow(rows - 1, stride[0], &plane) || __builtin_add_overflow(plane, c->bytes, &plane) ||
      __builtin_mul_overflow(planes - 1, stride[1], &all) || __builtin_add_overflow(all, plane, out))
    return TSR_OUT_OF_RANGE;
  return planes > 1 && stride[1] < plane ? TSR_INVALID_ARGUMENT : TSR_OK;
}
static tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* c) {
  if (check_stream(device, stream) != TSR_OK) return TSR_INVALID_ARGUMENT;
  if (!TSR_HAS(tsr_copy, c, source_stride)) return fail(device->plugin, TSR_INVALID_ARGUMENT, "copy: no description");
  tsr_link_desc unused = {.struct_size = sizeof unused};
  tsr_status status = link_of(device, c->source_space, c->destination_space, &unused); /* copy refuses what link does */
  if (status != TSR_OK) return status;
  const uint64_t rows = c->rows[0] > 1 ? c->rows[0] : 1, planes = c->rows[1] > 1 ? c->rows[1] : 1;
  uint64_t to_bytes = 0, from_bytes = 0;
  unsigned char *to = NULL, *from = NULL;
  if ((status = span_of(c, c->destination_stride, rows, planes, &to_bytes)) != TSR_OK ||
      (status = span_of(c, c->source_stride, rows, planes, &from_bytes)) != TSR_OK)
    return fail(device->plugin, status, "copy: strides that cannot be right");
  if (c->bytes == 0) return TSR_OK;
  if ((status = resolve(device, c->destination, to_bytes, c->destination_space.device == NULL, &to)) != TSR_OK ||
      (status = resolve(device, c->source, from_bytes, c->source_space.device == NULL, &from)) != TSR_OK)
    return status;
  for (uint64_t p = 0; p < planes; ++p)
    for (uint64_t r = 0; r < rows; ++r)
      memmove(to + p * c->destination_stride[1] + r * c->destination_stride[0],
              from + p * c->source_stride[1] + r * c->source_stride[0], c->bytes);
  return TSR_OK;
}
static tsr_status host_task(tsr_device* device, tsr_stream* stream, tsr_status (*function)(void*, void* const*),
                            void* argument, const tsr_address* ranges, uint32_t count, double modelled_flops) {
  (void)modelled_flops;
  if (check_stream(device, stream) != TSR_OK) return TSR_INVALID_ARGUMENT;
  if (function == NULL || (ranges == NULL && count > 0))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "a NULL argument");
  void** bases = calloc(count + 1, sizeof *bases);
  if (bases == NULL) return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "out of host memory");
  tsr_status status = TSR_OK;
  for (uint32_t i = 0; i < count && status == TSR_OK; ++i) {
    unsigned char* base = NULL;
    status = resolve(device, ranges[i], 1, false, &base);
    bases[i] = base;
  }
  if (status == TSR_OK) { /* a failure of the task travels on the timeline, not with this call */
    tsr_status outcome = function(argument, bases);
    if (outcome == TSR_DEVICE_LOST)
      outcome = TSR_INTERNAL; /* that answer is sticky, and this device cannot be lost (R10) */
    if (stream->pending == TSR_OK) stream->pending = outcome; /* only the producer touches it */
  }
  free(bases);
  return status;
}
static tsr_status query(tsr_device* device, tsr_query_key key, uint32_t index, uint64_t* out_value) {
  if (device == NULL || out_value == NULL) return TSR_INVALID_ARGUMENT;
  if (key == TSR_QUERY_FREE_BYTES && index > 0)
    return fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
  if (key != TSR_QUERY_FREE_BYTES && key != TSR_QUERY_LIVE_ALLOCATIONS)
    return fail(device->plugin, TSR_UNIMPLEMENTED, "the key is not offered");
  const uint64_t used = atomic_load(&device->allocated);
  *out_value = key == TSR_QUERY_FREE_BYTES ? device->plugin->capacity - used : atomic_load(&device->live);
  return TSR_OK;
}
static const tsr_device_table device_table = {.struct_size = sizeof(tsr_device_table),
                                              .spaces = spaces,
                                              .link = link_of,
                                              .mem_alloc = mem_alloc,
                                              .mem_free = mem_free,
                                              .stream_create = stream_create,
                                              .stream_destroy = stream_destroy,
                                              .stream_signal = stream_signal,
                                              .stream_progress = stream_progress,
                                              .copy = copy,
                                              .query = query,
                                              .stream_wait = stream_wait,
                                              .host_task = host_task};

static tsr_status enumerate(tsr_plugin* plugin, uint32_t index, tsr_device_desc* out_desc, uint32_t* out_count) {
  if (plugin == NULL) return TSR_INVALID_ARGUMENT;
  if (out_desc != NULL && index > 0) return fail(plugin, TSR_OUT_OF_RANGE, "the plugin has one device");
  if (out_count != NULL) *out_count = 1;
  if (out_desc == NULL) return TSR_OK;
  tsr_device_desc desc = {.device_class = TSR_DEVICE_ACCELERATOR,
                          .numa_node = -1,
                          .space_count = 1,
                          .compute_units = 1,
                          .capabilities = TSR_DEVICE_HAS_FP64 | TSR_DEVICE_DEVICE_WAIT,
                          .copy_engines = 1,
                          .uuid = "tessera.scratch",
                          .name = "scratch"};
  fill_out(out_desc, &desc, sizeof desc);
  return TSR_OK;
}
static tsr_status device_open(tsr_plugin* plugin, uint32_t index, tsr_device** out_device,
                              const tsr_device_table** out_table) {
  if (plugin == NULL || out_device == NULL || out_table == NULL) return TSR_INVALID_ARGUMENT;
  if (index > 0) return fail(plugin, TSR_OUT_OF_RANGE, "the plugin has one device");
  if (plugin->device != NULL) return fail(plugin, TSR_ALREADY_EXISTS, "the device is open");
  tsr_device* device = calloc(1, sizeof *device);
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
  while (device->streams != NULL) stream_destroy(device, (tsr_stream*)device->streams);
  while (device->memories != NULL) mem_free(device, (tsr_memory*)device->memories);
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
static const tsr_plugin_table plugin_table = {.struct_size = sizeof(tsr_plugin_table),
                                              .enumerate = enumerate,
                                              .device_open = device_open,
                                              .device_close = device_close,
                                              .shutdown = shut_down};

static const tsr_option options[] = {{.struct_size = sizeof(tsr_option),
                                      .type = TSR_OPTION_BYTES,
                                      .name = "memory",
                                      .default_text = "64 MiB",
                                      .min_value = 1,
                                      .max_value = 1e15,
                                      .doc = "Capacity of the device's memory."}};

static tsr_status open_plugin(const tsr_host* host, const tsr_option_value* values, uint32_t count,
                              tsr_plugin** out_plugin, const void** out_table) {
  if (host == NULL || out_plugin == NULL || out_table == NULL) return TSR_INVALID_ARGUMENT;
  tsr_plugin* plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return TSR_RESOURCE_EXHAUSTED;
  plugin->host = host;
  plugin->capacity = 64u << 20;
  const char* at = (const char*)values; /* values lie struct_size apart: the host may know more fields (rule R1) */
  for (uint32_t i = 0; i < count; ++i, at += values->struct_size) {
    const tsr_option_value* value = (const void*)at;
    if (strcmp(value->name, "memory") == 0) plugin->capacity = (uint64_t)value->integer;
  }
  *out_plugin = plugin;
  *out_table = &plugin_table;
  return TSR_OK;
}

static const tsr_plugin_header header = {.struct_size = sizeof(tsr_plugin_header),
                                         .abi_major = TSR_ABI_MAJOR,
                                         .abi_minor = TSR_ABI_MINOR,
                                         .kind = TSR_PLUGIN_DEVICE,
                                         .sanitizer = TSR_BUILD_SANITIZER,
                                         .name = "scratch",
                                         .vendor = "Example",
                                         .version = "1.0.0",
                                         .build = __VERSION__,
                                         .options = options,
                                         .option_count = 1,
                                         .open = open_plugin};

TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(uint32_t host_major, uint32_t host_minor) {
  (void)host_minor;
  return host_major == TSR_ABI_MAJOR ? &header : NULL;
}
