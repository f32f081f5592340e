#pragma once
// The forms of an operation besides functions of the host: a kernel (from text that is compiled when it is first
// needed, or from an image), and a function that enqueues on a vendor's own queue. docs/kernels.md describes the
// language.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/operation/context.hpp"
#include "core/operation/plain_function.hpp"

namespace tessera::operation {

/// One launch of a kernel: its geometry, and its arguments in the order of the kernel's parameters.
class kernel_launch {
 public:
  /// Arguments of one launch, blocks included.
  static constexpr std::size_t max_arguments = 96;

  std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< groups
  std::array<std::uint32_t, 3> group{1, 1, 1};  ///< threads of each
  std::uint32_t local_bytes = 0;                ///< of a group's memory, for images that ask for it at the launch

  /// One thread for each of `count` elements, in groups of `threads`; the last group may go beyond, and the kernel
  /// tests for that. Throws tessera::error (usage) for more groups than a grid has (2^31 - 1).
  kernel_launch& over(std::int64_t count, std::uint32_t threads = 256);
  /// The next parameter is a pointer to the block. Throws tessera::error (usage) above max_arguments, as does `value`.
  kernel_launch& block(const operand& of) { return add(&of.address, sizeof of.address); }
  /// The next parameter is a pointer into the task's workspace, `offset` bytes from its beginning.
  kernel_launch& workspace(const context& of, std::uint64_t offset = 0) {
    const tsr_address place{of.workspace.address.memory, of.workspace.address.offset + offset};
    return add(&place, sizeof place);
  }
  /// The next parameter is a number; its type must be the parameter's (an `int` is not a `long`).
  template <class T>
  requires std::is_arithmetic_v<T> kernel_launch& value(T number) { return add(&number, sizeof number); }

  /// As the ABI wants it; valid as long as this.
  tsr_launch to_abi() const;

 private:
  kernel_launch& add(const void* bytes, std::uint32_t size);
  struct argument {
    alignas(16) std::byte bytes[16];
  };
  std::array<argument, max_arguments> m_arguments;
  mutable std::array<const void*, max_arguments> m_places;  // of m_arguments, for to_abi
  std::array<std::uint32_t, max_arguments> m_sizes;
  std::uint32_t m_count = 0;
};

/// Says how a task is launched. Called on the thread that enqueues it; throws to fail the task. Of a recorded task,
/// when it is captured in a graph of the device, and not for each replay: it depends on nothing but the context.
using launch_function = plain_function<kernel_launch&>;

/// Launches of one task, one behind the other: each sees what those before it have written.
class kernel_sequence {
 public:
  /// Enqueues a kernel, by its place in kernel_form::names. A launch without groups does nothing. Throws
  /// tessera::error: usage when there is no such kernel, and what the device fails with.
  virtual void launch(std::size_t kernel, const kernel_launch& how) = 0;

 protected:
  ~kernel_sequence() = default;
};

/// Enqueues the launches of a task of several kernels. Called as a launch_function; throws to fail the task.
using sequence_function = plain_function<kernel_sequence&>;

/// The text of kernels.
struct kernel_text {
  std::string source;                  ///< "": none
  std::string options = {};            ///< "-DTILE=16 -DREAL=double"
  std::string language = "tessera-c";  ///< as a device's JIT table names it
  std::string file = {};               ///< where the text comes from, for messages; "": the operation's name
  unsigned line = 1;                   ///< of its first line there
};

/// Kernels in a form that one vendor loads.
struct kernel_image {
  std::string plugin;       ///< for devices of this plugin ("cuda")
  std::string device = {};  ///< a part of the device's name; "": all of them
  std::string bytes;        ///< PTX, a binary, SPIR-V, a shared object: what the plugin's module_load takes. It is code

  /// Reads it. Throws tessera::error (input) when that fails.
  static kernel_image from_file(std::string plugin, const std::filesystem::path& file);
};

/// The kernel of an operation, or several whose launches are one task: as text for all devices that compile, as images
/// for those named; an image goes first.
struct kernel_form {
  std::string name;                  ///< of the kernel in the text or image; "": there is none, or there are `names`
  kernel_text text = kernel_text();  ///< for devices that compile its language
  std::vector<kernel_image> images = {};  ///< the first that is for a device is taken there
  launch_function launch = nullptr;       ///< geometry and arguments; mandatory beside `name`
  std::vector<std::string> names = {};    ///< of all kernels of a task of several launches; instead of `name`
  sequence_function sequence = nullptr;   ///< enqueues those; mandatory beside `names`
};

/// Enqueues on a vendor's own queue and returns: `queue` is the cudaStream_t, hipStream_t or cl_command_queue of
/// context::stream. Throws to fail.
using native_function = plain_function<void*>;
/// A native function, and whose devices it is for.
struct native_form {
  std::string plugin;                  ///< for devices of this plugin
  native_function function = nullptr;  ///< mandatory
};

/// A place in device memory as the vendor's own calls take it.
struct native_place {
  void* handle = nullptr;    ///< a pointer to the place itself where kernels see addresses; else a cl_mem or its like
  std::uint64_t offset = 0;  ///< bytes, from the handle's begin
};
/// Where an operand is. Throws tessera::error (device) when the plugin does not tell.
native_place native_place_of(const context& c, const operand& of);

}  // namespace tessera::operation
