// Modules of a real GPU: PTX and binaries, loaded by the driver; compiled by the vendor's library, where there is one.
#include "plugins/gpu_common/abi/modules.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "plugins/gpu_common/api/native/vendor.hpp"
#include "plugins/gpu_common/libraries/run_time_compiler.hpp"
#include "plugins/kit/abi/launch_check.hpp"
#include "plugins/kit/jit/kernel_text.hpp"

namespace tessera::gpu {
namespace {

struct loaded_code {
  vendor::module_t native = nullptr;
  loaded_code() = default;
  loaded_code(const loaded_code&) = delete;
  loaded_code& operator=(const loaded_code&) = delete;
  ~loaded_code() {
    if (native != nullptr) static_cast<void>(vendor::unload_module(native));
    clear_error();
  }
};

struct entry_point {
  std::string name;
  vendor::function_t native = nullptr;
};

/// Whether the vendor says of an image that it is none for this device.
bool is_about_the_image(error_t error) {
  switch (static_cast<int>(error)) {
    case 200:  // no image
    case 209:  // none for this device
    case 218:  // PTX that does not compile
    case 221:
    case 222:  // PTX that is younger than the driver
    case 223:
    case 300:  // a source
      return true;
    default:
      return false;
  }
}

constexpr int no_such_symbol = 500;

}  // namespace

bool has_modules() noexcept { return vendor::has_modules; }
void put_vendor_entries_into(tsr_device_table&) {}

tsr_status load_code(tsr_device* device, const void* image, std::uint64_t bytes, std::shared_ptr<void>& out) {
  const std::string ended(static_cast<const char*>(image), bytes);  // PTX is text that ends with a zero
  auto made = std::make_shared<loaded_code>();
  const auto error = vendor::load_module(&made->native, ended.c_str());
  if (is_about_the_image(error)) {
    clear_error();
    return device->report.fail(TSR_INVALID_ARGUMENT, "the image cannot be loaded on '%s' (%s): %s", device->facts.name,
                               device->facts.architecture, text_of(error));
  }
  if (const auto status = tell(device, error, "loading an image")) return status;
  out = std::move(made);
  return TSR_OK;
}

tsr_status find_entry(tsr_device* device, void* code, const char* name, std::shared_ptr<void>& out) {
  entry_point found{name, nullptr};
  const auto error = vendor::find_function(&found.native, static_cast<loaded_code*>(code)->native, name);
  if (static_cast<int>(error) == no_such_symbol) {
    clear_error();
    return device->report.fail(TSR_NOT_FOUND, "there is no kernel '%s' in the module", name);
  }
  if (is_about_the_image(error)) {  // some drivers look at an image when it is first used
    clear_error();
    return device->report.fail(TSR_INVALID_ARGUMENT, "the image cannot be used on '%s' (%s): %s", device->facts.name,
                               device->facts.architecture, text_of(error));
  }
  if (const auto status = tell(device, error, "finding a kernel")) return status;
  out = std::make_shared<entry_point>(std::move(found));
  return TSR_OK;
}

tsr_status launch_entry(tsr_device* device, tsr_stream* stream, void* entry, const tsr_launch* how) {
  const entry_point& kernel = *static_cast<entry_point*>(entry);
  if (const auto status = kit::check_geometry(device->report, kernel.name.c_str(), how)) return status;
  std::vector<void*> values(how->argument_count), places(how->argument_count);
  operands resolver(device);
  for (std::uint32_t i = 0; i < how->argument_count; ++i) {
    places[i] = const_cast<void*>(how->arguments[i]);  // the driver reads it
    if (how->argument_sizes[i] != sizeof(tsr_address)) continue;
    tsr_address address;
    std::memcpy(&address, how->arguments[i], sizeof address);
    const std::string name = "argument " + std::to_string(i) + " of '" + kernel.name + "'";
    if (address.memory != nullptr || address.offset != 0)
      if (const auto status = resolver.resolve(name.c_str(), address, address.memory == nullptr ? 1 : 0, &values[i]))
        return status;
    places[i] = &values[i];
  }
  return tell(
      device,
      vendor::launch(kernel.native, how->grid, how->group, how->shared_bytes, state_of(stream).native, places.data()),
      ("launch of '" + kernel.name + "'").c_str());
}

void find_compiler(tsr_plugin& plugin) {
  const vendor_libraries& libraries = plugin.setting.vendor;
  if (libraries.compiler == nullptr || !vendor::has_modules) return;
  auto found = std::make_unique<const run_time_compiler>(
      *libraries.compiler, library_search{plugin.setting.library_path, libraries.system_too});
  if (*found)
    plugin.compiler = std::move(found);
  else if (libraries.system_too)
    plugin.report.log(1, "kernels cannot be compiled while a program runs: %s", found->complaint().c_str());
}
bool has_compiler(const tsr_plugin& plugin) noexcept { return plugin.compiler != nullptr; }

std::string compiler_identity(const tsr_device& device) {
  if (device.plugin->compiler == nullptr) return {};
  return device.plugin->compiler->identity() + "; driver " + std::to_string(vendor::driver_version()) + "; " +
         device.facts.architecture;
}

tsr_status compile_code(tsr_device* device, const char* text, const char* options, std::string& image) {
  return device->plugin->compiler->compile(device->report, kit::gpu_source(text), options, device->facts.architecture,
                                           image);
}

}  // namespace tessera::gpu
