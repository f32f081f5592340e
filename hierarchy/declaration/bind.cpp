#include "hierarchy/declaration/bind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/units.hpp"
#include "core/config/toml.hpp"
#include "hierarchy/declaration/csv.hpp"
#include "hierarchy/declaration/refuse.hpp"
#include "hierarchy/declaration/resources.hpp"

namespace tessera::hierarchy {
namespace {

using config::placed;
using location::kind;
using location::node_id;

std::string numbered(const std::string& base, std::uint64_t index) { return fmt::format("{}[{}]", base, index); }

location::properties root_of(const location::tree& discovered) {
  location::properties is = discovered.at(discovered.root()).properties;
  is.space.reset();  // decided when it is known who took the host memories
  return is;
}

class binder {
 public:
  binder(const config::declarations& declared, const location::tree& discovered, std::span<const found_device> devices,
         std::vector<std::string>& notes)
      : m_declared(declared),
        m_types(declared.loctypes),
        m_free(discovered, devices),
        m_notes(notes),
        m_tree(root_of(discovered)) {}

  location::tree run() && {
    for (const config::location& l : m_declared.locations)
      for (const auto& name : l.names) declare(l, name);
    give_cores();
    for (const config::hierarchy& h : m_declared.hierarchies) arrange(h);
    complete();
    return std::move(m_tree);
  }

 private:
  struct made {
    std::string where;  // of the declaration
    const checked_type* type = nullptr;
    std::string explicit_parent_at;  // "": only an implicit parent
    bool group = false;              // a NAME made for NAME[0], NAME[1], ...
  };

  const config::declarations& m_declared;
  type_table m_types;
  resources m_free;
  std::vector<std::string>& m_notes;
  location::tree m_tree;
  std::map<node_id, made> m_made;
  std::vector<node_id> m_wanting_cores;

  // ---- locations

  void declare(const config::location& l, const placed<std::string>& name) {
    const checked_type& type = m_types.at(l.type);
    if (!l.all && !l.count) {
      make(type, name.value, m_tree.root(), name.where);
      return;
    }
    std::uint64_t start = l.start ? l.start->value : 0, count = l.count ? l.count->value : 0;
    if (l.all) {
      if (type.kind == type_kind::virtual_group)
        refuse(fmt::format("'all' of '{}' has no meaning: virtual locations are not counted", name.value), l.where);
      count = m_free.free(type);
      if (type.kind == type_kind::cpu) count /= type.type.cores ? type.type.cores->value : 1;
      if (count == 0)
        refuse(fmt::format("location '{}' asks for every {}, but none is free", name.value, type.description()),
               name.where, fmt::format("there is: {}", there_is(type)));
    }
    node_id group = location::no_node;
    if (const auto existing = m_tree.find(name.value);
        existing && m_made.contains(*existing) && m_made[*existing].group) {
      group = *existing;
    } else {
      location::properties is;
      is.kind = kind::virtual_group;
      is.name = name.value;
      is.type = "virtual";
      group = add(m_tree.root(), std::move(is), name.where, nullptr);
      m_made[group].group = true;
    }
    for (std::uint64_t i = start; i < start + count; ++i)
      make(type, numbered(name.value, i), group, name.where, l.all && type.kind == type_kind::cpu && !type.type.cores);
  }

  node_id add(node_id parent, location::properties is, const std::string& where, const checked_type* type) {
    if (const auto known = m_tree.find(is.name)) {
      const auto declared = m_made.find(*known);
      refuse(fmt::format("there is already a location '{}'", is.name), where,
             declared != m_made.end() ? fmt::format("declared at {}", declared->second.where)
                                      : "it is the name of the machine itself");
    }
    const node_id id = m_tree.add(parent, std::move(is));
    m_made[id] = {where, type, {}, false};
    return id;
  }

  void make(const checked_type& type, const std::string& name, node_id parent, const std::string& where,
            bool single_core = false) {
    location::properties is;
    std::string of = type.type.name.value.empty() ? "virtual" : type.type.name.value;
    if (type.kind == type_kind::cpu) {
      is.kind = kind::virtual_group;
      if (type.type.memory) {
        const auto memory = m_free.take_host_memory(name);
        if (!memory)
          cannot_bind(type, name, where, "a host memory for its own use", checked_type{type_kind::unified, {}, {}});
        is = *memory;
        is.kind = kind::memory;
      }
    } else if (type.kind == type_kind::virtual_group) {
      is.kind = kind::virtual_group;
    } else {
      const auto bound = m_free.take(type, name);
      if (!bound) cannot_bind(type, name, where, type.description(), type);
      is = *bound;
      note_unchecked(type, is);
      if (type.kind == type_kind::unified) is.kind = kind::memory;
      of += ", " + bound->name;
    }
    is.name = name;
    is.type = of;
    limit(is, type, name);
    const node_id id = add(parent, std::move(is), where, &type);
    if (type.kind != type_kind::cpu) return;
    if (single_core) return put_cores(id, 1);
    if (!type.type.cores) return m_wanting_cores.push_back(id);
    if (m_free.free_cores() < type.type.cores->value)
      refuse(fmt::format("location '{}' asks for {} cores, but {} of {} are free", name, type.type.cores->value,
                         m_free.free_cores(), m_free.cores()),
             type.type.cores->where, "only cores inside the set of CPUs that the process inherited count");
    put_cores(id, type.type.cores->value);
  }

