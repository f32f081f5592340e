#pragma once
// Bodies of loops that are written once, for the host and for devices.
//
// TESSERA_BODY((captures), (indices and uses), { statements }) is the body of a region, or with tessera::loop that of a
// task. The compiler of the program reads the statements as those of a lambda, and devices get them as a kernel.
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tessera/detail/array.hpp"
#include "tessera/detail/region_call.hpp"
#include "tessera/detail/region_loop.hpp"
#include "tessera/detail/runtime.hpp"
#include "tessera/detail/with_kernel.hpp"

namespace tessera {

/// The type of the elements of an array, in a body: `using real = tessera::element_of<decltype(x)>;`.
template <class View>
using element_of = std::remove_cvref_t<decltype(std::declval<const View&>()[0])>;

namespace detail {

/// The numbers of C++ that a body's text may have.
enum class body_number : std::uint8_t {
  none,
  boolean,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f32,
  f64
};
template <class T>
constexpr body_number body_number_of() noexcept {
  if constexpr (std::is_same_v<T, bool>) return body_number::boolean;
  if constexpr (std::is_same_v<T, float>) return body_number::f32;
  if constexpr (std::is_same_v<T, double>) return body_number::f64;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr std::size_t size = sizeof(T);
    if constexpr (std::is_signed_v<T>)
      return size == 1   ? body_number::i8
             : size == 2 ? body_number::i16
             : size == 4 ? body_number::i32
                         : body_number::i64;
    else
      return size == 1   ? body_number::u8
             : size == 2 ? body_number::u16
             : size == 4 ? body_number::u32
                         : body_number::u64;
  }
  return body_number::none;
}

/// A number that a body may capture.
template <class T>
inline constexpr bool is_captured_number = body_number_of<T>() != body_number::none && sizeof(T) <= 8;

/// The type of kernels' parameters that holds the value of a captured one.
template <class T>
using carried = std::conditional_t<
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::uint8_t>, T,
    std::conditional_t<std::is_same_v<T, bool>, std::uint8_t,
                       std::conditional_t<body_number_of<T>() == body_number::i32, std::int32_t, std::int64_t>>>;

/// The text of a body, and where the program has it. All of static lifetime.
struct body_source {
  const char* captures;    ///< "(scale, n)"
  const char* parameters;  ///< "(auto i, auto x, auto y)"
  const char* statements;  ///< "{ y[i] = scale * x[i]; }"
  std::source_location site;
};

/// What is wrong with the captures of a body.
enum class capture_fault : std::uint8_t {
  none,
  no_brackets,
  no_names,
  repeated
};
/// Of "(scale, n)".
constexpr capture_fault fault_of_captures(std::string_view text) noexcept {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return capture_fault::no_brackets;
  text = text.substr(1, text.size() - 2);
  constexpr std::string_view blanks = " \t\n";
  if (text.find_first_not_of(blanks) == text.npos) return capture_fault::none;
  std::string_view before = {};  // with the commas
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    std::string_view name = rest.substr(0, comma);
    const std::size_t begin = name.find_first_not_of(blanks);
    name = begin == name.npos ? std::string_view() : name.substr(begin, name.find_last_not_of(blanks) + 1 - begin);
    if (name.empty() || name == "this" || (name.front() >= '0' && name.front() <= '9')) return capture_fault::no_names;
    for (const char c : name)  // of another alphabet: a byte that is no character of ASCII
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0))
        return capture_fault::no_names;
    for (std::size_t at = before.find(name); at != before.npos; at = before.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const bool begins = at == 0 || before[at - 1] == ',' || blanks.find(before[at - 1]) != blanks.npos;
      if (begins && (before[end] == ',' || blanks.find(before[end]) != blanks.npos)) return capture_fault::repeated;
    }
    if (comma == rest.npos) return capture_fault::none;
    rest.remove_prefix(comma + 1);
    before = text.substr(0, text.size() - rest.size());
  }
}

