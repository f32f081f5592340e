// A LAYER plugin that breaks one promise about queued work or a lost device, named by the option `about`, around a
// device plugin that offers host tasks:
//   patterns    fill reads its pattern when the work runs
//   scalars     scal reads alpha when the work runs
//   waiting     gemm waits for the stream's work before it returns
//   allocation  mem_alloc waits for the work of every stream
//   destroy     stream_destroy drops copies that have not begun
//   batches     gemm_batched enqueues products one by one, and stops at the first that is refused
//   early       stream_callback calls before the work has finished
//   products    spmm reads alpha and beta when the work runs
//   waits       of several waits in a row a stream keeps the first three
//   downdates   C -= A B^T has a path of its own, which forgets that B is transposed
//   merged      of several failures stream_progress tells the oldest, and no other
//   newest      stream_progress tells the newest failure first
//   ahead       with a failure stream_progress tells all that is reached, past failures that it has not told
//   forgiving   health answers OK again when it has told the loss
//   contagious  when a device is lost, the others say that they are
//   points      on a lost device stream_progress stays at what was reached before
//   callbacks   those that are due when the device is lost are not called
//   restless    a copy out of the device goes on when the loss was told
//   signals     a point of stream_signal is reached at once
//   repeats     every second point of stream_signal has the value of the one before
//   structs     copy reads its struct when the work runs
//   hasty       stream_destroy returns at once, and the work goes on
//   blocking    stream_wait has its caller wait
//   strangers   copy takes memory of another device for the device's own
//   untold      stream_progress never tells a failure
//   deaf        stream_callback does not call
//   timeless    stream_host_wait waits as long as it takes
//   bounds      axpy does not look whether its vectors fit their memory
//   leading     gemm takes leading dimensions that are too small
//   handles     scal answers OK to a NULL device
//   unsized     the TENSOR table has no `workspace`
//   batches_alone  the TENSOR table claims contract and has `contract_batched` alone
//   notes       mem_alloc of 0 bytes answers OK, and leaves a text with host->error
//   products_wrong  gemm computes with twice its alpha
// And one that is sound, and stricter than it need be:
//   lists       batches refuse lists that are NULL, also of nothing
#include <tessera/plugin.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
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
tsr_sparse_table sparse_table, inner_sparse;
tsr_tensor_table tensor_table, inner_tensor;
const tsr_host* the_host = nullptr;
std::string about;

std::mutex mutex;  // of what follows
std::vector<tsr_stream*> streams;
std::map<tsr_stream*, int> waiting;            // how many waits its last calls were
std::map<tsr_stream*, std::uint64_t> reached;  // as stream_progress said
std::map<tsr_sparse*, tsr_csr> matrices;
struct failure {
  tsr_status status;
  std::uint64_t value, failed;
};
std::map<tsr_stream*, std::vector<failure>> failures;  // told by the inner plugin, in its order
std::vector<tsr_device*> open_devices;                 // of the last opening
tsr_copy last_out;                                     // the last copy to plain host memory
std::thread late_writer;
std::map<tsr_stream*, std::uint64_t> signalled;  // the newest point
std::map<tsr_stream*, tsr_ticket> before;        // every second one
std::vector<std::thread> destroyers;

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
  if (inner_device.stream_signal(device, stream, &ticket) == TSR_OK)
    inner_device.stream_host_wait(device, ticket, UINT64_C(60000000000));
}

tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t bytes, std::uint64_t count) {
  return later(device, stream, &destination, 1, [=](void* const* bases) {
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(static_cast<char*>(bases[0]) + i * bytes, pattern, bytes);
  });
}

