// Ranks that are processes of MPI. Nothing of MPI is called before `open`.
#include <atomic>

#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/transport/common/transport.hpp"
#include "plugins/transport/mpi/endpoint.hpp"

namespace tessera::mpi {
namespace {

std::atomic<bool> is_open{false};

class mpi_transport final : public tsr_transport_s {
 public:
  explicit mpi_transport(const kit::reporter& to) { report = to; }
  ~mpi_transport() override { is_open.store(false); }

  tsr_status open(const settings& setting) { return open_job(report, setting, m_job); }

  /// After a failure of open, whose record stays.
  void abandon() {
    report = kit::reporter();
    static_cast<void>(shut_down());
  }

  tsr_transport_desc describe() const override {
    tsr_transport_desc desc{};
    desc.size = m_job.size;
    desc.first_rank = m_job.rank;
    desc.local_count = 1;
    desc.thread_mode = m_job.setting.serialized ? TSR_THREAD_ONE_AT_A_TIME : TSR_THREAD_ONE;
    return desc;
  }
  std::unique_ptr<tsr_endpoint_s> make_endpoint(std::int32_t) override { return std::make_unique<endpoint>(m_job); }
  tsr_status close(tsr_endpoint_s& one) override { return static_cast<endpoint&>(one).close(); }
  tsr_status shut_down() override { return close_job(report, m_job); }

 private:
  job m_job;
};

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                tsr_transport** out_transport, const tsr_transport_table** out_table) {
  const kit::reporter report(host);
  return kit::guarded(report, [&]() -> tsr_status {
    if (host == nullptr || out_transport == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    settings setting;
    if (const auto status = read_settings(report, kit::option_reader(values, count), setting)) return status;
    if (is_open.exchange(true))
      return report.fail(TSR_ALREADY_EXISTS, "MPI is one for the process, and this transport is open already");
    auto made = std::make_unique<mpi_transport>(report);
    if (const auto status = made->open(setting)) {
      made->abandon();
      return status;
    }
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
    return transport::make_header("mpi", "GCC " __VERSION__ ", " TESSERA_MPI_LIBRARY, options, count, open);
  }();
  return value;
}

}  // namespace
}  // namespace tessera::mpi

extern "C" const tsr_transport_header* tsr_transport_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_TRANSPORT_MAJOR ? &tessera::mpi::header() : nullptr;
}
