// Modules of an emulated GPU: shared objects of the host, whose kernels run on the emulator's fibers.
#include "plugins/gpu_common/abi/modules.hpp"

#include <utility>

#include "plugins/gpu_common/api/emulator/launch.hpp"
#include "plugins/kit/jit/host_compiler.hpp"
#include "plugins/kit/jit/host_image.hpp"
#include "plugins/kit/jit/kernel_text.hpp"

namespace tessera::gpu {
namespace {

/// One thread of a kernel, on its fiber.
void run_thread(const kit::host_call& call, void* const* arguments) {
  const emulator::running_block& block = emulator::here();
  const auto copy = [](unsigned(&to)[3], const extent3& from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; };
  kit::kernel_place at{};
  copy(at.thread, block.thread());
  copy(at.group, block.block);
  copy(at.threads, block.threads);
  copy(at.groups, block.grid);
  at.barrier = [](void*) { emulator::barrier(); };
  call.kernel->one(&at, arguments);
}

}  // namespace

bool has_modules() noexcept { return true; }
void put_vendor_entries_into(tsr_device_table&) {}

tsr_status load_code(tsr_device* device, const void* image, std::uint64_t bytes, std::shared_ptr<void>& out) {
  std::unique_ptr<kit::host_image> made;
  if (const auto status = kit::host_image::load(device->report, image, bytes, made)) return status;
  out = std::shared_ptr<kit::host_image>(std::move(made));
  return TSR_OK;
}

tsr_status find_entry(tsr_device* device, void* code, const char* name, std::shared_ptr<void>& out) {
  const auto* found = static_cast<kit::host_image*>(code)->find(device->report, name);
  if (found == nullptr) return TSR_NOT_FOUND;
  out = std::make_shared<kit::host_kernel>(*found);
  return TSR_OK;
}

tsr_status launch_entry(tsr_device* device, tsr_stream* stream, void* entry, const tsr_launch* how) {
  const auto call = std::make_shared<kit::host_call>();
  operands resolver(device);
  if (const auto status =
          kit::prepare_launch(device->report, resolver, *static_cast<kit::host_kernel*>(entry), how, *call))
    return status;
  const extent3 grid{call->grid[0], call->grid[1], call->grid[2]},
      group{call->group[0], call->group[1], call->group[2]};
  return tell(device,
              emulator::enqueue(state_of(stream).native,
                                [call, grid, group] {
                                  const auto arguments = call->arguments();
                                  emulator::run_grid(grid, group, 0, [&] { run_thread(*call, arguments.data()); });
                                }),
              "launch");
}

void find_compiler(tsr_plugin& plugin) {
  plugin.host_compiler =
      std::make_unique<const kit::host_compiler>(plugin.setting.compiler, plugin.setting.compile_limit_ns);
}
bool has_compiler(const tsr_plugin&) noexcept { return true; }  // compile says what is missing

std::string compiler_identity(const tsr_device& device) { return device.plugin->host_compiler->identity(); }

tsr_status compile_code(tsr_device* device, const char* text, const char* options, std::string& image) {
  return device->plugin->host_compiler->compile(device->report, kit::host_source(text), options, image);
}

}  // namespace tessera::gpu
