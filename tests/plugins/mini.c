/* A small sound device plugin; with one of MINI_WRONG_... defined, one that cannot be used; with one of MINI_FAULT_...,
 * one that can be used and breaks one promise. See README.md. */
#include <tessera/plugin.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

struct tsr_memory_s {
  unsigned char* bytes;
  uint64_t size;
  tsr_memory* next;
};

struct tsr_stream_s {
  _Atomic uint64_t signalled; /* work runs inside the call, so this is also what has finished */
  tsr_stream* next;
#ifdef MINI_HOST_TASKS
  tsr_status pending; /* a host task has failed since the last signal; under `guard`, as what follows */
  struct {
    uint64_t value;
    tsr_status status;
  } failed[16]; /* points that stream_progress has not told, the oldest first */
  uint32_t failed_count;
#endif
};

struct tsr_device_s {
  tsr_memory* memories;
  tsr_stream* streams;
  uint64_t capacity, used;
};

enum {
  device_limit = 4
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of the lists and counts of all devices */

struct tsr_plugin_s {
  const tsr_host* host;
  uint32_t device_count;
  tsr_device devices[device_limit];
};

static struct tsr_plugin_s the_plugin; /* this plugin is opened once at a time */

static tsr_status report(tsr_status status, const char* message) {
#ifdef MINI_FAULT_SILENT
  (void)message;
  return status;
#endif
  the_plugin.host->error(the_plugin.host->context, status, message);
  return status;
}

/* Rule R1: no more of a struct is written than the room that the caller announced. */
static void fill_out(void* out, void* value, uint32_t size) {
#ifdef MINI_FAULT_SHORT
  *(uint32_t*)value = size;
#else
  const uint32_t room = *(uint32_t*)out;
  *(uint32_t*)value = room != 0 && room < size ? room : size;
#endif
  memcpy(out, value, *(uint32_t*)value);
}

#ifdef MINI_WRONG_UNDEFINED_SYMBOL
int mini_symbol_that_nobody_defines(void);
#endif

static tsr_status spaces(tsr_device* device, uint32_t index, tsr_space_desc* out_desc) {
  if (index > 0) return report(TSR_OUT_OF_RANGE, "mini has one space");
  tsr_space_desc desc = {0};
#ifdef MINI_HOST_SPACE /* sound, but its only memory is the host's: no place for tasks */
  desc.kind = TSR_SPACE_HOST;
#else
  desc.kind = TSR_SPACE_DEVICE;
#endif
  desc.capabilities = TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE;
  desc.numa_node = -1;
#ifdef MINI_FAULT_CAPACITY
  (void)device;
  desc.bytes = UINT64_C(1) << 40;
#else
  desc.bytes = device->capacity;
#endif
  desc.granularity = 64;
#ifdef MINI_FAULT_ALIGNMENT
  desc.alignment = UINT64_C(1) << 30;
#else
  desc.alignment = 64;
#endif
  desc.name = "memory";
  fill_out(out_desc, &desc, sizeof desc);
  return TSR_OK;
}

static tsr_status link_of(tsr_device* device, tsr_space_ref source, tsr_space_ref destination,
                          tsr_link_desc* out_link) {
  if (source.space > 0 || destination.space > 0) return report(TSR_OUT_OF_RANGE, "mini has one space");
  if (source.device != device && destination.device != device)
    return report(TSR_INVALID_ARGUMENT, "neither end is of this device");
  if ((source.device && source.device != device) || (destination.device && destination.device != device))
    return report(TSR_UNIMPLEMENTED, "mini copies between itself and the host only");
  tsr_link_desc desc = {.link_class = TSR_LINK_SAME, .bandwidth = 5e9, .latency = 200};
  fill_out(out_link, &desc, sizeof desc);
  return TSR_OK;
}

static tsr_status mem_alloc(tsr_device* device, uint32_t space, uint64_t bytes, tsr_memory** out_memory) {
#ifdef MINI_FAULT_EXIT_THREAD
  pthread_exit(NULL);
#endif
  if (space > 0) return report(TSR_OUT_OF_RANGE, "mini has one space");
#ifdef MINI_FAULT_WRITES_ON_FAILURE
  *out_memory = NULL;
#endif
#ifdef MINI_FAULT_ALLOC_OF_NOTHING
  if (bytes == 0) bytes = 64;
#endif
  if (bytes == 0) return report(TSR_INVALID_ARGUMENT, "0 bytes asked for");
#ifdef MINI_FAULT_NULL_MEMORY
  return TSR_OK;
#endif
  if (bytes > device->capacity) return report(TSR_RESOURCE_EXHAUSTED, "the device's memory is full");
  const uint64_t rounded = (bytes + 63) / 64 * 64;
  tsr_memory* memory = malloc(sizeof *memory);
  unsigned char* data = aligned_alloc(64, rounded);
  if (!memory || !data) {
    free(memory);
    free(data);
    return report(TSR_RESOURCE_EXHAUSTED, "the host's memory is full");
  }
  pthread_mutex_lock(&guard);
  const bool fits = rounded <= device->capacity - device->used;
  if (fits) {
    *memory = (struct tsr_memory_s){data, rounded, device->memories};
    device->memories = memory;
    device->used += rounded;
  }
  pthread_mutex_unlock(&guard);
  if (!fits) {
    free(memory);
    free(data);
#ifdef MINI_FAULT_EXHAUSTION
    return report(TSR_INTERNAL, "the device's memory is full");
#endif
    return report(TSR_RESOURCE_EXHAUSTED, "the device's memory is full");
  }
  *out_memory = memory;
  return TSR_OK;
}

static tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
#ifdef MINI_FAULT_HANG
  for (;;) sleep(1);
#endif
#ifdef MINI_FAULT_CRASH
  raise(SIGSEGV); /* as a wild pointer does; a sanitizer would end the process by itself */
#endif
#ifdef MINI_FAULT_ABORT
  abort();
#endif
  bool found = false;
  pthread_mutex_lock(&guard);
  for (tsr_memory** at = &device->memories; *at; at = &(*at)->next) {
    if (*at != memory) continue;
    found = true;
    *at = memory->next;
    device->used -= memory->size;
    break;
  }
  pthread_mutex_unlock(&guard);
  if (found) {
    free(memory->bytes);
    free(memory);
    return TSR_OK;
  }
  return report(TSR_INVALID_ARGUMENT, "this is no allocation of the device");
}

static tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base) {
  (void)device;
  if (!memory) return report(TSR_INVALID_ARGUMENT, "NULL memory");
  *out_base = memory->bytes;
  return TSR_OK;
}

static tsr_status stream_create(tsr_device* device, uint32_t flags, tsr_stream** out_stream) {
  if (flags & TSR_STREAM_INLINE) return report(TSR_UNIMPLEMENTED, "no inline streams");
#ifdef MINI_WRONG_NULL_STREAM
  *out_stream = NULL;
  return TSR_OK;
#endif
  tsr_stream* stream = calloc(1, sizeof *stream);
  if (!stream) return report(TSR_RESOURCE_EXHAUSTED, "the host's memory is full");
  stream->next = device->streams;
  device->streams = stream;
  *out_stream = stream;
  return TSR_OK;
}

static tsr_status stream_destroy(tsr_device* device, tsr_stream* stream) {
  for (tsr_stream** at = &device->streams; *at; at = &(*at)->next) {
    if (*at != stream) continue;
    *at = stream->next;
    free(stream);
    return TSR_OK;
  }
  return report(TSR_INVALID_ARGUMENT, "this is no stream of the device");
}

static tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  (void)device;
  if (!stream) return report(TSR_INVALID_ARGUMENT, "NULL stream");
  out_ticket->stream = stream;
#ifdef MINI_FAULT_TIMELINE
  out_ticket->value = stream->signalled = 1;
#elif defined(MINI_HOST_TASKS)
  pthread_mutex_lock(&guard);
  out_ticket->value = stream->signalled + 1;
  if (stream->pending && stream->failed_count < 16) {
    stream->failed[stream->failed_count].value = out_ticket->value;
    stream->failed[stream->failed_count++].status = stream->pending;
    stream->pending = TSR_OK;
  }
  ++stream->signalled;
  pthread_mutex_unlock(&guard);
#else
  out_ticket->value = ++stream->signalled;
#endif
  return TSR_OK;
}

static tsr_status stream_progress(tsr_device* device, tsr_stream* stream, uint64_t* out_value, uint64_t* out_failed) {
  (void)device;
  if (!stream) return report(TSR_INVALID_ARGUMENT, "NULL stream");
#ifdef MINI_HOST_TASKS
  pthread_mutex_lock(&guard);
  tsr_status status = TSR_OK;
  *out_failed = 0;
  if (stream->failed_count > 0) {
    status = stream->failed[0].status;
    *out_failed = stream->failed[0].value;
    memmove(&stream->failed[0], &stream->failed[1], --stream->failed_count * sizeof stream->failed[0]);
  }
  *out_value = stream->failed_count > 0 ? stream->failed[0].value - 1 : stream->signalled;
  pthread_mutex_unlock(&guard);
  return status == TSR_OK ? TSR_OK : report(status, "a host task has failed");
#else
  *out_value = stream->signalled;
  *out_failed = 0;
  return TSR_OK;
#endif
}

