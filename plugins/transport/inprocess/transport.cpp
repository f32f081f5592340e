// Several ranks in one process: for tests, for the thread sanitizer, and for what a network would do on a bad day.
#include "plugins/transport/common/transport.hpp"
#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/transport/inprocess/endpoint.hpp"

namespace tessera::inprocess {
namespace {

class process_transport final : public tsr_transport_s {
 public:
  explicit process_transport(const settings& setting) : m_world(std::make_shared<world>(setting)) {}

  tsr_transport_desc describe() const override {
    tsr_transport_desc desc{};
    desc.size = desc.local_count = m_world->setting().ranks;
    desc.thread_mode = TSR_THREAD_ONE_AT_A_TIME;
    return desc;
  }
  std::unique_ptr<tsr_endpoint_s> make_endpoint(std::int32_t rank) override {
    return std::make_unique<endpoint>(m_world, rank);
  }
  tsr_status close(tsr_endpoint_s& one) override {
    static_cast<endpoint&>(one).close();
    return TSR_OK;
  }
  tsr_status shut_down() override { return TSR_OK; }
  bool can_lose() const override { return true; }

 private:
  const std::shared_ptr<world> m_world;
};

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                tsr_transport** out_transport, const tsr_transport_table** out_table) {
  const kit::reporter report(host);
  return kit::guarded(report, [&]() -> tsr_status {
    if (host == nullptr || out_transport == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    settings setting;
    if (const auto status = read_settings(report, kit::option_reader(values, count), setting)) return status;
    auto made = std::make_unique<process_transport>(setting);
    made->report = report;
    made->magic.set(transport::transport_magic);
    *out_table = &transport::transport_table();
    *out_transport = made.release();
    return TSR_OK;
  });
}

const tsr_transport_header& header() {
  static const tsr_transport_header value = [] {
    std::uint32_t count = 0;
    const tsr_option* const options = option_schema(count);
    return transport::make_header("inprocess", "GCC " __VERSION__, options, count, open);
  }();
  return value;
}

}  // namespace
}  // namespace tessera::inprocess

extern "C" const tsr_transport_header* tsr_transport_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_TRANSPORT_MAJOR ? &tessera::inprocess::header() : nullptr;
}
