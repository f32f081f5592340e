#pragma once
// A call of location_model::region: the templates between its arguments and its tasks.
#include <array>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/detail/location_model.hpp"
#include "tessera/detail/region_arguments.hpp"
#include "tessera/detail/region_code.hpp"
#include "tessera/detail/region_task.hpp"

namespace tessera {

namespace detail {

/// A call of location_model::region, on the stack of the caller.
template <class Body, std::size_t Depth, class... Uses>
class region_call {
 public:
  using task = region_task<Body, Depth, Uses...>;

  region_call(runtime& of, const task_name& name, const iteration_space<Depth>& over, const Body& body,
              const Uses&... uses)
      : demands{demand_of(uses)...}, m_runtime(of), m_name(name), m_over(over), m_body(body) {
    for (std::size_t k = 0; k < sizeof...(Uses); ++k) m_extents[k] = extents_of(demands[k]);
  }

  static pending_piece make(void* call, const region_piece& piece, piece_count counted, const operation::definition* as,
                            const task_options& options) {
    auto& typed = *static_cast<region_call*>(call);
    if (as != nullptr) return typed.make_with(*as, piece, std::move(counted), options);
    if (!counted.counts())
      return typed.template make_as<task>(options, [&](void* to) {
        return new (to) task{typed.m_body, typed.m_over, piece, {}, typed.m_extents};
      });
    return typed.template make_as<counted_task<task>>(options, [&](void* to) {
      return &(new (to)
                   counted_task<task>{{typed.m_body, typed.m_over, piece, {}, typed.m_extents}, std::move(counted)})
                  ->task;
    });
  }

  /// What a task is that is made as another operation.
  using named_task = std::conditional_t<has_kernel<Body>, kernel_task<task>, counted_task<task>>;
  static constexpr region_form form() noexcept { return {form_of<named_task, task_blocks>, &named_task::uses}; }

  /// Its form for devices; the text must stay where it is.
  region_kernel kernel_form() const noexcept requires has_kernel<Body> {
    static const auto types = value_types(std::type_identity<Body>{});
    const auto loops = loops_of(m_over, m_body);
    std::uint64_t inside = 1;
    for (const loop_bounds& one : loops)
      inside *= one.end > one.begin ? static_cast<std::uint64_t>(one.end - one.begin) : 0;
    return {m_body.kernel.text, 1 + loops.size(),           inside,      types,
            form().host,        &kernel_task<task>::launch, form().uses, m_body.kernel.site,
            m_body.rounding,    m_body.kernel.doubles};
  }

  std::array<region_demand, sizeof...(Uses)> demands;