/// What a body gets for a use.
struct body_use {
  body_number type;  ///< of its elements
  bool is_array;     ///< false: a result
};
/// What a body's text depends on beside itself.
struct body_signature {
  std::size_t depth;            ///< indices
  const body_use* uses;         ///< in their order
  std::size_t use_count;        ///< of them
  const body_number* captures;  ///< in their order
  std::size_t capture_count;    ///< of them
  const char* kind;             ///< "region" or "task", for messages
};
/// A body for devices.
struct device_body {
  std::string text;  ///< as with_kernel takes it: "(i_, x_, y_, scale_) { ... }"
  bool doubles;      ///< some of its numbers are doubles
};
/// Throws tessera::error (usage) for what
/// devices cannot do: what, where, and what to write instead.
device_body text_for_devices(const body_source& of, const body_signature& with, std::string_view name);

/// What TESSERA_BODY makes. @tparam Function  the lambda  @tparam Values  numbers that it captures
template <class Function, class... Values>
struct one_body {
  Function function;
  body_source source;
  std::tuple<Values...> values;
  double rounding = 0;  ///< region_body::rounding
  /// As region_body::within: for results that cancel, where a device's functions differ from the host's.
  one_body within(double difference) && {
    rounding = difference;
    return std::move(*this);
  }
  /// Numbers as parameters of kernels.
  std::tuple<carried<Values>...> carried_values() const {
    return std::apply(
        [](auto... value) { return std::tuple<carried<Values>...>(static_cast<carried<Values>>(value)...); }, values);
  }
};
template <class Function, class... Values>
one_body<Function, Values...> make_one_body(const body_source& source, const Function& function, Values... values) {
  static_assert((is_captured_number<Values> && ...),
                "the body of a loop for devices captures numbers, by value: no pointers, arrays, strings or other "
                "objects, which a device cannot follow. What is indexed is an array: name it as a use, read(x)");
  return {function, source, {values...}};
}

template <class Use>
constexpr body_use body_use_of() noexcept {
  using argument = typename Use::argument;
  if constexpr (is_region_use<Use>)
    return {body_number_of<tessera::element_of<argument>>(), true};
  else
    return {body_number_of<std::remove_cvref_t<argument>>(), false};
}

/// The body as regions take it, once the text is found to be one for devices. Throws as text_for_devices, at the first
/// submission of this body.
template <std::size_t Depth, class... Uses, class Function, class... Values>
region_body<Function, 0, carried<Values>...> region_body_of(const one_body<Function, Values...>& body,
                                                            std::string_view region) {
  static const device_body translated = [&] {
    constexpr std::array<body_use, sizeof...(Uses)> uses{body_use_of<Uses>()...};
    constexpr std::array<body_number, sizeof...(Values)> captures{body_number_of<Values>()...};
    return text_for_devices(body.source, {Depth, uses.data(), uses.size(), captures.data(), captures.size(), "region"},
                            region);
  }();
  kernel_body text(translated.text, body.source.site);
  text.doubles = translated.doubles;
  return {body.function, text, {}, body.carried_values(), body.rounding};
}

/// What a loop's body gets for a use of a task.
template <class View>
inline constexpr body_use body_use_of_view = {};
template <class T, std::size_t Rank, class Order>
inline constexpr body_use body_use_of_view<view<T, Rank, Order>> = {body_number_of<std::remove_const_t<T>>(), true};
template <class View>
inline constexpr bool is_column_major = false;
template <class T, std::size_t Rank>
inline constexpr bool is_column_major<view<T, Rank, column_major>> = Rank > 1 && Rank != any_rank;
template <class View>
inline constexpr std::size_t rank_of_view = 1;
template <class T, std::size_t Rank, class Order>
inline constexpr std::size_t rank_of_view<view<T, Rank, Order>> = Rank == any_rank ? 1 : Rank;
template <class View>
inline constexpr bool has_kernel_elements = false;
template <class T, std::size_t Rank, class Order>
inline constexpr bool has_kernel_elements<view<T, Rank, Order>> =
    body_number_of<std::remove_const_t<T>>() != body_number::none&& is_number<T>;
template <class Use>
inline constexpr bool is_side_by_side =
    Use::how == intent::read || Use::how == intent::write || Use::how == intent::update || Use::how == intent::commute;

