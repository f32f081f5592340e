/* A transport with one thing wrong, by a definition: WRONG_... */
#include <tessera/transport.h>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

#ifdef WRONG_SHORT_TABLE
static tsr_status describe(tsr_transport* transport, tsr_transport_desc* out_desc) {
  (void)transport, (void)out_desc;
  return TSR_OK;
}
static tsr_status shutdown(tsr_transport* transport) {
  (void)transport;
  return TSR_OK;
}
static const tsr_transport_table table = {sizeof table, describe, NULL, NULL, shutdown};
#endif

#ifndef WRONG_NO_OPEN
static tsr_status open(const tsr_host* host, const tsr_option_value* options, uint32_t option_count,
                       tsr_transport** out_transport, const tsr_transport_table** out_table) {
  (void)options, (void)option_count, (void)out_transport, (void)out_table;
#ifdef WRONG_SHORT_TABLE
  static int transport;
  *out_transport = (tsr_transport*)&transport;
  *out_table = &table;
  (void)host;
  return TSR_OK;
#else
  host->error(host->context, TSR_UNAVAILABLE, "the cable is not plugged in");
  return TSR_UNAVAILABLE;
#endif
}
#define WRONG_OPEN open
#else
#define WRONG_OPEN NULL
#endif

static const tsr_transport_header header = {
#ifdef WRONG_SHORT_HEADER
    .struct_size = 8,
#else
    .struct_size = sizeof(tsr_transport_header),
#endif
#ifdef WRONG_MAJOR
    .abi_major = TSR_TRANSPORT_MAJOR + 7,
#else
    .abi_major = TSR_TRANSPORT_MAJOR,
#endif
    .abi_minor = TSR_TRANSPORT_MINOR,
#ifdef WRONG_SANITIZER
    .sanitizer = 77,
#else
    .sanitizer = TSR_BUILD_SANITIZER,
#endif
#ifdef WRONG_NAME
    .name = "Not A Name",
#else
    .name = MINI_NAME,
#endif
    .vendor = "test",
    .version = "1",
    .build = "",
    .open = WRONG_OPEN,
};

#ifndef WRONG_NO_QUERY
const tsr_transport_header* tsr_transport_query(uint32_t host_major, uint32_t host_minor) {
  (void)host_major, (void)host_minor;
#ifdef WRONG_NULL_HEADER
  return header.struct_size == 0 ? &header : NULL;
#else
  return &header;
#endif
}
#else
const tsr_transport_header* const tsr_something_else = &header;
#endif
