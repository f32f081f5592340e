// A LAYER plugin that breaks one promise about queued work, named by the option `about`, around a device plugin that offers host tasks:
//   patterns    fill reads its pattern when the work runs
//   scalars     scal reads alpha when the work runs
//   waiting     gemm waits for the stream's work before it returns
//   allocation  mem_alloc waits for the work of every stream
//   destroy     stream_destroy drops copies that have not begun
//   batches     gemm_batched enqueues products one by one, and stops at the first that is refused
#include <tessera/plugin.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace {

const tsr_plugin_header* inner_header = nullptr;
tsr_plugin_header outer_header;
tsr_plugin_table inner, outer;
tsr_device_table device_table, inner_device;  // all devices of a plugin that this is tested with have the same
tsr_blas_table blas_table, inner_blas;
std::string about;

std::mutex mutex;  // of the lists below
std::vector<tsr_stream*> streams;

/// A host task that does `work`, a copyable function of the mapped bases.
template <class Work>
tsr_status later(tsr_device* device, tsr_stream* stream, const tsr_address* ranges, std::uint32_t count, Work work) {
  auto own = std::make_unique<Work>(std::move(work));
  const auto run = [](void* self, void* const* bases) -> tsr_status {
    const std::unique_ptr<Work> mine(static_cast<Work*>(self));
    (*mine)(bases);
    return TSR_OK;
  };
  const tsr_status status = inner_device.host_task(device, stream, run, own.get(), ranges, count, 0);
  if (status == TSR_OK) static_cast<void>(own.release());
  return status;
}

void wait_for(tsr_device* device, tsr_stream* stream) {
  tsr_ticket ticket{};
  if (inner_device.stream_signal(device, stream, &ticket) == TSR_OK) inner_device.stream_host_wait(device, ticket, UINT64_C(60000000000));
}

tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern, std::uint32_t bytes,
                std::uint64_t count) {
  return later(device, stream, &destination, 1, [=](void* const* bases) {
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(static_cast<char*>(bases[0]) + i * bytes, pattern, bytes);
  });
}

tsr_status scal(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* given) {
  if (given->type != TSR_F64) return inner_blas.scal(device, stream, given);
  return later(device, stream, &given->x, 1, [n = given->n, step = given->incx, alpha = given->alpha](void* const* bases) {
    for (std::int64_t i = 0; i < n; ++i) static_cast<double*>(bases[0])[i * step] *= *static_cast<const double*>(alpha);
  });
}

tsr_status gemm(tsr_device* device, tsr_stream* stream, const tsr_gemm* given) {
  const tsr_status status = inner_blas.gemm(device, stream, given);
  if (status == TSR_OK) wait_for(device, stream);
  return status;
}

tsr_status gemm_batched(tsr_device* device, tsr_stream* stream, const tsr_gemm* given) {
  for (std::int64_t i = 0; i < given->batch; ++i) {
    tsr_gemm one = *given;
    one.a = given->a_array[i], one.b = given->b_array[i], one.c = given->c_array[i];
    if (const tsr_status status = inner_blas.gemm(device, stream, &one)) return status;
  }
  return TSR_OK;
}

tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out) {
  const tsr_status status = inner_device.stream_create(device, flags, out);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK) streams.push_back(*out);
  return status;
}

tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out) {
  std::vector<tsr_stream*> all;
  {
    const std::lock_guard guard(mutex);
    all = streams;
  }
  for (tsr_stream* stream : all) wait_for(device, stream);
  return inner_device.mem_alloc(device, space, bytes, out);
}

/// Whether copies that have not begun are done; told apart by nothing finer, as one stream at a time is tested.
std::atomic<bool> dropped{false};

tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  const bool plain = given != nullptr && given->source.memory != nullptr && given->destination.memory == nullptr && given->bytes > 0 &&
                     given->rows[0] <= 1 && given->rows[1] <= 1;
  if (!plain) return inner_device.copy(device, stream, given);
  return later(device, stream, &given->source, 1, [to = given->destination.offset, bytes = given->bytes](void* const* bases) {
    if (!dropped) std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)), bases[0], bytes);
  });
}

