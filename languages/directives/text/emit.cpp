#include "languages/directives/text/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "hierarchy/declaration/type.hpp"
#include "hierarchy/policy/policy.hpp"
#include "languages/directives/text/shield.hpp"

namespace tessera::directive {
namespace {

// Names are looked up from the outside: the program may have a `tessera` or a `std` of its own.
constexpr std::string_view calls = "::tessera::directives::";

bool is_identifier(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

/// Designated initializers, of those that are given, in the order of the members.
class members {
 public:
  members(const directive& d, const is_variable& variable) : m_directive(d), m_variable(variable) {}
  members& name(std::string_view clause, std::string_view member) {
    if (const auto* c = m_directive.find(clause)) add(member, name_expression(c->argument, m_variable));
    return *this;
  }
  members& expression(std::string_view clause, std::string_view member) {
    if (const auto* c = m_directive.find(clause)) add(member, as_written(c->argument.text));
    return *this;
  }
  members& flag(std::string_view clause, std::string_view member) {
    if (m_directive.find(clause) != nullptr) add(member, "true");
    return *this;
  }
  members& add(std::string_view member, const std::string& value) {
    m_parts.push_back(fmt::format(".{} = {}", member, value));
    return *this;
  }
  bool empty() const noexcept { return m_parts.empty(); }
  std::string text() const { return "{" + joined(m_parts) + "}"; }

 private:
  const directive& m_directive;
  const is_variable& m_variable;
  std::vector<std::string> m_parts;
};

std::string numbered(const directive& d, const is_variable& variable) {
  members which(d, variable);
  which.flag("all", "all").expression("start", "start").expression("total_count", "count");
  return which.empty() ? "" : ", " + which.text();
}

std::vector<std::string> names_of(const placed_text& list, const is_variable& variable) {
  std::vector<std::string> names;
  for (const placed_text& one : parse_list(list)) names.push_back(name_expression(one, variable));
  return names;
}

/// A number of the program that has no fraction.
std::string whole_number(const std::string& written) {
  return fmt::format("{}whole_number({})", calls, as_written(written));
}

/// {n}, {rows, columns}
std::string extents_of(const std::vector<section::range>& ranges) {
  std::vector<std::string> extents;
  for (const section::range& r : ranges) extents.push_back(whole_number(r.count));
  return "{" + joined(extents) + "}";
}
std::string extents_of(const section& array) {
  for (const section::range& r : array.ranges)
    if (r.first != "0")
      throw syntax_error(array.name.at, fmt::format("array '{}' begins at {}", array.name.text, r.first),
                         "its ranges begin at 0: x[0:n]");
  return extents_of(array.ranges);
}

/// `near`, `far`, `far:2`, and whether memory is given back after each region.
std::string distance_of(const placed_text& distance, bool again) {
  const std::size_t colon = distance.text.find(':');
  std::string word = distance.text.substr(0, colon);
  while (!word.empty() && word.back() == ' ') word.pop_back();
  std::vector<std::string> arguments;
  const std::string levels = colon == std::string::npos ? "1" : distance.text.substr(colon + 1);
  if (word == "far" && (is_fraction(levels) || levels.find_first_not_of(' ') == std::string::npos ||
                        levels[levels.find_first_not_of(' ')] == '-'))
    throw syntax_error(distance.at, fmt::format("distance '{}' above is no whole number from 0 on", levels),
                       "near, far, or far:n");
  if (word == "far")
    arguments.push_back(colon == std::string::npos ? "1" : fmt::format("{}levels({})", calls, as_written(levels)));
  else if (word != "near" || colon != std::string::npos)
    throw syntax_error(distance.at, fmt::format("unknown distance '{}'", distance.text), "near, far, or far:n");
  if (again) arguments.emplace_back("::tessera::array_distance::form::realloc");
  return fmt::format("::tessera::array_distance::{}({})", word, joined(arguments));
}

std::string placement_of(const directive& d, const is_variable& variable) {
  const clause *at = d.find("location"), *distance = d.find("distance"), *again = d.find("realloc"),
               *keeps = d.find("auto"), *file = d.find("file");
  if (at != nullptr && distance != nullptr)
    throw syntax_error(distance->name.at, "'location' and 'distance' exclude each other");
  if (again != nullptr && keeps != nullptr)
    throw syntax_error(keeps->name.at, "'realloc' and 'auto' exclude each other",
                       "'auto' is what is done without both");
  for (const clause* form : {again, keeps})
    if (form != nullptr && distance == nullptr)
      throw syntax_error(form->name.at, fmt::format("'{}' without 'distance'", form->name.text),
                         fmt::format("for example distance(near) {}", form->name.text));
  if (again != nullptr && file != nullptr)
    throw syntax_error(again->name.at, "'realloc' gives up the elements, and 'file' keeps them",
                       "leave one of them out");
  members where(d, variable);
  where.name("location", "location");
  if (distance != nullptr) where.add("distance", distance_of(distance->argument, again != nullptr));
  where.expression("file", "file");
  return where.empty() ? "" : ", " + where.text();
}

/// One statement for each section of a list.
std::string for_sections(const placed_text& list, const std::function<std::string(const section&)>& statement) {
  std::string all;
  for (const placed_text& one : parse_list(list)) all += statement(parse_section(one)) + " ";
  all.pop_back();
  return all;
}
std::string for_names(const placed_text& list, const std::function<std::string(const std::string&)>& statement) {
  std::string all;
  for (const placed_text& one : parse_list(list)) all += statement(one.text) + " ";
  all.pop_back();
  return all;
}

std::string hierarchy_statement(const directive& d, const is_variable& variable) {
  std::vector<placed_text> children = parse_list(d.needed("children"));
  const std::string sign = unquoted(children.front().text);
  if (sign != "+" && sign != "-")
    throw syntax_error(children.front().at, fmt::format("'children' begins with {}", children.front().text),
                       "\"+\" attaches them, \"-\" detaches them: children(\"+\", \"LocB\", \"LocC\")");
  if (children.size() == 1) throw syntax_error(children.front().at, "'children' names nobody");
  std::vector<std::string> names;
  for (std::size_t k = 1; k < children.size(); ++k) names.push_back(name_expression(children[k], variable));
  return fmt::format("{}edit_hierarchy({}, {{{}}}, {}{});", calls, literal(sign), joined(names),
                     name_expression(d.needed("parent"), variable), numbered(d, variable));
}

std::string copy_statement(const directive& d) {
  const section from = parse_section(d.needed("from")), to = parse_section(d.needed("to"));
  for (const section* one : {&from, &to})
    if (one->ranges.size() != 1)
      throw syntax_error(one->name.at, fmt::format("'{}' has {} ranges", one->name.text, one->ranges.size()),
                         "a copy has one range of positions on each side: from(x[0:n]) to(y[8:n])");
  return fmt::format("{}copy({}, {}, {}, {}, {}, {});", calls, as_written(from.name.text),
                     whole_number(from.ranges[0].first), whole_number(from.ranges[0].count), as_written(to.name.text),
                     whole_number(to.ranges[0].first), whole_number(to.ranges[0].count));
}

std::string use_text(const array_use& a) {
  static constexpr std::array words = {"read", "write", "update"};
  const std::string pattern = a.surely_from == 0 && a.surely_to == 0
                                  ? a.pattern
                                  : fmt::format("{}.surely({}, {})", a.pattern, a.surely_from, a.surely_to);
  const std::string word = fmt::format("::tessera::{}({}", words[static_cast<std::size_t>(a.how)], calls);
  if (a.elements.empty())
    return fmt::format("{}array{}({}, {}, {}), ::tessera::{})", word,
                       a.subscripts < 2 ? "" : fmt::format("<{}>", a.subscripts), a.address,
                       a.row_elements.empty() ? "1" : as_written(a.row_elements), literal(a.name), pattern);
  const std::string row = a.row_elements.empty() ? "" : ", " + as_written(a.row_elements);
  return fmt::format("{}elements({}{}), ::tessera::{})", word, a.elements, row, pattern);
}

/// The iterations of the loops, whose heads keep their own types.
std::string iterations_text(const std::vector<loop_model>& loops) {
  std::vector<std::string> heads;
  for (const loop_model& l : loops)
    heads.push_back(
        fmt::format("{0}loop<{1}>({{{2}, {3}, {4}}}, {5}, {0}loop_test::{6}, +({7}), {0}loop_step::{8}, +({9}))", calls,
                    l.index_type, literal(l.index), l.line, l.column, as_written(l.begin), l.test, as_written(l.bound),
                    l.down ? "subtract" : "add", as_written(l.step)));
  return fmt::format("{}iterations({})", calls, joined(heads));
}

/// What stands for a truth value in the body.
std::string truth_of(const reduction_use& r) {
  return fmt::format("{}joined_truth<{}, {}>", calls, r.type, r.operation == "&&");
}

/// The function of the runtime that joins, and how the result goes into the program's variable.
std::pair<std::string_view, std::string> join_of(const reduction_use& r, const std::string& result) {
  const auto folded = [&](std::string_view op) { return fmt::format("{0} = {0} {1} {2};", r.name, op, result); };
  const auto least = [&](std::string_view f) {
    return fmt::format("{0} = ::std::{1}<{2}>({0}, {3});", r.name, f, r.type, result);
  };
  if (r.operation == "+") return {"sum", folded("+")};
  if (r.operation == "*") return {"product", folded("*")};
  if (r.operation == "min") return {"minimum", least("min")};
  if (r.operation == "max") return {"maximum", least("max")};
  return {r.operation == "&&" ? "minimum" : "maximum",
          fmt::format("{}::join({}, {}, {});", truth_of(r), r.name, result, r.bits)};
}

}  // namespace

std::string literal(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + '"';
}

std::string name_expression(const placed_text& argument, const is_variable& variable) {
  return is_identifier(argument.text) && !variable(argument.text) ? literal(argument.text) : as_written(argument.text);
}

std::string policy_expression(const placed_text& argument, const is_variable& variable) {
  std::string expression = name_expression(argument, variable);
  const std::size_t colon = argument.text.find(':');  // percentage:60,40 without quotes; ns::name() is an expression
  if (colon != std::string::npos && is_identifier(argument.text.substr(0, colon)) &&
      argument.text.substr(colon, 2) != "::")
    expression = literal(argument.text);
  if (const std::string bare = shielded(expression, [](const std::string&) { return false; }); bare.starts_with('"'))
    expression = bare;
  else
    return expression;
  std::string text = unquoted(expression);
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });  // the older percentage:[60,40]
  try {
    (void)hierarchy::policy::parse(text);
  } catch (const error& e) {
    throw syntax_error(argument.at, e.message(), e.hint());
  }
  return literal(text);
}