/// The iterations of a task's loop, and what its kernel is launched with.
struct task_launch {
  loop_bounds rows;
  std::int64_t count;  ///< of iterations of those
  std::span<const loop_bounds> inner;
  std::span<const kernel_value> values;
};
/// Fills in the kernel of a loop's task, as launch_region.
void launch_loop(const operation::context& c, operation::kernel_launch& how, const task_launch& with);

/// A block of a loop's task as its kernel sees it.
struct loop_operand {
  element_type type;
  bool written;
  std::size_t rank;
  bool column_major;
};
/// The operation of a loop's tasks.
struct loop_form {
  function_form host;
  void (*launch)(const operation::context&, operation::kernel_launch&);
  const body_source* source;
  body_signature signature;
  std::span<const loop_operand> operands;
  std::span<const element_type> values;
};
/// That of the runtime, made when it is first asked for. Throws as text_for_devices.
const operation::definition& define_loop(runtime& of, std::string_view name, const loop_form& form);
/// The iterations of one loop. Throws tessera::error (usage) for a step of 0.
std::int64_t iterations_of(const loop_bounds& loop, std::source_location site);

/// Whether a body can be called with its indices and views.
template <class Function, std::size_t Depth, class... Views>
inline constexpr bool is_loop_body = is_region_body<const Function, Depth, Views...>;

/// The function of a task that is a loop.
template <std::size_t Depth, class Function, class... Values>
struct loop_function {
  Function function;
  iteration_space<Depth> over;
  std::int64_t count;  ///< iterations of the first loop
  std::array<kernel_value, sizeof...(Values)> values;

  template <class... Views>
  requires is_loop_body<Function, Depth, Views...>
  void operator()(Views... views) const {
    if constexpr (Depth == 1) {
      rows([&](std::int64_t i) { function(i, views...); });
    } else if constexpr (Depth == 2) {
      rows([&](std::int64_t i) {
        for (std::int64_t j = over.inner[0].begin; j < over.inner[0].end; ++j) function(i, j, views...);
      });
    } else {
      rows([&](std::int64_t i) {
        for (std::int64_t j = over.inner[0].begin; j < over.inner[0].end; ++j)
          for (std::int64_t k = over.inner[1].begin; k < over.inner[1].end; ++k) function(i, j, k, views...);
      });
    }
  }
  static void launch(const operation::context& c, operation::kernel_launch& how) {
    const auto& task = *static_cast<const loop_function*>(arguments_of(c));
    launch_loop(c, how, {task.over.rows, task.count, task.over.inner, task.values});
  }

 private:
  template <class Row>
  void rows(const Row& row) const {
    if (over.rows.step == 1) {
      for (std::int64_t i = over.rows.begin; i < over.rows.end; ++i) row(i);
    } else {
      for (std::int64_t o = 0; o < count; ++o)
        row(static_cast<std::int64_t>(  // unsigned in between, as of regions
            static_cast<std::uint64_t>(over.rows.begin) +
            static_cast<std::uint64_t>(o) * static_cast<std::uint64_t>(over.rows.step)));
    }
  }
};

// Of bodies that call them without std::, so that programs need not include <algorithm> for them.
template <class T>
constexpr const T& min(const T& a, const T& b) noexcept {
  return b < a ? b : a;
}
template <class T>
constexpr const T& max(const T& a, const T& b) noexcept {
  return a < b ? b : a;
}
template <class T>
constexpr const T& clamp(const T& value, const T& least, const T& most) noexcept {
  return value < least ? least : most < value ? most : value;
}

/// Nothing: the compiler sees that a capture is used.
template <class... Captures>
constexpr void note_captures(const Captures&...) noexcept {}

}  // namespace detail

/// A loop that is a task: what tessera::loop makes.
template <std::size_t Depth, class Function, class... Values>
struct task_loop {
  iteration_space<Depth> over;                 ///< its iterations, which do not depend on each other
  detail::one_body<Function, Values...> body;  ///< of TESSERA_BODY
  /// For runtime::submit.
  template <class... Uses>
  void submit(runtime& to, const task_name& name, const task_options& options, const Uses&... uses) const;
};

