#pragma once
// The SPARSE table of a plugin whose kernels are the calls of sparse_call.hpp, and what a matrix's handle is.
#include <memory>
#include <utility>

#include "plugins/kit/abi/handle_pool.hpp"
#include "plugins/kit/kernels/sparse_call.hpp"

/// One sparse matrix. Its arrays are the caller's.
struct tsr_sparse_s {
  tessera::kit::magic_word magic;
  tsr_device* device = nullptr;
  tessera::kit::csr_matrix matrix{};
  std::shared_ptr<const void> index;  ///< what the plugin has built for it
};

namespace tessera::kit {

inline constexpr std::uint64_t sparse_magic = 0x7473722e73707273;  // "tsr.sprs"

/// The matrix of a live handle, or null with a record.
inline const tsr_sparse_s* live_matrix(const reporter& report, const tsr_device* device, const tsr_sparse* handle) {
  if (handle != nullptr && reinterpret_cast<std::uintptr_t>(handle) % alignof(tsr_sparse_s) == 0 &&
      handle->magic.is(sparse_magic) && handle->device == device)
    return handle;
  report.fail(TSR_INVALID_ARGUMENT, "the matrix is not a live matrix of this device");
  return nullptr;
}

/// The matrices of a device that is being closed.
inline void close_matrices(handle_pool<tsr_sparse_s>& matrices) {
  matrices.for_each([](tsr_sparse_s& one) {
    one.magic.set(0);
    one.index.reset();
  });
}

/// Backend as in make_blas_table; the device has `matrices`, a handle_pool<tsr_sparse_s>. With
///   rules, gate, operands                            those of the plugin
///   refuse(device*, call)                            FAILED_PRECONDITION, with a record, for a thread that records
///   check_type(device*, type)                        UNIMPLEMENTED, with a record, for what the device cannot compute
///   with take_in(device*, const csr_matrix&, index&)      checks the contents (check_structure), builds what spmm
///   wants workspace(device*, const tsr_sparse_s&, transpose, b)  bytes that spmm wants; where it is left out, none
template <class Backend>
struct sparse_calls {
  using device = typename Backend::rules::device;
  using gate = typename Backend::gate;

  static tsr_sparse_table table() {
    tsr_sparse_table made{};
    made.struct_size = sizeof made;
    made.version = 1;
    made.supports = [](device*, tsr_sparse_operation operation, tsr_type type) {
      return sparse_supports(operation, type);
    };
    made.create_csr = create_csr;
    made.destroy = destroy;
    made.spmm = spmm;
    made.create_bsr = create_bsr;
    made.workspace = workspace;
    return made;
  }

  static tsr_status create_csr(device* on, const tsr_csr* arguments, tsr_sparse** out_matrix) {
    return create(on, "create_csr", arguments, out_matrix);
  }
  static tsr_status create_bsr(device* on, const tsr_bsr* arguments, tsr_sparse** out_matrix) {
    return create(on, "create_bsr", arguments, out_matrix);
  }

  template <class Arguments>
  static tsr_status create(device* on, const char* call, const Arguments* arguments, tsr_sparse** out_matrix) {
    return gate::on_device(on, [&]() -> tsr_status {
      const auto& report = on->report;
      if (out_matrix == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "%s: out_matrix is NULL", call);
      if (const auto status = Backend::refuse(on, call)) return status;
      csr_matrix matrix{};
      typename Backend::operands resolver(on);
      if (const auto status = prepare(report, resolver, arguments, matrix)) return status;
      if (const auto status = Backend::check_type(on, matrix.type)) return status;
      std::shared_ptr<const void> index;
      if (const auto status = Backend::take_in(on, matrix, index)) return status;
      tsr_sparse_s& made = on->matrices.take();
      made.device = on;
      made.matrix = matrix;
      made.index = std::move(index);
      made.magic.set(sparse_magic);
      *out_matrix = &made;
      return TSR_OK;
    });
  }

  static tsr_status destroy(device* on, tsr_sparse* handle) {
    return gate::on_any_device(on, [&]() -> tsr_status {
      if (const auto status = Backend::refuse(on, "destroy of a matrix")) return status;
      if (live_matrix(on->report, on, handle) == nullptr) return TSR_INVALID_ARGUMENT;
      if (!handle->magic.take(sparse_magic))
        return on->report.fail(TSR_INVALID_ARGUMENT, "destroy: at the same time by another thread");
      handle->index.reset();
      on->matrices.give(*handle);
      return Backend::rules::alive(on);
    });
  }

  static tsr_status workspace(device* on, tsr_transpose transpose, tsr_sparse* handle, std::int64_t b,
                              std::uint64_t* out_bytes) {
    return gate::on_device(on, [&]() -> tsr_status {
      const auto& report = on->report;
      if (out_bytes == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "workspace: out_bytes is NULL");
      const tsr_sparse_s* const found = live_matrix(report, on, handle);
      if (found == nullptr) return TSR_INVALID_ARGUMENT;
      if (transpose > TSR_CONJUGATE_TRANSPOSE)
        return report.fail(TSR_INVALID_ARGUMENT, "workspace: transpose is %u", transpose);
      if (b < 0) return report.fail(TSR_INVALID_ARGUMENT, "workspace: b is %lld", static_cast<long long>(b));
      if constexpr (requires { Backend::workspace(on, *found, transpose, b); })
        *out_bytes = Backend::workspace(on, *found, transpose, b);
      else
        *out_bytes = 0;
      return TSR_OK;
    });
  }

  static tsr_status spmm(device* on, tsr_stream* stream, tsr_transpose transpose, const void* alpha, tsr_sparse* handle,
                         tsr_address x, std::int64_t ldx, std::int64_t b, const void* beta, tsr_address y,
                         std::int64_t ldy, tsr_workspace workspace) {
    return Backend::template kernel<spmm_call>(
        on, stream, [&](const reporter& report, operand_resolver& operands, spmm_call& call) -> tsr_status {
          const tsr_sparse_s* const found = live_matrix(report, on, handle);
          if (found == nullptr) return TSR_INVALID_ARGUMENT;
          call.index = found->index;
          call.workspace = workspace;
          return prepare(report, operands, found->matrix, {transpose, alpha, x, ldx, b, beta, y, ldy}, call);
        });
  }
};

}  // namespace tessera::kit
