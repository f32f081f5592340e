#include "plugins/opencl/device_state.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "plugins/opencl/clblast.hpp"
#include "plugins/opencl/queue.hpp"

// Younger than the headers of some systems.
#ifndef CL_DEVICE_UUID_KHR
#define CL_DEVICE_UUID_KHR 0x106A
#endif
#ifndef CL_DEVICE_PCI_BUS_INFO_KHR
#define CL_DEVICE_PCI_BUS_INFO_KHR 0x410F
#endif

namespace tessera::gpu {
namespace opencl {
namespace {

thread_local int current = 0;

std::mutex options_guard;
program_options options_now;

std::string text_of_platform(cl_platform_id platform, cl_platform_info key) {
  char text[256] = {};
  cl().platform_info(platform, key, sizeof text - 1, text, nullptr);
  return text;
}

std::string text_of_device(cl_device_id device, cl_device_info key) {
  std::size_t bytes = 0;
  if (cl().device_info(device, key, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  cl().device_info(device, key, bytes, text.data(), nullptr);
  text.resize(std::strlen(text.c_str()));
  const auto begin = text.find_first_not_of(' ');
  return begin == text.npos ? std::string{} : text.substr(begin);
}

template <class Number>
Number number_of(cl_device_id device, cl_device_info key) {
  Number value{};
  cl().device_info(device, key, sizeof value, &value, nullptr);
  return value;
}

/// Threads and local memory that our kernels take for granted (kernels/multiply.cl has the largest tiles).
constexpr std::size_t group_threads = 256;
constexpr cl_ulong local_bytes = 32 * 1024;

std::string find_unfit(cl_device_id device) {
  if (number_of<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_FALSE) return "its driver says that it is not available";
  if (number_of<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) return "its driver has no compiler";
  if (number_of<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE) == CL_FALSE)
    return "its bytes are in another order than the host's";
  if (number_of<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE) < group_threads)
    return "its work groups have fewer than " + std::to_string(group_threads) + " threads";
  if (number_of<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE) < local_bytes)
    return "its local memory is less than 32 KiB";
  const std::string version = text_of_device(device, CL_DEVICE_VERSION);  // "OpenCL 1.2 …"
  if (version.compare(0, 9, "OpenCL 1.") == 0 && version.compare(0, 10, "OpenCL 1.2") < 0)
    return "it is older than OpenCL 1.2";
  return {};
}

/// PCI domain, bus, device, function.
struct pci_place {
  cl_uint part[4];
};

device_facts find_facts(cl_device_id device) {
  device_facts facts;
  const auto type = number_of<cl_device_type>(device, CL_DEVICE_TYPE);
  const bool is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  facts.device_class = (type & CL_DEVICE_TYPE_GPU) != 0 ? TSR_DEVICE_GPU : TSR_DEVICE_ACCELERATOR;
  facts.has_fp64 = number_of<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  std::snprintf(facts.name, sizeof facts.name, "%s", text_of_device(device, CL_DEVICE_NAME).c_str());
  pci_place pci{};
  if (cl().device_info(device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof pci, &pci, nullptr) == CL_SUCCESS)
    std::snprintf(facts.pci_address, sizeof facts.pci_address, "%04x:%02x:%02x.%x", pci.part[0] & 0xffffu,
                  pci.part[1] & 0xffu, pci.part[2] & 0xffu, pci.part[3] & 0xfu);
  cl().device_info(device, CL_DEVICE_UUID_KHR, sizeof facts.uuid, facts.uuid, nullptr);
  facts.bytes = number_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  // Memory that is the host's is not all for us.
  facts.free_bytes =
      number_of<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE ? facts.bytes / 2 : facts.bytes;
  facts.compute_units = static_cast<int>(number_of<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  facts.copy_engines = 1;
  facts.clock_hz = number_of<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY) * 1e6;
  facts.lanes_f32 = is_cpu ? static_cast<int>(number_of<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT)) : 64;
  const int lanes_f64 = is_cpu ? static_cast<int>(number_of<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE)) : 4;
  facts.lanes_f64 = facts.has_fp64 ? lanes_f64 : 0;
  return facts;
}

