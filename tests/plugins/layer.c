/* A LAYER plugin: devices of the wrapped plugin get another vendor, and an open that goes through this layer is logged.
 * With LAYER_FAULT_... it breaks one promise. */
#include <tessera/plugin.h>

#include <string.h>

static const tsr_host* the_host;
static const tsr_plugin_header* inner;
static tsr_plugin_header outer;

static tsr_status open_inner(const tsr_host* host, const tsr_option_value* options, uint32_t option_count,
                             tsr_plugin** out_plugin, const void** out_table) {
  if (host->log != NULL) host->log(host->context, 1, "opened through the layer");
#ifdef LAYER_FAULT_OWN_WORDS
  const tsr_status status = inner->open(host, options, option_count, out_plugin, out_table);
  if (status != TSR_OK) host->error(host->context, status, "the layer cannot open what it wraps");
  return status;
#else
  return inner->open(host, options, option_count, out_plugin, out_table);
#endif
}

static const tsr_plugin_header* wrap(const tsr_plugin_header* given) {
  if (given->kind != TSR_PLUGIN_DEVICE) {
#ifndef LAYER_FAULT_SILENT
    the_host->error(the_host->context, TSR_UNIMPLEMENTED, "this layer wraps devices alone");
#endif
    return NULL;
  }
  inner = given;
  memset(&outer, 0, sizeof outer);
  memcpy(&outer, given, given->struct_size < sizeof outer ? given->struct_size : sizeof outer);
  outer.vendor = "wrapped";
  outer.open = open_inner;
#ifdef LAYER_FAULT_OPTIONS
  outer.option_count = 0;
#endif
  return &outer;
}

static const tsr_layer_table table = {sizeof(tsr_layer_table), wrap};

#define TABLE_PLUGIN_AT_OPEN the_host = host
#define TABLE_PLUGIN_KIND TSR_PLUGIN_LAYER
#include "table_plugin.h"
