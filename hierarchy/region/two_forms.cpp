#include "hierarchy/region/two_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "core/plugin/device.hpp"
#include "core/runtime/program_side.hpp"
#include "core/validate/intent_checker.hpp"
#include "core/validate/validator.hpp"
#include "hierarchy/region/leaf_times.hpp"
#include "tessera/front_end.hpp"

namespace tessera::hierarchy {
namespace {

/// Copies of the blocks that a task writes, for the second form.
class twin {
 public:
  explicit twin(std::span<const operation::operand> of) : m_operands(of.begin(), of.end()), m_copies(of.size()) {
    for (std::size_t k = 0; k < of.size(); ++k) {
      if (of[k].intent == intent::read) continue;
      const auto* const from = static_cast<const std::byte*>(of[k].host);
      m_copies[k].assign(from, from + of[k].bytes);
      m_operands[k].host = m_copies[k].data();
      m_operands[k].address = {nullptr, reinterpret_cast<std::uintptr_t>(m_copies[k].data())};
    }
  }
  std::span<const operation::operand> operands() const noexcept { return m_operands; }

 private:
  std::vector<operation::operand> m_operands;
  std::vector<std::vector<std::byte>> m_copies;
};

/// Two elements that differ.
struct difference {
  std::int64_t at = 0;     // position of the first ones
  std::int64_t count = 0;  // of such elements
};

template <class T>
std::optional<difference> difference_in(const T* a, const T* b, std::int64_t count, bool joined, double rounding) {
  difference found;
  const auto differs = [&](std::int64_t k, double least) {
    if constexpr (std::is_integral_v<T>) {
      return a[k] != b[k];
    } else {
      if (std::isnan(a[k]) || std::isnan(b[k])) return std::isnan(a[k]) != std::isnan(b[k]);
      if (a[k] == b[k]) return false;
      const double relative = (joined ? 1e6 : 4096) * static_cast<double>(std::numeric_limits<T>::epsilon()),
                   x = static_cast<double>(a[k]), y = static_cast<double>(b[k]);
      return !(std::abs(x - y) <= std::max(relative * std::max(std::abs(x), std::abs(y)), least));
    }
  };
  double largest = 0;
  if constexpr (!std::is_integral_v<T>)
    for (std::int64_t k = 0; k < count; ++k)
      if (std::isfinite(a[k])) largest = std::max(largest, std::abs(static_cast<double>(a[k])));
  const double least =  // what cancels
      std::max(16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest, rounding);
  for (std::int64_t k = 0; k < count; ++k)
    if (differs(k, least) && found.count++ == 0) found.at = k;
  return found.count > 0 ? std::optional(found) : std::nullopt;
}

/// Calls `as` with the type of elements that kernels may have.
template <class As>
auto with_type(element_type type, const As& as) {
  switch (type) {
    case element_type::f32:
      return as(std::type_identity<float>{});
    case element_type::f64:
      return as(std::type_identity<double>{});
    case element_type::i32:
      return as(std::type_identity<std::int32_t>{});
    case element_type::i64:
      return as(std::type_identity<std::int64_t>{});
    default:
      return as(std::type_identity<std::uint8_t>{});
  }
}

std::optional<difference> difference_in(const operation::operand& a, const operation::operand& b, bool joined,
                                        double rounding) {
  return with_type(a.type, [&]<class T>(std::type_identity<T>) {
    return difference_in(static_cast<const T*>(a.host), static_cast<const T*>(b.host), a.extents->count(), joined,
                         rounding);
  });
}

/// All elements of a result's part in one, which is kept in `of`: a device makes one of each group, a function one and
/// identities.
class joined_part {
 public:
  joined_part(const operation::operand& of, detail::reduction_kind how) : m_one(of) {
    with_type(of.type, [&]<class T>(std::type_identity<T>) {
      const auto* const parts = static_cast<const T*>(of.host);
      T sum = parts[0];
      for (std::int64_t k = 1; k < of.extents->count(); ++k) join(how, sum, parts[k]);
      std::memcpy(m_value.data(), &sum, sizeof sum);
    });
    m_one.host = m_value.data();
    m_one.extents = &m_extents;
  }
  joined_part(const joined_part&) = delete;
  joined_part& operator=(const joined_part&) = delete;
  const operation::operand& one() const noexcept { return m_one; }

