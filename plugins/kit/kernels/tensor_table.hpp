#pragma once
// The TENSOR table of a plugin whose kernels are the calls of tensor_call.hpp.
#include "plugins/kit/kernels/contract/table.hpp"
#include "plugins/kit/kernels/matrix_reduce.hpp"
#include "plugins/kit/kernels/tensor_call.hpp"

namespace tessera::kit {

/// Backend as in make_blas_table.
template <class Backend>
tsr_tensor_table make_tensor_table() {
  tsr_tensor_table table{};
  table.struct_size = sizeof table;
  table.version = 1;
  table.supports = [](tsr_device*, tsr_tensor_operation operation, tsr_type type) {
    return tensor_supports(operation, type);
  };
  table.workspace = [](tsr_device* device, tsr_tensor_operation operation, const void* arguments,
                       std::uint64_t* out) -> tsr_status {
    if (const auto status = Backend::check(device)) return status;
    if (out == nullptr) return TSR_INVALID_ARGUMENT;
    if (operation == TSR_TENSOR_CONTRACT) return contract_workspace_entry<Backend>(device, arguments, out);
    *out = 0;
    return TSR_OK;
  };
  table.permute = [](tsr_device* device, tsr_stream* stream, const tsr_permute* arguments) {
    return Backend::template kernel<permute_call>(
        device, stream,
        [&](const reporter& r, operand_resolver& o, permute_call& c) { return prepare(r, o, arguments, c); });
  };
  table.reduce_add = [](tsr_device* device, tsr_stream* stream, tsr_type type, std::int64_t count,
                        tsr_address destination, const tsr_address* sources, std::uint32_t source_count) {
    return Backend::template kernel<reduce_call>(
        device, stream, [&](const reporter& r, operand_resolver& o, reduce_call& c) {
          return prepare(r, o, type, count, destination, sources, source_count, c);
        });
  };
  table.fill = [](tsr_device* device, tsr_stream* stream, tsr_type type, std::int64_t count, tsr_address destination,
                  const void* value) {
    return Backend::template kernel<fill_call>(device, stream,
                                               [&](const reporter& r, operand_resolver& o, fill_call& c) {
                                                 return prepare(r, o, type, count, destination, value, c);
                                               });
  };
  table.reduce = [](tsr_device* device, tsr_stream* stream, const tsr_reduce* arguments) {
    return Backend::template kernel<matrix_reduce_call>(
        device, stream,
        [&](const reporter& r, operand_resolver& o, matrix_reduce_call& c) { return prepare(r, o, arguments, c); });
  };
  put_contract_into<Backend>(table);
  return table;
}

}  // namespace tessera::kit
