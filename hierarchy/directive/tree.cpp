// Directives that describe the machine, and that edit its tree later.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/whole_file.hpp"
#include "core/config/quote.hpp"
#include "hierarchy/directive/program.hpp"
#include "hierarchy/draw/draw.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "tessera/machine.hpp"

namespace tessera::directives {
namespace {

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

/// The program has no array while the tree changes, which waits for regions; afterwards it has those again that it had.
class edit_pause {
 public:
  explicit edit_pause(running& in) {
    for (const auto& [address, array] : in.arrays)
      if (array->lent()) {
        array->take();
        m_lent.push_back(array.get());
      }
  }
  ~edit_pause() {
    for (detail::program_array* const array : m_lent) try {
        array->lend();
      } catch (const error&) {  // it stays the regions'; a pause says what is wrong
      }
  }
  edit_pause(const edit_pause&) = delete;
  edit_pause& operator=(const edit_pause&) = delete;

 private:
  std::vector<detail::program_array*> m_lent;
};

/// The locations that a name means: itself, or those of its numbers.
std::vector<std::string> numbered(const location::tree& tree, std::string_view name, const numbering& which,
                                  const std::string& where) {
  if (!which.all && which.start < 0 && which.count < 0) return {std::string(name)};
  std::vector<std::string> names;
  const std::int64_t first = std::max<std::int64_t>(which.start, 0);
  for (std::int64_t k = first; which.count < 0 || k < first + which.count; ++k) {
    std::string one = fmt::format("{}[{}]", name, k);
    if (which.count < 0 && !tree.find(one)) break;
    names.push_back(std::move(one));
  }
  if (names.empty())
    refuse(fmt::format("there is no location '{}[{}]'", name, first), where,
           "'all', 'start' and 'total_count' are for locations that are declared with numbers");
  return names;
}

void attach(location_model& model, const std::string& name, std::string_view parent, std::source_location site) {
  const auto tree = model.tree();
  const auto known = tree->find(name);
  if (known && *known != tree->root() && tree->at(*known).parent != location::no_node)
    model.reparent(name, parent, site);  // it has one parent
  else
    model.attach(name, parent, site);
}

void detach(location_model& model, const std::string& name, std::string_view parent, std::source_location site) {
  const auto tree = model.tree();
  if (model.attached(name) && tree->find(name) != tree->root()) {
    const std::string& above = tree->at(tree->at(*tree->find(name)).parent).properties.name;
    if (above != parent)
      refuse(fmt::format("location '{}' is below '{}', not '{}'", name, above, parent),
             detail::place_of("hierarchy", site), fmt::format("write parent({})", above));
  }
  model.detach(name, site);
}

}  // namespace

location::node_id attached_location(const location::tree& tree, std::string_view name, const std::string& where) {
  const auto found = tree.find(name);
  if (!found) hierarchy::refuse_location(tree, name, where);
  if (!tree.attached(*found))
    refuse(fmt::format("location '{}' is detached", name), where, "'gecko hierarchy children(\"+\", ...)' attaches it");
  return *found;
}

void config(std::string_view file, std::source_location site) {
  if (!program::the().started()) return program::the().config(file, site);
  if (file.ends_with(".csv"))
    refuse(fmt::format("'config' with the CSV file {} after the first array or region", file),
           detail::place_of("config", site), "write the tree as TOML to arrange it while the program runs");
  running& in = program::the().run();
  const location::tree wanted = read_tree(*in.rt, std::filesystem::path(file));
  const edit_pause without_views(in);
  in.model->arrange(wanted, site);
}

void declare_type(const location_type& type, std::source_location site) {
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
  program::the().declare(text, "loctype", site);
}

void declare_locations(std::initializer_list<std::string_view> names, std::string_view type, const numbering& which,
                       std::source_location site) {
  program::the().declare(fmt::format("[[location]]\nname = {}\ntype = {}\n{}", list(names),
                                     tessera::config::in_quotes(type), text_of(which)),
                         "location", site);
}

void edit_hierarchy(std::string_view sign, std::initializer_list<std::string_view> children, std::string_view parent,
                    const numbering& which, std::source_location site) {
  const std::string where = detail::place_of("hierarchy", site);
  if (sign != "+" && sign != "-")
    refuse(fmt::format("children begin with '{}'", sign), where, "\"+\" attaches them, \"-\" detaches them");
  if (!program::the().started())
    return program::the().declare(
        fmt::format("[[hierarchy]]\nparent = {}\n{} = {}\n{}", tessera::config::in_quotes(parent),
                    sign == "+" ? "children" : "detach", list(children), text_of(which)),
        "hierarchy", site);
  running& in = program::the().run();
  std::vector<std::string> names;
  for (const std::string_view child : children)
    for (std::string& name : numbered(*in.model->tree(), child, which, where)) names.push_back(std::move(name));
  const edit_pause without_views(in);
  for (const std::string& name : names)
    sign == "+" ? attach(*in.model, name, parent, site) : detach(*in.model, name, parent, site);
}

void draw(std::string_view root, std::string_view file, std::source_location site) {
  const std::string where = detail::place_of("draw", site);
  running& in = program::the().run();
  const auto tree = in.model->tree();
  hierarchy::drawing what{.from = root.empty() ? tree->root() : attached_location(*tree, root, where)};
  what.note = [&](location::node_id id) {
    std::string names;
    for (const auto& [address, array] : in.arrays)
      if (array->handle().location(site) == tree->at(id).properties.name)
        names += (names.empty() ? "" : ", ") + array->name();
    return names;
  };
  const std::string picture = file.ends_with(".dot") ? hierarchy::to_dot(*tree, what) : hierarchy::to_svg(*tree, what);
  if (const std::error_code failed = write_whole_file(file, {picture}))
    throw error(error_kind::output, fmt::format("cannot write {}: {}", file, failed.message()), where,
                std::string(hint_for_writing(failed)));
}

}  // namespace tessera::directives