 private:
  template <class T>
  static void join(detail::reduction_kind how, T& to, T part) {
    switch (how) {
      case detail::reduction_kind::product:
        return detail::join_product::join(to, part);
      case detail::reduction_kind::minimum:
        return detail::minimum_operation::join(to, part);
      case detail::reduction_kind::maximum:
        return detail::maximum_operation::join(to, part);
      case detail::reduction_kind::all:
        return detail::join_and::join(to, part);
      case detail::reduction_kind::any:
        return detail::join_or::join(to, part);
      default:
        return detail::join_sum::join(to, part);
    }
  }
  operation::operand m_one;
  alignas(16) std::array<std::byte, 16> m_value{};
  shape m_extents{1};
};

/// "(3, 4)" of position 304 of an array with rows of 100.
std::string index_of(std::int64_t position, const row_extents& extents) {
  const std::int64_t row = position / extents.row_elements(), rest = position % extents.row_elements();
  if (extents.third != 1) return fmt::format("({}, {}, {})", row, rest / extents.third, rest % extents.third);
  return extents.second != 1 ? fmt::format("({}, {})", row, rest) : std::to_string(row);
}

/// Where the text ran.
struct text_run {
  std::span<const operation::operand> results;
  const plugin::device* device = nullptr;  ///< null: on the host, and the function's results are kept
};

void report(const two_forms& forms, std::size_t use, const std::string& where, const operation::operand& function,
            const operation::operand& kernel, const difference& found, const plugin::device* device) {
  const auto text = [&](const operation::operand& of) {
    return validate::element_text(
        of.type, static_cast<const std::byte*>(of.host) + static_cast<std::uint64_t>(found.at) * size_of(of.type));
  };
  program_side_of(*forms.owner)
      .validator->found(
          {.fault = validate::fault::forms_differ,
           .text =
               fmt::format("the function and the text of region '{}' differ in {} of {} elements of '{}': {} is {} by "
                           "the function and {} by the text{}",
                           forms.region, found.count, function.extents->count(), forms.declared[use].array, where,
                           text(function), text(kernel), device != nullptr ? " on " + device->name() : std::string()),
           .here = validate::participant::at(fmt::format("region '{}' submitted", forms.region), forms.site),
           .there = {},
           .hint = fmt::format("both forms of a body must do the same; the {}'s results were kept",
                               device != nullptr ? "device" : "function")});
}

void compare(const kernel_layout& layout, const operation::context& function, const text_run& kernel) {
  const two_forms& forms = *layout.compared;
  const detail::region_uses uses = forms.uses(function.arguments);
  for (std::size_t u = 0; u < layout.uses.size(); ++u) {
    if (!layout.uses[u].written) continue;
    const bool joined = layout.uses[u].reduction != detail::reduction_kind::none;
    std::int64_t position = joined ? 0 : uses.operands[u].row * uses.extents[u].row_elements();
    for (std::uint32_t k = uses.operands[u].first; k < uses.operands[u].first + uses.operands[u].count; ++k) {
      const operation::operand &a = function.operands[k], &b = kernel.results[k];
      if (joined) {
        const joined_part ours(a, layout.uses[u].reduction), theirs(b, layout.uses[u].reduction);
        if (const auto found = difference_in(ours.one(), theirs.one(), true, forms.rounding))
          return report(forms, u, "its part", ours.one(), theirs.one(), *found, kernel.device);
        continue;
      }
      if (const auto found = difference_in(a, b, false, forms.rounding))
        return report(forms, u, "element " + index_of(position + found->at, uses.extents[u]), a, b, *found,
                      kernel.device);
      position += a.extents->count();
    }
  }
}

/// Runs the kernel on this thread. False: it cannot be compiled here.
bool run_kernel(const two_forms& forms, const operation::context& c) {
  try {
    front_end(*forms.owner).run_in_place(*forms.kernel, c.arguments, c.argument_bytes, c.operands);
    return true;
  } catch (const error& e) {
    if (e.kind() == error_kind::device) return false;
    throw;
  }
}

/// False: nothing is to be told.
bool report(const kernel_layout& layout, const void* arguments, const std::optional<undeclared_rows>& found) {
  if (!found) return false;
  const two_forms& forms = *layout.compared;
  undeclared_text said =
      text_of(*found, forms.region, forms.declared[found->use], forms.uses(arguments).extents[found->use].rows);
  program_side_of(*forms.owner)
      .validator->found(
          {.fault = validate::fault::undeclared,
           .text = std::move(said.what),
           .here = validate::participant::at(fmt::format("region '{}' submitted", forms.region), forms.site),
           .there = {},
           .hint = std::move(said.hint)});
  return true;
}

/// The function in surroundings that tell what it uses of them. Whether it used anything is told, and returned.
bool run_function(const operation::context& c) {
  const auto& layout = *static_cast<const kernel_layout*>(c.data);
  surroundings around(c, layout.compared->uses(c.arguments), layout.uses);
  const auto finish = [&] {
    const bool told = report(layout, c.arguments, around.find());
    around.put_back();
    return told;
  };
  try {
    layout.compared->function(around.context());
  } catch (...) {  // perhaps because of what it has read there
    finish();
    throw;
  }
  return finish();
}

}  // namespace

void run_both_forms(const operation::context& c) {
  const auto& layout = *static_cast<const kernel_layout*>(c.data);
  const twin second(c.operands);
  operation::context of_second = c;
  of_second.operands = second.operands();
  surroundings around(of_second, layout.compared->uses(c.arguments), layout.uses);
  // First: the function may change what it has captured.
  const bool ran = run_kernel(*layout.compared, around.context());
  const std::optional<undeclared_rows> found = ran ? around.find() : std::nullopt;
  around.put_back();
  if (run_function(c) || report(layout, c.arguments, found)) return;
  if (ran) compare(layout, c, {second.operands()});
}

void run_surrounded(const operation::context& c) { run_function(c); }

void compare_with_device(const operation::context& before, std::span<const operation::operand> after) {
  const auto& layout = *static_cast<const kernel_layout*>(before.data);
  const times_not_noted by_this_thread;  // what the leaf takes is the kernel's time
  try {
    if (run_function(before)) return;
  } catch (...) {
    return;
  }
  compare(layout, before, {after, before.device});
}

}  // namespace tessera::hierarchy