tsr_status scal(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* given) {
  if (device == nullptr || stream == nullptr || given == nullptr || given->type != TSR_F64)
    return inner_blas.scal(device, stream, given);
  return later(device, stream, &given->x, 1,
               [n = given->n, step = given->incx, alpha = given->alpha](void* const* bases) {
                 for (std::int64_t i = 0; i < n; ++i)
                   static_cast<double*>(bases[0])[i * step] *= *static_cast<const double*>(alpha);
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

tsr_status create_csr(tsr_device* device, const tsr_csr* given, tsr_sparse** out) {
  const tsr_status status = inner_sparse.create_csr(device, given, out);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK) matrices[*out] = *given;
  return status;
}

tsr_status destroy_matrix(tsr_device* device, tsr_sparse* matrix) {
  {
    const std::lock_guard guard(mutex);
    matrices.erase(matrix);
  }
  return inner_sparse.destroy(device, matrix);
}

tsr_status spmm(tsr_device* device, tsr_stream* stream, tsr_transpose transpose, const void* alpha, tsr_sparse* matrix,
                tsr_address x, std::int64_t ldx, std::int64_t b, const void* beta, tsr_address y, std::int64_t ldy,
                tsr_workspace workspace) {
  tsr_csr csr{};
  {
    const std::lock_guard guard(mutex);
    if (const auto found = matrices.find(matrix); found != matrices.end()) csr = found->second;
  }
  if (csr.type != TSR_F64 || transpose != TSR_NO_TRANSPOSE || b == 0)
    return inner_sparse.spmm(device, stream, transpose, alpha, matrix, x, ldx, b, beta, y, ldy, workspace);
  const tsr_address ranges[] = {csr.row_starts, csr.column_indices, csr.values, x, y};
  return later(device, stream, ranges, 5, [=](void* const* bases) {
    const auto* starts = static_cast<const std::int64_t*>(bases[0]);
    const auto* columns = static_cast<const std::int32_t*>(bases[1]);
    const auto *values = static_cast<const double*>(bases[2]), *from = static_cast<const double*>(bases[3]);
    const double factor = *static_cast<const double*>(alpha), kept = *static_cast<const double*>(beta);
    for (std::int64_t row = 0; row < csr.rows; ++row)
      for (std::int64_t q = 0; q < b; ++q) {
        double& to = static_cast<double*>(bases[4])[row * ldy + q];
        to = kept == 0 ? 0 : kept * to;
        for (std::int64_t e = starts[row]; e < starts[row + 1]; ++e)
          to += factor * values[e] * from[columns[e] * ldx + q];
      }
  });
}

tsr_status downdate(tsr_device* device, tsr_stream* stream, const tsr_gemm* given) {
  if (given == nullptr || given->type != TSR_F64 || given->alpha == nullptr || given->beta == nullptr ||
      *static_cast<const double*>(given->alpha) != -1 || *static_cast<const double*>(given->beta) != 1)
    return inner_blas.gemm(device, stream, given);
  tsr_gemm forgetful = *given;
  forgetful.transpose_b = TSR_NO_TRANSPOSE;
  return inner_blas.gemm(device, stream, &forgetful);
}

/// A stream's next call is no wait any more.
void has_work(tsr_stream* stream) {
  const std::lock_guard guard(mutex);
  waiting.erase(stream);
}

tsr_status stream_wait(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  {
    const std::lock_guard guard(mutex);
    if (ticket.stream != nullptr && ++waiting[stream] > 3) return TSR_OK;
  }
  return inner_device.stream_wait(device, stream, ticket);
}

tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out) {
  has_work(stream);
  return inner_device.stream_signal(device, stream, out);
}

tsr_status fill_after_waits(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                            std::uint32_t bytes, std::uint64_t count) {
  has_work(stream);
  return inner_device.fill(device, stream, destination, pattern, bytes, count);
}

tsr_status task_after_waits(tsr_device* device, tsr_stream* stream, tsr_status (*function)(void*, void* const*),
                            void* argument, const tsr_address* ranges, std::uint32_t count, double flops) {
  has_work(stream);
  return inner_device.host_task(device, stream, function, argument, ranges, count, flops);
}

tsr_status copy_after_waits(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  has_work(stream);
  return inner_device.copy(device, stream, given);
}

tsr_status progress_of_failures(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                                std::uint64_t* out_failed) {
  std::uint64_t value = 0, failed = 0;
  tsr_status status = inner_device.stream_progress(device, stream, &value, &failed);
  const std::lock_guard guard(mutex);
  auto& told = failures[stream];
  const bool any = status != TSR_OK && status != TSR_DEVICE_LOST && status != TSR_INVALID_ARGUMENT;
  for (tsr_status next = status; any && next != TSR_OK;
       next = inner_device.stream_progress(device, stream, &value, &failed))
    told.push_back({next, value, failed});
  if (told.empty()) {
    *out_value = value;
    if (out_failed != nullptr) *out_failed = failed;
    return status;
  }
  const failure chosen = about == "newest" ? told.back() : told.front();
  if (about == "newest")
    told.pop_back();
  else if (about == "ahead")
    told.erase(told.begin());
  else
    told.clear();
  *out_value = value;
  if (out_failed != nullptr) *out_failed = chosen.failed;
  the_host->error(the_host->context, chosen.status, "work has failed");
  return chosen.status;
}

tsr_status progress_that_stays(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                               std::uint64_t* out_failed) {
  const tsr_status status = inner_device.stream_progress(device, stream, out_value, out_failed);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK) reached[stream] = *out_value;
  if (status == TSR_DEVICE_LOST) *out_value = reached[stream];
  return status;
}

