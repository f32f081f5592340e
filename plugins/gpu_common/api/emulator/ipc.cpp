// Memory of other processes, with the emulator's devices as with CUDA's.
#include <unistd.h>

#include <cstring>
#include <utility>

#include "plugins/gpu_common/api/emulator/device_state.hpp"

namespace tessera::gpu {

using namespace emulator;

error_t export_memory(void* memory, void* out_handle) {
  if (const auto error = alive(); error != error_t::success) return error;
  const std::lock_guard lock(current_state().mutex);
  const auto found = current_state().allocations.find(memory);
  if (found == current_state().allocations.end()) return error_t::invalid_value;
  if (found->second.imported || found->second.pages.data() == nullptr) return error_t::not_supported;
  std::memcpy(out_handle, &found->second.place, sizeof found->second.place);
  return error_t::success;
}

error_t import_memory(void** out, const void* handle) {
  if (const auto error = alive(); error != error_t::success) return error;
  allocation made;
  std::memcpy(&made.place, handle, sizeof made.place);
  if (made.place.process == ::getpid()) return error_t::invalid_value;  // as CUDA
  switch (kit::find_shared(made.place, made.pages)) {
    case kit::shared_found::here:
      break;
    case kit::shared_found::gone:
      return error_t::gone;
    case kit::shared_found::denied:
      return error_t::not_permitted;
    case kit::shared_found::no_room:
      return error_t::out_of_memory;
  }
  made.imported = true;
  *out = made.pages.data();
  const std::lock_guard lock(current_state().mutex);
  current_state().allocations.emplace(*out, std::move(made));
  return error_t::success;
}

error_t release_imported(void* memory) { return take_out(memory, true) ? alive() : error_t::invalid_value; }

}  // namespace tessera::gpu
