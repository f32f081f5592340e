#include "plugins/sim/settings.hpp"

#include <algorithm>
#include <iterator>

namespace tessera::sim {
namespace {

constexpr std::uint32_t size = sizeof(tsr_option);

const tsr_option options[] = {
    {size, TSR_OPTION_STRING, "clock", "real", 0, 0, "real|virtual",
     "real: copies and computations take their modelled time; virtual: nothing waits, each stream counts simulated "
     "time."},
    {size, TSR_OPTION_BOOL, "poison", "true", 0, 0, nullptr,
     "Fill fresh and freed device memory with a NaN pattern, so that reading what was never written shows."},
    {size, TSR_OPTION_BOOL, "shared", "false", 0, 0, nullptr,
     "Give out memory that other processes can map too, and offer keys for it (IPC); without huge pages."},
    {size, TSR_OPTION_INT, "blas_threads", nullptr, 1, 1024, nullptr,
     "Threads of one BLAS call, a setting of the whole process; leave it to the host plugin where that is loaded."},
    {size, TSR_OPTION_STRING, "compiler", nullptr, 0, 0, nullptr,
     "The C compiler for kernels that are compiled while the program runs: a path, or a name to be found in PATH; "
     "without it cc, gcc, clang or c++. Where there is none, the devices compile no kernels."},
    {size, TSR_OPTION_DURATION, "compile_limit", "60 s", 1, 3.6e12, nullptr,
     "How long that compiler may take for one text before it is ended."},
    {size, TSR_OPTION_STRING, "device[].name", nullptr, 0, 0, nullptr, "The device's name; sim0, sim1, … without it."},
    {size, TSR_OPTION_BYTES, "device[].memory", "1 GiB", 1, 9e18, nullptr, "Capacity of the device's memory."},
    {size, TSR_OPTION_RATE, "device[].bandwidth_in", "12 GiB/s", 1, 1e18, nullptr, "Host to device, bytes per second."},
    {size, TSR_OPTION_RATE, "device[].bandwidth_out", "12 GiB/s", 1, 1e18, nullptr,
     "Device to host, bytes per second."},
    {size, TSR_OPTION_RATE, "device[].memory_bandwidth", "100 GiB/s", 1, 1e18, nullptr,
     "Copies, fills and permutations inside the device, bytes per second."},
    {size, TSR_OPTION_DURATION, "device[].latency", "5 us", 0, 1e12, nullptr, "Of one copy from or to the host."},
    {size, TSR_OPTION_DURATION, "device[].launch_latency", "0 ns", 0, 1e12, nullptr,
     "What each kernel waits before it begins; the kernels of a launched graph wait once, together."},
    {size, TSR_OPTION_RATE, "device[].flops", "0", 0, 1e21, nullptr,
     "Operations per second of each compute stream; 0: as fast as the host computes."},
    {size, TSR_OPTION_FLOAT, "device[].kernel_speed", "1", 1e-6, 1e6, nullptr,
     "How fast it runs kernels that are compiled while the program runs, relative to one thread of the host. With a "
     "real clock it cannot be faster than the host."},
    {size, TSR_OPTION_INT, "device[].compute_streams", "2", 1, 256, nullptr, "Computations that run side by side."},
    {size, TSR_OPTION_INT, "device[].copy_engines", "2", 1, 16, nullptr,
     "1: copies from and to the host share one engine; more: each direction has its own."},
    {size, TSR_OPTION_INT, "device[].numa_node", "-1", -1, 1023, nullptr,
     "The NUMA domain that holds the device's memory and that it hangs on; -1: none in particular."},
    {size, TSR_OPTION_BYTES, "device[].max_allocation", "0", 0, 9e18, nullptr,
     "Bytes of one allocation, a limit that the device states; 0: none. A larger one is refused."},
    {size, TSR_OPTION_BYTES, "device[].max_copy", "0", 0, 9e18, nullptr,
     "Bytes of one copy, a limit that the device states; 0: none. A larger one is refused."},
    {size, TSR_OPTION_INT, "device[].max_streams", "0", 0, 4096, nullptr,
     "Streams that live at a time, a limit that the device states; 0: none. More are refused."},
    {size, TSR_OPTION_INT, "link[].from", nullptr, 0, 4095, nullptr, "Number of the source device of a peer link."},
    {size, TSR_OPTION_INT, "link[].to", nullptr, 0, 4095, nullptr, "Number of the destination device."},
    {size, TSR_OPTION_RATE, "link[].bandwidth", "40 GiB/s", 1, 1e18, nullptr, "Of this direction, bytes per second."},
    {size, TSR_OPTION_DURATION, "link[].latency", "3 us", 0, 1e12, nullptr, "Of one copy over the link."},
};

std::uint64_t positive(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)); }

}  // namespace

const tsr_option* option_schema(std::uint32_t& count) {
  static const std::vector<tsr_option> all = [] {
    std::vector<tsr_option> made(std::begin(options), std::end(options));
    fault::add_options(made, "inject_seed");
    return made;
  }();
  count = static_cast<std::uint32_t>(all.size());
  return all.data();
}

tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, settings& out) {
  settings result;
  const auto clock = option.text("clock", "real");
  if (clock != "real" && clock != "virtual")
    return report.fail(TSR_INVALID_ARGUMENT, "clock is '%s'; expected real or virtual", clock.c_str());
  result.virtual_clock = clock == "virtual";
  result.poison = option.flag("poison", true);
  result.shared = option.flag("shared", false);
  result.compiler = option.text("compiler", "");
  result.compile_limit_ns =
      positive(option.integer("compile_limit", static_cast<std::int64_t>(result.compile_limit_ns)));
  result.blas_threads = static_cast<int>(option.integer("blas_threads", 0));
  const auto device_count = std::max<std::size_t>(option.tables("device"), 1);
  if (device_count > 4096) return report.fail(TSR_INVALID_ARGUMENT, "%zu devices; at most 4096", device_count);
  for (std::size_t i = 0; i < device_count; ++i) {
    const std::string table = "device[" + std::to_string(i) + "].";
    device_settings d;
    d.name = option.text(table + "name", "sim" + std::to_string(i));
    d.memory = positive(option.integer(table + "memory", static_cast<std::int64_t>(d.memory)));
    d.bandwidth_in = option.number(table + "bandwidth_in", d.bandwidth_in);
    d.bandwidth_out = option.number(table + "bandwidth_out", d.bandwidth_out);
    d.memory_bandwidth = option.number(table + "memory_bandwidth", d.memory_bandwidth);
    d.latency_ns = positive(option.integer(table + "latency", static_cast<std::int64_t>(d.latency_ns)));
    d.launch_latency_ns =
        positive(option.integer(table + "launch_latency", static_cast<std::int64_t>(d.launch_latency_ns)));
    d.flops = option.number(table + "flops", d.flops);
    d.kernel_speed = option.number(table + "kernel_speed", d.kernel_speed);
    d.compute_streams = static_cast<std::uint32_t>(positive(option.integer(table + "compute_streams", 2)));
    d.copy_engines = static_cast<std::uint32_t>(positive(option.integer(table + "copy_engines", 2)));
    d.numa_node = static_cast<int>(option.integer(table + "numa_node", -1));
    d.max_allocation = positive(option.integer(table + "max_allocation", 0));
    d.max_copy = positive(option.integer(table + "max_copy", 0));
    d.max_streams = static_cast<std::uint32_t>(positive(option.integer(table + "max_streams", 0)));
    if (d.name.empty() || d.name.size() > 63)
      return report.fail(TSR_INVALID_ARGUMENT, "device %zu: a name has 1 to 63 bytes", i);
    for (const auto& other : result.devices)
      if (other.name == d.name) return report.fail(TSR_INVALID_ARGUMENT, "two devices are named '%s'", d.name.c_str());
    if (d.memory == 0 || !(d.bandwidth_in > 0) || !(d.bandwidth_out > 0) || !(d.memory_bandwidth > 0) ||
        !(d.flops >= 0) || !(d.kernel_speed > 0) || d.compute_streams == 0 || d.copy_engines == 0)
      return report.fail(TSR_INVALID_ARGUMENT,
                         "device '%s': memory, bandwidths, kernel_speed, compute_streams and copy_engines must "
                         "be positive, flops not negative",
                         d.name.c_str());
    result.devices.push_back(std::move(d));
  }
  for (std::size_t i = 0; i < option.tables("link"); ++i) {
    const std::string table = "link[" + std::to_string(i) + "].";
    const auto from = option.integer(table + "from", -1), to = option.integer(table + "to", -1);
    const auto last = static_cast<std::int64_t>(device_count) - 1;
    if (from < 0 || to < 0 || from > last || to > last || from == to)
      return report.fail(TSR_INVALID_ARGUMENT,
                         "link %zu goes from device %lld to %lld; expected two different ones of "
                         "0 to %lld",
                         i, static_cast<long long>(from), static_cast<long long>(to), static_cast<long long>(last));
    link_settings l;
    l.from = static_cast<std::uint32_t>(from);
    l.to = static_cast<std::uint32_t>(to);
    l.bandwidth = option.number(table + "bandwidth", l.bandwidth);
    l.latency_ns = positive(option.integer(table + "latency", static_cast<std::int64_t>(l.latency_ns)));
    if (!(l.bandwidth > 0)) return report.fail(TSR_INVALID_ARGUMENT, "link %zu: bandwidth must be positive", i);
    for (const auto& other : result.links)
      if (other.from == l.from && other.to == l.to)
        return report.fail(TSR_INVALID_ARGUMENT, "two links go from device %u to %u", l.from, l.to);
    result.links.push_back(l);
  }
  if (const auto status = fault::read_settings(report, option, "inject_seed", result.faults)) return status;
  out = std::move(result);
  return TSR_OK;
}

}  // namespace tessera::sim
