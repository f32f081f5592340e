#pragma once
// The entries of the TENSOR table that contract, for a plugin whose kernels take a contract_call.
#include "plugins/kit/kernels/contract/call.hpp"

namespace tessera::kit {

/// What things cost on the plugin's devices: Backend::contract_costs, or what they cost on the host.
template <class Backend>
const contract_costs& contract_costs_of() {
  if constexpr (requires { Backend::contract_costs; })
    return Backend::contract_costs;
  else
    return host_contract_costs;
}

template <class Backend>
tsr_status contract_entry(tsr_device* device, tsr_stream* stream, tsr_type type, const void* alpha, const void* beta,
                          tsr_address a, std::uint32_t rank_a, const std::int64_t* extents_a,
                          const std::int32_t* modes_a, tsr_address b, std::uint32_t rank_b,
                          const std::int64_t* extents_b, const std::int32_t* modes_b, tsr_address c,
                          std::uint32_t rank_c, const std::int32_t* modes_c, tsr_workspace workspace) {
  return Backend::template kernel<contract_call>(
      device, stream, [&](const reporter& report, operand_resolver& operands, contract_call& call) -> tsr_status {
        contract_shape shape;
        if (const auto status = read_shape(report, type, rank_a, extents_a, modes_a, rank_b, extents_b, modes_b, rank_c,
                                           modes_c, shape))
          return status;
        return prepare(report, operands, contract_costs_of<Backend>(), shape, alpha, beta, a, b, c, workspace, call);
      });
}

template <class Backend>
tsr_status contract_batched_entry(tsr_device* device, tsr_stream* stream, const tsr_contract* arguments) {
  return Backend::template kernel<contract_call>(
      device, stream, [&](const reporter& report, operand_resolver& operands, contract_call& call) {
        return prepare(report, operands, contract_costs_of<Backend>(), arguments, call);
      });
}

/// Backend as in make_tensor_table; besides, Backend::report(device) is where failures are told.
template <class Backend>
void put_contract_into(tsr_tensor_table& table) {
  table.contract = &contract_entry<Backend>;
  table.contract_batched = &contract_batched_entry<Backend>;
}

/// workspace for CONTRACT.
template <class Backend>
tsr_status contract_workspace_entry(tsr_device* device, const void* arguments, std::uint64_t* out_bytes) {
  const reporter& report = Backend::report(device);
  return guarded(report, [&] {
    return contract_workspace(report, contract_costs_of<Backend>(), static_cast<const tsr_contract*>(arguments),
                              out_bytes);
  });
}

}  // namespace tessera::kit
