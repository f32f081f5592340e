#pragma once
// What an opened transport is behind the C ABI, and the header that a transport of this tree hands out.
#include <tessera/transport.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/kit/abi/version.hpp"
#include "plugins/transport/common/endpoint.hpp"

// Set per transport by the build.
#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

/// open and shutdown are of the transport; the entries of the C table (calls.hpp) keep the list of endpoints.
struct tsr_transport_s {
  virtual ~tsr_transport_s() = default;

  virtual tsr_transport_desc describe() const = 0;
  /// A rank of this process that was never open. Thread-safe.
  virtual std::unique_ptr<tsr_endpoint_s> make_endpoint(std::int32_t rank) = 0;
  /// Of a rank whose handle is dead already: gives its requests up. Thread-safe.
  virtual tsr_status close(tsr_endpoint_s& endpoint) = 0;
  /// All endpoints are closed.
  virtual tsr_status shut_down() = 0;
  virtual bool can_lose() const { return false; }  ///< whether endpoints have `lose`

  tessera::kit::magic_word magic;
  tessera::kit::reporter report;
  std::mutex guard;                                        ///< of the list
  std::vector<std::unique_ptr<tsr_endpoint_s>> endpoints;  ///< all that ever were open, by their place in this process
};

namespace tessera::transport {

/// The tables that call the above, with all arguments checked.
const tsr_transport_table& transport_table() noexcept;
const tsr_endpoint_table& endpoint_table(bool can_lose) noexcept;

/// The option's value in a field of any type of whole numbers, which has the fallback before.
template <class Field>
void read_integer(const kit::option_reader& option, const char* name, Field& field) {
  field = static_cast<Field>(option.integer(name, static_cast<std::int64_t>(field)));
}

inline tsr_transport_header make_header(const char* name, const char* build, const tsr_option* options,
                                        std::uint32_t option_count,
                                        decltype(tsr_transport_header::open) open) noexcept {
  tsr_transport_header header{};
  header.struct_size = sizeof header;
  header.abi_major = TSR_TRANSPORT_MAJOR;
  header.abi_minor = TSR_TRANSPORT_MINOR;
  header.sanitizer = TSR_BUILD_SANITIZER;
  header.name = name;
  header.vendor = "Tessera";
  header.version = kit::plugin_version;
  header.build = build;
  header.options = options;
  header.option_count = option_count;
  header.open = open;
  return header;
}

}  // namespace tessera::transport
