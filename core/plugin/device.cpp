#include "core/plugin/device.hpp"

#include <fmt/format.h>

#include <utility>

namespace tessera::plugin {

std::string_view name_of(tsr_status status) noexcept {
  switch (status) {
    case TSR_OK:
      return "OK";
    case TSR_CANCELLED:
      return "CANCELLED";
    case TSR_UNKNOWN:
      return "UNKNOWN";
    case TSR_INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case TSR_DEADLINE_EXCEEDED:
      return "DEADLINE_EXCEEDED";
    case TSR_NOT_FOUND:
      return "NOT_FOUND";
    case TSR_ALREADY_EXISTS:
      return "ALREADY_EXISTS";
    case TSR_PERMISSION_DENIED:
      return "PERMISSION_DENIED";
    case TSR_RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case TSR_FAILED_PRECONDITION:
      return "FAILED_PRECONDITION";
    case TSR_ABORTED:
      return "ABORTED";
    case TSR_OUT_OF_RANGE:
      return "OUT_OF_RANGE";
    case TSR_UNIMPLEMENTED:
      return "UNIMPLEMENTED";
    case TSR_INTERNAL:
      return "INTERNAL";
    case TSR_UNAVAILABLE:
      return "UNAVAILABLE";
    case TSR_DATA_LOSS:
      return "DATA_LOSS";
    case TSR_UNAUTHENTICATED:
      return "UNAUTHENTICATED";
    case TSR_DEVICE_LOST:
      return "DEVICE_LOST";
    case TSR_NOT_READY:
      return "NOT_READY";
    case TSR_WORKING_SET_TOO_LARGE:
      return "WORKING_SET_TOO_LARGE";
    default:
      return "UNNAMED_STATUS";
  }
}

device::device(std::string name, std::string plugin_name, std::uint32_t index, tsr_device* handle,
               const tsr_device_desc& description, const tsr_device_table& table, std::vector<space> spaces,
               const tsr_blas_table* blas, const tsr_tensor_table* tensor, const tsr_graph_table* graph,
               const tsr_sparse_table* sparse, const tsr_jit_table* jit, std::shared_ptr<attachments> attached)
    : m_name(std::move(name)),
      m_plugin_name(std::move(plugin_name)),
      m_index(index),
      m_handle(handle),
      m_description(description),
      m_table(table),
      m_spaces(std::move(spaces)),
      m_attached(std::move(attached)) {
  if (blas != nullptr) m_blas = *blas, m_has_blas = true;
  if (tensor != nullptr) m_tensor = *tensor, m_has_tensor = true;
  if (graph != nullptr) m_graph = *graph, m_has_graph = true;
  if (sparse != nullptr) m_sparse = *sparse, m_has_sparse = true;
  if (jit != nullptr && launches()) m_jit = *jit, m_has_jit = true;
}

void device::fail(tsr_status status, std::string_view what) const {
  const std::string details = take_error_details();
  const bool full = status == TSR_RESOURCE_EXHAUSTED || status == TSR_WORKING_SET_TOO_LARGE;
  std::string hint;
  if (full && what.starts_with("creation of a stream"))
    hint =
        "a stream has threads or memory of a driver: raise the limit of processes (ulimit -u, pids.max) or of "
        "addresses (ulimit -v), or use fewer devices";
  else if (full)
    hint = fmt::format("use smaller blocks, or give the device more memory; tessera topology shows what it has");
  if (status == TSR_DEVICE_LOST) {
    hint = "the device is gone for this process; run again without it";
    note_lost(details);
  }
  throw error(full ? error_kind::memory : error_kind::device,
              fmt::format("{}{}{}{}{}", what, what.empty() ? "" : " failed: ", name_of(status),
                          details.empty() ? "" : ": ", details),
              fmt::format("device {} (plugin {})", m_name, m_plugin_name), hint);
}

void device::note_lost(std::string details) const {
  const std::lock_guard guard(m_loss_mutex);
  if (m_lost.load(std::memory_order_relaxed)) return;
  m_loss_details = std::move(details);
  m_lost.store(true, std::memory_order_release);
  for (const auto& [call, context] : m_loss_watchers) call(context);
}

std::string device::loss_details() const {
  const std::lock_guard guard(m_loss_mutex);
  return m_loss_details;
}

void device::watch_loss(void (*call)(void* context), void* context) const {
  const std::lock_guard guard(m_loss_mutex);
  m_loss_watchers.emplace_back(call, context);
  if (lost()) call(context);
}

void device::unwatch_loss(const void* context) const {
  const std::lock_guard guard(m_loss_mutex);
  std::erase_if(m_loss_watchers, [context](const auto& watcher) { return watcher.second == context; });
}

}  // namespace tessera::plugin
