#include "hierarchy/discovery/topology.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>

#include "core/base/error.hpp"
#include "core/config/toml.hpp"
#include "hierarchy/discovery/builder.hpp"
#include "hierarchy/discovery/memory_limits.hpp"

namespace tessera::hierarchy {

struct topology::implementation {
  hwloc_topology_t handle = nullptr;
  bool here = true;

  implementation() {
    if (hwloc_topology_init(&handle) != 0) fail_to_begin();
    // Devices are the plugins' business. hwloc's own components for them load drivers into this process (OpenCL: with a
    // compiler), ask the X server, or leak (pci, through libpciaccess; the system's own files tell the same, sooner).
    for (const char* component : {"opencl", "cuda", "nvml", "rsmi", "levelzero", "gl", "pci"})
      hwloc_topology_set_components(handle, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
    hwloc_topology_set_io_types_filter(handle, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  }
  /// A copy of what another one has loaded.
  explicit implementation(hwloc_topology_t loaded) {
    if (hwloc_topology_dup(&handle, loaded) != 0) fail_to_begin();
  }
  ~implementation() { hwloc_topology_destroy(handle); }
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;

  [[noreturn]] static void fail_to_begin() { throw error(error_kind::internal, "hwloc cannot be initialised"); }

  /// What hwloc finds here. Looking at the buses takes tens of milliseconds, more on virtual machines, and finds the
  /// same each time: done once per process, and again when hwloc's own variables have changed.
  static std::unique_ptr<implementation> of_this_machine() {
    static std::mutex guard;
    static std::unique_ptr<implementation> known;
    static std::string known_for;
    const std::lock_guard lock(guard);
    std::string variables;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
      if (std::string_view(*variable).starts_with("HWLOC_")) variables += std::string(*variable) + '\n';
    if (!known || known_for != variables) {
      known.reset();
      auto fresh = std::make_unique<implementation>();
      if (hwloc_topology_load(fresh->handle) != 0)
        throw error(error_kind::internal, fmt::format("hwloc cannot describe this machine: {}", std::strerror(errno)));
      known = std::move(fresh);
      known_for = std::move(variables);
    }
    return std::make_unique<implementation>(known->handle);
  }
};

topology::topology(std::unique_ptr<implementation> loaded) : m_loaded(std::move(loaded)) {}
topology::topology(topology&&) noexcept = default;
topology& topology::operator=(topology&&) noexcept = default;
topology::~topology() = default;

topology topology::of_this_machine() {
  auto made = implementation::of_this_machine();
  // hwloc's own variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC) may have put another machine in this one's place.
  made->here = hwloc_topology_is_thissystem(made->handle) != 0;
  const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> inherited(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (made->here && hwloc_get_cpubind(made->handle, inherited.get(), HWLOC_CPUBIND_PROCESS) == 0) {
    // Devices of removed packages move up; the domains stay, and the builder leaves out those that are not ours.
    if (hwloc_topology_restrict(made->handle, inherited.get(), HWLOC_RESTRICT_FLAG_ADAPT_IO) != 0)
      throw error(error_kind::internal,
                  fmt::format("hwloc cannot be restricted to this process's CPUs: {}", std::strerror(errno)));
  }
  return topology(std::move(made));
}

topology topology::synthetic(const std::string& description, const std::string& where) {
  auto made = std::make_unique<implementation>();
  made->here = false;
  if (hwloc_topology_set_synthetic(made->handle, description.c_str()) != 0 || hwloc_topology_load(made->handle) != 0)
    throw error(error_kind::configuration, fmt::format("'{}' is not a synthetic topology", description), where,
                "hwloc's form is, from the top: \"package:2 numa:2 core:4 pu:1\"; see the manual page hwloc(7)");
  return topology(std::move(made));
}

topology topology::from_xml(const std::filesystem::path& file, const std::string& where) {
  const std::string text = [&] {
    try {
      return config::read_text_file(file);
    } catch (const error& e) {
      throw error(error_kind::configuration, e.message(), where, e.hint());
    }
  }();
  auto made = std::make_unique<implementation>();
  made->here = false;
  if (hwloc_topology_set_xmlbuffer(made->handle, text.c_str(), static_cast<int>(text.size() + 1)) != 0 ||
      hwloc_topology_load(made->handle) != 0)
    throw error(error_kind::configuration, fmt::format("'{}' is not a topology that hwloc can read", file.string()),
                where, "lstopo FILE.xml writes one");
  return topology(std::move(made));
}

topology topology::as_configured(const config::document& configuration) {
  const config::topology_settings& wanted = configuration.topology();
  if (!wanted.synthetic.empty() && !wanted.xml.empty())
    throw error(error_kind::configuration, "topology.synthetic and topology.xml exclude each other",
                configuration.origin("topology.xml"), "leave one of them out");
  if (!wanted.synthetic.empty()) return synthetic(wanted.synthetic, configuration.origin("topology.synthetic"));
  if (!wanted.xml.empty()) return from_xml(wanted.xml, configuration.origin("topology.xml"));
  return of_this_machine();
}

bool topology::is_this_machine() const noexcept { return m_loaded->here; }

std::vector<std::uint64_t> topology::cpu_mask() const {
  std::vector<std::uint32_t> cpus;
  if (m_loaded->here) {
    cpus = numbers_of(hwloc_topology_get_topology_cpuset(m_loaded->handle));
  } else {
    // The imagined machine's threads run here all the same.
    for (int limit = 1024; limit <= 1 << 18; limit *= 2) {
      const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(limit), [](cpu_set_t* s) { CPU_FREE(s); });
      const std::size_t bytes = CPU_ALLOC_SIZE(limit);
      if (sched_getaffinity(0, bytes, set.get()) != 0) continue;
      for (int i = 0; i < limit; ++i)
        if (CPU_ISSET_S(static_cast<std::size_t>(i), bytes, set.get())) cpus.push_back(static_cast<std::uint32_t>(i));
      break;
    }
  }
  std::vector<std::uint64_t> mask;
  for (const std::uint32_t cpu : cpus) {
    mask.resize(std::max<std::size_t>(mask.size(), cpu / 64 + 1));
    mask[cpu / 64] |= 1ull << (cpu % 64);
  }
  return mask;
}

std::size_t topology::core_count() const {
  const int cores = hwloc_get_nbobjs_by_type(m_loaded->handle, HWLOC_OBJ_CORE);
  return static_cast<std::size_t>(cores > 0 ? cores : hwloc_get_nbobjs_by_type(m_loaded->handle, HWLOC_OBJ_PU));
}

location::tree topology::tree(std::span<const found_device> devices) const {
  return tree_builder(m_loaded->handle, devices, m_loaded->here ? machine_memory(memory_sources::of_this_process()) : 0)
      .build();
}

}  // namespace tessera::hierarchy
