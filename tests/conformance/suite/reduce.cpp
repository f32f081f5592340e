// Reductions of rows and columns, for every claimed type, against the definition, at random shapes.
#include <algorithm>
#include <cmath>

#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {
namespace {

template <class T>
constexpr bool is_integer = std::is_integral_v<T>;
template <class T>
constexpr tsr_type type_of() {
  if constexpr (std::is_same_v<T, std::int32_t>)
    return TSR_I32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return TSR_I64;
  else
    return number<T>::type;
}
template <class T>
constexpr bool has_order() {
  return std::is_arithmetic_v<T>;
}

template <class T>
T any_number(random_source& random) {
  if constexpr (is_integer<T>)
    return random() % 40 == 0 ? std::numeric_limits<T>::min() : static_cast<T>(random());
  else
    return random_number<T>(random);
}

/// What no result may come from: between the rows of the matrix and behind the results.
template <class T>
T padding() {
  if constexpr (is_integer<T>)
    return T(12345);
  else
    return not_a_number<T>();
}

/// The reduction of `all`, one after the other.
template <class T>
T reference(tsr_reduction reduction, const std::vector<T>& all) {
  if constexpr (is_integer<T>) {
    using U = std::make_unsigned_t<T>;
    const auto size = [](T x) { return x < 0 ? U(0) - static_cast<U>(x) : static_cast<U>(x); };
    U sum = 0, squares = 0, largest = 0;
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::min();
    for (const T x : all) {
      sum = static_cast<U>(sum + static_cast<U>(x));
      squares = static_cast<U>(squares + static_cast<U>(x) * static_cast<U>(x));
      largest = std::max(largest, size(x));
      least = std::min(least, x);
      most = std::max(most, x);
    }
    return reduction == TSR_REDUCTION_SUM              ? static_cast<T>(sum)
           : reduction == TSR_REDUCTION_MIN            ? least
           : reduction == TSR_REDUCTION_MAX            ? most
           : reduction == TSR_REDUCTION_SUM_OF_SQUARES ? static_cast<T>(squares)
                                                       : static_cast<T>(largest);
  } else {
    using R = typename number<T>::real;
    std::complex<double> sum = 0;
    double squares = 0, largest = 0, least = INFINITY, most = -INFINITY;
    bool broken = false;
    for (const T& x : all) {
      const std::complex<double> wide(static_cast<double>(std::real(x)), static_cast<double>(std::imag(x)));
      sum += wide;
      squares += std::norm(wide);
      largest = std::max(largest, std::abs(wide));
      least = std::min(least, wide.real());
      most = std::max(most, wide.real());
      broken = broken || x != x;
    }
    if (broken) return not_a_number<T>();
    switch (reduction) {
      case TSR_REDUCTION_SUM:
        if constexpr (is_complex<T>) return T(static_cast<R>(sum.real()), static_cast<R>(sum.imag()));
        return T(static_cast<R>(sum.real()));
      case TSR_REDUCTION_MIN:
        return T(static_cast<R>(least));
      case TSR_REDUCTION_MAX:
        return T(static_cast<R>(most));
      case TSR_REDUCTION_SUM_OF_SQUARES:
        return T(static_cast<R>(squares));
      default:
        return T(static_cast<R>(largest));
    }
  }
}

template <class T>
void one_reduction(const queue& stream, const tsr_tensor_table& tensor, random_source& random) {
  const device& device = stream.owner();
  const std::uint32_t space = compute_space(device);
  tsr_reduce r{};
  r.struct_size = sizeof r;
  r.type = type_of<T>();
  do r.reduction = TSR_REDUCTION_SUM + static_cast<tsr_reduction>(random() % 5);
  while (!has_order<T>() && (r.reduction == TSR_REDUCTION_MIN || r.reduction == TSR_REDUCTION_MAX));
  r.direction = static_cast<tsr_reduction_direction>(random() % 2);
  r.m = random_size(random, random() % 4 == 0 ? 700 : 60), r.n = random_size(random, random() % 4 == 0 ? 700 : 60);
  r.ld = std::max<std::int64_t>(r.m, 1) + static_cast<std::int64_t>(random() % 3);
  const bool per_row = r.direction == TSR_REDUCTION_PER_ROW;
  const auto results = static_cast<std::size_t>(per_row ? r.m : r.n),
             length = static_cast<std::size_t>(per_row ? r.n : r.m);
  const auto ld = static_cast<std::size_t>(r.ld);
  std::vector<T> source(ld * static_cast<std::size_t>(r.n), padding<T>());
  const auto place = [&](std::size_t result, std::size_t k) { return per_row ? result + k * ld : k + result * ld; };
  for (std::size_t i = 0; i < results; ++i)
    for (std::size_t k = 0; k < length; ++k) source[place(i, k)] = any_number<T>(random);
  if constexpr (!is_integer<T>)
    if (results * length > 0 && random() % 4 == 0)
      source[place(random() % results, random() % length)] = not_a_number<T>();
  const std::size_t before = random() % 3;
  std::vector<T> wanted(before + results + 1, padding<T>());
  const buffer from = uploaded(stream, space, source), to = uploaded(stream, space, wanted);
  r.source = from.at(0), r.destination = to.at(before * sizeof(T));
  const auto ask = [&](std::uint64_t* bytes) {
    return tensor.workspace(device.handle(), TSR_TENSOR_REDUCE, &r, bytes);
  };
  const auto work = tensor.workspace != nullptr ? scratch(device, r.workspace, ask) : std::optional<buffer>{};
  const std::string call =
      fmt::format("reduction {} of a {} x {} matrix, per {}", r.reduction, r.m, r.n, per_row ? "row" : "column");
  expect_ok(tensor.reduce(device.handle(), stream.handle(), &r), call);
  const tsr_reduction reduction = r.reduction;
  r = {};  // copied by the call
  stream.finish();
  std::vector<T> line(length);
  for (std::size_t i = 0; i < results; ++i) {
    for (std::size_t k = 0; k < length; ++k) line[k] = source[place(i, k)];
    wanted[before + i] = reference(reduction, line);
  }
  const auto got = downloaded<T>(stream, to, wanted.size());
  if constexpr (is_integer<T>) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      expect(got[i] == wanted[i], "{}: element {} is {}, expected {}", call, i, got[i], wanted[i]);
  } else {
    auto compared = got;  // infinities are not near each other, but the same
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (std::isinf(std::real(wanted[i])) && got[i] == wanted[i]) compared[i] = wanted[i] = T(0);
    expect_near(compared, wanted, 64 * epsilon<T> * static_cast<double>(length + 4), call);
  }
}