bool means_any(const std::string& policy) {
  return policy.starts_with('"') && hierarchy::policy::parse(unquoted(policy)).kind == hierarchy::policy_kind::any;
}

/// Refuses what no machine could have: an unknown kind, and clauses that the kind has no use for. Where the kind is an
/// expression, the program finds out.
void check_type(const directive& d, const is_variable& variable) {
  const std::string kind =
      shielded(name_expression(d.needed("kind"), variable), [](const std::string&) { return false; });
  if (!kind.starts_with('"')) return;
  config::loctype type;
  type.kind = {unquoted(kind), "kind"};
  // What they are does not matter here.
  const auto given = [&]<class T>(std::string_view name, config::optionally<T>& member) {
    const clause* const written = d.find(name);
    if (written != nullptr && written->argument.text != "0") member.emplace(T{}, std::string(name));
  };
  given("num_cores", type.cores);
  given("mem", type.memory);
  given("size", type.memory);
  given("plugin", type.plugin);
  given("match", type.match);
  given("path", type.path);
  try {
    (void)hierarchy::type_table({type});
  } catch (const error& e) {
    throw syntax_error(d.needed(e.where()).at, e.message(), e.hint());
  }
}

/// Refuses what is surely no whole number, or a negative one, which would mean that the clause is not there.
void check_counts(const directive& d) {
  for (const char* name : {"num_cores", "start", "total_count"}) {
    const clause* const written = d.find(name);
    if (written == nullptr) continue;
    const std::string& text = written->argument.text;
    const bool negative =
        text.size() > 1 && text.front() == '-' && text.find_first_not_of("0123456789", 1) == text.npos;
    if (negative || is_fraction(text))
      throw syntax_error(written->argument.at,
                         fmt::format("'{}' is {} and wants a whole number from 0 on", name, text));
  }
}

