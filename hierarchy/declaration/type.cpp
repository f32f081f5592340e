#include "hierarchy/declaration/type.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"

namespace tessera::hierarchy {
namespace {

constexpr std::array<std::pair<std::string_view, type_kind>, 14> kinds{{{"cpu", type_kind::cpu},
                                                                        {"gpu", type_kind::gpu},
                                                                        {"accelerator", type_kind::accelerator},
                                                                        {"unified", type_kind::unified},
                                                                        {"storage", type_kind::storage},
                                                                        {"virtual", type_kind::virtual_group},
                                                                        {"x32", type_kind::cpu},
                                                                        {"x64", type_kind::cpu},
                                                                        {"x86", type_kind::cpu},
                                                                        {"x86_64", type_kind::cpu},
                                                                        {"unified_mem", type_kind::unified},
                                                                        {"unified_memory", type_kind::unified},
                                                                        {"permanent_storage", type_kind::storage},
                                                                        {"host", type_kind::cpu}}};

/// @param capability  what an older kind asks for: 7.0 of "cc7.0"
type_kind kind_of(const config::placed<std::string>& written, std::optional<double>& capability) {
  std::string lower = written.value;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [name, kind] : kinds)
    if (lower == name) return kind;
  if (double number = 0; lower.starts_with("cc")) {
    const auto [end, status] = std::from_chars(lower.data() + 2, lower.data() + lower.size(), number);
    if (status == std::errc{} && end == lower.data() + lower.size() && number > 0) {
      capability = number;
      return type_kind::gpu;
    }
  }
  std::vector<std::string> known;
  for (const auto& [name, kind] : kinds) known.emplace_back(name);
  const std::string near = suggest(lower, known);
  throw error(error_kind::configuration, fmt::format("unknown kind of location '{}'", written.value), written.where,
              near.empty() ? "known: cpu, gpu, accelerator, unified, storage, virtual"
                           : fmt::format("did you mean '{}'?", near));
}

template <typename type>
void no_use(const config::optionally<type>& number, std::string_view what, type_kind kind, bool useful,
            std::string_view hint) {
  if (!number || useful) return;
  throw error(error_kind::configuration, fmt::format("a {} has no {}", name_of(kind), what), number->where,
              std::string(hint));
}

}  // namespace

std::string_view name_of(type_kind kind) noexcept {
  switch (kind) {
    case type_kind::cpu:
      return "cpu";
    case type_kind::gpu:
      return "gpu";
    case type_kind::accelerator:
      return "accelerator";
    case type_kind::unified:
      return "unified memory";
    case type_kind::storage:
      return "storage";
    case type_kind::virtual_group:
      return "virtual location";
  }
  return "location";
}

std::string checked_type::description() const {
  std::string text(name_of(kind));
  if (type.plugin) text += fmt::format(" of plugin '{}'", type.plugin->value);
  if (type.match) text += fmt::format(" with {}", type.match->value);
  if (capability) text += fmt::format(" of compute capability {:.1f} or more", *capability);
  if (type.path) text += fmt::format(" at {}", type.path->value);
  return text;
}

bool checked_type::asks_for_capability() const {
  return capability || (type.match && type.match->value.find("cc") != std::string::npos);
}

type_table::type_table(const std::vector<config::loctype>& declared) {
  for (const config::loctype& type : declared) {
    if (const auto known = m_types.find(type.name.value); known != m_types.end())
      throw error(error_kind::configuration,
                  fmt::format("loctype '{}' is declared twice; the first time at {}", type.name.value,
                              known->second.type.name.where),
                  type.name.where);
    std::optional<double> capability;
    const type_kind kind = kind_of(type.kind, capability);
    const bool device = kind == type_kind::gpu || kind == type_kind::accelerator || kind == type_kind::storage;
    no_use(type.cores, "cores to be counted", kind, kind == type_kind::cpu, "'cores' belongs to kind cpu");
    no_use(type.path, "path", kind, kind == type_kind::storage, "'path' belongs to kind storage");
    no_use(type.plugin, "plugin", kind, device, "'plugin' belongs to kinds gpu, accelerator and storage");
    no_use(type.match, "conditions to meet", kind, device || kind == type_kind::unified,
           "'match' belongs to kinds gpu, accelerator, storage and unified");
    no_use(type.memory, "memory of its own", kind, kind != type_kind::virtual_group,
           "declare a location of kind unified above it");
    if (type.name.value == "virtual" && kind != type_kind::virtual_group)
      throw error(error_kind::configuration, "'virtual' is a type of its own, of locations that have no hardware",
                  type.name.where, "give this loctype another name");
    m_types.emplace(type.name.value, checked_type{kind, type, capability});
  }
  // "virtual" needs no declaration.
  m_types.try_emplace("virtual", checked_type{type_kind::virtual_group, {}, {}});
}

const checked_type& type_table::at(const config::placed<std::string>& name) const {
  if (const auto found = m_types.find(name.value); found != m_types.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [declared, type] : m_types) known.push_back(declared);
  const std::string near = suggest(name.value, known);
  throw error(
      error_kind::configuration, fmt::format("there is no loctype '{}'", name.value), name.where,
      near.empty() ? fmt::format("declared: {}", fmt::join(known, ", ")) : fmt::format("did you mean '{}'?", near));
}

}  // namespace tessera::hierarchy
