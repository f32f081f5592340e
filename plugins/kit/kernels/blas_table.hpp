#pragma once
// The BLAS table of a plugin whose kernels are the calls of blas_call.hpp.
#include "plugins/kit/kernels/blas_call.hpp"

namespace tessera::kit {

template <class Backend, tsr_blas_operation Operation>
tsr_status vector_entry(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* arguments) {
  return Backend::template kernel<vector_call>(
      device, stream,
      [&](const reporter& r, operand_resolver& o, vector_call& c) { return prepare(r, o, arguments, Operation, c); });
}

/// Backend::kernel<Call>(device, stream, prepare) checks the handles, calls prepare(report, operands, call), and runs
/// or enqueues run(call). Backend::check(device) says whether the handle is one. `library` must live until shutdown.
template <class Backend>
tsr_blas_table make_blas_table(const char* library) {
  tsr_blas_table table{};
  table.struct_size = sizeof table;
  table.version = 1;
  table.library = library;
  table.supports = [](tsr_device*, tsr_blas_operation operation, tsr_type type) {
    return blas_supports(operation, type);
  };
  table.workspace = [](tsr_device* device, tsr_blas_operation, const void*, std::uint64_t* out) -> tsr_status {
    if (const auto status = Backend::check(device)) return status;
    if (out == nullptr) return TSR_INVALID_ARGUMENT;
    *out = 0;  // OpenBLAS keeps its own buffers
    return TSR_OK;
  };
  table.gemm = [](tsr_device* device, tsr_stream* stream, const tsr_gemm* arguments) {
    return Backend::template kernel<gemm_call>(device, stream,
                                               [&](const reporter& r, operand_resolver& o, gemm_call& c) {
                                                 return prepare(r, o, arguments, gemm_form::single, c);
                                               });
  };
  table.gemm_strided = [](tsr_device* device, tsr_stream* stream, const tsr_gemm* arguments) {
    return Backend::template kernel<gemm_call>(device, stream,
                                               [&](const reporter& r, operand_resolver& o, gemm_call& c) {
                                                 return prepare(r, o, arguments, gemm_form::strided, c);
                                               });
  };
  table.gemm_batched = [](tsr_device* device, tsr_stream* stream, const tsr_gemm* arguments) {
    return Backend::template kernel<gemm_call>(device, stream,
                                               [&](const reporter& r, operand_resolver& o, gemm_call& c) {
                                                 return prepare(r, o, arguments, gemm_form::batched, c);
                                               });
  };
  table.axpy = &vector_entry<Backend, TSR_BLAS_AXPY>;
  table.scal = &vector_entry<Backend, TSR_BLAS_SCAL>;
  table.dot = &vector_entry<Backend, TSR_BLAS_DOT>;
  table.nrm2 = &vector_entry<Backend, TSR_BLAS_NRM2>;
  table.syrk = [](tsr_device* device, tsr_stream* stream, const tsr_syrk* arguments) {
    return Backend::template kernel<syrk_call>(
        device, stream,
        [&](const reporter& r, operand_resolver& o, syrk_call& c) { return prepare(r, o, arguments, c); });
  };
  table.trsm = [](tsr_device* device, tsr_stream* stream, const tsr_trsm* arguments) {
    return Backend::template kernel<trsm_call>(
        device, stream,
        [&](const reporter& r, operand_resolver& o, trsm_call& c) { return prepare(r, o, arguments, c); });
  };
  table.potrf = [](tsr_device* device, tsr_stream* stream, const tsr_potrf* arguments) {
    return Backend::template kernel<potrf_call>(
        device, stream,
        [&](const reporter& r, operand_resolver& o, potrf_call& c) { return prepare(r, o, arguments, c); });
  };
  return table;
}

}  // namespace tessera::kit
