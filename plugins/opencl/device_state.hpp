#pragma once
// One device of OpenCL: what it is, and what lives on it.
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "plugins/opencl/buffers.hpp"
#include "plugins/opencl/programs.hpp"
#include "plugins/opencl/runtime.hpp"

namespace tessera::gpu::opencl {

/// Stays as long as the process, like the driver that it is of. What is not constant is made by open and goes with
/// close.
struct device_state {
  cl_platform_id platform{};
  cl_device_id id{};
  std::string platform_name, platform_version, name, driver_version;
  device_facts facts;
  std::string unfit;  ///< why kernels cannot run there; "": they can

  cl_context context{};
  buffer_map buffers;

  std::mutex mutex;  ///< for the two that follow
  std::shared_ptr<program_store> programs;
  std::vector<queue*> queues;

  std::shared_mutex work;  ///< held shared while something is enqueued
  bool ended = false;      ///< under `work`: lost; nothing is enqueued from then on
};

/// All devices of all drivers, in the drivers' order; looked for at the first call, which loads the drivers. With none,
/// `why` says what is missing. Thread-safe.
const std::vector<std::unique_ptr<device_state>>& all_devices(std::string& why);

/// The calling thread's current device.
device_state& current_device();

/// Makes the context, if there is none. Fails for a device that was lost and is still in use.
error_t open(device_state& device);

/// How programs are made from now on, on every device that is opened afterwards.
void set_program_options(const program_options& options);

}  // namespace tessera::gpu::opencl
