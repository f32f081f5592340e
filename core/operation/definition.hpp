#pragma once
// What an operation is.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/block/record.hpp"
#include "core/operation/context.hpp"
#include "core/operation/kernel.hpp"
#include "core/plugin/device.hpp"

namespace tessera::operation {

/// Runs on the calling thread; throws to fail. Operands have host pointers.
using host_function = plain_function<>;
/// Enqueues on context::stream through context::device's tables and returns; throws to fail. Never waits.
using enqueue_function = plain_function<>;
/// Whether a device can run the operation for this element type.
using availability_function = bool (*)(const plugin::device&, element_type);
/// Floating-point operations of one task.
using work_function = double (*)(const void* arguments, std::span<const block::access>);

class kernel_loader;

/// Bytes of scratch memory that one task wants of a device while `enqueue`'s work runs; 0 for none. Asked before the
/// task's blocks are there, each time it is tried. Throws nothing.
using workspace_function = std::uint64_t (*)(const plugin::device&, const void* arguments,
                                             std::span<const block::access>);

/// Enqueues several tasks at once, on the stream that all contexts name; never waits. False: nothing was enqueued, and
/// each of them is to be enqueued by itself, so that it fails or works alone. Throws when it fails in another way: then
/// all of them have failed.
using batch_function = bool (*)(std::span<const context>);

/// How a device takes tasks together that differ in nothing but their blocks: the same arguments, byte by byte, and for
/// each block the same intent, element type and extents. The runtime looks for such tasks among those that are ready;
/// see docs/decisions/0027_batches.md.
struct batch_form {
  batch_function enqueue = nullptr;  ///< null: each task by itself. The first context's workspace is for all of them
  availability_function available = nullptr;  ///< where it works; null: wherever the operation does
  /// Bytes that `count` such tasks want together, at least what one of them does; null: none.
  std::uint64_t (*workspace)(const plugin::device&, const void* arguments, std::span<const block::access> of_one,
                             std::size_t count) = nullptr;
};

/// A named computation, in as many forms as there are; on a device the first of native, kernel image, kernel text that
/// the device has. Immutable once it is in use; lives as long as its catalog.
struct definition {
  std::string name;                    ///< unique within a runtime; in messages and tables
  std::vector<intent> signature = {};  ///< empty: given at each submission
  host_function host = nullptr;        ///< plain host code
  /// Through a device's tables; used on the host too when `host` is null. Not beside `kernel` or `native`, of which the
  /// catalog makes it.
  enqueue_function enqueue = nullptr;
  availability_function available = nullptr;  ///< for `enqueue`; null: everywhere
  work_function work = nullptr;               ///< null: unknown
  bool is_arithmetic = true;  ///< `work` counts floating-point operations; false: elements, to estimate times by
  workspace_function workspace = nullptr;      ///< null: none
  batch_form batch = batch_form();             ///< for devices, beside `enqueue`; only with plain arguments
  void (*destroy_arguments)(void*) = nullptr;  ///< null: nothing to do
  bool plain_arguments = true;                 ///< arguments may be copied as bytes
  std::shared_ptr<const void> data = nullptr;  ///< the implementation's own; see context::data
  void (*special)(void*) = nullptr;  ///< the runtime's own operations, which see the task itself; see schedule
  // Not "= {}": GCC 12 then takes what a designated initializer leaves out for uninitialized.
  kernel_form kernel = kernel_form();           ///< compiled or loaded once per device, when it is first needed there
  std::vector<native_form> native = {};         ///< for the devices of the plugins named
  std::shared_ptr<kernel_loader> kernels = {};  ///< of the last two; set by the catalog
  std::uint32_t number = 0;                     ///< index into statistics; set by the catalog
  std::uint32_t catalog = 0;                    ///< number of the catalog that it was added to; set by that

  /// Whether a place can run it: the CPU workers of a host device (`is_host`), or the device through its tables.
  bool runs_on(const plugin::device& device, element_type type, bool is_host) const {
    if (is_host && (host != nullptr || special != nullptr)) return true;
    return enqueue != nullptr && (available == nullptr || available(device, type)) &&
           (kernels == nullptr || has_form_for(device));
  }

 private:
  bool has_form_for(const plugin::device& device) const;  // kernel_loader.cpp
};

}  // namespace tessera::operation