/// A task that runs a body for each iteration, on the host one after the other, on a device side by side:
/// @code
/// rt.submit("axpy", tessera::loop(tessera::iterate(0, n), TESSERA_BODY((a), (auto i, auto x, auto y), {
///   y[i] += a * x[i];
/// })), tessera::read(x(0)), tessera::update(y(0)));
/// @endcode
/// The body gets its indices, then the view of each block; blocks are read, written, updated or commuted. Iterations
/// must not depend on each other.
template <std::size_t Depth, class Function, class... Values>
task_loop<Depth, Function, Values...> loop(const iteration_space<Depth>& over,
                                           detail::one_body<Function, Values...> body) {
  return {over, std::move(body)};
}
/// The same for a body of the host alone does not compile: it needs no loop.
template <std::size_t Depth, class Function>
void loop(const iteration_space<Depth>&, const Function&) {
  static_assert(
      detail::is_one_body<Function>,
      "tessera::loop takes the body that TESSERA_BODY makes; a lambda for the host alone has its loop inside");
}

// ---------------------------------------------------------------------------------------------------------------------

template <std::size_t Depth, class Function, class... Values>
template <class... Uses>
void task_loop<Depth, Function, Values...>::submit(runtime& to, const task_name& name, const task_options& options,
                                                   const Uses&... uses) const {
  using namespace detail;  // NOLINT: of this function
  using task = loop_function<Depth, Function, Values...>;
  constexpr bool fits = std::is_invocable_v<const task&, typename Uses::view_type...>;
  static_assert(fits,
                "the body of a loop takes its indices (one per loop), then a view of each block by value, in the order "
                "of the uses");
  static_assert((has_kernel_elements<typename Uses::view_type> && ...),
                "a loop of TESSERA_BODY has blocks of float, double, std::int32_t, std::int64_t and std::uint8_t");
  static_assert(
      (is_side_by_side<Uses> && ...),
      "a loop of TESSERA_BODY has blocks that are read, written, updated or commuted: its iterations run side "
      "by side, and what they add up is a result of a region, sum(r)");
  static_assert(((rank_of_view<typename Uses::view_type> >= 1 && rank_of_view<typename Uses::view_type> <= 3) && ...),
                "a loop of TESSERA_BODY has blocks of one to three dimensions");
  if constexpr (fits && (is_side_by_side<Uses> && ...) && (has_kernel_elements<typename Uses::view_type> && ...)) {
    static thread_local last_definition<task> last;
    if (!last.is(to.serial(), name.text)) {
      static constexpr std::array<body_use, sizeof...(Uses)> used{body_use_of_view<typename Uses::view_type>...};
      static constexpr std::array<body_number, sizeof...(Values)> captures{body_number_of<Values>()...};
      static constexpr std::array<element_type, sizeof...(Values)> numbers{element_type_of<carried<Values>>()...};
      static constexpr std::array<loop_operand, sizeof...(Uses)> operands{
          loop_operand{element_type_of<typename Uses::element>(), Uses::how != intent::read,
                       rank_of_view<typename Uses::view_type>, is_column_major<typename Uses::view_type>}...};
      last.set(to.serial(), name.text,
               define_loop(to, name.text,
                           {form_of<task, typename Uses::view_type...>,
                            &task::launch,
                            &body.source,
                            {Depth, used.data(), used.size(), captures.data(), captures.size(), "task"},
                            operands,
                            numbers}));
    }
    const std::array<block_access, sizeof...(Uses)> blocks{block_access(uses)...};
    const std::int64_t count = iterations_of(over.rows, name.site);
    submission pending(to.inside(), *last.definition, {}, name.site, options, blocks, sizeof(task));
    const auto as_bytes = [](auto... value) {
      return std::array<kernel_value, sizeof...(Values)>{kernel_value_of(value)...};
    };
    new (pending.arguments()) task{body.function, over, count, std::apply(as_bytes, body.carried_values())};
    pending.commit();
  }
}

}  // namespace tessera

