#pragma once
// Modules, kernels and launches of a device table, and the JIT table: handles, names, what is refused. What an image
// is, and how a kernel is launched, is the plugin's.
#include <tessera/plugin.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/kit/abi/gate.hpp"
#include "plugins/kit/abi/handle_pool.hpp"

/// One entry point.
struct tsr_kernel_s {
  tessera::kit::magic_word magic;
  tsr_device* device = nullptr;
  std::shared_ptr<void> entry;  ///< the plugin's
};

/// One loaded image.
struct tsr_module_s {
  tessera::kit::magic_word magic;
  tsr_device* device = nullptr;
  std::shared_ptr<void> code;  ///< the plugin's
  std::mutex mutex;            ///< of the kernels
  std::map<std::string, tsr_kernel_s*, std::less<>> kernels;
};

namespace tessera::kit {

inline constexpr std::uint64_t module_magic = 0x7473722e636f6465;  // "tsr.code"
inline constexpr std::uint64_t kernel_magic = 0x7473722e6b65726e;  // "tsr.kern"

/// `Rules` and `Gate` as for gate.hpp; the device has `modules` and `kernels`, handle_pools. With
///   load(device*, image, bytes, std::shared_ptr<void>& out)
///   find(device*, void* code, name, std::shared_ptr<void>& out)   the entry does not outlive the code
///   launch(device*, tsr_stream*, void* entry, const tsr_launch*)
///   may_load(device*)                                              OK, or why not now, with a record
/// and for the JIT table
///   compile(device*, text, options, std::string& image)            of tessera-c
///   identity(device*)                                              as tsr_jit_table::identity
template <class Rules, class Gate = gate<Rules>>
struct module_calls {
  using device = typename Rules::device;

  static void put_into(tsr_device_table& table) {
    table.module_load = load;
    table.module_unload = unload;
    table.kernel_get = get;
    table.launch = launch;
  }

  static tsr_jit_table jit_table() {
    tsr_jit_table made{};
    made.struct_size = sizeof made;
    made.version = 1;
    made.languages = "tessera-c";
    made.compile = compile;
    made.release = [](device*, void* image) { std::free(image); };
    made.identity = [](device* on) -> const char* {
      return on != nullptr && on->magic.is(Rules::device_magic) ? Rules::identity(on) : nullptr;
    };
    return made;
  }

  /// Unloads what is left on a device that is being closed. Nothing runs there any more.
  static void close(device& of) {
    of.modules.for_each([&](tsr_module_s& one) {
      if (one.magic.take(module_magic)) forget(of, one);
    });
  }

 private:
  static void forget(device& of, tsr_module_s& one) {
    for (const auto& [name, kernel] : one.kernels) {
      kernel->magic.set(0);
      kernel->entry.reset();
      of.kernels.give(*kernel);
    }
    one.kernels.clear();
    one.code.reset();
  }

  static tsr_module_s* checked(const device* on, tsr_module* handle) {
    auto* const one = static_cast<tsr_module_s*>(handle);
    if (one != nullptr && one->magic.is(module_magic) && one->device == on) return one;
    on->report.fail(TSR_INVALID_ARGUMENT, "the module is not a live module of this device");
    return nullptr;
  }

  static tsr_status load(device* on, const void* image, std::uint64_t bytes, tsr_module** out_module) {
    return Gate::on_device(on, [&]() -> tsr_status {
      if (image == nullptr || out_module == nullptr)
        return on->report.fail(TSR_INVALID_ARGUMENT, "module_load: a NULL argument");
      if (bytes == 0) return on->report.fail(TSR_INVALID_ARGUMENT, "module_load: the image has 0 bytes");
      if (const auto status = Rules::may_load(on)) return status;
      std::shared_ptr<void> code;
      if (const auto status = Rules::load(on, image, bytes, code)) return status;
      tsr_module_s& made = on->modules.take();
      made.device = on;
      made.code = std::move(code);
      made.magic.set(module_magic);
      *out_module = &made;
      return TSR_OK;
    });
  }

  static tsr_status unload(device* on, tsr_module* handle) {
    return Gate::on_any_device(on, [&]() -> tsr_status {
      auto* const one = static_cast<tsr_module_s*>(handle);
      if (one == nullptr || one->device != on || !one->magic.take(module_magic))
        return on->report.fail(TSR_INVALID_ARGUMENT, "module_unload: not a live module of this device");
      forget(*on, *one);
      on->modules.give(*one);
      return Rules::alive(on);
    });
  }

  static tsr_status get(device* on, tsr_module* handle, const char* name, tsr_kernel** out_kernel) {
    return Gate::on_device(on, [&]() -> tsr_status {
      if (name == nullptr || out_kernel == nullptr)
        return on->report.fail(TSR_INVALID_ARGUMENT, "kernel_get: a NULL argument");
      tsr_module_s* const from = checked(on, handle);
      if (from == nullptr) return TSR_INVALID_ARGUMENT;
      const std::lock_guard lock(from->mutex);
      if (const auto known = from->kernels.find(name); known != from->kernels.end()) {
        *out_kernel = known->second;
        return TSR_OK;
      }
      std::shared_ptr<void> entry;
      if (const auto status = Rules::find(on, from->code.get(), name, entry)) return status;
      tsr_kernel_s& made = on->kernels.take();
      made.device = on;
      made.entry = std::move(entry);
      made.magic.set(kernel_magic);
      from->kernels.emplace(name, &made);
      *out_kernel = &made;
      return TSR_OK;
    });
  }

  static tsr_status launch(device* on, tsr_stream* stream, tsr_kernel* handle, const tsr_launch* how) {
    return Gate::on_stream(on, stream, [&]() -> tsr_status {
      auto* const one = static_cast<tsr_kernel_s*>(handle);
      if (one == nullptr || !one->magic.is(kernel_magic) || one->device != on)
        return on->report.fail(TSR_INVALID_ARGUMENT, "launch: not a kernel of a live module of this device");
      if (how == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "launch: a NULL argument");
      return Rules::launch(on, stream, one->entry.get(), how);
    });
  }

  static tsr_status compile(device* on, const char* language, const char* source, const char* options, void** out_image,
                            std::uint64_t* out_bytes) {
    return Gate::on_device(on, [&]() -> tsr_status {
      if (language == nullptr || source == nullptr || out_image == nullptr || out_bytes == nullptr)
        return on->report.fail(TSR_INVALID_ARGUMENT, "compile: a NULL argument");
      if (std::string_view(language) != "tessera-c")
        return on->report.fail(TSR_UNIMPLEMENTED, "compile: the language '%s' is not offered; tessera-c is", language);
      std::string image;
      if (const auto status = Rules::compile(on, source, options, image)) return status;
      void* const copy = std::malloc(image.size());
      if (copy == nullptr) return on->report.fail(TSR_RESOURCE_EXHAUSTED, "no memory for the image");
      std::memcpy(copy, image.data(), image.size());
      *out_image = copy;
      *out_bytes = image.size();
      return TSR_OK;
    });
  }
};

}  // namespace tessera::kit