/* Whether an address is of plain host memory or of memory of the device. */
static bool is_of(tsr_device* device, tsr_address address) {
  bool found = address.memory == NULL;
  pthread_mutex_lock(&guard);
  for (const tsr_memory* at = device->memories; at && !found; at = at->next) found = at == address.memory;
  pthread_mutex_unlock(&guard);
  return found;
}

/* The host address of a range, or NULL when it does not fit. */
static unsigned char* resolve(tsr_address address, uint64_t bytes) {
  if (!address.memory) return (unsigned char*)(uintptr_t)address.offset;
  if (address.offset > address.memory->size || bytes > address.memory->size - address.offset) return NULL;
  return address.memory->bytes + address.offset;
}

/* Bytes from the first to the last that a copy touches; UINT64_MAX when that is beyond counting. */
static uint64_t extent(uint64_t bytes, const uint64_t rows[2], const uint64_t stride[2]) {
  uint64_t total = bytes;
  for (int d = 0; d < 2; ++d) {
    uint64_t step = 0;
    if (rows[d] > 1 &&
        (__builtin_mul_overflow(rows[d] - 1, stride[d], &step) || __builtin_add_overflow(total, step, &total)))
      return UINT64_MAX;
  }
  return total;
}

static tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* c) {
  if (!stream || !c) return report(TSR_INVALID_ARGUMENT, "NULL argument");
  if ((c->source_space.device && c->source_space.device != device) ||
      (c->destination_space.device && c->destination_space.device != device))
    return report(TSR_UNIMPLEMENTED, "mini copies between itself and the host only");
  if (!is_of(device, c->source) || !is_of(device, c->destination))
    return report(TSR_INVALID_ARGUMENT, "this is no memory of the device");
  if (c->bytes == 0) return TSR_OK;
  const uint64_t rows = c->rows[0] > 1 ? c->rows[0] : 1, planes = c->rows[1] > 1 ? c->rows[1] : 1;
  unsigned char* to = resolve(c->destination, extent(c->bytes, c->rows, c->destination_stride));
  const unsigned char* from = resolve(c->source, extent(c->bytes, c->rows, c->source_stride));
#ifdef MINI_FAULT_RANGES
  if (!to || !from) return TSR_OK;
#endif
  if (!to || !from) return report(TSR_OUT_OF_RANGE, "the copy leaves its allocation");
  for (uint64_t plane = 0; plane < planes; ++plane)
    for (uint64_t row = 0; row < rows; ++row)
#ifdef MINI_FAULT_STRIDES
      memcpy(to + (plane * rows + row) * c->bytes, from + (plane * rows + row) * c->bytes, c->bytes);
#else
      memcpy(to + row * c->destination_stride[0] + plane * c->destination_stride[1],
             from + row * c->source_stride[0] + plane * c->source_stride[1], c->bytes);
#endif
  return TSR_OK;
}

#ifdef MINI_HOST_TASKS /* host tasks and all about streams, done inside the calls */
static tsr_status stream_wait(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  (void)device, (void)ticket; /* whoever has a ticket has a point that is reached */
  return stream ? TSR_OK : report(TSR_INVALID_ARGUMENT, "NULL stream");
}

static tsr_status stream_host_wait(tsr_device* device, tsr_ticket ticket, uint64_t timeout_ns) {
  (void)device, (void)ticket, (void)timeout_ns;
  return TSR_OK;
}

static tsr_status stream_callback(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  (void)device;
  if (!stream || !function) return report(TSR_INVALID_ARGUMENT, "NULL argument");
  function(argument);
  return TSR_OK;
}

static tsr_status host_task(tsr_device* device, tsr_stream* stream, tsr_status (*function)(void*, void* const*),
                            void* argument, const tsr_address* ranges, uint32_t range_count, double modelled_flops) {
  (void)device, (void)modelled_flops;
  void* bases[8] = {0};
  if (!stream || !function || range_count > 8)
    return report(TSR_INVALID_ARGUMENT, "a NULL argument, or more ranges than eight");
  for (uint32_t i = 0; i < range_count; ++i)
    if (!(bases[i] = resolve(ranges[i], 1))) return report(TSR_OUT_OF_RANGE, "a range leaves its allocation");
  const tsr_status status = function(argument, bases);
  pthread_mutex_lock(&guard);
  if (!stream->pending) stream->pending = status == TSR_DEVICE_LOST ? TSR_INTERNAL : status; /* mini cannot be lost */
  pthread_mutex_unlock(&guard);
  return TSR_OK;
}
#endif