 private:
  pending_piece make_with(const operation::definition& as, const region_piece& piece, piece_count counted,
                          const task_options& options) {
    submission pending(m_runtime.inside(), as, m_name.text, m_name.site, options, {}, sizeof(named_task));
    auto* const there =
        new (pending.arguments()) named_task{task{m_body, m_over, piece, {}, m_extents}, std::move(counted)};
    pending.note_function();
    return {std::move(pending), there->task.operands.data()};
  }
  template <class Function, class Make>
  pending_piece make_as(const task_options& options, const Make& make) {
    region_operand* operands = nullptr;
    const auto put = [&](void* to) { operands = make(to)->operands.data(); };
    return {make_task<Function>(m_runtime, options, m_name.text, m_name.site, put), operands};
  }
  runtime& m_runtime;
  const task_name& m_name;
  const iteration_space<Depth>& m_over;
  const Body& m_body;
  std::array<row_extents, sizeof...(Uses)> m_extents{};
};

template <class Use>
struct join_of;
template <class T, class Join>
struct join_of<region_reduction<T, Join>> {
  static constexpr make_join value = &make_join_of<T, Join>;
};

/// The tasks that join the reductions among the uses.
template <class... Uses>
std::vector<make_join> joins_of() {
  std::vector<make_join> joins;
  const auto add = [&]<class Use>(std::type_identity<Use>) {
    if constexpr (!is_region_use<Use>) joins.push_back(join_of<Use>::value);
  };
  if constexpr (!(is_region_use<Uses> && ...)) (add(std::type_identity<Uses>{}), ...);
  return joins;
}

template <class Body, std::size_t Depth, class... Arguments>
inline constexpr bool is_region_body = [] {
  if constexpr (Depth == 1)
    return std::is_invocable_v<Body&, std::int64_t, Arguments...>;
  else if constexpr (Depth == 2)
    return std::is_invocable_v<Body&, std::int64_t, std::int64_t, Arguments...>;
  else
    return std::is_invocable_v<Body&, std::int64_t, std::int64_t, std::int64_t, Arguments...>;
}();

/// What a body gets for a use, and for a result a number that nobody has: what a reference cannot be made of.
template <class Use, bool Lost>
struct argument_for {
  using type = typename Use::argument;
};
template <class T, class Join>
struct argument_for<region_reduction<T, Join>, true> {
  using type = T;
};
/// Whether the body takes one of its uses so that what it adds there is lost: a result by value.
template <class Body, std::size_t Depth, std::size_t Which, class... Uses, std::size_t... K>
constexpr bool loses(std::index_sequence<K...>) {
  return is_region_body<Body, Depth, typename argument_for<Uses, K == Which>::type...>;
}
/// The same for any of them.
template <class Body, std::size_t Depth, class... Uses, std::size_t... K>
constexpr bool loses_a_result([[maybe_unused]] std::index_sequence<K...> all) {
  return ((is_region_reduction<Uses> && loses<Body, Depth, K, Uses...>(all)) || ...);
}

/// Whether the text of a body can have a parameter for it.
template <class Use>
inline constexpr bool is_known_to_kernels = true;
template <class T, std::size_t Rank>
inline constexpr bool is_known_to_kernels<region_use<T, Rank>> = is_number<T>;

/// A use of something that becomes an array when a region names it (tessera/detail/chain.hpp).
template <class Use>
concept unresolved_use = requires(const Use& u, location_model& model, std::source_location site) {
  u.resolve(model, site);
};
/// The use as a region takes it.
template <class Use>
decltype(auto) resolved(location_model& model, const Use& use, std::source_location site) {
  if constexpr (unresolved_use<Use>)
    return use.resolve(model, site);
  else
    return use;
}

/// The body as a region runs it.
template <std::size_t Depth, class... Uses, class Body>
decltype(auto) form_of_body(const Body& named, [[maybe_unused]] const task_name& region) {
  if constexpr (is_one_body<Body>)
    return region_body_of<Depth, Uses...>(named, region.text);
  else
    return (named);
}

}  // namespace detail

template <std::size_t Depth, class... UsesAndBody>
void location_model::region(const task_name& name, const region_options& options, const iteration_space<Depth>& over,
                            UsesAndBody&&... uses_and_body) {
  submit(name, options, false, over, std::forward<UsesAndBody>(uses_and_body)...);
}

template <class From, std::size_t RankFrom, class To, std::size_t RankTo>
void location_model::copy(const array_rows<From, RankFrom>& from, const array_rows<To, RankTo>& to,
                          std::source_location site) {
  static_assert(std::is_same_v<From, To>,
                "a copy is between arrays of one element type; a region converts: to[i] = static_cast<float>(from[i])");
  if constexpr (std::is_same_v<From, To>) {
    detail::check_copy(from.array().handle().rows(site), from.first(), from.last(), to.array().handle().rows(site),
                       to.first(), to.last(), site);
    if (to.first() == to.last()) return;
    const std::int64_t width = to.array().handle().stored_rows(site).row_elements() / stored_per_element<To>;
    const std::int64_t away = from.first() - to.first(), shift = away * width;
    const auto copied = [&](const auto& over, const auto& host, std::string_view kernel, auto... values) {
      const auto send = [&](const auto& body) {
        submit(task_name("copy", site), {.policy = policy::static_split}, true, over, read(from.array(), offset(away)),
               write(to.array()), body);
      };
      if constexpr (std::is_arithmetic_v<To> && is_number<To>)
        send(with_kernel(host, kernel, values...));
      else
        send(host);  // kernels have no complex numbers
    };
    if (width == 1)
      copied(
          iterate(to.first(), to.last()), [shift](auto i, auto a, auto b) { b[i] = a[i + shift]; },
          "(i, a, b, shift) { b[i] = a[i + shift]; }", shift);
    else
      copied(
          iterate({to.first(), to.last()}, {0, width}),
          [width, shift](auto i, auto j, auto a, auto b) { b[i * width + j] = a[i * width + j + shift]; },
          "(i, j, a, b, width, shift) { b[i * width + j] = a[i * width + j + shift]; }", width, shift);
  }
}

template <std::size_t Depth, class... UsesAndBody>
void location_model::submit(const task_name& name, const region_options& options, bool copies,
                            const iteration_space<Depth>& over, UsesAndBody&&... uses_and_body) {
  static_assert(sizeof...(UsesAndBody) > 0, "a region has a body: a function of the index and one argument per use");
  constexpr std::size_t uses = sizeof...(UsesAndBody) - 1;
  const auto all = std::forward_as_tuple(uses_and_body...);
  const auto start = [&]<class... Uses>(const auto& named, const Uses&... used) {
    static_assert(
        ((detail::is_region_use<Uses> || detail::is_region_reduction<Uses>)&&...),
        "between the loop and the body come arrays and results: read(x, halo(1)), write(x), update(x), sum(r)");
    if constexpr (((detail::is_region_use<Uses> || detail::is_region_reduction<Uses>)&&...)) {
      decltype(auto) body = detail::form_of_body<Depth, Uses...>(named, name);
      using body_type = std::remove_cvref_t<decltype(body)>;
      constexpr bool fits = detail::is_region_body<body_type, Depth, typename Uses::argument...>;
      static_assert(fits,
                    "the body of a region takes its indices (one per loop), then one argument per use, in their order: "
                    "a rows_view by value, and a reference to a number for a reduction");
      constexpr bool keeps =
          !fits || !detail::loses_a_result<body_type, Depth, Uses...>(std::index_sequence_for<Uses...>());
      static_assert(keeps,
                    "the body of a region takes each result by reference, `auto& s` or `double& s`: what it adds to a "
                    "copy is lost");
      if constexpr (fits && keeps) {
        detail::region_call<body_type, Depth, Uses...> call(owner(name.site), name, over, body, used...);
        const std::vector<detail::make_join> joins = detail::joins_of<Uses...>();
        if constexpr (detail::has_kernel<body_type>) {
          static_assert((detail::is_known_to_kernels<Uses> && ...),
                        "the text of a body for devices knows arrays of float, double, std::int32_t, std::int64_t and "
                        "std::uint8_t; a body without a text takes any trivially copyable type");
          const detail::region_kernel kernel = call.kernel_form();
          launch(name, options, over.rows, call.demands, {&call.make, &call, joins, &kernel, copies, call.form()});
        } else {
          launch(name, options, over.rows, call.demands, {&call.make, &call, joins, nullptr, copies, call.form()});
        }
      }
    }
  };
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    start(std::get<uses>(all), detail::resolved(*this, std::get<K>(all), name.site)...);
  }
  (std::make_index_sequence<uses>{});
}

}  // namespace tessera
