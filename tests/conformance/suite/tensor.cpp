// Every TENSOR entry, for every claimed type, against the definition, at random shapes.
#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {
namespace {

template <class One>
void each_claimed(const subject& what, tsr_tensor_operation operation, int rounds, One&& one) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_tensor_table* tensor = device.tensor();
    if (tensor == nullptr) return;
    for_each_number([&](auto zero) {
      using T = decltype(zero);
      if (!tensor->supports(device.handle(), operation, number<T>::type)) return;
      tried = true;
      auto random = what.generator();
      const queue stream(device);
      for (int i = 0; i < rounds; ++i) {
        try {
          one(stream, *tensor, zero, random);
        } catch (const check_failed& failure) {
          throw check_failed(fmt::format("{} (seed {}, round {}): {}", number<T>::name, what.seed, i, failure.what()));
        }
      }
    });
  });
  if (!tried) skip("the operation is not offered");
}

void permute(const subject& what) {
  each_claimed(
      what, TSR_TENSOR_PERMUTE, 80, [](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto& random) {
        using T = decltype(zero);
        const device& device = stream.owner();
        tsr_permute p{};
        p.struct_size = sizeof p;
        p.type = number<T>::type;
        p.rank = static_cast<std::uint32_t>(random() % (TSR_MAX_RANK + 1));
        // Few dimensions may be long, many are short; now and then one is 0 or 1.
        const std::int64_t longest = p.rank <= 2 ? 150 : p.rank <= 4 ? 20 : p.rank <= 6 ? 6 : 3;
        std::size_t count = 1;
        for (std::uint32_t d = 0; d < p.rank; ++d) {
          p.extents[d] = random() % 12 == 0
                             ? random_size(random, longest)
                             : 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(longest));
          count *= static_cast<std::size_t>(p.extents[d]);
        }
        std::iota(p.permutation, p.permutation + p.rank, 0u);
        std::shuffle(p.permutation, p.permutation + p.rank, random);
        const T alpha = random_scalar<T>(random), beta = random_scalar<T>(random);
        const bool no_beta = random() % 4 == 0;
        p.alpha = &alpha;
        p.beta = no_beta ? nullptr : &beta;
        const bool reads = !no_beta && beta != T(0);
        const auto source = random_numbers<T>(random, count);
        auto target = reads ? random_numbers<T>(random, count) : std::vector<T>(count, not_a_number<T>());
        target.push_back(T(5));  // the element behind stays
        const buffer from = uploaded(stream, compute_space(device), source),
                     to = uploaded(stream, compute_space(device), target);
        p.source = from.at(0), p.destination = to.at(0);
        const auto ask = [&](std::uint64_t* bytes) {
          return tensor.workspace(device.handle(), TSR_TENSOR_PERMUTE, &p, bytes);
        };
        const auto work = tensor.workspace != nullptr ? scratch(device, p.workspace, ask) : std::optional<buffer>{};
        const std::string call = fmt::format("permute of rank {}, {} elements", p.rank, count);
        expect_ok(tensor.permute(device.handle(), stream.handle(), &p), call);
        stream.finish();

        std::array<std::int64_t, TSR_MAX_RANK> index{};
        for (std::size_t s = 0; s < count; ++s) {
          std::size_t place = 0, step = 1;
          for (std::uint32_t d = 0; d < p.rank; ++d) {
            place += static_cast<std::size_t>(index[p.permutation[d]]) * step;
            step *= static_cast<std::size_t>(p.extents[p.permutation[d]]);
          }
          target[place] = alpha * source[s] + (reads ? beta * target[place] : T(0));
          for (std::uint32_t d = 0; d < p.rank && ++index[d] == p.extents[d]; ++d) index[d] = 0;
        }
        expect_near(downloaded<T>(stream, to, target.size()), target, 16 * epsilon<T>, call);
      });
}

