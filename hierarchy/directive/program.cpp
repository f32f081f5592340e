// The state of a program with directives: its machine until it starts, then its runtime and its arrays.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/environment.hpp"
#include "core/config/quote.hpp"
#include "core/location/tree.hpp"
#include "hierarchy/draw/draw.hpp"
#include "hierarchy/region/storage.hpp"
#include "tessera/directives.hpp"

namespace tessera::directives {
namespace {

using detail::program_array;

[[noreturn]] void refuse(const std::string& message, const std::string& where, const std::string& hint) {
  throw error(error_kind::usage, message, where, hint);
}

/// Everything that starts and ends together.
struct running {
  std::thread::id thread = std::this_thread::get_id();
  std::unique_ptr<runtime> rt;
  std::unique_ptr<location_model> model;
  std::map<const void*, std::unique_ptr<program_array>> arrays;  // by their addresses; they end first
  bool by_distance = false;                                      // some array is placed so
};

class program {
 public:
  /// Never destroyed: when a process ends, plugins lose what they need before a runtime could end. `stop` ends it.
  static program& the() {
    static auto& one = *std::make_unique<program>().release();
    return one;
  }

  /// What is said of the machine before it starts.
  void declare(const std::string& toml, const char* directive) {
    const std::scoped_lock lock(m_mutex);
    need_no_runtime(directive);
    m_text += toml;
  }
  void config(std::string_view file) {
    const std::scoped_lock lock(m_mutex);
    need_no_runtime("config");
    if (file.ends_with(".csv"))
      m_start.settings.push_back("topology.declarations=" + std::string(file));
    else
      m_start.file = file;
  }

  running& run() {
    const std::scoped_lock lock(m_mutex);
    if (m_running == nullptr) start();
    if (m_running->thread != std::this_thread::get_id())
      refuse("a directive in another thread than the first one", "directives",
             "all directives of a program belong to one thread; use <tessera/region.hpp> for more");
    return *m_running;
  }
  void stop() noexcept {
    const std::scoped_lock lock(m_mutex);
    m_start = {};
    m_text.clear();
    if (m_running == nullptr) return;
    for (const auto& [address, array] : m_running->arrays) array->take();
    m_running->arrays.clear();
    m_running->model.reset();
    m_running->rt.reset();
    m_running.reset();
  }

 private:
  void need_no_runtime(const char* directive) const {
    if (m_running != nullptr)
      refuse(fmt::format("'{}' after the first array or region", directive), "directives",
             "the machine is described before it is used: put it in front of the first memory, region, draw or pause");
  }
  void start() {
    start_options options = m_start;
    options.text = m_text;
    // Declarations in the program add to the configuration of the machine; they do not replace it.
    if (const char* named = environment_variable("TESSERA_CONFIG");
        named != nullptr && options.file.empty() && !m_text.empty())
      options.file = named;
    auto made = std::make_unique<running>();
    made->rt = std::make_unique<runtime>(options);
    made->model = std::make_unique<location_model>(*made->rt);
    m_running = std::move(made);
  }

