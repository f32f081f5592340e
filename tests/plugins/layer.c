/* A LAYER plugin: devices of the wrapped plugin get another vendor, and an open that goes through this layer is logged.
 */
#include <tessera/plugin.h>

#include <string.h>

static const tsr_plugin_header* inner;
static tsr_plugin_header outer;

static tsr_status open_inner(const tsr_host* host, const tsr_option_value* options, uint32_t option_count,
                             tsr_plugin** out_plugin, const void** out_table) {
  host->log(host->context, 1, "opened through the layer");
  return inner->open(host, options, option_count, out_plugin, out_table);
}

static const tsr_plugin_header* wrap(const tsr_plugin_header* given) {
  if (given->kind != TSR_PLUGIN_DEVICE) return NULL;
  inner = given;
  memset(&outer, 0, sizeof outer);
  memcpy(&outer, given, given->struct_size < sizeof outer ? given->struct_size : sizeof outer);
  outer.vendor = "wrapped";
  outer.open = open_inner;
  return &outer;
}

static const tsr_layer_table table = {sizeof(tsr_layer_table), wrap};

#define TABLE_PLUGIN_KIND TSR_PLUGIN_LAYER
#include "table_plugin.h"
