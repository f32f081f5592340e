#include "plugins/kit/jit/host_image.hpp"

#include <dlfcn.h>

#include <cstring>
#include <fstream>
#include <string_view>

#include "plugins/kit/abi/launch_check.hpp"
#include "plugins/kit/system/private_folder.hpp"

namespace tessera::kit {

tsr_status host_image::load(const reporter& report, const void* image, std::uint64_t bytes,
                            std::unique_ptr<host_image>& out) {
  if (image == nullptr || bytes < 4 || std::memcmp(image, "\177ELF", 4) != 0)
    return report.fail(TSR_INVALID_ARGUMENT,
                       "the image is no shared object: this device loads what its JIT table compiles, or an ELF file");
  // The file is there only as long as it takes to load it.
  const private_folder folder;
  if (!folder)
    return report.fail(TSR_PERMISSION_DENIED, "no folder for temporary files: %s", folder.complaint().c_str());
  const std::string file = folder.path() + "/kernels.so";
  {
    std::ofstream stream(file, std::ios::binary);
    stream.write(static_cast<const char*>(image), static_cast<std::streamsize>(bytes));
    if (!stream.flush()) return report.fail(TSR_RESOURCE_EXHAUSTED, "%s cannot be written", file.c_str());
  }
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "the image cannot be loaded: %s", ::dlerror());
  const auto* kernels = static_cast<const host_kernel*>(::dlsym(handle, "tessera_kernels_1"));
  if (kernels == nullptr || kernels->name == nullptr) {
    ::dlclose(handle);
    return report.fail(
        TSR_INVALID_ARGUMENT, "there is no kernel in the image: %s",
        kernels == nullptr ? "it exports no tessera_kernels_1" : "no function of the text is marked KERNEL");
  }
  out.reset(new host_image(handle, kernels));
  return TSR_OK;
}

host_image::~host_image() { ::dlclose(m_handle); }

const host_kernel* host_image::find(const reporter& report, const char* name) const {
  std::string names;
  for (const host_kernel* one = m_kernels; one->name != nullptr; ++one) {
    if (std::string_view(one->name) == name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one->name);
  }
  report.fail(TSR_NOT_FOUND, "there is no kernel '%s' in the module; it has %s", name, names.c_str());
  return nullptr;
}

std::vector<void*> host_call::arguments() {
  std::vector<void*> all;
  all.reserve(values.size());
  for (std::uint64_t& value : values) all.push_back(&value);
  return all;
}

tsr_status prepare_launch(const reporter& report, operand_resolver& resolver, const host_kernel& kernel,
                          const tsr_launch* launch, host_call& out) {
  if (const auto status = check_geometry(report, kernel.name, launch)) return status;
  if (launch->shared_bytes != 0)
    return report.fail(TSR_UNIMPLEMENTED, "launch of '%s': there is no memory of a group but what the kernel declares",
                       kernel.name);
  if (launch->argument_count != kernel.count)
    return report.fail(TSR_INVALID_ARGUMENT, "launch of '%s': it takes %u arguments, %u were given", kernel.name,
                       kernel.count, launch->argument_count);
  out.kernel = &kernel;
  std::memcpy(out.grid, launch->grid, sizeof out.grid);
  std::memcpy(out.group, launch->group, sizeof out.group);
  out.values.assign(kernel.count, 0);
  for (unsigned i = 0; i < kernel.count; ++i) {
    const bool is_address = launch->argument_sizes[i] == sizeof(tsr_address);
    const unsigned wanted = kernel.sizes[i];
    if (is_address != (wanted == 0) || (!is_address && launch->argument_sizes[i] != wanted))
      return report.fail(TSR_INVALID_ARGUMENT, "launch of '%s': argument %u has %u bytes, the parameter is %s of %u",
                         kernel.name, i, launch->argument_sizes[i], wanted == 0 ? "an address" : "a value",
                         wanted == 0 ? static_cast<unsigned>(sizeof(tsr_address)) : wanted);
    if (!is_address) {
      std::memcpy(&out.values[i], launch->arguments[i], wanted);
      continue;
    }
    tsr_address address;
    std::memcpy(&address, launch->arguments[i], sizeof address);
    void* place = nullptr;
    const std::string name = "argument " + std::to_string(i) + " of '" + kernel.name + "'";
    if (address.memory != nullptr || address.offset != 0)
      if (const auto status = resolver.resolve(name.c_str(), address, address.memory == nullptr ? 1 : 0, &place))
        return status;
    std::memcpy(&out.values[i], &place, sizeof place);
  }
  return TSR_OK;
}

}  // namespace tessera::kit
