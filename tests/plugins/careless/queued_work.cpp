// What the work reads when it runs, and what a call waits for before it returns:
//   patterns       fill reads its pattern when the work runs
//   scalars        scal reads alpha when the work runs
//   products       spmm reads alpha and beta when the work runs
//   structs        copy reads its struct when the work runs
//   waiting        gemm waits for the stream's work before it returns
//   allocation     mem_alloc waits for the work of every stream
//   batches        gemm_batched enqueues products one by one, and stops at the first that is refused
#include <cstring>
#include <map>
#include <mutex>

#include "tests/plugins/careless/careless.hpp"

namespace careless {
namespace {

std::map<tsr_sparse*, tsr_csr> matrices;  // under mutex

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

tsr_status copy_that_is_read_late(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  const bool plain = given != nullptr && given->source.memory == nullptr && given->destination.memory != nullptr &&
                     given->bytes > 0 && given->rows[0] <= 1 && given->rows[1] <= 1;
  if (!plain) return inner_device.copy(device, stream, given);
  return later(device, stream, &given->destination, 1, [given](void* const* bases) {
    std::memcpy(bases[0], reinterpret_cast<const void*>(static_cast<std::uintptr_t>(given->source.offset)),
                given->bytes);
  });
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

}  // namespace

void plant_in_queued_work(tsr_device_table& table) {
  if (about == "patterns") table.fill = fill;
  if (about == "allocation") table.mem_alloc = mem_alloc;
  if (about == "structs") table.copy = copy_that_is_read_late;
}

void plant_in_queued_work(tsr_blas_table& table) {
  if (about == "scalars") table.scal = scal;
  if (about == "waiting") table.gemm = gemm;
  if (about == "batches") table.gemm_batched = gemm_batched;
}

void plant_in_queued_work(tsr_sparse_table& table) {
  if (about != "products") return;
  table.create_csr = create_csr;
  table.destroy = destroy_matrix;
  table.spmm = spmm;
}

}  // namespace careless