std::vector<std::unique_ptr<device_state>> find_all(std::string& why) {
  std::vector<std::unique_ptr<device_state>> found;
  if (!take_library(why)) return found;
  cl_uint platform_count = 0;
  const cl_int code = cl().platform_ids(0, nullptr, &platform_count);
  if (code != CL_SUCCESS || platform_count == 0) {
    why = std::string("no OpenCL driver answers (clGetPlatformIDs: ") + name_of(code) + ")";
    return found;
  }
  std::vector<cl_platform_id> platforms(platform_count);
  cl().platform_ids(platform_count, platforms.data(), nullptr);
  for (const cl_platform_id platform : platforms) {
    cl_uint count = 0;
    if (cl().device_ids(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> devices(count);
    cl().device_ids(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    for (const cl_device_id id : devices) {
      auto one = std::make_unique<device_state>();
      one->platform = platform;
      one->id = id;
      one->platform_name = text_of_platform(platform, CL_PLATFORM_NAME);
      one->platform_version = text_of_platform(platform, CL_PLATFORM_VERSION);
      one->name = text_of_device(id, CL_DEVICE_NAME);
      one->driver_version = text_of_device(id, CL_DRIVER_VERSION);
      one->facts = find_facts(id);
      one->unfit = find_unfit(id);
      found.push_back(std::move(one));
    }
  }
  if (found.empty()) why = "the drivers that are installed find no device";
  return found;
}

}  // namespace

const std::vector<std::unique_ptr<device_state>>& all_devices(std::string& why) {
  struct finding {
    std::string why;
    std::vector<std::unique_ptr<device_state>> devices = find_all(why);
  };
  static const auto* const found = new finding;  // stays: drivers keep threads that end after our statics
  why = found->why;
  return found->devices;
}

device_state& current_device() {
  std::string why;
  return *all_devices(why)[static_cast<std::size_t>(current)];
}

void set_program_options(const program_options& options) {
  const std::lock_guard lock(options_guard);
  options_now = options;
}

static std::shared_ptr<program_store> make_programs(const device_state& device, const program_options& options) {
  const std::string identity =
      device.platform_name + "\n" + device.platform_version + "\n" + device.name + "\n" + device.driver_version;
  return std::make_shared<program_store>(device.context, device.id, device.facts.has_fp64, identity, options);
}

error_t open(device_state& device) {
  program_options options;
  {
    const std::lock_guard lock(options_guard);
    options = options_now;
  }
  const std::shared_lock work(device.work);
  const std::lock_guard lock(device.mutex);
  if (device.ended) return {CL_DEVICE_NOT_AVAILABLE, "a device that was lost and is still in use"};
  if (device.context == nullptr) {
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                reinterpret_cast<cl_context_properties>(device.platform), 0};
    cl_int code = CL_SUCCESS;
    device.context = cl().create_context(properties, 1, &device.id, nullptr, nullptr, &code);
    if (code != CL_SUCCESS) {
      device.context = nullptr;
      return {code, "clCreateContext"};
    }
  }
  if (device.programs == nullptr) device.programs = make_programs(device, options);
  return {};
}

}  // namespace opencl

using namespace opencl;

error_t count_devices(int* out) {
  std::string why;
  *out = static_cast<int>(all_devices(why).size());
  return *out > 0 ? error_t{} : error_t(CL_DEVICE_NOT_FOUND, error_kind::no_device, why);
}

error_t use_device(int ordinal) noexcept {
  current = ordinal;
  return {};
}

error_t describe(int ordinal, device_facts& out) {
  std::string why;
  out = all_devices(why)[static_cast<std::size_t>(ordinal)]->facts;
  return {};
}

void revive_device(int ordinal) {
  std::string why;
  device_state& device = *all_devices(why)[static_cast<std::size_t>(ordinal)];
  const std::scoped_lock lock(options_guard, device.work, device.mutex);
  const bool other_options = device.programs != nullptr && device.programs->options() != options_now;
  const bool begins_anew = device.ended && device.queues.empty();
  if (other_options) device.programs = make_programs(device, options_now);  // launches under way keep theirs
  if (begins_anew) {
    device.programs.reset();
    device.buffers.clear();
    forget_clblast_kernels();
    cl().release_context(device.context);
    device.context = nullptr;
    device.ended = false;
  }
}

error_t allocate(void** out, std::size_t bytes) {
  device_state& device = current_device();
  if (error_t error = open(device); error.kind() != error_kind::none) return error;
  return device.buffers.create(device.context, bytes, out);
}

error_t release(void* memory) { return current_device().buffers.release(memory); }

}  // namespace tessera::gpu
