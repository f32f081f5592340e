// The BLAS, TENSOR and SPARSE tables of the host.
#include "plugins/common/blas_table.hpp"
#include "plugins/common/sparse_table.hpp"
#include "plugins/common/tensor_table.hpp"
#include "plugins/host/handles.hpp"

namespace tessera::host {
namespace {

struct backend {
  using rules = host::rules;
  using gate = host::gate;
  using operands = host::operands;
  static tsr_status check(tsr_device* device) {
    return gate::on_device(device, [] { return TSR_OK; });
  }

  static const common::reporter& report(const tsr_device* device) { return device->report; }

  template <class Call, class Prepare>
  static tsr_status kernel(tsr_device* device, tsr_stream* stream, Prepare&& prepare_call) {
    return gate::on_stream(device, stream, [&]() -> tsr_status {
      Call call{};
      operands resolver(device);
      if (const auto status = prepare_call(device->report, resolver, call)) return status;
      return common::enqueue(stream, [call = std::move(call)](common::execution&) { return common::run(call); });
    });
  }

  static tsr_status refuse(const tsr_device*, const char*) { return TSR_OK; }  // nothing is recorded
  static tsr_status check_type(const tsr_device*, tsr_type) { return TSR_OK; }
  static tsr_status take_in(const tsr_device* device, const common::csr_matrix& matrix, std::shared_ptr<const void>&) {
    return common::check_structure(device->report, matrix, static_cast<const std::int64_t*>(matrix.starts_at),
                                   static_cast<const std::int32_t*>(matrix.columns_at));
  }
};

}  // namespace

tsr_blas_table blas_table(const char* library) { return common::make_blas_table<backend>(library); }
tsr_tensor_table tensor_table() { return common::make_tensor_table<backend>(); }
tsr_sparse_table sparse_table() { return common::sparse_calls<backend>::table(); }

}  // namespace tessera::host
