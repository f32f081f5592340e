/*
 * A device plugin in C to clone: a device whose memory is host memory and whose streams run their work inside the
 * enqueueing call. It passes the conformance suite; replace one function after the other by your device's, and run the
 * suite again after each. README.md has the steps. The contracts in full are in <tessera/plugin.h>.
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

#define PLUGIN_NAME "template" /* of its table in the configuration, [plugin.NAME], and of its file */
enum {
  ALIGNMENT = 64,
  CAPACITY = 256 << 20
};

/* ---- Handles. A real device keeps its driver's handles here. Live ones are kept in lists, so that a stale or foreign
 * handle is recognised without being touched. */
struct node {
  struct node* next;
};
struct tsr_memory_s {
  struct node node; /* first: a pointer to it is a pointer to the whole */
  unsigned char* base;
  uint64_t bytes;
};
struct tsr_stream_s {
  struct node node;
  _Atomic uint64_t reached; /* all work is done when it is enqueued, so every signalled value is reached */
};
struct tsr_device_s {
  tsr_plugin* plugin;
  pthread_mutex_t mutex; /* guards the lists: memory calls may come from any thread (rule R5) */
  struct node *memories, *streams;
  _Atomic uint64_t allocated;
};
struct tsr_plugin_s {
  const tsr_host* host;
  tsr_device* device; /* NULL while closed */
};

/* A failure on a live handle leaves one sentence with the host before the status is returned (rule R3). */
static tsr_status fail(const tsr_plugin* plugin, tsr_status status, const char* message) {
  plugin->host->error(plugin->host->context, status, message);
  return status;
}

/* Rule R1: write no more of a struct than the room that the caller announced. */
static tsr_status fill_out(void* out, void* value, uint32_t size) {
  uint32_t room = *(uint32_t*)out;
  if (room == 0) return TSR_INVALID_ARGUMENT;
  *(uint32_t*)value = room < size ? room : size;
  memcpy(out, value, *(uint32_t*)value);
  return TSR_OK;
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

/* ---- Spaces and links. Describe each memory that the core may allocate in, and what direct copies cost. */
static tsr_status spaces(tsr_device* device, uint32_t index, tsr_space_desc* out_desc) {
  if (device == NULL || out_desc == NULL) return TSR_INVALID_ARGUMENT;
  if (index > 0) return fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
  /* A memory of the device's own, so that tasks can be placed here. HOST_VISIBLE: the host may read it through
   * mem_base, which a discrete device does not claim. */
  tsr_space_desc desc = {.kind = TSR_SPACE_DEVICE,
                         .capabilities = TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE,
                         .numa_node = -1,
                         .bytes = CAPACITY,
                         .granularity = ALIGNMENT,
                         .alignment = ALIGNMENT,
                         .name = "memory"};
  return fill_out(out_desc, &desc, sizeof desc);
}
static tsr_status check_side(tsr_device* device, tsr_space_ref side) {
  if (side.device == NULL) return TSR_OK; /* plain host memory: every device copies from and to it */
  if (side.device != device) return fail(device->plugin, TSR_INVALID_ARGUMENT, "a side is of another plugin");
  return side.space == 0 ? TSR_OK : fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
}
static tsr_status link_of(tsr_device* device, tsr_space_ref source, tsr_space_ref destination, tsr_link_desc* out) {
  if (device == NULL || out == NULL) return TSR_INVALID_ARGUMENT;
  tsr_status status = check_side(device, source);
  if (status != TSR_OK || (status = check_side(device, destination)) != TSR_OK) return status;
  if (source.device == NULL && destination.device == NULL)
    return fail(device->plugin, TSR_UNIMPLEMENTED, "neither side is this device's");
  /* A discrete device: TSR_LINK_BUS, and what its bus reaches. Estimates are better than nothing. */
  tsr_link_desc desc = {.link_class = TSR_LINK_SAME, .bandwidth = 8e9, .latency = 100};
  return fill_out(out, &desc, sizeof desc);
}

/* ---- Memory. Allocate coarsely; the core carves. Exhaustion is an answer, not a disaster. */
static uint64_t rounded(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static tsr_status mem_alloc(tsr_device* device, uint32_t space, uint64_t bytes, tsr_memory** out_memory) {
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  if (space > 0) return fail(device->plugin, TSR_OUT_OF_RANGE, "the device has one space");
  if (bytes == 0 || out_memory == NULL) return fail(device->plugin, TSR_INVALID_ARGUMENT, "0 bytes, or no out_memory");
  if (bytes > CAPACITY) return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "more than the device has");
  struct tsr_memory_s* memory = calloc(1, sizeof *memory);
  const bool fits = atomic_fetch_add(&device->allocated, rounded(bytes)) + rounded(bytes) <= CAPACITY;
  if (memory != NULL && fits) memory->base = aligned_alloc(ALIGNMENT, rounded(bytes)); /* your driver's allocation */
  if (memory == NULL || memory->base == NULL) {
    atomic_fetch_sub(&device->allocated, rounded(bytes));
    free(memory);
    return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "the device's memory is used up");
  }
  memory->bytes = bytes;
  add(device, &device->memories, &memory->node);
  *out_memory = memory;
  return TSR_OK;
}
static tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  if (!find(device, &device->memories, memory, true))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "not live memory of this device");
  atomic_fetch_sub(&device->allocated, rounded(memory->bytes));
  free(memory->base);
  free(memory);
  return TSR_OK;
}

