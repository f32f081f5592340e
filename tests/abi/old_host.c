/* A host compiled against a frozen header: opens the plugin in argv[1] with its default options and sends bytes
 * through the first space of each device and back. Prints what went wrong and returns 1. */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/plugin.h>

static char last_error[256] = "";

static void take_error(void* context, tsr_status status, const char* message) {
  (void)context, (void)status;
  snprintf(last_error, sizeof last_error, "%s", message);
}

static int fail(const char* what, tsr_status status) {
  fprintf(stderr, "%s: status %d: %s\n", what, (int)status, last_error);
  return 1;
}

enum {
  option_limit = 64,
  bytes = 5000
};

/* The defaults of options outside arrays, as far as plugins use them: words, numbers and sizes. */
static uint32_t defaults(const tsr_plugin_header* header, tsr_option_value* values) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < header->option_count && count < option_limit; ++i) {
    const tsr_option* option =
        (const tsr_option*)(const void*)((const char*)header->options + (size_t)i * header->options->struct_size);
    if (strchr(option->name, '[') || !option->default_text) continue;
    tsr_option_value* value = &values[count++];
    memset(value, 0, sizeof *value);
    value->struct_size = sizeof *value;
    value->type = option->type;
    value->name = option->name;
    value->text = option->default_text;
    value->number = strtod(option->default_text, NULL);
    char* unit = NULL;
    value->integer = strtoll(option->default_text, &unit, 10);
    if (strcmp(option->default_text, "true") == 0) value->integer = 1;
    if (option->type == TSR_OPTION_BYTES && strchr(unit, 'K')) value->integer <<= 10;
    if (option->type == TSR_OPTION_BYTES && strchr(unit, 'M')) value->integer <<= 20;
    if (option->type == TSR_OPTION_BYTES && strchr(unit, 'G')) value->integer <<= 30;
  }
  return count;
}

static int round_trip(tsr_device* device, const tsr_device_table* table) {
  tsr_memory* memory = NULL;
  tsr_stream* stream = NULL;
  tsr_status status = table->mem_alloc(device, 0, bytes, &memory);
  if (status != TSR_OK) return fail("mem_alloc", status);
  if ((status = table->stream_create(device, TSR_STREAM_COMPUTE, &stream)) != TSR_OK)
    return fail("stream_create", status);
  unsigned char there[bytes], back[bytes];
  for (int i = 0; i < bytes; ++i) there[i] = (unsigned char)(i * 37 + 11), back[i] = 0;
  tsr_copy copy = {.struct_size = sizeof(tsr_copy),
                   .destination_space = {device, 0},
                   .destination = {memory, 0},
                   .source = {NULL, (uint64_t)(uintptr_t)there},
                   .bytes = bytes,
                   .rows = {1, 1}};
  if ((status = table->copy(device, stream, &copy)) != TSR_OK) return fail("copy to the device", status);
  copy.source_space = copy.destination_space, copy.source = copy.destination;
  copy.destination_space = (tsr_space_ref){NULL, 0};
  copy.destination = (tsr_address){NULL, (uint64_t)(uintptr_t)back};
  if ((status = table->copy(device, stream, &copy)) != TSR_OK) return fail("copy from the device", status);
  tsr_ticket ticket;
  if ((status = table->stream_signal(device, stream, &ticket)) != TSR_OK) return fail("stream_signal", status);
  for (uint64_t value = 0, failed = 0; value < ticket.value; sched_yield())
    if ((status = table->stream_progress(device, stream, &value, &failed)) != TSR_OK)
      return fail("stream_progress", status);
  if (memcmp(there, back, bytes) != 0) return fail("the bytes came back changed", TSR_DATA_LOSS);
  if ((status = table->stream_destroy(device, stream)) != TSR_OK) return fail("stream_destroy", status);
  if ((status = table->mem_free(device, memory)) != TSR_OK) return fail("mem_free", status);
  return 0;
}

int main(int count, char** arguments) {
  if (count != 2) return fprintf(stderr, "usage: abi_old_host PLUGIN\n"), 2;
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  tsr_plugin_query_function query;
  *(void**)&query = dlsym(library, "tsr_plugin_query");
  if (!query) return fail("no tsr_plugin_query", TSR_NOT_FOUND);
  const tsr_plugin_header* header = query(TSR_ABI_MAJOR, TSR_ABI_MINOR);
  if (!header) {
    fprintf(stderr, "the plugin does not serve a host of %u.%u\n", TSR_ABI_MAJOR, TSR_ABI_MINOR);
    return 1;
  }
  if (header->abi_major != TSR_ABI_MAJOR) return fail("another major version", TSR_UNIMPLEMENTED);

  const uint64_t cpus = 1;
  const tsr_host host = {sizeof(tsr_host), TSR_ABI_MAJOR, TSR_ABI_MINOR, NULL, take_error, NULL, &cpus, 1};
  tsr_option_value values[option_limit];
  const uint32_t value_count = defaults(header, values);
  tsr_plugin* plugin = NULL;
  const void* raw = NULL;
  tsr_status status = header->open(&host, values, value_count, &plugin, &raw);
  if (status != TSR_OK) return fail("open", status);
  const tsr_plugin_table* table = raw;
  uint32_t devices = 0;
  if ((status = table->enumerate(plugin, 0, NULL, &devices)) != TSR_OK) return fail("enumerate", status);
  if (devices == 0) return fail("no devices", TSR_NOT_FOUND);
  for (uint32_t i = 0; i < devices; ++i) {
    tsr_device* device = NULL;
    const tsr_device_table* device_table = NULL;
    if ((status = table->device_open(plugin, i, &device, &device_table)) != TSR_OK) return fail("device_open", status);
    if (device_table->struct_size < sizeof(tsr_device_table))
      return fail("a table shorter than the host's", TSR_INTERNAL);
    if (round_trip(device, device_table) != 0) return 1;
    if ((status = table->device_close(plugin, device)) != TSR_OK) return fail("device_close", status);
  }
  if ((status = table->shutdown(plugin)) != TSR_OK) return fail("shutdown", status);
  printf("%s %s (ABI %u.%u): %u devices served a host of %u.%u\n", header->name, header->version ? header->version : "",
         (unsigned)header->abi_major, (unsigned)header->abi_minor, (unsigned)devices, TSR_ABI_MAJOR, TSR_ABI_MINOR);
  return 0;
}