  void limit(location::properties& is, const checked_type& type, const std::string& name) {
    if (type.type.memory) {
      if (is.memory_bytes != 0 && type.type.memory->value > is.memory_bytes)
        refuse(fmt::format("location '{}' asks for {} of memory, but there are {}", name,
                           format_bytes(static_cast<double>(type.type.memory->value)),
                           format_bytes(static_cast<double>(is.memory_bytes))),
               type.type.memory->where);
      is.memory_bytes = is.declared_bytes = type.type.memory->value;
      is.declared_at = type.type.memory->where;
    }
    if (type.type.bandwidth) is.bandwidth = type.type.bandwidth->value;
    if (type.type.latency_ns) is.latency_ns = type.type.latency_ns->value;
  }

  /// Older files name a compute capability where devices may not have one, or none that is known: emulated ones.
  void note_unchecked(const checked_type& type, const location::properties& bound) {
    if (!type.capability || m_free.has_capability(bound)) return;
    m_notes.push_back(fmt::format("kind '{}' at {} is read as gpu; the compute capability of {} is not known",
                                  type.type.kind.value, type.type.kind.where, bound.name));
  }

  std::string there_is(const checked_type& type) const {
    return type.kind == type_kind::cpu ? fmt::format("{} cores, {} free", m_free.cores(), m_free.free_cores())
                                       : m_free.inventory(type);
  }

  [[noreturn]] void cannot_bind(const checked_type& type, const std::string& name, const std::string& where,
                                const std::string& asked, const checked_type& among) const {
    refuse(fmt::format("location '{}' of type '{}' cannot be bound: it asks for {}, and none is free", name,
                       type.type.name.value, asked),
           where, fmt::format("there is: {}", there_is(among)));
  }

  // ---- cores

  void put_cores(node_id id, std::size_t count) {
    for (location::properties core : m_free.take_cores(count)) {
      add(id, std::move(core), m_made[id].where, nullptr);
    }
  }

  /// Locations that named no number share what is left, as evenly as it goes.
  void give_cores() {
    const std::size_t wanting = m_wanting_cores.size(), cores = m_free.free_cores();
    for (std::size_t k = 0; k < wanting; ++k) {
      const std::size_t share = (k + 1) * cores / wanting - k * cores / wanting;
      const node_id id = m_wanting_cores[k];
      if (share == 0)
        refuse(fmt::format("location '{}' finds no free core: {} cores are shared by {} locations",
                           m_tree.at(id).properties.name, cores, wanting),
               m_made[id].where, fmt::format("there is: {}", there_is(checked_type{type_kind::cpu, {}, {}})));
      put_cores(id, share);
    }
  }

  // ---- hierarchy

  node_id named(const placed<std::string>& name) const {
    const auto id = m_tree.find(name.value);
    if (id && m_made.contains(*id) && (m_made.at(*id).type != nullptr || m_made.at(*id).group)) return *id;
    std::vector<std::string> known;
    for (const auto& [declared, how] : m_made)
      if (how.type != nullptr || how.group) known.push_back(m_tree.at(declared).properties.name);
    const std::string near = suggest(name.value, known);
    refuse(fmt::format("there is no location '{}'", name.value), name.where,
           known.empty()  ? "no location is declared: a [[location]] with a name and a type declares one"
           : near.empty() ? fmt::format("declared: {}", fmt::join(known, ", "))
                          : fmt::format("did you mean '{}'?", near));
  }

  std::vector<node_id> children_of(const config::hierarchy& h, const placed<std::string>& name) const {
    if (h.count) {
      std::vector<node_id> ids;
      const std::uint64_t start = h.start ? h.start->value : 0;
      for (std::uint64_t i = start; i < start + h.count->value; ++i)
        ids.push_back(named({numbered(name.value, i), name.where}));
      return ids;
    }
    const node_id id = named(name);
    if (!h.all) return {id};
    if (!m_made.at(id).group)
      refuse(fmt::format("'all' of '{}': it is one location, there are no numbered ones", name.value), name.where);
    std::vector<node_id> ids;
    for (const auto& [member, how] : m_made)
      if (how.type != nullptr && m_tree.at(member).properties.name.starts_with(name.value + "[")) ids.push_back(member);
    return ids;
  }

  void arrange(const config::hierarchy& h) {
    const node_id parent = named(h.parent);
    for (const auto& name : h.children)
      for (const node_id child : children_of(h, name))
        h.attach ? attach(child, parent, name) : detach(child, parent, name);
  }