/* Turns {memory, offset} into a pointer and checks that `bytes` lie inside. */
static tsr_status resolve(tsr_device* device, tsr_address address, uint64_t bytes, unsigned char** out) {
  if (address.memory == NULL) { /* a plain host pointer */
    if (address.offset == 0 && bytes > 0) return fail(device->plugin, TSR_INVALID_ARGUMENT, "a null pointer");
    *out = (unsigned char*)(uintptr_t)address.offset;
    return TSR_OK;
  }
  const struct tsr_memory_s* memory = address.memory;
  if (!find(device, &device->memories, memory, false))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "not live memory of this device");
  if (address.offset > memory->bytes || bytes > memory->bytes - address.offset)
    return fail(device->plugin, TSR_OUT_OF_RANGE, "the range leaves its allocation");
  *out = memory->base + address.offset;
  return TSR_OK;
}
static tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base) {
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  if (out_base == NULL || !find(device, &device->memories, memory, false))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "not live memory of this device, or no out_base");
  *out_base = memory->base;
  return TSR_OK;
}

/* ---- Streams. A real device creates its queue and, for tickets, events: record one in stream_signal, query them in
 * stream_progress, which never blocks and also reports failed work; wait for one in stream_host_wait. */
static tsr_status stream_create(tsr_device* device, uint32_t flags, tsr_stream** out_stream) {
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  if (out_stream == NULL || (flags & ~(uint32_t)(TSR_STREAM_COPY | TSR_STREAM_INLINE)) != 0)
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "unknown flags, or no out_stream");
  struct tsr_stream_s* stream = calloc(1, sizeof *stream);
  if (stream == NULL) return fail(device->plugin, TSR_RESOURCE_EXHAUSTED, "out of host memory");
  add(device, &device->streams, &stream->node);
  *out_stream = stream;
  return TSR_OK;
}
static tsr_status stream_destroy(tsr_device* device, tsr_stream* stream) { /* waits for its work; there is none left */
  if (device == NULL) return TSR_INVALID_ARGUMENT;
  if (!find(device, &device->streams, stream, true))
    return fail(device->plugin, TSR_INVALID_ARGUMENT, "not a live stream of this device");
  free(stream);
  return TSR_OK;
}
static tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  if (check_stream(device, stream) != TSR_OK || out_ticket == NULL) return TSR_INVALID_ARGUMENT;
  *out_ticket = (tsr_ticket){stream, atomic_fetch_add(&stream->reached, 1) + 1};
  return TSR_OK;
}
static tsr_status stream_progress(tsr_device* device, tsr_stream* stream, uint64_t* out_value, uint64_t* out_failed) {
  if (check_stream(device, stream) != TSR_OK || out_value == NULL) return TSR_INVALID_ARGUMENT;
  *out_value = atomic_load(&stream->reached);
  if (out_failed != NULL) *out_failed = 0; /* copies in host memory do not fail */
  return TSR_OK;
}

/* Bytes from the first to one past the last that one side of a copy touches. */
static tsr_status span_of(const tsr_copy* c, const uint64_t stride[2], uint64_t rows, uint64_t planes, uint64_t* out) {
  uint64_t plane = 0, all = 0;
  if (rows > 1 && stride[0] < c->bytes) return TSR_INVALID_ARGUMENT; /* shorter than what it steps over */
  if (__builtin_mul_overflow(rows - 1, stride[0], &plane) || __builtin_add_overflow(plane, c->bytes, &plane) ||
      __builtin_mul_overflow(planes - 1, stride[1], &all) || __builtin_add_overflow(all, plane, out))
    return TSR_OUT_OF_RANGE;
  return planes > 1 && stride[1] < plane ? TSR_INVALID_ARGUMENT : TSR_OK;
}