static const tsr_device_table device_table = {
#ifdef MINI_WRONG_SHORT_TABLE
    .struct_size = offsetof(tsr_device_table, copy), /* so that `copy`, though set, is not there */
#else
    .struct_size = sizeof(tsr_device_table),
#endif
    .spaces = spaces,
    .link = link_of,
    .mem_alloc = mem_alloc,
    .mem_free = mem_free,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_signal = stream_signal,
    .stream_progress = stream_progress,
#ifndef MINI_WRONG_MISSING_ENTRY
    .copy = copy,
#endif
#ifdef MINI_WRONG_MISSING_BASE
    .mem_base = 1 ? NULL : mem_base,
#else
    .mem_base = mem_base,
#endif
#ifdef MINI_HOST_TASKS
    .stream_wait = stream_wait,
    .stream_host_wait = stream_host_wait,
    .stream_callback = stream_callback,
    .host_task = host_task,
#endif
};

/* One BLAS operation, so that the suite has one to check: axpy for float64. */
static bool blas_supports(tsr_device* device, tsr_blas_operation operation, tsr_type type) {
  (void)device;
  return operation == TSR_BLAS_AXPY && type == TSR_F64;
}

/* What a vector of n doubles spans; UINT64_MAX when that is beyond counting. */
static uint64_t vector_bytes(int64_t n, int64_t increment) {
  const uint64_t step = increment < 0 ? 0 - (uint64_t)increment : (uint64_t)increment;
  uint64_t bytes = 0;
  if (n == 0) return 0;
  if (__builtin_mul_overflow((uint64_t)n - 1, step, &bytes) || __builtin_add_overflow(bytes, 1, &bytes) ||
      __builtin_mul_overflow(bytes, sizeof(double), &bytes))
    return UINT64_MAX;
  return bytes;
}

static tsr_status axpy(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* a) {
  if (!device || !stream || !a) return report(TSR_INVALID_ARGUMENT, "NULL argument");
  if (a->type != TSR_F64) return report(TSR_UNIMPLEMENTED, "float64 only");
  if (a->n < 0 || !a->alpha) return report(TSR_INVALID_ARGUMENT, "a negative number of elements, or no alpha");
  if (!is_of(device, a->x) || !is_of(device, a->y) ||
      (a->n > 0 && ((!a->x.memory && !a->x.offset) || (!a->y.memory && !a->y.offset))))
    return report(TSR_INVALID_ARGUMENT, "this is no memory of the device");
  const double alpha = *(const double*)a->alpha;
  const double* x = (const double*)(const void*)resolve(a->x, vector_bytes(a->n, a->incx));
  double* y = (double*)(void*)resolve(a->y, vector_bytes(a->n, a->incy));
  if (a->n > 0 && (!x || !y)) return report(TSR_OUT_OF_RANGE, "a vector leaves its allocation");
#ifndef MINI_FAULT_ENDS /* with a negative increment the address is that of the last element */
  if (a->incx < 0) x -= (a->n - 1) * a->incx;
#ifndef MINI_FAULT_AXPY
  if (a->incy < 0) y -= (a->n - 1) * a->incy;
#endif
#endif
#if defined(MINI_FAULT_AXPY)
  for (int64_t i = 0; i < a->n; ++i) y[i] += alpha * x[i * a->incx];
#elif defined(MINI_FAULT_ENDS)
  for (int64_t i = 0; i < a->n; ++i) y[i * llabs(a->incy)] += alpha * x[i * llabs(a->incx)];
#else
  for (int64_t i = 0; i < a->n; ++i) y[i * a->incy] += alpha * x[i * a->incx];
#endif
  return TSR_OK;
}

static const tsr_blas_table blas_table = {
    .struct_size = sizeof(tsr_blas_table), .version = 1, .library = "mini", .supports = blas_supports, .axpy = axpy};

static tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, uint32_t min_version,
                            const void** out_table) {
  (void)plugin, (void)device;
#ifdef MINI_WRONG_SPARSE
  static const tsr_sparse_table empty = {.struct_size = sizeof(tsr_sparse_table), .version = 1};
  if (id == TSR_EXTENSION_SPARSE) {
    *out_table = &empty;
    return TSR_OK;
  }
#endif
  if (id != TSR_EXTENSION_BLAS || min_version > 1) return report(TSR_UNIMPLEMENTED, "no such extension");
  *out_table = &blas_table;
  return TSR_OK;
}

static tsr_status enumerate(tsr_plugin* plugin, uint32_t index, tsr_device_desc* out_desc, uint32_t* out_count) {
  *out_count = plugin->device_count;
  if (!out_desc) return TSR_OK;
  if (index >= plugin->device_count) return report(TSR_OUT_OF_RANGE, "no such device");
  tsr_device_desc desc = {0};
  desc.device_class = TSR_DEVICE_ACCELERATOR;
  desc.numa_node = -1;
#ifndef MINI_WRONG_NO_MEMORY
  desc.space_count = 1;
#endif
  desc.compute_units = 1;
  snprintf(desc.name, sizeof desc.name, "mini device %u", (unsigned)index);
#ifdef MINI_FAULT_CLAIM
  desc.capabilities |= TSR_DEVICE_INLINE;
#endif
  desc.uuid[0] = 0x6d;
#ifdef MINI_FAULT_UUIDS_CHANGE
  static uint8_t asked = 0;
  desc.uuid[1] = ++asked;
#endif
#ifndef MINI_FAULT_UUIDS_TWICE
  desc.uuid[2] = (uint8_t)(index + 1);
#endif
#ifdef MINI_FAULT_UNTERMINATED
  memset(desc.name, 'm', sizeof desc.name);
#endif
  fill_out(out_desc, &desc, sizeof desc);
#ifdef MINI_FAULT_ROOM
  memset((char*)out_desc + sizeof *out_desc, 0, 8);
#endif
  return TSR_OK;
}

static tsr_status device_open(tsr_plugin* plugin, uint32_t index, tsr_device** out_device,
                              const tsr_device_table** out_table) {
  if (index >= plugin->device_count) return report(TSR_OUT_OF_RANGE, "no such device");
#ifdef MINI_WRONG_DEVICE_OPEN_HANGS
  for (;;) sleep(1);
#endif
#ifdef MINI_WRONG_DEVICE_OPEN_FAILS
  return report(TSR_UNAVAILABLE, "the cable is not plugged in");
#endif
#ifdef MINI_WRONG_NULL_DEVICE
  *out_device = NULL;
#else
  *out_device = &plugin->devices[index];
#endif
  *out_table = &device_table;
  return TSR_OK;
}

static tsr_status device_close(tsr_plugin* plugin, tsr_device* device) {
  (void)plugin;
  while (device->streams) stream_destroy(device, device->streams);
  while (device->memories) mem_free(device, device->memories);
  return TSR_OK;
}

static tsr_status shutdown_plugin(tsr_plugin* plugin) {
  for (uint32_t i = 0; i < plugin->device_count; ++i) device_close(plugin, &plugin->devices[i]);
  return TSR_OK;
}

static const tsr_plugin_table plugin_table = {
    .struct_size = sizeof(tsr_plugin_table),
    .enumerate = enumerate,
    .device_open = device_open,
    .device_close = device_close,
    .extension = extension,
    .shutdown = shutdown_plugin,
};

static uint32_t probe(const tsr_host* host, char* reason, uint32_t reason_bytes) {
  (void)host;
#ifdef MINI_WRONG_PROBE_HANGS
  for (;;) sleep(1);
#endif
#ifdef MINI_WRONG_PROBE
  if (reason && reason_bytes > 0) snprintf(reason, reason_bytes, "no driver of this device is installed");
  return 0;
#else
  (void)reason;
  (void)reason_bytes;
  return 10;
#endif
}

