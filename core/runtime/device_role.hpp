#pragma once
// What a device is for in a runtime, in words: the answer to "why does it get no tasks?".
#include <string>
#include <vector>

#include "core/block/element_type.hpp"
#include "core/plugin/device.hpp"

namespace tessera {

/// A built-in operation that a device can run.
struct offered_operation {
  std::string name;                 ///< "gemm"
  std::vector<element_type> types;  ///< for which it can, at least one
};

struct device_role {
  bool runs_tasks = false;                    ///< tasks can be placed there
  std::string why_not;                        ///< where it does not, in words; "" where it does
  std::vector<offered_operation> operations;  ///< the built-in ones, whether tasks can be placed there or not
  bool compiles_kernels = false;              ///< texts of kernels, so that regions and users' kernels run there
  bool loads_kernels = false;                 ///< images of kernels
};

/// Whether a memory is the host's own: its cores, and nothing else, run tasks on blocks there.
bool is_host_memory(const plugin::space& space) noexcept;

/// By what the device says of itself. Any thread.
device_role role_of(const plugin::device& device);

/// "runs gemm, syrk (f32, f64), fill (f64); compiles kernels"; with `why_not`, where it runs no tasks.
std::string to_text(const device_role& role);

}  // namespace tessera