/* ---- Copies of up to three dimensions. Your driver's asynchronous copy goes here. */
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
  if ((status = resolve(device, c->destination, to_bytes, &to)) != TSR_OK) return status;
  if ((status = resolve(device, c->source, from_bytes, &from)) != TSR_OK) return status;
  for (uint64_t p = 0; p < planes; ++p)
    for (uint64_t r = 0; r < rows; ++r)
      memmove(to + p * c->destination_stride[1] + r * c->destination_stride[0],
              from + p * c->source_stride[1] + r * c->source_stride[0], c->bytes);
  return TSR_OK;
}

/* Entries that are not named are NULL: optional, and the core takes another way. */
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
                                              .mem_base = mem_base};

/* ---- The plugin: what there is, and its life. */
static tsr_status enumerate(tsr_plugin* plugin, uint32_t index, tsr_device_desc* out_desc, uint32_t* out_count) {
  if (plugin == NULL) return TSR_INVALID_ARGUMENT;
  if (out_desc != NULL && index > 0) return fail(plugin, TSR_OUT_OF_RANGE, "the plugin has one device");
  if (out_count != NULL) *out_count = 1;
  if (out_desc == NULL) return TSR_OK;
  tsr_device_desc desc = {.device_class = TSR_DEVICE_ACCELERATOR,
                          .numa_node = -1,
                          .space_count = 1,
                          .compute_units = 1,
                          .capabilities = TSR_DEVICE_INLINE,
                          .copy_engines = 1};
  const size_t length = sizeof PLUGIN_NAME; /* with its NUL; what is longer is cut */
  memcpy(desc.uuid, PLUGIN_NAME, length < sizeof desc.uuid ? length : sizeof desc.uuid);
  memcpy(desc.name, PLUGIN_NAME, length < sizeof desc.name ? length : sizeof desc.name - 1);
  return fill_out(out_desc, &desc, sizeof desc);
}
static tsr_status device_open(tsr_plugin* plugin, uint32_t index, tsr_device** out_device,
                              const tsr_device_table** out_table) {
  if (plugin == NULL || out_device == NULL || out_table == NULL) return TSR_INVALID_ARGUMENT;
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
  while (device->streams != NULL) stream_destroy(device, (tsr_stream*)device->streams);
  while (device->memories != NULL) mem_free(device, (tsr_memory*)device->memories);
  pthread_mutex_destroy(&device->mutex);
  free(device);
  plugin->device = NULL;
  return TSR_OK;
}
static tsr_status shut_down(tsr_plugin* plugin) { /* closes what is open, joins threads; open may come again */
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

/* `values` are the user's settings, checked against the schema in the header (none here: .options). */
static tsr_status open_plugin(const tsr_host* host, const tsr_option_value* values, uint32_t count,
                              tsr_plugin** out_plugin, const void** out_table) {
  (void)values, (void)count;
  if (host == NULL || out_plugin == NULL || out_table == NULL) return TSR_INVALID_ARGUMENT;
  tsr_plugin* plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return TSR_RESOURCE_EXHAUSTED;
  plugin->host = host;
  *out_plugin = plugin;
  *out_table = &plugin_table;
  return TSR_OK;
}

/* A plugin that needs a driver sets `.probe`: it looks for the driver, cheaply, and answers 0 when there is none. */
static const tsr_plugin_header header = {.struct_size = sizeof(tsr_plugin_header),
                                         .abi_major = TSR_ABI_MAJOR,
                                         .abi_minor = TSR_ABI_MINOR,
                                         .kind = TSR_PLUGIN_DEVICE,
                                         .sanitizer = TSR_BUILD_SANITIZER,
                                         .name = PLUGIN_NAME,
                                         .vendor = "Tessera",
                                         .version = "0.1.0",
                                         .build = __VERSION__,
                                         .open = open_plugin};

TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(uint32_t host_major, uint32_t host_minor) {
  (void)host_minor; /* the host uses what it knows of our tables: they only grow at their end */
  return host_major == TSR_ABI_MAJOR ? &header : NULL;
}
