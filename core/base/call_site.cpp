#include "core/base/call_site.hpp"

#include <fmt/format.h>

namespace tessera {

std::string file_and_line(std::source_location site) { return fmt::format("{}:{}", site.file_name(), site.line()); }

std::string while_holding_views(std::string_view call, std::uint64_t blocks) {
  return fmt::format("{} while this thread holds host views of {} block{}", call, blocks, blocks == 1 ? "" : "s");
}

void throw_at(const error& what, std::source_location site) {
  throw error(what.kind(), what.message(), file_and_line(site), what.hint());
}

}  // namespace tessera