static tsr_status open_plugin(const tsr_host* host, const tsr_option_value* options, uint32_t option_count,
                              tsr_plugin** out_plugin, const void** out_table) {
  the_plugin.host = host;
#ifdef MINI_WRONG_OPEN_FAILS
  return report(TSR_PERMISSION_DENIED, "the driver refused: /dev/mini is for the group mini");
#endif
#ifdef MINI_WRONG_UNDEFINED_SYMBOL
  if (mini_symbol_that_nobody_defines() != 0) return TSR_INTERNAL;
#endif
  the_plugin.device_count = 1;
  memset(the_plugin.devices, 0, sizeof the_plugin.devices);
  for (uint32_t d = 0; d < device_limit; ++d) the_plugin.devices[d].capacity = UINT64_C(16) << 20;
  const char* bytes = (const char*)options;
  for (uint32_t i = 0; i < option_count; ++i) { /* steps by the host's struct_size, rule R1 */
#ifdef MINI_FAULT_ARRAY
    const tsr_option_value* option = (const tsr_option_value*)(const void*)(bytes + (size_t)i * sizeof *options);
    if (!option->name) continue;
#else
    const tsr_option_value* option = (const tsr_option_value*)(const void*)(bytes + (size_t)i * options->struct_size);
#endif
    unsigned index = 0;
    char key[32];
    if (strcmp(option->name, "clock") == 0 && option->text && strcmp(option->text, "virtual") == 0)
      return report(TSR_INVALID_ARGUMENT, "option \"clock\" is virtual, and mini has a real clock alone");
    if (strcmp(option->name, "count") == 0) the_plugin.device_count = (uint32_t)option->integer;
    if (sscanf(option->name, "device[%u].%31s", &index, key) == 2 && index < device_limit && strcmp(key, "memory") == 0)
      the_plugin.devices[index].capacity = (uint64_t)option->integer;
  }
#ifdef MINI_DRIFTING /* sound: as a disk that others use as well, it has another size whenever it is opened */
  static uint64_t taken_by_others = 0;
  taken_by_others += 4096;
  for (uint32_t d = 0; d < device_limit; ++d) the_plugin.devices[d].capacity -= taken_by_others;
#endif
#ifdef MINI_WRONG_NO_DEVICE
  the_plugin.device_count = 0;
#endif
  *out_plugin = &the_plugin;
  *out_table = &plugin_table;
  return TSR_OK;
}

static const tsr_option options[] = {
    {sizeof(tsr_option), TSR_OPTION_INT, "count", "1", 0, device_limit, NULL, "How many devices there are."},
    {sizeof(tsr_option), TSR_OPTION_BYTES, "device[].memory", "16 MiB", 4096, 1073741824, NULL,
     "Memory of the device."},
    {sizeof(tsr_option), TSR_OPTION_STRING, "clock", "real", 0, 0, "real|virtual", "Which clock runs."},
};

static const tsr_plugin_header header = {
    .struct_size = sizeof(tsr_plugin_header),
#ifdef MINI_WRONG_MAJOR
    .abi_major = TSR_ABI_MAJOR + 7,
#else
    .abi_major = TSR_ABI_MAJOR,
#endif
    .abi_minor = TSR_ABI_MINOR,
#ifdef MINI_WRONG_KIND
    .kind = 77,
#else
    .kind = TSR_PLUGIN_DEVICE,
#endif
#ifdef MINI_WRONG_SANITIZER
    .sanitizer = TSR_BUILD_SANITIZER == TSR_SANITIZER_THREAD ? TSR_SANITIZER_ADDRESS : TSR_SANITIZER_THREAD,
#else
    .sanitizer = TSR_BUILD_SANITIZER,
#endif
    .name = MINI_NAME,
    .vendor = "Tessera tests",
    .version = "1.0",
    .build = "test",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .probe = probe,
#ifndef MINI_WRONG_MISSING_OPEN
    .open = open_plugin,
#endif
};

#ifdef MINI_WRONG_NO_QUERY
TSR_EXPORT const tsr_plugin_header* another_name(uint32_t host_major, uint32_t host_minor);
TSR_EXPORT const tsr_plugin_header* another_name(uint32_t host_major, uint32_t host_minor) {
#else
TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(uint32_t host_major, uint32_t host_minor) {
#endif
  (void)host_minor;
#ifdef MINI_WRONG_MAJOR
  (void)host_major;
#else
  if (host_major != TSR_ABI_MAJOR) return NULL;
#endif
#ifdef MINI_WRONG_MISSING_OPEN
  (void)open_plugin;
#endif
#ifdef MINI_WRONG_MISSING_ENTRY
  (void)copy;
#endif
#ifdef MINI_WRONG_NULL_HEADER
  return (void)&header, NULL;
#elif defined(MINI_NEWER) /* of the next minor version, whose header has more at its end */
  static struct {
    tsr_plugin_header known;
    uint64_t younger[4];
  } newer;
  newer.known = header;
  newer.known.struct_size = sizeof newer;
  newer.known.abi_minor = TSR_ABI_MINOR + 1;
  newer.younger[0] = ~(uint64_t)0;
  return &newer.known;
#else
return &header;
#endif
}
