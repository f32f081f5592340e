#include "core/operation/import_operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/base/error.hpp"

namespace tessera::operation {
namespace {

static_assert(static_cast<int>(intent::read) == TSR_READ && static_cast<int>(intent::write) == TSR_WRITE &&
              static_cast<int>(intent::update) == TSR_UPDATE &&
              static_cast<int>(intent::accumulate) == TSR_ACCUMULATE &&
              static_cast<int>(intent::scratch) == TSR_SCRATCH);

struct offer {
  std::string plugin;
  const tsr_host* host;
  tsr_operation operation;
};

void call(const context& c) {
  const offer& o = *static_cast<const offer*>(c.data);
  boost::container::small_vector<tsr_block_view, 8> views;
  for (const operand& from : c.operands) {
    tsr_block_view view{};
    view.struct_size = sizeof view;
    view.type = static_cast<tsr_type>(from.type);
    view.rank = static_cast<std::uint32_t>(from.extents->rank());
    std::ranges::copy(from.extents->extents(), view.extents);
    view.data = from.host;
    views.push_back(view);
  }
  plugin::take_error_details();  // what is left of an earlier call is not about this one
  const tsr_status status =
      o.operation.host(o.host, views.data(), static_cast<std::uint32_t>(views.size()), c.arguments, c.argument_bytes);
  if (status == TSR_OK) return;
  const std::string details = plugin::take_error_details();
  throw error(error_kind::task, fmt::format("plugin \"{}\" answers {}{}{}", o.plugin, plugin::name_of(status),
                                            details.empty() ? "" : ": ", details));
}

}  // namespace

definition import_operation(const plugin::registry::operations_plugin& plugin, const tsr_operation& offered) {
  definition made;
  made.name = offered.name;
  for (std::uint32_t k = 0; k < offered.intent_count; ++k)
    made.signature.push_back(static_cast<intent>(offered.intents[k]));
  made.host = &call;
  made.data = std::make_shared<const offer>(offer{plugin.name, plugin.host, offered});
  return made;
}

}  // namespace tessera::operation
