#pragma once
// Kernels as a shared object of the host: how the host plugin and the emulators of GPUs load and launch them.
//
// A shared object exports tessera_kernels_1, an array of host_kernel that ends with one without a name. Compilers of
// tessera-c make it (kernel_text.hpp); one made otherwise may be loaded as well (docs/kernels.md).
#include <tessera/plugin.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/kit/abi/operand.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// Where a thread is; what the kernel's prelude calls tessera_place.
struct kernel_place {
  unsigned thread[3], group[3], threads[3], groups[3];
  void (*barrier)(void*);  ///< waits for all threads of the group; null: there is nobody to wait for
  void* argument;          ///< of barrier
};

/// One kernel of a shared object.
struct host_kernel {
  const char* name;
  unsigned count;                                               ///< of its parameters
  const unsigned* sizes;                                        ///< bytes of each; 0: a pointer
  unsigned waits;                                               ///< whether it may come to a BARRIER
  void (*one)(const kernel_place* at, void* const* arguments);  ///< runs the thread at->thread
  void (*all)(const kernel_place* at, void* const* arguments);  ///< runs all threads of the group one after the other
};

/// A loaded shared object. Unloaded with its last owner.
class host_image {
 public:
  /// Fails: INVALID_ARGUMENT with a record (no shared object, one for another machine, one without kernels).
  static tsr_status load(const reporter& report, const void* image, std::uint64_t bytes,
                         std::unique_ptr<host_image>& out);
  ~host_image();
  host_image(const host_image&) = delete;
  host_image& operator=(const host_image&) = delete;

  /// Null, with a record, when there is none of that name.
  const host_kernel* find(const reporter& report, const char* name) const;

 private:
  host_image(void* handle, const host_kernel* kernels) : m_handle(handle), m_kernels(kernels) {}
  void* m_handle;
  const host_kernel* m_kernels;
};

/// A launch with its arguments resolved.
struct host_call {
  const host_kernel* kernel = nullptr;
  unsigned grid[3] = {}, group[3] = {};
  std::vector<std::uint64_t> values;  ///< each in the first bytes

  /// Addresses of the values, as a kernel takes them; valid as long as the call stays where it is.
  std::vector<void*> arguments();
};

/// Checks a launch against the kernel's parameters. Fails: INVALID_ARGUMENT, OUT_OF_RANGE, UNIMPLEMENTED
/// (shared_bytes), each with a record that names the kernel.
tsr_status prepare_launch(const reporter& report, operand_resolver& resolver, const host_kernel& kernel,
                          const tsr_launch* launch, host_call& out);

}  // namespace tessera::kit
