// The BLAS, TENSOR and SPARSE tables of a simulated device: host kernels on its memory, timed by its rates.
#include "plugins/kit/kernels/blas_table.hpp"
#include "plugins/kit/kernels/sparse_table.hpp"
#include "plugins/kit/kernels/tensor_table.hpp"
#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

struct backend {
  using rules = sim::rules;
  using gate = sim::gate;
  using operands = sim::operands;
  static tsr_status check(tsr_device* device) {
    return gate::on_device(device, [] { return TSR_OK; });
  }

  static const kit::reporter& report(const tsr_device* device) { return device->report; }

  template <class Call, class Prepare>
  static tsr_status kernel(tsr_device* device, tsr_stream* stream, Prepare&& prepare_call) {
    return gate::on_stream(device, stream, [&]() -> tsr_status {
      Call call{};
      operands resolver(device);
      if (const auto status = prepare_call(device->report, resolver, call)) return status;
      submit_kernel(stream, [device, call = std::move(call), held = std::move(resolver.held)](kit::execution& state) {
        if constexpr (requires { flops(call); }) {
          return as_computation(device, state, flops(call), [&] { return run(call); });
        } else {
          return as_transfer(device, state, device->within, device->setting.memory_bandwidth, 0, bytes_moved(call),
                             [&] { return run(call); });
        }
      });
      return TSR_OK;
    });
  }

  static tsr_status refuse(tsr_device* device, const char* call) { return refuse_while_thread_records(device, call); }
  static tsr_status check_type(const tsr_device*, tsr_type) { return TSR_OK; }
  /// Takes no modelled time.
  static tsr_status take_in(const tsr_device* device, const kit::csr_matrix& matrix, std::shared_ptr<const void>&) {
    return kit::check_structure(device->report, matrix, static_cast<const std::int64_t*>(matrix.starts_at),
                                static_cast<const std::int32_t*>(matrix.columns_at));
  }
};

}  // namespace

tsr_blas_table blas_table(const char* library) { return kit::make_blas_table<backend>(library); }
tsr_tensor_table tensor_table() { return kit::make_tensor_table<backend>(); }
tsr_sparse_table sparse_table() { return kit::sparse_calls<backend>::table(); }

}  // namespace tessera::sim