void reduce_add(const subject& what) {
  each_claimed(
      what, TSR_TENSOR_REDUCE_ADD, 20,
      [](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto& random) {
        using T = decltype(zero);
        const device& device = stream.owner();
        const auto count = static_cast<std::size_t>(random_size(random, 5000));
        const std::size_t parts = random() % 6;
        auto target = random_numbers<T>(random, count + 1);
        const buffer to = uploaded(stream, compute_space(device), target);
        std::vector<buffer> memory;
        std::vector<tsr_address> sources;
        for (std::size_t s = 0; s < parts; ++s) {
          const auto part = random_numbers<T>(random, count);
          memory.push_back(uploaded(stream, compute_space(device), part));
          sources.push_back(memory.back().at(0));
          for (std::size_t i = 0; i < count; ++i) target[i] += part[i];
        }
        const std::string call = fmt::format("reduce_add of {} parts of {} elements", parts, count);
        expect_ok(tensor.reduce_add(device.handle(), stream.handle(), number<T>::type, static_cast<std::int64_t>(count),
                                    to.at(0), sources.data(), static_cast<std::uint32_t>(parts)),
                  call);
        std::fill(sources.begin(), sources.end(), tsr_address{nullptr, 0});  // the array is copied by the call
        stream.finish();
        expect_near(downloaded<T>(stream, to, target.size()), target, 16 * epsilon<T> * static_cast<double>(parts + 1),
                    call);
      });
}

void fill(const subject& what) {
  each_claimed(
      what, TSR_TENSOR_FILL, 10, [](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto& random) {
        using T = decltype(zero);
        const device& device = stream.owner();
        const auto count = static_cast<std::size_t>(random_size(random, 5000));
        auto target = random_numbers<T>(random, count + 1);
        const buffer to = uploaded(stream, compute_space(device), target);
        const T value = random_number<T>(random);
        std::fill(target.begin(), target.end() - 1, value);
        {
          const T gone = value;
          expect_ok(tensor.fill(device.handle(), stream.handle(), number<T>::type, static_cast<std::int64_t>(count),
                                to.at(0), &gone),
                    "fill");
        }
        stream.finish();
        expect_near(downloaded<T>(stream, to, target.size()), target, 0, fmt::format("fill of {} elements", count));
      });
}

/// C(i,l,j) = alpha sum over k,m of A(i,k,m) B(k,j,m,l) + beta C(i,l,j), with random extents.
void contract(const subject& what) {
  each_claimed(
      what, TSR_TENSOR_CONTRACT, 10, [](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto& random) {
        using T = decltype(zero);
        const device& device = stream.owner();
        std::int64_t e[5];
        for (std::int64_t& extent : e) extent = random_size(random, 7);
        const auto [i_, k_, m_, j_, l_] = std::tie(e[0], e[1], e[2], e[3], e[4]);
        const std::int64_t extents_a[3] = {i_, k_, m_}, extents_b[4] = {k_, j_, m_, l_};
        const std::int32_t modes_a[3] = {0, 1, 2}, modes_b[4] = {1, 3, 2, 4}, modes_c[3] = {0, 4, 3};
        const auto a = random_numbers<T>(random, static_cast<std::size_t>(i_ * k_ * m_)),
                   b = random_numbers<T>(random, static_cast<std::size_t>(k_ * j_ * m_ * l_));
        auto c = random_numbers<T>(random, static_cast<std::size_t>(i_ * l_ * j_));
        const T alpha = random_scalar<T>(random), beta = random_scalar<T>(random);
        const buffer on_a = uploaded(stream, compute_space(device), a),
                     on_b = uploaded(stream, compute_space(device), b),
                     on_c = uploaded(stream, compute_space(device), c);
        const std::string call = fmt::format("contract {} {} {} {} {}", i_, k_, m_, j_, l_);
        expect_ok(tensor.contract(device.handle(), stream.handle(), number<T>::type, &alpha, &beta, on_a.at(0), 3,
                                  extents_a, modes_a, on_b.at(0), 4, extents_b, modes_b, on_c.at(0), 3, modes_c, {}),
                  call);
        stream.finish();
        for (std::int64_t j = 0; j < j_; ++j)
          for (std::int64_t l = 0; l < l_; ++l)
            for (std::int64_t i = 0; i < i_; ++i) {
              T sum(0);
              for (std::int64_t m = 0; m < m_; ++m)
                for (std::int64_t k = 0; k < k_; ++k)
                  sum += a[static_cast<std::size_t>(i + i_ * (k + k_ * m))] *
                         b[static_cast<std::size_t>(k + k_ * (j + j_ * (m + m_ * l)))];
              T& to = c[static_cast<std::size_t>(i + i_ * (l + l_ * j))];
              to = alpha * sum + beta * to;
            }
        expect_near(downloaded<T>(stream, on_c, c.size()), c, 64 * epsilon<T> * static_cast<double>(k_ * m_ + 4), call);
      });
}

}  // namespace

std::vector<check> tensor_checks() {
  return {{"tensor.permute", permute},
          {"tensor.reduce_add", reduce_add},
          {"tensor.fill", fill},
          {"tensor.contract", contract}};
}

}  // namespace tessera::conformance