std::string statement_of(const directive& d, const is_variable& variable) {
  const auto name = [&](std::string_view clause) { return name_expression(d.needed(clause), variable); };
  check_counts(d);
  switch (d.rule->what) {
    case action::config:
      return fmt::format("{}config({});", calls, as_written(d.needed("file").text));
    case action::loctype: {
      if (d.find("mem") != nullptr && d.find("size") != nullptr)
        throw syntax_error(d.find("size")->name.at, "'mem' and 'size' mean the same: one of them is enough");
      check_type(d, variable);
      members type(d, variable);
      type.name("name", "name").name("kind", "kind").expression("num_cores", "cores").name("mem", "memory");
      type.name("size", "memory").name("bandwidth", "bandwidth").name("plugin", "plugin");
      return fmt::format("{}declare_type({});", calls, type.name("match", "match").name("path", "path").text());
    }
    case action::location:
      return fmt::format("{}declare_locations({{{}}}, {}{});", calls, joined(names_of(d.needed("name"), variable)),
                         name("type"), numbered(d, variable));
    case action::hierarchy:
      return hierarchy_statement(d, variable);
    case action::draw:
      return fmt::format("{}draw({}, {});", calls, d.find("root") != nullptr ? name("root") : "\"\"",
                         as_written(d.needed("filename").text));
    case action::allocate: {
      const std::string where = placement_of(d, variable);
      return for_sections(d.needed("allocate"), [&](const section& x) {
        return fmt::format("{0} = {1}allocate<{2}>({3}, {4}{5});", as_written(x.name.text), calls,
                           as_written(d.needed("type").text), literal(x.name.text), extents_of(x), where);
      });
    }
    case action::adopt: {
      const std::string where = placement_of(d, variable);
      return for_sections(d.needed("register"), [&](const section& x) {
        return fmt::format("{0}register_memory<{1}>({2}, {0}first_element({3}), {4}{5});", calls,
                           as_written(d.needed("type").text), literal(x.name.text), as_written(x.name.text),
                           extents_of(x), where);
      });
    }
    case action::release:
      return for_names(d.needed("free"), [&](const std::string& x) {
        return fmt::format("{}free({}, {});", calls, as_written(x), literal(x));
      });
    case action::unadopt:
      return for_names(d.needed("unregister"), [&](const std::string& x) {
        return fmt::format("{}unregister_memory({}, {});", calls, as_written(x), literal(x));
      });
    case action::copy:
      return copy_statement(d);
    case action::move:
      return for_names(d.needed("move"), [&, to = name("to")](const std::string& x) {
        return fmt::format("{}move({}, {}, {});", calls, as_written(x), to, literal(x));
      });
    case action::pause:
      return fmt::format("{}pause({});", calls,
                         d.find("at") != nullptr ? "::std::string_view(" + name("at") + ")" : "");
    default:
      return {};
  }
}

