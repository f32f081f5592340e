#include "apps/common/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

namespace tessera::apps {
namespace {

template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

/// What a target holds: T of an optional or a vector of them.
template <class T>
struct element {
  using type = T;
};
template <class T>
struct element<std::optional<T>> {
  using type = T;
};
template <class T>
struct element<std::vector<T>> {
  using type = T;
};

/// Calls f with a value of the type of an option's values.
template <class F>
auto with_type_of(const option& one, F f) {
  return std::visit([&](auto* to) { return f(typename element<std::remove_pointer_t<decltype(to)>>::type()); }, one.to);
}

template <class T>
std::string text_of(const T& value) {
  return fmt::format("{}", value);
}
template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "";
}
template <class T>
std::string text_of(const std::vector<T>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

}  // namespace

option::option(std::string_view name_, option_target to_, std::string_view value_, std::string_view help_,
               option_rules rules_)
    : name(name_), to(to_), value(value_), help(help_), rules(std::move(rules_)) {}

bool option::is_number() const noexcept {
  return with_type_of(*this, [](auto value_of_it) {
    using type = decltype(value_of_it);
    return std::is_arithmetic_v<type> && !std::is_same_v<type, bool>;
  });
}

bool option::is_list() const noexcept {
  return std::visit([](auto* target) { return is_vector<std::remove_pointer_t<decltype(target)>>; }, to);
}

std::string option::value_name() const {
  if (!value.empty() || is_flag()) return value;
  return with_type_of(*this, [](auto value_of_it) {
    using type = decltype(value_of_it);
    return std::is_same_v<type, std::string> ? "TEXT"
           : std::is_floating_point_v<type>  ? "FLOAT"
           : std::is_unsigned_v<type>        ? "UINT"
                                             : "INT";
  });
}

std::string option::default_text() const {
  return is_flag() ? "" : std::visit([](const auto* target) { return text_of(*target); }, to);
}

command_table::command_table(std::string_view name_, std::string_view line_, command_table* above_)
    : name(name_), line(line_), above(above_) {}

void command_table::add(std::vector<option> rows) { std::ranges::move(rows, std::back_inserter(options)); }

command_table& command_table::add_command(std::string_view name_, std::string_view line_) {
  return commands.emplace_back(name_, line_, this);
}

const option* command_table::find(std::string_view wanted) const noexcept {
  const auto found = std::ranges::find(options, wanted, &option::name);
  return found == options.end() ? nullptr : &*found;
}

bool command_table::is_given(std::string_view wanted) const noexcept {
  const option* const found = find(wanted);
  return found != nullptr && !found->given.empty();
}

std::string command_table::words() const {
  if (above == nullptr) return "";
  const std::string before = above->words();
  return before.empty() ? name : before + " " + name;
}

}  // namespace tessera::apps
