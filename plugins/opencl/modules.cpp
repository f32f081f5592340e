// Modules of OpenCL: the driver's binaries, and SPIR-V where it takes that. A kernel's pointer is two of its
// parameters, the buffer and a `long`, the offset in bytes, because an address of the ABI is both.
#include "plugins/gpu_common/abi/modules.hpp"

#include <array>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "plugins/kit/abi/launch_check.hpp"
#include "plugins/kit/jit/kernel_text.hpp"
#include "plugins/opencl/launch.hpp"

namespace tessera::gpu {
namespace {

using namespace opencl;

struct loaded_program {
  explicit loaded_program(cl_program program) : native(program) {}
  loaded_program(const loaded_program&) = delete;
  loaded_program& operator=(const loaded_program&) = delete;
  ~loaded_program() { cl().release_program(native); }
  const cl_program native;
};

/// Arguments are set and the launch is enqueued with the mutex held.
struct entry_point {
  explicit entry_point(const char* given) : name(given) {}
  entry_point(const entry_point&) = delete;
  entry_point& operator=(const entry_point&) = delete;
  ~entry_point() {
    if (native != nullptr) cl().release_kernel(native);
  }
  const std::string name;
  const char* description = nullptr;  // for messages: see command
  cl_kernel native = nullptr;
  cl_uint parameters = 0;
  std::mutex mutex;
};

/// The same text for as long as the process lives.
const char* kept(const std::string& text) {
  static std::mutex guard;
  static auto* const texts = new std::set<std::string>;
  const std::lock_guard lock(guard);
  return texts->insert(text).first->c_str();
}

/// One argument: one parameter, or two for an address.
cl_int set_argument(tsr_device* device, entry_point& kernel, cl_uint& index, const void* value, std::uint32_t size,
                    tsr_status& wrong) {
  if (size != sizeof(tsr_address)) return cl().set_argument(kernel.native, index++, size, value);
  tsr_address address;
  std::memcpy(&address, value, sizeof address);
  place at{};
  if (address.memory != nullptr || address.offset != 0) {
    void* known = nullptr;
    const std::string name = "argument " + std::to_string(index) + " of '" + kernel.name + "'";
    wrong = operands(device).resolve(name.c_str(), address, address.memory == nullptr ? 1 : 0, &known);
    if (wrong != TSR_OK) return CL_SUCCESS;
    at = current_device().buffers.find(known);
  }
  const cl_long offset = static_cast<cl_long>(at.offset);
  const cl_int code = cl().set_argument(kernel.native, index++, sizeof at.buffer, &at.buffer);
  return code == CL_SUCCESS ? cl().set_argument(kernel.native, index++, sizeof offset, &offset) : code;
}

tsr_status refuse_argument(tsr_device* device, const entry_point& kernel, cl_uint index, cl_int code) {
  return device->report.fail(TSR_INVALID_ARGUMENT,
                             "launch of '%s': parameter %u of %u does not take what it is given: %s",
                             kernel.name.c_str(), index, kernel.parameters, name_of(code));
}

cl_program build(tsr_device* device, cl_program program, const std::string& options, tsr_status& status) {
  device_state& on = current_device();
  const cl_int code = cl().build_program(program, 1, &on.id, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  const bool about_the_text =
      code == CL_BUILD_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS || code == CL_INVALID_BINARY;
  std::string text =
      code == CL_BUILD_PROGRAM_FAILURE ? build_log(program, on.id) : std::string("clBuildProgram: ") + name_of(code);
  if (code == CL_INVALID_BUILD_OPTIONS) text += ": " + options;
  status = device->report.fail_with(about_the_text ? TSR_INVALID_ARGUMENT : TSR_UNKNOWN, text);
  cl().release_program(program);
  return nullptr;
}

tsr_status mem_native(tsr_device* device, tsr_memory* memory, void** out_native) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (memory == nullptr || out_native == nullptr)
      return device->report.fail(TSR_INVALID_ARGUMENT, "mem_native: a NULL argument");
    void* base = nullptr;
    if (const auto status = operands(device).resolve("the memory", {memory, 0}, 0, &base)) return status;
    *out_native = current_device().buffers.find(base).buffer;
    return TSR_OK;
  });
}

}  // namespace

bool has_modules() noexcept { return true; }
void put_vendor_entries_into(tsr_device_table& table) { table.mem_native = mem_native; }

tsr_status load_code(tsr_device* device, const void* image, std::uint64_t bytes, std::shared_ptr<void>& out) {
  device_state& on = current_device();
  if (const auto status = tell(device, opencl::open(on), "opening the device")) return status;
  constexpr std::array<unsigned char, 4> spirv{0x03, 0x02, 0x23, 0x07};
  const std::string copy(static_cast<const char*>(image), bytes);
  cl_program program = nullptr;
  if (bytes > spirv.size() && std::memcmp(image, spirv.data(), spirv.size()) == 0) {
    cl_int code = CL_INVALID_OPERATION;
    if (cl().create_program_with_il != nullptr) program = cl().create_program_with_il(on.context, image, bytes, &code);
    if (program == nullptr)
      return device->report.fail(TSR_INVALID_ARGUMENT, "the driver of '%s' does not take this SPIR-V: %s",
                                 device->facts.name, name_of(code));
  } else {
    program = from_binary(on.context, on.id, copy);
    if (program == nullptr)
      return device->report.fail(TSR_INVALID_ARGUMENT, "the image is no binary for '%s' (%s)", device->facts.name,
                                 on.driver_version.c_str());
  }
  tsr_status status = TSR_OK;
  if (build(device, program, "", status) == nullptr) return status;
  out = std::make_shared<loaded_program>(program);
  return TSR_OK;
}

