// Every TENSOR entry, for every claimed type, against the definition, at random shapes.
#include <algorithm>
#include <array>
#include <numeric>

#include "tests/conformance/suite/tensor.hpp"

namespace tessera::conformance {
namespace {

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

}  // namespace

std::vector<check> tensor_checks() {
  return {{"tensor.permute", permute}, {"tensor.reduce_add", reduce_add}, {"tensor.fill", fill}};
}

}  // namespace tessera::conformance
