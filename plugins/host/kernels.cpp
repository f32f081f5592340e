// The BLAS, TENSOR and SPARSE tables of the host.
#include "plugins/host/handles.hpp"
#include "plugins/kit/kernels/blas_table.hpp"
#include "plugins/kit/kernels/sparse_table.hpp"
#include "plugins/kit/kernels/tensor_table.hpp"

namespace tessera::host {
namespace {

struct backend {
  using rules = host::rules;
  using gate = host::gate;
  using operands = host::operands;
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
      return kit::enqueue(stream, [call = std::move(call)](kit::execution&) { return kit::run(call); });
    });
  }

  static tsr_status refuse(const tsr_device*, const char*) { return TSR_OK; }  // nothing is recorded
  static tsr_status check_type(const tsr_device*, tsr_type) { return TSR_OK; }
  static tsr_status take_in(const tsr_device* device, const kit::csr_matrix& matrix, std::shared_ptr<const void>&) {
    return kit::check_structure(device->report, matrix, static_cast<const std::int64_t*>(matrix.starts_at),
                                static_cast<const std::int32_t*>(matrix.columns_at));
  }
};

}  // namespace

tsr_blas_table blas_table(const char* library) { return kit::make_blas_table<backend>(library); }
tsr_tensor_table tensor_table() { return kit::make_tensor_table<backend>(); }
tsr_sparse_table sparse_table() { return kit::sparse_calls<backend>::table(); }

}  // namespace tessera::host
