// The entries of an interposed device that allocate, copy and compute; all others answer for a device that is lost.
#include "plugins/fault/state.hpp"
#include "plugins/kit/abi/copy_plan.hpp"

namespace tessera::fault {
namespace {

tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  passage in(*state);
  bool work = true;
  if (const auto status = before(in, *state, nullptr, call::alloc, bytes, "an allocation", work)) return status;
  return state->inner.mem_alloc(device, space, bytes, out_memory);
}

tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* what) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  if (what == nullptr) return state->inner.copy(device, stream, what);
  for (const tsr_device* other : {what->source_space.device, what->destination_space.device})
    if (const auto peer = other != nullptr && other != device ? find(other) : nullptr;
        peer != nullptr && peer->lost.load())
      return state->plugin->report.fail(TSR_UNAVAILABLE, "device '%s' at the other end is lost (injected)",
                                        peer->name.c_str());
  kit::copy_plan plan;
  const std::uint64_t bytes = kit::plan_copy(kit::reporter(), what, plan) == TSR_OK ? plan.total() : 0;
  passage in(*state);
  bool work = true;
  if (const auto status = before(in, *state, stream, call::copy, bytes, "a copy", work)) return status;
  return work ? state->inner.copy(device, stream, what) : TSR_OK;
}

/// An optional entry that computes on a stream.
template <auto Member, class Entry>
struct computing;
template <auto Member, class... Arguments>
struct computing<Member, tsr_status (*)(tsr_device*, tsr_stream*, Arguments...)> {
  static tsr_status run(tsr_device* device, tsr_stream* stream, Arguments... arguments) {
    const auto state = find(device);
    if (state == nullptr) return TSR_INVALID_ARGUMENT;
    passage in(*state);
    bool work = true;
    if (const auto status = before(in, *state, stream, call::kernel, 0, "a computation", work)) return status;
    return work ? (state->inner.*Member)(device, stream, arguments...) : TSR_OK;
  }
};

/// An entry that no rule counts.
template <auto Member, class Entry>
struct passing;
template <auto Member, class... Arguments>
struct passing<Member, tsr_status (*)(tsr_device*, Arguments...)> {
  static tsr_status run(tsr_device* device, Arguments... arguments) {
    const auto state = find(device);
    if (state == nullptr) return TSR_INVALID_ARGUMENT;
    const passage in(*state);
    if (const auto status = alive(*state)) return status;
    return (state->inner.*Member)(device, arguments...);
  }
};

/// An entry that gives something back: done on a lost device too, which answers that it is lost.
template <auto Member, class Entry>
struct cleaning;
template <auto Member, class... Arguments>
struct cleaning<Member, tsr_status (*)(tsr_device*, Arguments...)> {
  static tsr_status run(tsr_device* device, Arguments... arguments) {
    const auto state = find(device);
    if (state == nullptr) return TSR_INVALID_ARGUMENT;
    const tsr_status status = (state->inner.*Member)(device, arguments...);
    return status == TSR_OK ? alive(*state) : status;
  }
};

template <template <auto, class> class How, auto Member>
void put(tsr_device_table& table) {
  using entry = std::remove_reference_t<decltype(table.*Member)>;
  if (table.*Member != nullptr) table.*Member = How<Member, entry>::run;
}

}  // namespace

void put_work_into(device_state& device) {
  using table = tsr_device_table;
  table& t = device.outer;
  t.mem_alloc = mem_alloc;
  t.copy = copy;
  put<computing, &table::fill>(t);
  put<computing, &table::launch>(t);
  put<computing, &table::host_task>(t);
  put<computing, &table::host_work>(t);
  put<passing, &table::spaces>(t);
  put<passing, &table::link>(t);
  put<passing, &table::query>(t);
  put<passing, &table::health>(t);
  put<passing, &table::thread_attach>(t);
  put<passing, &table::host_register>(t);
  put<passing, &table::mem_base>(t);
  put<passing, &table::mem_map>(t);
  put<passing, &table::stream_wait>(t);
  put<passing, &table::stream_callback>(t);
  put<passing, &table::stream_native>(t);
  put<passing, &table::mem_native>(t);
  put<passing, &table::module_load>(t);
  put<passing, &table::kernel_get>(t);
  put<cleaning, &table::mem_free>(t);
  put<cleaning, &table::thread_detach>(t);
  put<cleaning, &table::host_unregister>(t);
  put<cleaning, &table::mem_unmap>(t);
  put<cleaning, &table::module_unload>(t);
}

}  // namespace tessera::fault
