#include "core/operation/catalog.hpp"

#include <fmt/format.h>

#include <atomic>
#include <new>
#include <utility>

#include "core/base/error.hpp"
#include "core/operation/kernel_loader.hpp"

namespace tessera::operation {
namespace {

std::atomic<std::uint32_t> next_number{1};  // numbers, not state: operations of another catalog are recognised by them

/// What is left of catalogs that have ended, the oldest first.
class ended_catalogs {
 public:
  void add(std::deque<definition> all) {
    for (definition& d : all) {  // nothing that belongs to the program, a plugin or a device
      definition left;
      left.name = std::move(d.name);
      left.number = d.number, left.catalog = d.catalog;
      d = std::move(left);
    }
    const std::lock_guard guard(m_mutex);
    m_kept.push_back(std::move(all));
    if (m_kept.size() > max_kept) m_kept.pop_front();
  }

 private:
  static constexpr std::size_t max_kept = 64;
  std::mutex m_mutex;
  std::deque<std::deque<definition>> m_kept;
};

/// Of the process. Never destroyed: runtimes with static storage end late.
ended_catalogs& ended() {
  static ended_catalogs& all = *new ended_catalogs;
  return all;
}

bool has_kernel(const definition& what) {
  return !what.kernel.name.empty() || !what.kernel.text.source.empty() || !what.kernel.images.empty() ||
         what.kernel.launch != nullptr || !what.kernel.names.empty() || what.kernel.sequence != nullptr;
}

/// A kernel or a native function that lacks something, or stands beside what it cannot stand beside.
void check_forms(const definition& what) {
  const auto refuse = [&](const char* why, const char* hint) {
    throw error(error_kind::usage, fmt::format("operation '{}' {}", what.name, why), {}, hint);
  };
  if (what.enqueue != nullptr && (has_kernel(what) || !what.native.empty()))
    refuse("has a kernel or a native function beside an enqueue function", "take one of them out");
  if (has_kernel(what)) {
    const bool several = !what.kernel.names.empty() || what.kernel.sequence != nullptr;
    if (several && (!what.kernel.name.empty() || what.kernel.launch != nullptr))
      refuse("has one kernel and several", "set name and launch, or names and sequence");
    if (several ? what.kernel.names.empty() : what.kernel.name.empty())
      refuse("does not name its kernel", "set kernel.name, or kernel.names, to the function behind KERNEL");
    if (what.kernel.text.source.empty() && what.kernel.images.empty())
      refuse("has a kernel without text and image", "set kernel.text or kernel.images");
    if (several && what.kernel.sequence == nullptr)
      refuse("has kernels without a sequence function", "set kernel.sequence: it launches them");
    if (!several && what.kernel.launch == nullptr)
      refuse("has a kernel without a launch function", "set kernel.launch: it says the geometry and the arguments");
  }
  if (what.batch.enqueue != nullptr && (!what.plain_arguments || what.destroy_arguments != nullptr))
    refuse("has a batch form and arguments that are not plain",
           "tasks of a batch have the same arguments, compared as bytes");
  if (what.batch.enqueue != nullptr && what.workspace != nullptr && what.batch.workspace == nullptr)
    refuse("wants a workspace and has a batch form that wants none",
           "set batch.workspace: at least what one task wants");
  for (const native_form& one : what.native)
    if (one.function == nullptr || one.plugin.empty())
      refuse("has a native form without a plugin or a function", "set both");
}

}  // namespace

catalog::catalog() : m_number(next_number.fetch_add(1)) {}

catalog::~catalog() {
  try {
    ended().add(std::move(m_all));
  } catch (const std::bad_alloc&) {  // then they are gone
  }
}

const definition& catalog::add(definition what) {
  if (what.kernels != nullptr) {  // of another catalog
    what.enqueue = nullptr;
    what.kernels = nullptr;
  }
  check_forms(what);
  const std::lock_guard guard(m_mutex);
  if (has_kernel(what) || !what.native.empty()) {
    what.kernels =
        std::make_shared<kernel_loader>(what, m_store != nullptr ? m_store : std::make_shared<const kernel_store>());
    what.enqueue = &kernel_loader::enqueue;
  }
  if (what.host == nullptr && what.enqueue == nullptr && what.special == nullptr)
    throw error(error_kind::usage, "operation '" + what.name + "' has no implementation", {},
                "give it a host function, a kernel, a native function or an enqueue function");
  if (what.batch.enqueue != nullptr && what.enqueue == nullptr)
    throw error(error_kind::usage, "operation '" + what.name + "' has a batch form alone", {},
                "give it a kernel, a native function or an enqueue function for a task by itself");
  for (const definition& other : m_all)
    if (other.name == what.name)
      throw error(error_kind::usage, "operation '" + what.name + "' exists already", {}, "choose another name");
  if (m_all.size() == max_operations) throw error(error_kind::usage, "more than 4096 operations in one runtime");
  what.number = static_cast<std::uint32_t>(m_all.size());
  what.catalog = m_number;
  return m_all.emplace_back(std::move(what));
}

void catalog::keep_kernels_in(std::shared_ptr<const kernel_store> store) {
  const std::lock_guard guard(m_mutex);
  m_store = std::move(store);
}

void catalog::abandon() noexcept {
  const std::lock_guard guard(m_mutex);
  for (const definition& d : m_all)
    if (d.kernels != nullptr) d.kernels->abandon();
}

const definition* catalog::find(std::string_view name) const {
  const std::lock_guard guard(m_mutex);
  for (const definition& d : m_all)
    if (d.name == name) return &d;
  return nullptr;
}

std::size_t catalog::size() const {
  const std::lock_guard guard(m_mutex);
  return m_all.size();
}

std::vector<std::string> catalog::names() const {
  const std::lock_guard guard(m_mutex);
  std::vector<std::string> names;
  for (const definition& d : m_all) names.push_back(d.name);
  return names;
}

const definition& catalog::at(std::uint32_t number) const {
  const std::lock_guard guard(m_mutex);
  return m_all[number];
}

}  // namespace tessera::operation