std::string chain_expression(const chain_path& path, const std::vector<section::range>& ranges) {
  std::string text = "::tessera::chain(" + as_written(path.root);
  bool open = true;  // links are arguments of the call, up to the first element
  for (const chain_path::link& l : path.links) {
    if (l.is_element) {
      text += fmt::format("{}.element({})", open ? ")" : "", as_written(l.text));
      open = false;
    } else {
      text += open ? ", " + as_written(l.text) : fmt::format(".then({})", as_written(l.text));
    }
  }
  if (open) text += ")";
  return ranges.empty() ? text : fmt::format("{}[{}]", text, extents_of(ranges));
}

std::string region_head(const region_model& r) {
  std::string text = "{ _Pragma(\"GCC diagnostic push\") _Pragma(\"GCC diagnostic ignored \\\"-Wshadow\\\"\") ";
  std::vector<std::string> uses, parameters;
  for (const loop_model& l : r.loops)
    parameters.push_back(fmt::format("[[maybe_unused]] const {} {}", l.index_type, l.index));
  for (const array_use& a : r.arrays) {
    uses.push_back(use_text(a));
    parameters.push_back(fmt::format("[[maybe_unused]] const auto {}", a.name));
  }
  for (const reduction_use& one : r.reductions) {
    text += fmt::format("::tessera::region_result<{0}> {1}({2}model().owner(), {3}); ", one.type, one.result, calls,
                        literal(one.name));
    uses.push_back(fmt::format("::tessera::{}({})", join_of(one, "").first, one.result));
    parameters.push_back(fmt::format("{}& {}", one.type, one.is_truth() ? one.part : one.name));
  }
  std::vector<std::string> options;
  if (!r.policy.empty()) options.push_back(".policy = ::tessera::region_policy::from_text(" + r.policy + ")");
  if (!r.at.empty()) options.push_back(".at = " + r.at);
  text += fmt::format("{}model().region({}, ::tessera::region_options{{{}}}, {}", calls, literal(r.name),
                      joined(options), iterations_text(r.loops));
  for (const std::string& use : uses) text += ", " + use;
  text += fmt::format(", {}[{}]({})", r.kernel.empty() ? "" : "::tessera::with_kernel(", joined(r.captures),
                      joined(parameters));
  for (const reduction_use& one : r.reductions)
    if (one.is_truth()) text += fmt::format(" {{ {} {}({});", truth_of(one), one.name, one.part);
  return text;
}

std::string region_tail(const region_model& r) {
  std::string text(static_cast<std::size_t>(std::ranges::count_if(r.reductions, &reduction_use::is_truth)), '}');
  if (!r.kernel.empty()) {
    text += ", R\"kernel(" + r.kernel + ")kernel\"";
    for (const kernel_value& v : r.kernel_values) text += ", " + v.value;
    text += ")";
  }
  text += "); _Pragma(\"GCC diagnostic pop\")";
  for (const reduction_use& one : r.reductions) text += " " + join_of(one, one.result + ".get()").second;
  return text + " }";
}

}  // namespace tessera::directive
