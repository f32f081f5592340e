// AMD's librocm_smi64. (Its successor libamd_smi tells the same by structs that differ from version to version.)
#include <iterator>
#include <utility>

#include "plugins/gpu_common/libraries/sensors.hpp"

namespace tessera::gpu {
namespace {

// As C sees it, with the numbers of rocm_smi.h. Devices are counted; power is in microwatts, temperature in thousandths
// of a degree.
using count_function = int (*)(std::uint32_t* out);
using address_function = int (*)(std::uint32_t device, std::uint64_t* out);
using power_function = int (*)(std::uint32_t device, std::uint32_t sensor, std::uint64_t* out);
using socket_power_function = int (*)(std::uint32_t device, std::uint64_t* out);
using temperature_function = int (*)(std::uint32_t device, std::uint32_t sensor, int metric, std::int64_t* out);
using load_function = int (*)(std::uint32_t device, std::uint32_t* out);
using memory_function = int (*)(std::uint32_t device, int kind, std::uint64_t* out);
using clock_function = int (*)(std::uint32_t device, int clock, void* out);
constexpr int now = 0, of_the_system = 0, video_memory = 0;
constexpr std::uint32_t edge = 0, junction = 1;                // sensors of temperature
constexpr std::uint64_t partition = std::uint64_t{0xf} << 28;  // in an address: which part of a divided device

// rsmi_frequencies_t: before ROCm 6, and from then on. More room than either has.
struct frequencies_5 {
  std::uint32_t supported, current;
  std::uint64_t hertz[64];
};
struct frequencies_6 {
  bool has_deep_sleep;
  std::uint32_t supported, current;
  std::uint64_t hertz[64];
};

class rocm_smi final : public sensors {
 public:
  explicit rocm_smi(shared_library library) : m_library(std::move(library)) {}

  std::vector<tsr_counter> read(const std::string& pci_address) const override {
    std::vector<tsr_counter> all;
    const auto device = device_at(pci_address);
    if (!device) return all;
    if (const auto power = milliwatts(pci_address)) all.push_back({"power", "W", static_cast<double>(*power) / 1e3});
    std::int64_t thousandths = 0;
    const auto temperature = m_library.function<temperature_function>("rsmi_dev_temp_metric_get");
    if (temperature != nullptr &&
        (temperature(*device, edge, now, &thousandths) == 0 || temperature(*device, junction, now, &thousandths) == 0))
      all.push_back({"temperature", "degrees Celsius", static_cast<double>(thousandths) / 1e3});
    if (const auto hertz = clock(*device)) all.push_back({"clock", "Hz", static_cast<double>(*hertz)});
    std::uint32_t percent = 0;
    const auto load = m_library.function<load_function>("rsmi_dev_busy_percent_get");
    if (load != nullptr && load(*device, &percent) == 0) all.push_back({"load", "", percent / 100.0});
    std::uint64_t bytes = 0;
    const auto memory = m_library.function<memory_function>("rsmi_dev_memory_usage_get");
    if (memory != nullptr && memory(*device, video_memory, &bytes) == 0)
      all.push_back({"memory_used", "bytes", static_cast<double>(bytes)});
    return all;
  }

  std::optional<std::uint64_t> milliwatts(const std::string& pci_address) const override {
    const auto device = device_at(pci_address);
    if (!device) return std::nullopt;
    std::uint64_t microwatts = 0;
    // Younger devices tell the power of the socket at the moment alone, older ones the average alone.
    const auto average = m_library.function<power_function>("rsmi_dev_power_ave_get");
    const auto socket = m_library.function<socket_power_function>("rsmi_dev_current_socket_power_get");
    if ((average == nullptr || average(*device, 0, &microwatts) != 0) &&
        (socket == nullptr || socket(*device, &microwatts) != 0))
      return std::nullopt;
    return microwatts / 1000;
  }

 private:
  /// A device that does not know where it is (an emulated one) is the only one that there is, if there is one.
  std::optional<std::uint32_t> device_at(const std::string& pci_address) const {
    const auto count = m_library.function<count_function>("rsmi_num_monitor_devices");
    const auto address = m_library.function<address_function>("rsmi_dev_pci_id_get");
    const auto wanted = packed_pci_address(pci_address);
    std::uint32_t devices = 0;
    if (count == nullptr || address == nullptr || count(&devices) != 0) return std::nullopt;
    if (!wanted) return pci_address.empty() && devices == 1 ? std::optional<std::uint32_t>(0) : std::nullopt;
    for (std::uint32_t device = 0; device < devices; ++device) {
      std::uint64_t value = 0;
      if (address(device, &value) == 0 && (value & ~partition) == *wanted) return device;
    }
    return std::nullopt;
  }

  std::optional<std::uint64_t> clock(std::uint32_t device) const {
    const auto ask = m_library.function<clock_function>("rsmi_dev_gpu_clk_freq_get");
    if (ask == nullptr) return std::nullopt;
    const auto read = [&](auto known) -> std::optional<std::uint64_t> {
      if (ask(device, of_the_system, &known) != 0 || known.current >= known.supported ||
          known.current >= std::size(known.hertz))
        return std::nullopt;
      return known.hertz[known.current];
    };
    const bool young = m_library.name() == "librocm_smi64.so.6" || m_library.name() == "librocm_smi64.so.7";
    return young ? read(frequencies_6{}) : read(frequencies_5{});
  }

  shared_library m_library;
};

}  // namespace

std::unique_ptr<const sensors> find_rocm_smi(const library_search& where, std::string& out_why) {
  // ROCm's of the major versions 7, 6 and 5, and Debian's, which is one of 5.
  shared_library library({"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1"},
                         where);
  const auto begin = library.function<int (*)(std::uint64_t)>("rsmi_init");
  const int wrong = begin != nullptr ? begin(0) : -1;
  if (wrong == 0) return std::make_unique<const rocm_smi>(std::move(library));
  if (!library)
    out_why = "ROCm SMI (" + library.complaint() + ")";
  else
    out_why = "ROCm SMI (" + library.name() +
              (begin == nullptr ? " has no rsmi_init)" : " does not begin: status " + std::to_string(wrong) + ")");
  return nullptr;
}

}  // namespace tessera::gpu
