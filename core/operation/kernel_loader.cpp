#include "core/operation/kernel_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::operation {
namespace {

/// Whether a comma separated list has the word.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
  }
  return false;
}

/// Failures that the next attempt would end with too.
bool stays(tsr_status status) {
  return status == TSR_INVALID_ARGUMENT || status == TSR_NOT_FOUND || status == TSR_UNAVAILABLE ||
         status == TSR_UNIMPLEMENTED || status == TSR_DEADLINE_EXCEEDED;
}

/// A call of the plugin that failed in a way that stays.
struct refused {
  tsr_status status;
  std::string message;
};

void check(const plugin::device& device, tsr_status status, const std::string& what) {
  if (status == TSR_OK) return;
  if (!stays(status)) device.fail(status, what);
  const std::string details = plugin::take_error_details();
  throw refused{status,
                fmt::format("{} on device {} (plugin {}) failed: {}{}{}", what, device.name(), device.plugin_name(),
                            plugin::name_of(status), details.empty() ? "" : ": ", details)};
}

}  // namespace

bool definition::has_form_for(const plugin::device& device) const { return kernels->runs_on(device); }

kernel_loader::kernel_loader(const definition& of, std::shared_ptr<const kernel_store> store)
    : m_name(of.name),
      m_kernel(of.kernel),
      m_names(of.kernel.names.empty() ? std::vector{of.kernel.name} : of.kernel.names),
      m_native(of.native),
      m_store(std::move(store)) {}

kernel_loader::~kernel_loader() {
  if (m_abandoned) return;
  for (const auto& [device, one] : m_loaded)
    if (one->module != nullptr && device->table().module_unload != nullptr && !device->lost())
      device->table().module_unload(device->handle(), one->module);
}

native_function kernel_loader::native_for(const plugin::device& device) const {
  if (device.table().stream_native == nullptr) return nullptr;
  const auto found = std::ranges::find(m_native, device.plugin_name(), &native_form::plugin);
  return found != m_native.end() ? found->function : nullptr;
}

const kernel_image* kernel_loader::image_for(const plugin::device& device) const {
  if (!device.launches()) return nullptr;
  for (const kernel_image& one : m_kernel.images)
    if (one.plugin == device.plugin_name() &&
        std::string_view(device.description().name).find(one.device) != std::string_view::npos)
      return &one;
  return nullptr;
}

bool compiles(const plugin::device& device, std::string_view language) {
  return device.jit() != nullptr && lists(device.jit()->languages, language);
}

bool kernel_loader::compiles(const plugin::device& device) const {
  return !m_kernel.text.source.empty() && operation::compiles(device, m_kernel.text.language);
}

bool kernel_loader::runs_on(const plugin::device& device) const {
  return native_for(device) != nullptr || image_for(device) != nullptr || compiles(device);
}

bool kernel_loader::only_launches_on(const plugin::device& device) const {
  if (!would_only_launch_on(device)) return false;
  loaded* one = nullptr;
  {
    const std::lock_guard guard(m_mutex);
    const auto found = m_loaded.find(&device);
    if (found == m_loaded.end()) return false;
    one = found->second.get();
  }
  const std::unique_lock guard(one->mutex, std::try_to_lock);  // else they are just being compiled
  return guard && !one->kernels.empty();
}

/// The launches of one task on its stream.
class kernel_loader::sequence final : public kernel_sequence {
 public:
  sequence(const kernel_loader& of, const context& c, const std::vector<tsr_kernel*>& kernels)
      : m_of(of), m_context(c), m_kernels(kernels) {}
  void launch(std::size_t kernel, const kernel_launch& how) override {
    if (kernel >= m_kernels.size())
      throw error(error_kind::usage, fmt::format("kernel {} of {} is launched", kernel, m_kernels.size()), m_of.m_name,
                  "a place in kernel_form::names");
    m_of.launch(m_context, kernel, how, m_kernels[kernel]);
  }

 private:
  const kernel_loader& m_of;
  const context& m_context;
  const std::vector<tsr_kernel*>& m_kernels;
};

std::string kernel_loader::described() const {
  return m_names.size() == 1 ? fmt::format("kernel '{}'", m_names.front()) : fmt::format("the kernels of '{}'", m_name);
}