  std::mutex m_mutex;
  start_options m_start;
  std::string m_text;
  std::unique_ptr<running> m_running;
};

std::string list(std::initializer_list<std::string_view> names) {
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + config::in_quotes(name);
  return "[" + all + "]";
}

std::string text_of(const numbering& which) {
  std::string text;
  if (which.all) text += "all = true\n";
  if (which.start >= 0) text += fmt::format("start = {}\n", which.start);
  if (which.count >= 0) text += fmt::format("count = {}\n", which.count);
  return text;
}

std::uint64_t bytes_of(const program_array& array) {
  return static_cast<std::uint64_t>(array.extents().count()) * size_of(array.type());
}

/// The array that a pointer points into; null: none.
program_array* find(running& in, const void* pointer) {
  auto behind = in.arrays.upper_bound(pointer);
  if (behind == in.arrays.begin()) return nullptr;
  program_array& before = *std::prev(behind)->second;
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(pointer) -
                                                 static_cast<const std::byte*>(before.address()));
  return offset < std::max<std::uint64_t>(bytes_of(before), 1) ? &before : nullptr;
}

program_array& needed(running& in, const void* pointer, const char* directive) {
  program_array* const found = find(in, pointer);
  if (found == nullptr)
    refuse("there is no array at this address", directive,
           "'gecko memory allocate' or 'gecko memory register' makes one");
  return *found;
}

/// One that begins at the address.
program_array& needed_whole(running& in, const void* first, const char* directive) {
  program_array& found = needed(in, first, directive);
  if (found.address() != first)
    refuse(fmt::format("the address is inside of array '{}'", found.name()), directive,
           "use that of its first element");
  return found;
}

void check_type(const program_array& array, element_type type, const char* directive) {
  if (array.type() != type)
    refuse(
        fmt::format("array '{}' has elements of type {}, not {}", array.name(), name_of(array.type()), name_of(type)),
        directive, "the pointer has the type of the array");
}

}  // namespace

// ---- the machine ----------------------------------------------------------------------------------------------------

void config(std::string_view file) { program::the().config(file); }

void declare_type(const location_type& type) {
  std::string text = "[[loctype]]\n";
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) text += fmt::format("{} = {}\n", key, tessera::config::in_quotes(value));
  };
  add("name", type.name);
  add("kind", type.kind);
  if (type.cores != 0) text += fmt::format("cores = {}\n", type.cores);
  add("memory", type.memory);
  add("bandwidth", type.bandwidth);
  add("plugin", type.plugin);
  add("match", type.match);
  add("path", type.path);
  program::the().declare(text, "loctype");
}

void declare_locations(std::initializer_list<std::string_view> names, std::string_view type, const numbering& which) {
  program::the().declare(fmt::format("[[location]]\nname = {}\ntype = {}\n{}", list(names),
                                     tessera::config::in_quotes(type), text_of(which)),
                         "location");
}

void declare_hierarchy(std::string_view sign, std::initializer_list<std::string_view> children, std::string_view parent,
                       const numbering& which) {
  if (sign != "+" && sign != "-")
    refuse(fmt::format("children begin with '{}'", sign), "hierarchy", "\"+\" attaches them, \"-\" detaches them");
  program::the().declare(fmt::format("[[hierarchy]]\nparent = {}\n{} = {}\n{}", tessera::config::in_quotes(parent),
                                     sign == "+" ? "children" : "detach", list(children), text_of(which)),
                         "hierarchy");
}

location_model& model() { return *program::the().run().model; }

void draw(std::string_view root, std::string_view file) {
  running& in = program::the().run();
  const location::tree& tree = in.rt->tree();
  hierarchy::drawing what{.from = root.empty() ? tree.root() : in.rt->at(root)};
  what.note = [&](location::node_id id) {
    std::string names;
    for (const auto& [address, array] : in.arrays)
      if (array->handle().location() == tree.at(id).properties.name)
        names += (names.empty() ? "" : ", ") + array->name();
    return names;
  };
  std::ofstream out{std::string(file)};
  out << (file.ends_with(".dot") ? hierarchy::to_dot(tree, what) : hierarchy::to_svg(tree, what));
  if (!out.flush()) throw error(error_kind::output, fmt::format("cannot write {}", file), "draw");
}

// ---- arrays ---------------------------------------------------------------------------------------------------------