tsr_status find_entry(tsr_device* device, void* code, const char* name, std::shared_ptr<void>& out) {
  auto made = std::make_shared<entry_point>(name);
  cl_int answer = CL_SUCCESS;
  made->native = cl().create_kernel(static_cast<loaded_program*>(code)->native, name, &answer);
  if (answer == CL_INVALID_KERNEL_NAME)
    return device->report.fail(TSR_NOT_FOUND, "there is no kernel '%s' in the module", name);
  if (answer != CL_SUCCESS)
    return tell(device, error_t(answer, std::string("clCreateKernel ") + name), "finding a kernel");
  cl().kernel_info(made->native, CL_KERNEL_NUM_ARGS, sizeof made->parameters, &made->parameters, nullptr);
  made->description = kept(made->name);
  out = std::move(made);
  return TSR_OK;
}

tsr_status launch_entry(tsr_device* device, tsr_stream* stream, void* entry, const tsr_launch* how) {
  entry_point& kernel = *static_cast<entry_point*>(entry);
  if (const auto status = kit::check_geometry(device->report, kernel.name.c_str(), how)) return status;
  if (how->shared_bytes != 0)
    return device->report.fail(TSR_UNIMPLEMENTED,
                               "launch of '%s': there is no memory of a group but what the kernel declares",
                               kernel.name.c_str());
  cl_uint wanted = 0;
  for (std::uint32_t i = 0; i < how->argument_count; ++i)
    wanted += how->argument_sizes[i] == sizeof(tsr_address) ? 2 : 1;
  if (wanted != kernel.parameters)
    return device->report.fail(TSR_INVALID_ARGUMENT,
                               "launch of '%s': %u arguments, which are %u parameters here, were given; it has %u",
                               kernel.name.c_str(), how->argument_count, wanted, kernel.parameters);
  const std::lock_guard lock(kernel.mutex);
  cl_uint index = 0;
  for (std::uint32_t i = 0; i < how->argument_count; ++i) {
    tsr_status wrong = TSR_OK;
    const cl_int code = set_argument(device, kernel, index, how->arguments[i], how->argument_sizes[i], wrong);
    if (wrong != TSR_OK) return wrong;
    if (code != CL_SUCCESS) return refuse_argument(device, kernel, index - 1, code);
  }
  std::size_t global[3], local[3];
  for (int d = 0; d < 3; ++d) local[d] = how->group[d], global[d] = local[d] * how->grid[d];
  queue& on = *state_of(stream).native;
  const auto error = on.enqueue(kernel.description, [&](cl_event* event) {
    return cl().enqueue_kernel(on.native(), kernel.native, 3, nullptr, global, local, 0, nullptr, event);
  });
  if (static_cast<int>(error) == CL_INVALID_WORK_GROUP_SIZE || static_cast<int>(error) == CL_INVALID_WORK_ITEM_SIZE)
    return device->report.fail(TSR_INVALID_ARGUMENT,
                               "launch of '%s': '%s' takes no group of %u x %u x %u threads for it",
                               kernel.name.c_str(), device->facts.name, how->group[0], how->group[1], how->group[2]);
  return tell(device, error, "launch");
}

void find_compiler(tsr_plugin&) {}  // devices without one are not used
bool has_compiler(const tsr_plugin&) noexcept { return true; }

std::string compiler_identity(const tsr_device&) {
  const device_state& on = current_device();
  return on.platform_name + "; " + on.platform_version + "; " + on.driver_version;
}

tsr_status compile_code(tsr_device* device, const char* text, const char* options, std::string& image) {
  device_state& on = current_device();
  if (const auto status = tell(device, opencl::open(on), "opening the device")) return status;
  const std::string source = kit::opencl_source(text, device->facts.has_fp64);
  const char* begin = source.c_str();
  cl_int code = CL_SUCCESS;
  const cl_program program = cl().create_program_with_source(on.context, 1, &begin, nullptr, &code);
  if (code != CL_SUCCESS) return tell(device, error_t(code, "clCreateProgramWithSource"), "compiling");
  tsr_status status = TSR_OK;
  if (build(device, program, std::string("-cl-std=CL1.2 ") + (options != nullptr ? options : ""), status) == nullptr)
    return status;
  image = binary_of(program);
  cl().release_program(program);
  return image.empty() ? device->report.fail(TSR_UNKNOWN, "the driver of '%s' gives no binary", device->facts.name)
                       : TSR_OK;
}

}  // namespace tessera::gpu
