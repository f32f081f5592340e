// The BLAS and TENSOR tables of the host.
#include "plugins/common/blas_table.hpp"
#include "plugins/common/tensor_table.hpp"
#include "plugins/host/handles.hpp"

namespace tessera::host {
namespace {

struct backend {
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
};

}  // namespace

tsr_blas_table blas_table(const char* library) { return common::make_blas_table<backend>(library); }
tsr_tensor_table tensor_table() { return common::make_tensor_table<backend>(); }

}  // namespace tessera::host
