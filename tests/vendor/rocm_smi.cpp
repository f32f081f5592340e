// ROCm SMI of one device at 0000:c1:00.0: 300 W (of the socket, no average), 65 degrees at the junction (no edge), 1.7
// GHz, 40 % busy, 2 GiB in use.
#include <tessera/plugin.h>

#include <cstdint>

namespace {
struct frequencies {
#if !defined(OLD_FREQUENCIES)
  bool has_deep_sleep;
#endif
  unsigned supported, current;
  std::uint64_t hertz[33];
};
constexpr int not_supported = 2;
}  // namespace

extern "C" {
TSR_EXPORT int rsmi_init(std::uint64_t flags) { return flags == 0 ? 0 : 1; }
TSR_EXPORT int rsmi_num_monitor_devices(unsigned* out) {
  *out = 1;
  return 0;
}
TSR_EXPORT int rsmi_dev_pci_id_get(unsigned device, std::uint64_t* out) {
  *out = 0x3000c100;  // the third part of a divided device
  return device == 0 ? 0 : 1;
}
TSR_EXPORT int rsmi_dev_power_ave_get(unsigned, unsigned, std::uint64_t*) { return not_supported; }
TSR_EXPORT int rsmi_dev_current_socket_power_get(unsigned, std::uint64_t* out) {
  *out = 300000000;
  return 0;
}
TSR_EXPORT int rsmi_dev_temp_metric_get(unsigned, unsigned sensor, int metric, std::int64_t* out) {
  *out = 65000;
  return sensor == 1 && metric == 0 ? 0 : not_supported;
}
TSR_EXPORT int rsmi_dev_gpu_clk_freq_get(unsigned, int clock, frequencies* out) {
  *out = {};
  out->supported = 3;
  out->current = 1;
  out->hertz[0] = 500000000, out->hertz[1] = 1700000000, out->hertz[2] = 2100000000;
  return clock == 0 ? 0 : not_supported;
}
TSR_EXPORT int rsmi_dev_busy_percent_get(unsigned, unsigned* out) {
  *out = 40;
  return 0;
}
TSR_EXPORT int rsmi_dev_memory_usage_get(unsigned, int kind, std::uint64_t* out) {
  *out = std::uint64_t{2} << 30;
  return kind == 0 ? 0 : not_supported;
}
}