  void attach(node_id child, node_id parent, const placed<std::string>& name) {
    const location::node& c = m_tree.at(child);
    if (const std::string& before = m_made[child].explicit_parent_at; !before.empty())
      refuse(fmt::format("location '{}' already has the parent '{}', given at {}", c.properties.name,
                         m_tree.at(c.parent).properties.name, before),
             name.where, "a location has one parent: detach it first");
    if (m_tree.is_ancestor(child, parent))
      refuse(child == parent ? fmt::format("location '{}' cannot be its own parent", c.properties.name)
                             : fmt::format("a cycle: '{}' is already below '{}'", m_tree.at(parent).properties.name,
                                           c.properties.name),
             name.where, fmt::format("the path is {}", m_tree.path(parent)));
    m_tree.reparent(child, parent);
    m_made[child].explicit_parent_at = name.where;
  }

  void detach(node_id child, node_id parent, const placed<std::string>& name) {
    if (m_tree.at(child).parent != parent)
      refuse(fmt::format("location '{}' is not below '{}'", m_tree.at(child).properties.name,
                         m_tree.at(parent).properties.name),
             name.where);
    m_tree.detach(child);
    m_made[child].explicit_parent_at.clear();
  }

  // ---- what must be there in any case

  void complete() {
    // A group whose numbered locations all went elsewhere and that was not placed is only a name.
    for (const auto& [id, how] : m_made)
      if (how.group && how.explicit_parent_at.empty() && m_tree.at(id).children.empty() && m_tree.attached(id))
        m_tree.detach(id);

    const bool cores_declared = std::ranges::any_of(
        m_made, [](const auto& m) { return m.second.type && m.second.type->kind == type_kind::cpu; });
    if (!cores_declared && m_free.free_cores() > 0) {
      location::properties is;
      is.kind = kind::virtual_group;
      is.name = m_tree.find("host") ? "host cores" : "host";
      is.type = "not declared";
      // Below the memory that they will use: the machine's, or the first declared one when that took all there is.
      node_id above = m_tree.root();
      if (m_free.free_host_memories().empty())
        for (const node_id id : m_tree.subtree(m_tree.root()))
          if (above == m_tree.root() && m_tree.at(id).properties.kind == kind::memory && m_tree.at(id).properties.space)
            above = id;
      m_notes.push_back(fmt::format("no location with cores is declared: host tasks run on all of them, below '{}'",
                                    m_tree.at(above).properties.name));
      put_cores(add(above, std::move(is), "", nullptr), m_free.free_cores());
    }

    // Host memory above everything, unless the declarations took all of it.
    const auto memory =
        needs_root_memory() ? m_free.take_host_memory(m_tree.at(m_tree.root()).properties.name) : std::nullopt;
    if (memory) {
      location::properties& root = m_tree.edit(m_tree.root());
      root.space = memory->space;
      root.memory_bytes = memory->memory_bytes;
      root.numa_node = memory->numa_node;
    }
    if (const auto unused = m_free.free_host_memories(); !unused.empty())
      m_notes.push_back(fmt::format("host memory of no declared location is not used: {}", fmt::join(unused, ", ")));

    const bool spaces = std::ranges::any_of(m_tree.subtree(m_tree.root()),
                                            [&](node_id id) { return m_tree.at(id).properties.space.has_value(); });
    for (const node_id id : m_tree.subtree(m_tree.root())) {
      const location::properties& is = m_tree.at(id).properties;
      if (!spaces || is.kind != kind::worker || m_tree.memory_of(id) != location::no_node) continue;
      const node_id above = m_tree.at(id).parent;
      refuse(fmt::format("the cores of location '{}' have no memory above them", m_tree.at(above).properties.name),
             m_made.contains(above) ? m_made[above].where : std::string(),
             "put it below a location of kind unified, or leave one host memory undeclared");
    }
  }

  /// Whether some worker has no memory above it, or host memory appears nowhere.
  bool needs_root_memory() const {
    bool host_memory = false, homeless = false;
    for (const node_id id : m_tree.subtree(m_tree.root())) {
      const location::properties& is = m_tree.at(id).properties;
      host_memory = host_memory || (is.kind == kind::memory);
      homeless = homeless || (is.kind == kind::worker && m_tree.memory_of(id) == location::no_node);
    }
    return homeless || !host_memory;
  }
};

}  // namespace

location::tree declared_tree(const config::declarations& declared, const location::tree& discovered,
                             std::span<const found_device> devices, std::vector<std::string>& notes) {
  return binder(declared, discovered, devices, notes).run();
}

config::declarations declarations_of(const config::document& configuration, std::vector<std::string>& notes) {
  const std::string& file = configuration.topology().declarations;
  if (file.empty()) return configuration.declared();
  const std::string origin = configuration.origin("topology.declarations");
  std::string text;
  try {
    text = config::read_text_file(file);
  } catch (const error& e) {
    throw error(error_kind::configuration, e.message(), origin, e.hint());
  }
  if (!configuration.declared().empty())
    notes.push_back(fmt::format("the declarations of the TOML files are replaced by those of {} ({})", file, origin));
  return parse_csv(text, file);
}

}  // namespace tessera::hierarchy