namespace detail {

program_array::program_array(std::string name, tessera::detail::region_array_handle handle, element_type type,
                             bool adopted, std::int64_t ancestor)
    : m_name(std::move(name)),
      m_handle(std::move(handle)),
      m_type(type),
      m_address(m_handle.storage()->tiles().memory()),
      m_adopted(adopted),
      m_ancestor(ancestor) {}

void* enter(std::unique_ptr<program_array> array) {
  running& in = program::the().run();
  void* const address = array->address();
  if (const auto other = in.arrays.find(address);
      other != in.arrays.end())  // both without elements; else regions refuse
    refuse(fmt::format("memory '{}' is in array '{}' already", array->name(), other->second->name()), "memory register",
           "unregister that first");
  in.by_distance = in.by_distance || array->ancestor() >= 0;
  array->lend();
  in.arrays.emplace(address, std::move(array));
  return address;
}

program_array& array_at(const void* first, element_type type, std::int64_t row_elements) {
  program_array& found = needed_whole(program::the().run(), first, "region");
  check_type(found, type, "region");
  if (row_elements != 0 && found.extents().row_elements() != row_elements)
    refuse(fmt::format("rows of array '{}' have {} elements, and the region's subscripts mean rows of {}", found.name(),
                       found.extents().row_elements(), row_elements),
           "region", "allocate it with its rows: x[0:rows][0:columns]");
  return found;
}

void* elements_at(const void* pointer, element_type type, std::int64_t first, std::int64_t count, std::size_t size) {
  program_array& found = needed(program::the().run(), pointer, "memory copy");
  check_type(found, type, "memory copy");
  auto* const base = static_cast<std::byte*>(found.address());
  const std::int64_t offset = (static_cast<const std::byte*>(pointer) - base) / static_cast<std::int64_t>(size) + first,
                     all = found.extents().count();
  if (first < 0 || count < 0 || offset > all || count > all - offset)
    refuse(fmt::format("elements {} to {} of array '{}', which has {}", offset, offset + count, found.name(), all),
           "memory copy", "a range is [first:count]");
  found.lend();
  return base + static_cast<std::size_t>(offset) * size;
}

}  // namespace detail

void free(const void* first) {
  running& in = program::the().run();
  program_array& found = needed_whole(in, first, "memory free");
  if (found.adopted())
    refuse(fmt::format("array '{}' was registered, not allocated", found.name()), "memory free",
           "use 'gecko memory unregister'");
  found.take();
  in.arrays.erase(first);
}

void unregister_memory(const void* first) {
  running& in = program::the().run();
  program_array& found = needed_whole(in, first, "memory unregister");
  if (!found.adopted())
    refuse(fmt::format("array '{}' was allocated, not registered", found.name()), "memory unregister",
           "use 'gecko memory free'");
  found.lend();  // its last version is at home now, and nothing uses it
  found.take();
  in.arrays.erase(first);
}

void move(const void* first, std::string_view location) {
  needed_whole(program::the().run(), first, "memory move").handle().move(location);
}

void place_by_distance(std::string_view at, std::initializer_list<const void*> arrays) {
  running& in = program::the().run();
  if (!in.by_distance) return;
  const location::tree& tree = in.rt->tree();
  std::vector<location::node_id> fixed;
  std::vector<program_array*> placed;
  for (const void* first : arrays) {
    program_array& one = needed_whole(in, first, "region");
    if (one.ancestor() >= 0)
      placed.push_back(&one);
    else
      fixed.push_back(in.rt->at(one.handle().location()));
  }
  location::node_id runs = tree.root();
  if (!at.empty())
    runs = in.rt->at(at);
  else if (const auto deepest = tree.most_common_descendant(fixed))
    runs = *deepest;
  for (program_array* const one : placed) {
    location::node_id to = runs;
    for (std::int64_t k = 0; k < one->ancestor() && to != tree.root(); ++k) to = tree.at(to).parent;
    one->handle().move(tree.at(to).properties.name);
  }
}

void pause(std::source_location site) {
  running& in = program::the().run();
  for (const auto& [address, array] : in.arrays) array->take();
  in.model->pause(site);
  for (const auto& [address, array] : in.arrays) array->lend();
}

void pause(std::string_view at) {
  running& in = program::the().run();
  const location::tree& tree = in.rt->tree();
  const location::node_id top = in.rt->at(at);
  for (const auto& [address, array] : in.arrays)
    if (tree.is_ancestor(top, in.rt->at(array->handle().location()))) array->lend();
}

void stop() { program::the().stop(); }

}  // namespace tessera::directives
