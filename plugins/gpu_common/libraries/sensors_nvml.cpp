// NVML, where the driver brings it.
#include <utility>

#include "plugins/gpu_common/libraries/sensors.hpp"

namespace tessera::gpu {
namespace {

// Of NVML, as C sees it. Its numbers stand in nvml.h: sensors and clocks by enumeration, reasons as bits.
using device_function = int (*)(const char* pci_address, void** out_device);
using number_function = int (*)(void* device, unsigned* out);
using chosen_number_function = int (*)(void* device, int choice, unsigned* out);
using reasons_function = int (*)(void* device, unsigned long long* out);
struct utilisation {
  unsigned gpu, memory;
};
using utilisation_function = int (*)(void* device, utilisation* out);
constexpr int sensor_of_the_chip = 0, clock_of_the_units = 1;
constexpr unsigned long long idle = 0x1, as_the_user_set_it = 0x2;  // no throttling

class nvml final : public sensors {
 public:
  explicit nvml(shared_library library) : m_library(std::move(library)) {}
  std::vector<tsr_counter> read(const std::string& pci_address) const override;
  std::optional<std::uint64_t> milliwatts(const std::string& pci_address) const override;

 private:
  void* device_at(const std::string& pci_address) const;
  shared_library m_library;
};

void* nvml::device_at(const std::string& pci_address) const {
  const auto find = m_library.function<device_function>("nvmlDeviceGetHandleByPciBusId_v2");
  void* device = nullptr;
  return find != nullptr && find(pci_address.c_str(), &device) == 0 ? device : nullptr;
}

std::optional<std::uint64_t> nvml::milliwatts(const std::string& pci_address) const {
  void* const device = device_at(pci_address);
  const auto power = m_library.function<number_function>("nvmlDeviceGetPowerUsage");
  unsigned value = 0;
  if (device == nullptr || power == nullptr || power(device, &value) != 0) return std::nullopt;
  return value;
}

std::vector<tsr_counter> nvml::read(const std::string& pci_address) const {
  std::vector<tsr_counter> all;
  void* const device = device_at(pci_address);
  if (device == nullptr) return all;
  if (const auto power = milliwatts(pci_address)) all.push_back({"power", "W", static_cast<double>(*power) / 1e3});
  unsigned value = 0;
  const auto temperature = m_library.function<chosen_number_function>("nvmlDeviceGetTemperature");
  if (temperature != nullptr && temperature(device, sensor_of_the_chip, &value) == 0)
    all.push_back({"temperature", "degrees Celsius", static_cast<double>(value)});
  const auto clock = m_library.function<chosen_number_function>("nvmlDeviceGetClockInfo");
  if (clock != nullptr && clock(device, clock_of_the_units, &value) == 0)
    all.push_back({"clock", "Hz", static_cast<double>(value) * 1e6});
  utilisation used{};
  const auto load = m_library.function<utilisation_function>("nvmlDeviceGetUtilizationRates");
  if (load != nullptr && load(device, &used) == 0) all.push_back({"load", "", used.gpu / 100.0});
  unsigned long long reasons = 0;
  const auto throttled = m_library.function<reasons_function>("nvmlDeviceGetCurrentClocksThrottleReasons");
  if (throttled != nullptr && throttled(device, &reasons) == 0)
    all.push_back({"throttled", "", (reasons & ~(idle | as_the_user_set_it)) != 0 ? 1.0 : 0.0});
  return all;
}

}  // namespace

std::unique_ptr<const sensors> find_nvml(const library_search& where, std::string& out_why) {
  shared_library library({"libnvidia-ml.so.1"}, where);
  const auto begin = library.function<int (*)()>("nvmlInit_v2");
  const int wrong = begin != nullptr ? begin() : -1;
  if (wrong == 0) return std::make_unique<const nvml>(std::move(library));
  if (!library)
    out_why = "NVML (" + library.complaint() + ")";
  else
    out_why = "NVML (" + library.name() +
              (begin == nullptr ? " has no nvmlInit_v2)" : " does not begin: status " + std::to_string(wrong) + ")");
  return nullptr;
}

}  // namespace tessera::gpu