void kernel_loader::enqueue(const context& c) {
  kernel_loader& self = *c.kernels;
  const plugin::device& device = *c.device;
  if (const native_function function = self.native_for(device)) {
    void* queue = nullptr;
    device.check(device.table().stream_native(device.handle(), c.stream, &queue), "stream_native");
    return function(c, queue);
  }
  const std::vector<tsr_kernel*>& kernels = self.kernels_on(device);
  if (self.m_kernel.sequence != nullptr) {
    sequence launches(self, c, kernels);
    return self.m_kernel.sequence(c, launches);
  }
  kernel_launch how;
  self.m_kernel.launch(c, how);
  self.launch(c, 0, how, kernels.front());
}

void kernel_loader::launch(const context& c, std::size_t kernel, const kernel_launch& how,
                           tsr_kernel* loaded_kernel) const {
  if (std::ranges::find(how.grid, 0u) != how.grid.end()) return;  // nothing to do: a block without elements
  const tsr_launch abi = how.to_abi();
  c.device->check(c.device->table().launch(c.device->handle(), c.stream, loaded_kernel, &abi),
                  fmt::format("launch of kernel '{}'", m_names[kernel]));
}

const std::vector<tsr_kernel*>& kernel_loader::kernels_on(const plugin::device& device) {
  loaded* one = nullptr;
  {
    const std::lock_guard guard(m_mutex);
    auto& place = m_loaded[&device];
    if (place == nullptr) place = std::make_unique<loaded>();
    one = place.get();
  }
  const std::lock_guard guard(one->mutex);
  if (!one->kernels.empty()) return one->kernels;
  if (one->failure.empty()) {
    one->device = &device;
    try {
      load(*one);
      return one->kernels;
    } catch (const refused& r) {
      const bool of_the_program = r.status == TSR_INVALID_ARGUMENT || r.status == TSR_NOT_FOUND;
      one->kind = of_the_program ? error_kind::usage : error_kind::device;
      one->failure = r.message;
    }
  }
  throw error(one->kind, one->failure);
}

void kernel_loader::load(loaded& into) const {
  const plugin::device& device = *into.device;
  if (const kernel_image* image = image_for(device)) return load_image(into, image->bytes);
  const kernel_text& text = m_kernel.text;
  const std::string source =
      fmt::format("#line {} \"{}\"\n{}", text.line, text.file.empty() ? m_name : text.file, text.source);
  const auto version = m_store->versions.find(device.plugin_name());
  const std::string key = image_cache::key_of(device, version != m_store->versions.end() ? version->second : "",
                                              text.language, text.options, source);
  if (const std::string kept = m_store->cache.read(key); !kept.empty()) {
    try {
      return load_image(into, kept);
    } catch (const refused&) {  // of a driver that changed and did not say so
      m_store->cache.remove(key);
    }
  }
  const std::string image = compile(device, source);
  load_image(into, image);
  m_store->cache.write(key, image);
}

std::string kernel_loader::compile(const plugin::device& device, const std::string& source) const {
  const tsr_jit_table& jit = *device.jit();
  void* image = nullptr;
  std::uint64_t bytes = 0;
  plugin::take_error_details();
  check(device,
        jit.compile(device.handle(), m_kernel.text.language.c_str(), source.c_str(), m_kernel.text.options.c_str(),
                    &image, &bytes),
        "compiling " + described());
  std::string copy(static_cast<const char*>(image), bytes);
  jit.release(device.handle(), image);
  return copy;
}

void kernel_loader::load_image(loaded& into, std::string_view image) const {
  const plugin::device& device = *into.device;
  tsr_module* module = nullptr;
  plugin::take_error_details();
  check(device, device.table().module_load(device.handle(), image.data(), image.size(), &module),
        "loading the image of " + described());
  std::vector<tsr_kernel*> found(m_names.size());
  try {
    for (std::size_t k = 0; k < found.size(); ++k)
      check(device, device.table().kernel_get(device.handle(), module, m_names[k].c_str(), &found[k]),
            fmt::format("finding kernel '{}'", m_names[k]));
  } catch (...) {
    if (device.table().module_unload != nullptr) device.table().module_unload(device.handle(), module);
    throw;
  }
  into.module = module;
  into.kernels = std::move(found);
}

}  // namespace tessera::operation
