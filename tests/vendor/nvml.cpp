// NVML of one device that is at any address: 250 W, 61 degrees, 1.5 GHz, 80 % busy, throttled by its power limit.
#include <tessera/plugin.h>

namespace {
int the_device = 0;
struct utilisation {
  unsigned gpu, memory;
};
}  // namespace

extern "C" {
TSR_EXPORT int nvmlInit_v2() { return 0; }
TSR_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** out) {
  *out = &the_device;
  return 0;
}
TSR_EXPORT int nvmlDeviceGetPowerUsage(void* device, unsigned* out) {
  *out = 250000;
  return device == &the_device ? 0 : 2;
}
TSR_EXPORT int nvmlDeviceGetTemperature(void*, int sensor, unsigned* out) {
  *out = 61;
  return sensor == 0 ? 0 : 2;
}
TSR_EXPORT int nvmlDeviceGetClockInfo(void*, int clock, unsigned* out) {
  *out = 1500;
  return clock == 1 ? 0 : 2;
}
TSR_EXPORT int nvmlDeviceGetUtilizationRates(void*, utilisation* out) {
  *out = {80, 20};
  return 0;
}
TSR_EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* out) {
  *out = 0x4;
  return 0;
}
}