/// The body of a loop, written once for the host and for devices (docs/kernels.md):
/// @code
/// model.region("triad", iterate(0, n), read(b), read(c), write(a),
///              TESSERA_BODY((scale), (auto i, auto b, auto c, auto a), { a[i] = b[i] + scale * c[i]; }));
/// @endcode
/// It is a lambda, [captures](parameters) { statements }, in three parts. Captures are the names of variables in front
/// of it, numbers, by value; () is none. Parameters are those of the body of a region: its indices, then one for each
/// use. The statements are C++ that devices have too: numbers, elements, if, for, while, functions of <cmath>, whose
/// names are those of std. Macros in them are expanded. A body with others throws tessera::error (usage) when it is
/// first submitted, wherever it runs.
#define TESSERA_BODY(captures, parameters, ...)                                                         \
  ::tessera::detail::make_one_body({TESSERA_BODY_CHECKED(captures), TESSERA_BODY_TEXT(parameters),      \
                                    TESSERA_BODY_TEXT(__VA_ARGS__), ::std::source_location::current()}, \
                                   [TESSERA_BODY_NAMES captures] parameters {                           \
                                     ::tessera::detail::note_captures(TESSERA_BODY_NAMES captures);     \
                                     TESSERA_BODY_FUNCTIONS                                             \
                                     __VA_ARGS__                                                        \
                                   } TESSERA_BODY_BEHIND captures)

/// Of TESSERA_BODY: the text of its captures, whose mistakes have a sentence before the compiler reads them.
#define TESSERA_BODY_CHECKED(captures)                                                                               \
  [] {                                                                                                               \
    using enum ::tessera::detail::capture_fault;                                                                     \
    constexpr auto found = ::tessera::detail::fault_of_captures(TESSERA_BODY_TEXT(captures));                        \
    static_assert(found != no_brackets,                                                                              \
                  "TESSERA_BODY has three parts, the first two in brackets: TESSERA_BODY((scale, n), (auto i, auto " \
                  "x), { x[i] = scale; }); () captures nothing");                                                    \
    static_assert(found != no_names,                                                                                 \
                  "captures of TESSERA_BODY are names of numbers, each written out: ((scale, n), ...), and no =, "   \
                  "&, this or values; devices get their values: copy what is needed into a variable in front");      \
    static_assert(found != repeated, "a capture of TESSERA_BODY is named twice: name each number once");             \
    return TESSERA_BODY_TEXT(captures);                                                                              \
  }()
/// Of TESSERA_BODY: tokens as a text, when the macros in them are expanded.
#define TESSERA_BODY_TEXT(...) #__VA_ARGS__
/// Of TESSERA_BODY: a list without its brackets.
#define TESSERA_BODY_NAMES(...) __VA_ARGS__
/// Of TESSERA_BODY: the same behind other arguments.
#define TESSERA_BODY_BEHIND(...) __VA_OPT__(, ) __VA_ARGS__
/// Of TESSERA_BODY: the standard library's functions of numbers of all types, where <math.h> may have them for double
/// alone.
#define TESSERA_BODY_FUNCTIONS                                                                                      \
  using ::std::abs, ::std::acos, ::std::asin, ::std::atan, ::std::atan2, ::std::cbrt, ::std::ceil, ::std::copysign, \
      ::std::cos, ::std::cosh, ::std::erf, ::std::erfc, ::std::exp, ::std::exp2, ::std::expm1, ::std::fabs,         \
      ::std::floor, ::std::fma, ::std::fmax, ::std::fmin, ::std::fmod, ::std::hypot, ::std::isfinite, ::std::isinf, \
      ::std::isnan, ::std::ldexp, ::std::log, ::std::log10, ::std::log1p, ::std::log2, ::std::pow, ::std::rint,     \
      ::std::round, ::std::sin, ::std::sinh, ::std::sqrt, ::std::tan, ::std::tanh, ::std::trunc,                    \
      ::tessera::detail::clamp, ::tessera::detail::max, ::tessera::detail::min;