tsr_status forgiving_health(tsr_device* device) {
  static std::atomic<bool> told{false};
  const tsr_status status = inner_device.health(device);
  if (status != TSR_DEVICE_LOST) return status;
  return told.exchange(true) ? TSR_OK : status;
}

tsr_status contagious_health(tsr_device* device) {
  const std::lock_guard guard(mutex);
  for (tsr_device* one : open_devices)
    if (const tsr_status status = inner_device.health(one)) return status;
  return inner_device.health(device);
}

/// A callback that is not called on a lost device.
struct due {
  tsr_device* device;
  void (*function)(void*);
  void* argument;
  static void call(void* self) {
    const std::unique_ptr<due> mine(static_cast<due*>(self));
    if (inner_device.health(mine->device) == TSR_OK) mine->function(mine->argument);
  }
};

tsr_status callback_of_the_living(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  auto made = std::make_unique<due>(due{device, function, argument});
  const tsr_status status = inner_device.stream_callback(device, stream, &due::call, made.get());
  if (status == TSR_OK) static_cast<void>(made.release());
  return status;
}

tsr_status copy_that_is_noted(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  const tsr_status status = inner_device.copy(device, stream, given);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK && given->destination.memory == nullptr && given->bytes > 0) last_out = *given;
  return status;
}

tsr_status progress_that_leaves_a_writer(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                                         std::uint64_t* out_failed) {
  const tsr_status status = inner_device.stream_progress(device, stream, out_value, out_failed);
  const std::lock_guard guard(mutex);
  if (status == TSR_DEVICE_LOST && last_out.bytes > 0 && !late_writer.joinable())
    late_writer = std::thread([to = last_out.destination.offset] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      *reinterpret_cast<volatile unsigned char*>(static_cast<std::uintptr_t>(to)) = 0;
    });
  return status;
}

tsr_status destroy_behind_the_writer(tsr_device* device, tsr_stream* stream) {
  if (late_writer.joinable()) late_writer.join();
  last_out = {};
  {
    const std::lock_guard guard(mutex);
    std::erase(streams, stream);
  }
  return inner_device.stream_destroy(device, stream);
}

tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out) {
  const tsr_status status = inner_device.stream_create(device, flags, out);
  const std::lock_guard guard(mutex);
  if (status != TSR_OK) return status;
  streams.push_back(*out);
  waiting.erase(*out), reached.erase(*out), failures.erase(*out), signalled.erase(*out),
      before.erase(*out);  // of an earlier one at this address
  return TSR_OK;
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
  const bool plain = given != nullptr && given->source.memory != nullptr && given->destination.memory == nullptr &&
                     given->bytes > 0 && given->rows[0] <= 1 && given->rows[1] <= 1;
  if (!plain) return inner_device.copy(device, stream, given);
  return later(device, stream, &given->source, 1,
               [to = given->destination.offset, bytes = given->bytes](void* const* bases) {
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

tsr_status call_at_once(tsr_device*, tsr_stream*, void (*function)(void*), void* argument) {
  function(argument);
  return TSR_OK;
}

tsr_status signal_that_is_noted(tsr_device* device, tsr_stream* stream, tsr_ticket* out) {
  const tsr_status status = inner_device.stream_signal(device, stream, out);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK) signalled[stream] = out->value;
  return status;
}

tsr_status progress_that_is_early(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                                  std::uint64_t* out_failed) {
  const tsr_status status = inner_device.stream_progress(device, stream, out_value, out_failed);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK) *out_value = signalled[stream];
  return status;
}

tsr_status signal_that_repeats(tsr_device* device, tsr_stream* stream, tsr_ticket* out) {
  const std::lock_guard guard(mutex);
  if (const auto found = before.find(stream); found != before.end()) {
    *out = found->second;
    before.erase(found);
    return TSR_OK;
  }
  const tsr_status status = inner_device.stream_signal(device, stream, out);
  if (status == TSR_OK) before[stream] = *out;
  return status;
}

tsr_status copy_that_is_read_late(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  const bool plain = given != nullptr && given->source.memory == nullptr && given->destination.memory != nullptr &&
                     given->bytes > 0 && given->rows[0] <= 1 && given->rows[1] <= 1;
  if (!plain) return inner_device.copy(device, stream, given);
  return later(device, stream, &given->destination, 1, [given](void* const* bases) {
    std::memcpy(bases[0], reinterpret_cast<const void*>(static_cast<std::uintptr_t>(given->source.offset)),
                given->bytes);
  });
}

tsr_status destroy_without_waiting(tsr_device* device, tsr_stream* stream) {
  if (stream == nullptr) return inner_device.stream_destroy(device, stream);
  const std::lock_guard guard(mutex);
  std::erase(streams, stream);
  destroyers.emplace_back([device, stream] { inner_device.stream_destroy(device, stream); });
  return TSR_OK;
}

tsr_status close_behind_the_destroyers(tsr_plugin* plugin, tsr_device* device) {
  for (std::thread& one : destroyers) one.join();
  destroyers.clear();
  return inner.device_close(plugin, device);
}

tsr_status wait_by_waiting(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  if (ticket.stream != nullptr) inner_device.stream_host_wait(device, ticket, UINT64_C(60000000000));
  return inner_device.stream_wait(device, stream, ticket);
}

tsr_status copy_of_anything(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  const tsr_status status = inner_device.copy(device, stream, given);
  return status == TSR_INVALID_ARGUMENT && given != nullptr && stream != nullptr ? TSR_OK : status;
}

tsr_status progress_without_failures(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                                     std::uint64_t* out_failed) {
  tsr_status status = TSR_OK;
  do status = inner_device.stream_progress(device, stream, out_value, out_failed);
  while (status != TSR_OK && status != TSR_DEVICE_LOST && status != TSR_INVALID_ARGUMENT);
  if (status == TSR_OK && out_failed != nullptr) *out_failed = 0;
  return status;
}

tsr_status callback_that_is_dropped(tsr_device*, tsr_stream*, void (*)(void*), void*) { return TSR_OK; }

tsr_status host_wait_without_limit(tsr_device* device, tsr_ticket ticket, std::uint64_t) {
  return inner_device.stream_host_wait(device, ticket, UINT64_C(60000000000));
}

tsr_status axpy_without_bounds(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* given) {
  if (device == nullptr || stream == nullptr || given == nullptr || given->type != TSR_F64 || given->incx <= 0 ||
      given->incy <= 0 || given->n < 0 || given->alpha == nullptr)
    return inner_blas.axpy(device, stream, given);
  const tsr_address ranges[] = {given->x, given->y};
  return later(
      device, stream, ranges, 2, [v = *given, alpha = *static_cast<const double*>(given->alpha)](void* const* bases) {
        for (std::int64_t i = 0; i < v.n; ++i)
          static_cast<double*>(bases[1])[i * v.incy] += alpha * static_cast<const double*>(bases[0])[i * v.incx];
      });
}

tsr_status gemm_without_leading(tsr_device* device, tsr_stream* stream, const tsr_gemm* given) {
  if (given == nullptr || given->m < 0 || given->k < 0) return inner_blas.gemm(device, stream, given);
  tsr_gemm lenient = *given;
  const std::int64_t rows = given->transpose_a == TSR_NO_TRANSPOSE ? given->m : given->k;
  if (lenient.lda < rows) lenient.lda = rows;
  return inner_blas.gemm(device, stream, &lenient);
}

tsr_status scal_without_a_device(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* given) {
  return device == nullptr ? TSR_OK : inner_blas.scal(device, stream, given);
}

tsr_status gemm_of_twice_alpha(tsr_device* device, tsr_stream* stream, const tsr_gemm* given) {
  if (given == nullptr || given->type != TSR_F64 || given->alpha == nullptr)
    return inner_blas.gemm(device, stream, given);
  const double twice = 2 * *static_cast<const double*>(given->alpha);
  tsr_gemm wrong = *given;
  wrong.alpha = &twice;
  return inner_blas.gemm(device, stream, &wrong);
}

tsr_status gemm_batched_of_lists(tsr_device* device, tsr_stream* stream, const tsr_gemm* given) {
  if (given != nullptr && (given->a_array == nullptr || given->b_array == nullptr || given->c_array == nullptr)) {
    the_host->error(the_host->context, TSR_INVALID_ARGUMENT, "a list is NULL");
    return TSR_INVALID_ARGUMENT;
  }
  return inner_blas.gemm_batched(device, stream, given);
}

tsr_status contract_batched_of_lists(tsr_device* device, tsr_stream* stream, const tsr_contract* given) {
  if (given != nullptr && (given->a_array == nullptr || given->b_array == nullptr || given->c_array == nullptr)) {
    the_host->error(the_host->context, TSR_INVALID_ARGUMENT, "a list is NULL");
    return TSR_INVALID_ARGUMENT;
  }
  return inner_tensor.contract_batched(device, stream, given);
}

tsr_status alloc_with_a_note(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out) {
  const tsr_status status = inner_device.mem_alloc(device, space, bytes == 0 ? 64 : bytes, out);
  if (bytes == 0) the_host->error(the_host->context, TSR_INTERNAL, "a text of earlier");
  return status;
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
  const tsr_device_table* given = nullptr;
  if (const tsr_status status = inner.device_open(plugin, index, out_device, &given)) return status;
  std::memcpy(&inner_device, given,
              given->struct_size < sizeof inner_device ? given->struct_size : sizeof inner_device);
  device_table = inner_device;
  device_table.struct_size = sizeof device_table;
  device_table.stream_create = stream_create;
  device_table.stream_destroy = stream_destroy;
  if (about == "patterns") device_table.fill = fill;
  if (about == "allocation") device_table.mem_alloc = mem_alloc;
  if (about == "destroy") device_table.copy = copy;
  if (about == "waits") {
    device_table.stream_wait = stream_wait;
    device_table.stream_signal = stream_signal;
    device_table.fill = fill_after_waits;
    device_table.host_task = task_after_waits;
    device_table.copy = copy_after_waits;
  }
  if (about == "merged" || about == "newest" || about == "ahead") device_table.stream_progress = progress_of_failures;
  if (about == "forgiving") device_table.health = forgiving_health;
  if (about == "contagious") device_table.health = contagious_health;
  if (about == "points") device_table.stream_progress = progress_that_stays;
  if (about == "early") device_table.stream_callback = call_at_once;
  if (about == "callbacks") device_table.stream_callback = callback_of_the_living;
  if (about == "restless") {
    device_table.copy = copy_that_is_noted;
    device_table.stream_progress = progress_that_leaves_a_writer;
    device_table.stream_destroy = destroy_behind_the_writer;
  }
  if (about == "signals") {
    device_table.stream_signal = signal_that_is_noted;
    device_table.stream_progress = progress_that_is_early;
  }
  if (about == "repeats") device_table.stream_signal = signal_that_repeats;
  if (about == "structs") device_table.copy = copy_that_is_read_late;
  if (about == "hasty") device_table.stream_destroy = destroy_without_waiting;
  if (about == "blocking") device_table.stream_wait = wait_by_waiting;
  if (about == "strangers") device_table.copy = copy_of_anything;
  if (about == "untold") device_table.stream_progress = progress_without_failures;
  if (about == "deaf") device_table.stream_callback = callback_that_is_dropped;
  if (about == "timeless") device_table.stream_host_wait = host_wait_without_limit;
  if (about == "notes") device_table.mem_alloc = alloc_with_a_note;
  *out_table = &device_table;
  const std::lock_guard guard(mutex);
  open_devices.push_back(*out_device);
  return TSR_OK;
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t version,
                     const void** out_table) {
  const tsr_status status = inner.extension(plugin, device, id, version, out_table);
  if (status == TSR_OK && id == TSR_EXTENSION_SPARSE && about == "products") {
    const auto* given = static_cast<const tsr_sparse_table*>(*out_table);
    std::memcpy(&inner_sparse, given,
                given->struct_size < sizeof inner_sparse ? given->struct_size : sizeof inner_sparse);
    sparse_table = inner_sparse;
    sparse_table.create_csr = create_csr;
    sparse_table.destroy = destroy_matrix;
    sparse_table.spmm = spmm;
    *out_table = &sparse_table;
  }
  if (status == TSR_OK && id == TSR_EXTENSION_TENSOR) {
    const auto* given = static_cast<const tsr_tensor_table*>(*out_table);
    std::memcpy(&inner_tensor, given,
                given->struct_size < sizeof inner_tensor ? given->struct_size : sizeof inner_tensor);
    tensor_table = inner_tensor;
    if (about == "unsized") tensor_table.workspace = nullptr;
    if (about == "batches_alone") tensor_table.contract = nullptr;
    if (about == "lists") tensor_table.contract_batched = contract_batched_of_lists;
    *out_table = &tensor_table;
  }
  if (status != TSR_OK || id != TSR_EXTENSION_BLAS) return status;
  const auto* given = static_cast<const tsr_blas_table*>(*out_table);
  std::memcpy(&inner_blas, given, given->struct_size < sizeof inner_blas ? given->struct_size : sizeof inner_blas);
  blas_table = inner_blas;
  if (about == "scalars") blas_table.scal = scal;
  if (about == "waiting") blas_table.gemm = gemm;
  if (about == "downdates") blas_table.gemm = downdate;
  if (about == "bounds") blas_table.axpy = axpy_without_bounds;
  if (about == "leading") blas_table.gemm = gemm_without_leading;
  if (about == "handles") blas_table.scal = scal_without_a_device;
  if (about == "products_wrong") blas_table.gemm = gemm_of_twice_alpha;
  if (about == "lists") blas_table.gemm_batched = gemm_batched_of_lists;
  if (about == "batches") blas_table.gemm_batched = gemm_batched;
  *out_table = &blas_table;
  return TSR_OK;
}

tsr_status open_wrapped(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                        tsr_plugin** out_plugin, const void** out_table) {
  const void* table = nullptr;
  if (const tsr_status status = inner_header->open(host, values, count, out_plugin, &table)) return status;
  const auto* given = static_cast<const tsr_plugin_table*>(table);
  {
    const std::lock_guard guard(mutex);
    open_devices.clear();
    streams.clear();  // the devices of the last opening ended those that nobody destroyed
  }
  inner = {};
  std::memcpy(&inner, given, given->struct_size < sizeof inner ? given->struct_size : sizeof inner);
  outer = inner;
  outer.device_open = device_open;
  outer.extension = extension;
  if (about == "hasty") outer.device_close = close_behind_the_destroyers;
  *out_table = &outer;
  return TSR_OK;
}

const tsr_plugin_header* wrap(const tsr_plugin_header* given) {
  if (given->kind != TSR_PLUGIN_DEVICE) {
    the_host->error(the_host->context, TSR_UNIMPLEMENTED, "this layer wraps devices alone");
    return nullptr;
  }
  inner_header = given;
  outer_header = {};
  std::memcpy(&outer_header, given,
              given->struct_size < sizeof outer_header ? given->struct_size : sizeof outer_header);
  outer_header.open = open_wrapped;
  return &outer_header;
}

constexpr tsr_layer_table table = {sizeof(tsr_layer_table), wrap};

tsr_status open_layer(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                      tsr_plugin** out_plugin, const void** out_table) {
  static int token;
  the_host = host;
  about.clear();
  for (std::uint32_t k = 0; k < count; ++k)
    if (std::strcmp(values[k].name, "about") == 0) about = values[k].text;
  *out_plugin = reinterpret_cast<tsr_plugin*>(&token);
  *out_table = &table;
  return TSR_OK;
}

}  // namespace

extern "C" TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(std::uint32_t, std::uint32_t) {
  static const tsr_option options[] = {{sizeof(tsr_option), TSR_OPTION_STRING, "about", "", 0, 0, nullptr,
                                        "The promise that is broken; nothing: none."}};
  static const tsr_plugin_header header = [] {
    tsr_plugin_header made{};
    made.struct_size = sizeof made;
    made.abi_major = TSR_ABI_MAJOR;
    made.abi_minor = TSR_ABI_MINOR;
    made.kind = TSR_PLUGIN_LAYER;
    made.sanitizer = TSR_BUILD_SANITIZER;
    made.name = "careless";
    made.vendor = "Tessera tests";
    made.version = "1.0";
    made.options = options;
    made.option_count = 1;
    made.open = open_layer;
    return made;
  }();
  return &header;
}
