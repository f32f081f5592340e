/* What is left of a plugin that is one table: included at the end of a file that has `table` and TABLE_PLUGIN_KIND.
 * With TABLE_PLUGIN_FAULT_... it breaks a promise of plugins of every kind. */
#include <tessera/plugin.h>

#include <string.h>
#include <time.h>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif
#ifndef TABLE_PLUGIN_AT_OPEN
#define TABLE_PLUGIN_AT_OPEN (void)0
#endif

static int token;

static tsr_status open_plugin(const tsr_host* host, const tsr_option_value* options, uint32_t option_count,
                              tsr_plugin** out_plugin, const void** out_table) {
#ifdef TABLE_PLUGIN_FAULT_STUCK
  static bool stuck;
  if (stuck) {
    stuck = false;
    host->error(host->context, TSR_UNAVAILABLE, "still at the option that was refused");
    return TSR_UNAVAILABLE;
  }
#endif
  const char* bytes = (const char*)options;
  for (uint32_t i = 0; i < option_count; ++i) { /* steps by the host's struct_size, rule R1 */
    const tsr_option_value* value = (const tsr_option_value*)(const void*)(bytes + (size_t)i * options->struct_size);
#ifdef TABLE_PLUGIN_FAULT_IGNORES
    continue;
#endif
    if (strcmp(value->name, "word") != 0 || value->text == NULL ||
        strspn(value->text, "abcdefghijklmnopqrstuvwxyz") == strlen(value->text))
      continue;
#ifdef TABLE_PLUGIN_FAULT_STUCK
    stuck = true;
#endif
    host->error(host->context, TSR_INVALID_ARGUMENT, "option \"word\" is letters");
    return TSR_INVALID_ARGUMENT;
  }
  TABLE_PLUGIN_AT_OPEN;
  *out_plugin = (tsr_plugin*)(void*)&token;
  *out_table = &table;
  return TSR_OK;
}

static uint32_t probe(const tsr_host* host, char* reason, uint32_t reason_bytes) {
  (void)host, (void)reason, (void)reason_bytes;
#ifdef TABLE_PLUGIN_FAULT_SLOW_PROBE
  nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
#endif
  return 1;
}

static const tsr_option table_options[] = {
    {sizeof(tsr_option), TSR_OPTION_STRING, "word", NULL, 0, 0, NULL, "Letters; anything else is refused."}};

TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(uint32_t host_major, uint32_t host_minor) {
  (void)host_minor;
  static const tsr_plugin_header header = {.struct_size = sizeof(tsr_plugin_header),
                                           .abi_major = TSR_ABI_MAJOR,
                                           .abi_minor = TSR_ABI_MINOR,
                                           .kind = TABLE_PLUGIN_KIND,
                                           .sanitizer = TSR_BUILD_SANITIZER,
                                           .name = MINI_NAME,
                                           .vendor = "Tessera tests",
                                           .version = "1.0",
                                           .build = "test",
                                           .options = table_options,
                                           .option_count = 1,
                                           .probe = probe,
                                           .open = open_plugin};
  return host_major == TSR_ABI_MAJOR ? &header : NULL;
}