tsr_status stream_destroy(tsr_device* device, tsr_stream* stream) {
  {
    const std::lock_guard guard(mutex);
    std::erase(streams, stream);
  }
  dropped = about == "destroy";
  const tsr_status status = inner_device.stream_destroy(device, stream);
  dropped = false;
  return status;
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device, const tsr_device_table** out_table) {
  const tsr_device_table* given = nullptr;
  if (const tsr_status status = inner.device_open(plugin, index, out_device, &given)) return status;
  std::memcpy(&inner_device, given, given->struct_size < sizeof inner_device ? given->struct_size : sizeof inner_device);
  device_table = inner_device;
  device_table.struct_size = sizeof device_table;
  device_table.stream_create = stream_create;
  device_table.stream_destroy = stream_destroy;
  if (about == "patterns") device_table.fill = fill;
  if (about == "allocation") device_table.mem_alloc = mem_alloc;
  if (about == "destroy") device_table.copy = copy;
  *out_table = &device_table;
  return TSR_OK;
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t version, const void** out_table) {
  const tsr_status status = inner.extension(plugin, device, id, version, out_table);
  if (status != TSR_OK || id != TSR_EXTENSION_BLAS) return status;
  const auto* given = static_cast<const tsr_blas_table*>(*out_table);
  std::memcpy(&inner_blas, given, given->struct_size < sizeof inner_blas ? given->struct_size : sizeof inner_blas);
  blas_table = inner_blas;
  if (about == "scalars") blas_table.scal = scal;
  if (about == "waiting") blas_table.gemm = gemm;
  if (about == "batches") blas_table.gemm_batched = gemm_batched;
  *out_table = &blas_table;
  return TSR_OK;
}

tsr_status open_wrapped(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                        const void** out_table) {
  const void* table = nullptr;
  if (const tsr_status status = inner_header->open(host, values, count, out_plugin, &table)) return status;
  const auto* given = static_cast<const tsr_plugin_table*>(table);
  inner = {};
  std::memcpy(&inner, given, given->struct_size < sizeof inner ? given->struct_size : sizeof inner);
  outer = inner;
  outer.device_open = device_open;
  outer.extension = extension;
  *out_table = &outer;
  return TSR_OK;
}

const tsr_plugin_header* wrap(const tsr_plugin_header* given) {
  if (given->kind != TSR_PLUGIN_DEVICE) return nullptr;
  inner_header = given;
  outer_header = {};
  std::memcpy(&outer_header, given, given->struct_size < sizeof outer_header ? given->struct_size : sizeof outer_header);
  outer_header.open = open_wrapped;
  return &outer_header;
}

constexpr tsr_layer_table table = {sizeof(tsr_layer_table), wrap};

tsr_status open_layer(const tsr_host*, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                      const void** out_table) {
  static int token;
  about.clear();
  for (std::uint32_t k = 0; k < count; ++k)
    if (std::strcmp(values[k].name, "about") == 0) about = values[k].text;
  *out_plugin = reinterpret_cast<tsr_plugin*>(&token);
  *out_table = &table;
  return TSR_OK;
}

}  // namespace

extern "C" TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(std::uint32_t, std::uint32_t) {
  static const tsr_option options[] = {
      {sizeof(tsr_option), TSR_OPTION_STRING, "about", "", 0, 0, nullptr, "The promise that is broken; nothing: none."}};
  static const tsr_plugin_header header = [] {
    tsr_plugin_header made{};
    made.struct_size = sizeof made;
    made.abi_major = TSR_ABI_MAJOR;
    made.abi_minor = TSR_ABI_MINOR;
    made.kind = TSR_PLUGIN_LAYER;
    made.sanitizer = TSR_BUILD_SANITIZER;
    made.name = "careless";
    made.options = options;
    made.option_count = 1;
    made.open = open_layer;
    return made;
  }();
  return &header;
}
