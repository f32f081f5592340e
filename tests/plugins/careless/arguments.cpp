// Calls that take what they must refuse, or compute something else:
//   bounds         axpy does not look whether its vectors fit their memory
//   leading        gemm takes leading dimensions that are too small
//   handles        scal answers OK to a NULL device
//   strangers      copy takes memory of another device for the device's own
//   downdates      C -= A B^T has a path of its own, which forgets that B is transposed
//   products_wrong gemm computes with twice its alpha
//   unsized        the TENSOR table has no `workspace`
//   batches_alone  the TENSOR table claims contract and has `contract_batched` alone
//   notes          mem_alloc of 0 bytes answers OK, and leaves a text with host->error
//   lists          (sound, and stricter than it need be) batches refuse lists that are NULL, also of nothing
#include "tests/plugins/careless/careless.hpp"

namespace careless {
namespace {

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

tsr_status downdate(tsr_device* device, tsr_stream* stream, const tsr_gemm* given) {
  if (given == nullptr || given->type != TSR_F64 || given->alpha == nullptr || given->beta == nullptr ||
      *static_cast<const double*>(given->alpha) != -1 || *static_cast<const double*>(given->beta) != 1)
    return inner_blas.gemm(device, stream, given);
  tsr_gemm forgetful = *given;
  forgetful.transpose_b = TSR_NO_TRANSPOSE;
  return inner_blas.gemm(device, stream, &forgetful);
}

tsr_status copy_of_anything(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  const tsr_status status = inner_device.copy(device, stream, given);
  return status == TSR_INVALID_ARGUMENT && given != nullptr && stream != nullptr ? TSR_OK : status;
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

}  // namespace

void plant_in_arguments(tsr_device_table& table) {
  if (about == "strangers") table.copy = copy_of_anything;
  if (about == "notes") table.mem_alloc = alloc_with_a_note;
}

void plant_in_arguments(tsr_blas_table& table) {
  if (about == "downdates") table.gemm = downdate;
  if (about == "bounds") table.axpy = axpy_without_bounds;
  if (about == "leading") table.gemm = gemm_without_leading;
  if (about == "handles") table.scal = scal_without_a_device;
  if (about == "products_wrong") table.gemm = gemm_of_twice_alpha;
  if (about == "lists") table.gemm_batched = gemm_batched_of_lists;
}

void plant_in_arguments(tsr_tensor_table& table) {
  if (about == "unsized") table.workspace = nullptr;
  if (about == "batches_alone") table.contract = nullptr;
  if (about == "lists") table.contract_batched = contract_batched_of_lists;
}

}  // namespace careless