/// Runs `one(stream, tensor, T{}, random)` for every device and type that claims the operation.
template <class One>
void each_claimed(const subject& what, int rounds, One&& one) {
  const opened all(what);
  bool any = false, tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_tensor_table* tensor = device.tensor();
    if (tensor == nullptr) return;
    any = true;
    const auto with = [&](auto zero) {
      using T = decltype(zero);
      if (!tensor->supports(device.handle(), TSR_TENSOR_REDUCE, type_of<T>())) return;
      need(tensor->reduce != nullptr, "TSR_TENSOR_REDUCE is claimed, and the entry is null");
      tried = true;
      const queue stream(device);
      in_rounds(what, fmt::format("type {}", type_of<T>()), rounds,
                [&](random_source& random) { one(stream, *tensor, zero, random); });
    };
    for_each_number(with);
    with(std::int32_t{});
    with(std::int64_t{});
  });
  if (!tried)
    skip(any ? "the TENSOR table claims this operation for none of the types that are checked"
             : "no device offers the table TENSOR");
}

void reduce(const subject& what) {
  each_claimed(what, 60, [](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto& random) {
    one_reduction<decltype(zero)>(stream, tensor, random);
  });
}

/// What is refused, and that nothing is written then.
void reduce_arguments(const subject& what) {
  each_claimed(what, 1, [](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto&) {
    using T = decltype(zero);
    const device& device = stream.owner();
    const std::uint32_t space = compute_space(device);
    const buffer from = uploaded(stream, space, std::vector<T>(12, T(1))),
                 to = uploaded(stream, space, std::vector<T>(4, T(7)));
    tsr_reduce good{};
    good.struct_size = sizeof good;
    good.type = type_of<T>();
    good.reduction = TSR_REDUCTION_SUM;
    good.m = 4, good.n = 3, good.ld = 4;
    good.source = from.at(0), good.destination = to.at(0);
    const auto refused = [&](tsr_status wanted, const char* call, auto&& spoil) {
      tsr_reduce bad = good;
      spoil(bad);
      expect_status(tensor.reduce(device.handle(), stream.handle(), &bad), wanted, call);
    };
    expect_status(tensor.reduce(device.handle(), stream.handle(), nullptr), TSR_INVALID_ARGUMENT, "reduce of NULL");
    refused(TSR_INVALID_ARGUMENT, "reduce with struct_size 0", [](tsr_reduce& r) { r.struct_size = 0; });
    refused(TSR_UNIMPLEMENTED, "reduce of a type that is none", [](tsr_reduce& r) { r.type = 77; });
    refused(TSR_INVALID_ARGUMENT, "reduce with reduction 0", [](tsr_reduce& r) { r.reduction = 0; });
    refused(TSR_INVALID_ARGUMENT, "reduce with reduction 6", [](tsr_reduce& r) { r.reduction = 6; });
    refused(TSR_INVALID_ARGUMENT, "reduce with direction 2", [](tsr_reduce& r) { r.direction = 2; });
    refused(TSR_INVALID_ARGUMENT, "reduce with a negative m", [](tsr_reduce& r) { r.m = -1; });
    refused(TSR_INVALID_ARGUMENT, "reduce with a negative n", [](tsr_reduce& r) { r.n = -1; });
    refused(TSR_INVALID_ARGUMENT, "reduce with ld < m", [](tsr_reduce& r) { r.ld = 3; });
    refused(TSR_INVALID_ARGUMENT, "reduce with ld 0", [](tsr_reduce& r) { r.m = 0, r.ld = 0; });
    refused(TSR_OUT_OF_RANGE, "reduce of more than there is", [](tsr_reduce& r) { r.n = std::int64_t{1} << 40; });
    refused(TSR_OUT_OF_RANGE, "reduce of more than 64 bits count", [](tsr_reduce& r) { r.m = r.ld = INT64_MAX; });
    refused(TSR_OUT_OF_RANGE, "reduce to beyond the results", [&](tsr_reduce& r) { r.destination = to.at(sizeof(T)); });
    refused(TSR_INVALID_ARGUMENT, "reduce onto its source",
            [&](tsr_reduce& r) { r.destination = from.at(8 * sizeof(T)); });
    if (!has_order<T>())
      refused(TSR_INVALID_ARGUMENT, "the largest of complex numbers",
              [](tsr_reduce& r) { r.reduction = TSR_REDUCTION_MAX; });
    if (device.spaces()[space].description.kind == TSR_SPACE_DEVICE) {
      const std::vector<T> on_host(12);
      refused(TSR_INVALID_ARGUMENT, "reduce of host memory",
              [&](tsr_reduce& r) { r.source = host_address(on_host.data()); });
    }
    stream.finish();
    expect(downloaded<T>(stream, to, 4) == std::vector<T>(4, T(7)), "a reduction that was refused wrote something");
  });
}

}  // namespace

std::vector<check> reduce_checks() {
  return {{"tensor.reduce", reduce}, {"tensor.reduce_arguments", reduce_arguments}};
}

}  // namespace tessera::conformance
