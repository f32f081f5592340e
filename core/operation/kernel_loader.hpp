#pragma once
// How an operation's kernels and native functions get to run on devices.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/operation/definition.hpp"
#include "core/operation/image_cache.hpp"

namespace tessera::operation {

/// What the kernels of a catalog share.
struct kernel_store {
  /// An empty `folder`: compiled kernels are not kept on disk. `limit`: bytes there.
  explicit kernel_store(std::filesystem::path folder = {}, std::uint64_t limit = 1, image_cache::log_function log = {})
      : cache(std::move(folder), limit, std::move(log)) {}
  const image_cache cache;                                   ///< compiled kernels on disk
  std::map<std::string, std::string, std::less<>> versions;  ///< of plugins, by their names: part of what is kept under
};

/// Whether a device compiles kernels written in a language ("tessera-c").
bool compiles(const plugin::device& device, std::string_view language);

/// The kernels and the native functions of one definition in one catalog, with what was compiled of them for which
/// device. Kernels are compiled or loaded once per device, by the first task that needs it there; a text that does not
/// compile fails that task and all later ones with the compiler's words. Thread-safe.
class kernel_loader {
 public:
  /// Copies the kernel and the native functions of `of`.
  kernel_loader(const definition& of, std::shared_ptr<const kernel_store> store);
  /// Unloads the modules; nothing of the operation runs any more.
  ~kernel_loader();
  kernel_loader(const kernel_loader&) = delete;
  kernel_loader& operator=(const kernel_loader&) = delete;

  /// Whether one of the forms is for this device.
  bool runs_on(const plugin::device& device) const;
  /// Whether enqueueing there is nothing but launches, of kernels that are loaded, which may also go into a graph.
  bool only_launches_on(const plugin::device& device) const;
  /// Whether it would be so, once the kernels are loaded: no native function runs there.
  bool would_only_launch_on(const plugin::device& device) const { return native_for(device) == nullptr; }
  /// The definition's enqueue; context::kernels is this object.
  static void enqueue(const context& c);
  /// Modules are not unloaded: something may run for ever.
  void abandon() noexcept { m_abandoned = true; }

 private:
  struct loaded {
    std::mutex mutex;
    const plugin::device* device = nullptr;
    tsr_module* module = nullptr;
    std::vector<tsr_kernel*> kernels;  // as m_names; empty until the module is there
    std::string failure;               // what the first attempt ended with, if another one would end alike
    error_kind kind = error_kind::device;
  };
  native_function native_for(const plugin::device& device) const;
  const kernel_image* image_for(const plugin::device& device) const;
  bool compiles(const plugin::device& device) const;
  class sequence;
  const std::vector<tsr_kernel*>& kernels_on(const plugin::device& device);
  void launch(const context& c, std::size_t kernel, const kernel_launch& how, tsr_kernel* loaded_kernel) const;
  void load(loaded& into) const;
  void load_image(loaded& into, std::string_view image) const;
  std::string compile(const plugin::device& device, const std::string& source) const;
  std::string described() const;  // for messages

  const std::string m_name;
  const kernel_form m_kernel;
  const std::vector<std::string> m_names;  // of the kernels, one or several
  const std::vector<native_form> m_native;
  const std::shared_ptr<const kernel_store> m_store;
  mutable std::mutex m_mutex;  // of the map, not of what is in it
  std::map<const plugin::device*, std::unique_ptr<loaded>> m_loaded;
  bool m_abandoned = false;
};

}  // namespace tessera::operation
