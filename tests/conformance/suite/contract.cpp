// Contractions against the definition: random ranks, labels, orders and extents; batches; each documented error.

#include "tests/conformance/suite/contraction.hpp"
#include "tests/conformance/suite/tensor.hpp"

namespace tessera::conformance {
namespace {

/// Calls the entry `contract` with the lists of a struct.
tsr_status call_by_lists(const queue& stream, const tsr_tensor_table& tensor, const tsr_contract& g, tsr_address a,
                         tsr_address b, tsr_address c) {
  return tensor.contract(stream.owner().handle(), stream.handle(), g.type, g.alpha, g.beta, a, g.rank_a, g.extents_a,
                         g.modes_a, b, g.rank_b, g.extents_b, g.modes_b, c, g.rank_c, g.modes_c, g.workspace);
}

template <class T>
double tolerance_of(const contraction& shape) {
  return 64 * epsilon<T> * static_cast<double>(shape.terms() + 4);
}

void contract(const subject& what) {
  each_claimed(
      what, TSR_TENSOR_CONTRACT, 60, [](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto& random) {
        using T = decltype(zero);
        const device& device = stream.owner();
        const contraction shape = random_contraction(random);
        const auto a = random_numbers<T>(random, shape.count(0)), b = random_numbers<T>(random, shape.count(1));
        const T alpha = random_scalar<T>(random), beta = random_scalar<T>(random);
        const bool no_beta = random() % 4 == 0, reads = !no_beta && beta != T(0);
        auto c = reads ? random_numbers<T>(random, shape.count(2)) : std::vector<T>(shape.count(2), not_a_number<T>());
        c.push_back(T(5));  // the element behind stays
        const buffer on_a = uploaded(stream, compute_space(device), a),
                     on_b = uploaded(stream, compute_space(device), b),
                     on_c = uploaded(stream, compute_space(device), c);
        tsr_contract g = arguments_of(shape, number<T>::type);
        const auto ask = [&](std::uint64_t* bytes) {
          return tensor.workspace(device.handle(), TSR_TENSOR_CONTRACT, &g, bytes);
        };
        const auto work = scratch(device, g.workspace, ask);
        g.alpha = &alpha;
        g.beta = no_beta ? nullptr : &beta;
        const std::string words = "contract " + shape.text();
        expect_ok(call_by_lists(stream, tensor, g, on_a.at(0), on_b.at(0), on_c.at(0)), words);
        stream.finish();
        contract_by_definition(shape, alpha, a, b, reads ? beta : T(0), c);
        c.back() = T(5);
        expect_near(downloaded<T>(stream, on_c, c.size()), c, tolerance_of<T>(shape), words);
      });
}

void contract_batched(const subject& what) {
  each_claimed(
      what, TSR_TENSOR_CONTRACT, 12, [](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto& random) {
        using T = decltype(zero);
        if (tensor.contract_batched == nullptr) return;
        const device& device = stream.owner();
        const contraction shape = random_contraction(random);
        // Some 10^5 terms in all, and few elements where each is a product of its own, for which a tile of threads is
        // launched: emulated devices under sanitizers need microseconds for a term and milliseconds for a tile.
        const std::size_t elements = std::max<std::size_t>(1, shape.count(2)),
                          most = 1 + std::min(100'000 / std::max<std::size_t>(1, elements * shape.terms()),
                                              3000 / elements),
                          batch = std::min<std::size_t>(random() % 40, most);
        const T alpha = random_scalar<T>(random), beta = random_scalar<T>(random);
        std::vector<std::vector<T>> wanted;
        std::vector<buffer> memory;
        std::vector<tsr_address> at[3];
        for (auto& list : at) list.reserve(1);  // also of no contraction: a list that is NULL may be refused
        for (std::size_t i = 0; i < batch; ++i) {
          const auto a = random_numbers<T>(random, shape.count(0)), b = random_numbers<T>(random, shape.count(1));
          auto c = random_numbers<T>(random, shape.count(2));
          for (const auto& [values, to] :
               {std::pair{&a, &at[0]}, {&b, &at[1]}, {const_cast<const std::vector<T>*>(&c), &at[2]}}) {
            memory.push_back(uploaded(stream, compute_space(device), *values));
            to->push_back(memory.back().at(0));
          }
          contract_by_definition(shape, alpha, a, b, beta, c);
          wanted.push_back(c);
        }
        tsr_contract g = arguments_of(shape, number<T>::type);
        g.batch = static_cast<std::int64_t>(batch);
        const auto ask = [&](std::uint64_t* bytes) {
          return tensor.workspace(device.handle(), TSR_TENSOR_CONTRACT, &g, bytes);
        };
        const auto work = scratch(device, g.workspace, ask);
        g.alpha = &alpha;
        g.beta = &beta;
        g.a_array = at[0].data(), g.b_array = at[1].data(), g.c_array = at[2].data();
        const std::string words = fmt::format("{} times contract {}", batch, shape.text());
        expect_ok(tensor.contract_batched(device.handle(), stream.handle(), &g), words);
        for (auto& list : at) std::fill(list.begin(), list.end(), tsr_address{nullptr, 0});  // copied by the call
        stream.finish();
        for (std::size_t i = 0; i < batch; ++i)
          expect_near(downloaded<T>(stream, memory[3 * i + 2], wanted[i].size()), wanted[i], tolerance_of<T>(shape),
                      words);
      });
}

/// C(i,j) = sum over k of A(i,k) B(k,j), 4 x 4 each, with one thing changed: the call and its workspace are refused.
void contract_refuses(const subject& what) {
  each_claimed(what, TSR_TENSOR_CONTRACT, 1, [](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto&) {
    using T = decltype(zero);
    const device& device = stream.owner();
    contraction shape;
    shape.add(1, 4, true, false, true);
    shape.add(2, 4, true, true, false);
    shape.add(3, 4, false, true, true);
    const T one(1);
    const std::vector<T> values(64, T(1));
    const buffer on_a = uploaded(stream, compute_space(device), values),
                 on_b = uploaded(stream, compute_space(device), values),
                 on_c = uploaded(stream, compute_space(device), values);
    const auto refused = [&](const char* words, tsr_status wanted, auto&& change) {
      tsr_contract g = arguments_of(shape, number<T>::type);
      change(g);
      std::uint64_t bytes = 0;
      expect_status(tensor.workspace(device.handle(), TSR_TENSOR_CONTRACT, &g, &bytes), wanted,
                    std::string("workspace for ") + words);
      g.alpha = g.beta = &one;
      expect_status(call_by_lists(stream, tensor, g, on_a.at(0), on_b.at(0), on_c.at(0)), wanted, words);
    };
    const auto invalid = [&](const char* words, auto&& change) { refused(words, TSR_INVALID_ARGUMENT, change); };
    invalid("a contraction of different extents", [](tsr_contract& g) { g.extents_b[0] = 3; });
    invalid("a label twice in A", [](tsr_contract& g) { g.modes_a[0] = 2; });
    invalid("a label twice in B", [](tsr_contract& g) { g.modes_b[1] = 2; });
    invalid("a label twice in C", [](tsr_contract& g) { g.modes_c[1] = 1; });
    invalid("a label of C alone", [](tsr_contract& g) { g.modes_c[1] = 9; });
    invalid("a label of A alone", [](tsr_contract& g) { g.modes_c[0] = 3, g.rank_c = 1; });
    invalid("a label of B alone", [](tsr_contract& g) { g.rank_c = 1; });
    invalid("a negative extent", [](tsr_contract& g) { g.extents_a[0] = -1; });
    invalid("a rank of 9", [](tsr_contract& g) { g.rank_a = TSR_MAX_RANK + 1; });
    refused("bytes without a meaning", TSR_UNIMPLEMENTED, [](tsr_contract& g) { g.type = TSR_TYPE_NONE; });

    tsr_contract g = arguments_of(shape, number<T>::type);
    g.alpha = g.beta = &one;
    expect_status(call_by_lists(stream, tensor, g, on_a.at(0), on_b.at(0), on_a.at(0)), TSR_INVALID_ARGUMENT,
                  "contract onto A");
    expect_status(call_by_lists(stream, tensor, g, on_a.at(0), on_b.at(0), on_b.at(0)), TSR_INVALID_ARGUMENT,
                  "contract onto B");
    expect_status(call_by_lists(stream, tensor, g, on_a.at(60 * sizeof(T)), on_b.at(0), on_c.at(0)), TSR_OUT_OF_RANGE,
                  "contract beyond A");
    std::uint64_t bytes = 0;
    expect_status(tensor.workspace(device.handle(), TSR_TENSOR_CONTRACT, nullptr, &bytes), TSR_INVALID_ARGUMENT,
                  "workspace for a contraction that is NULL");
    if (tensor.contract_batched == nullptr) return;
    const tsr_address at[3] = {on_a.at(0), on_b.at(0), on_c.at(0)};
    g.a_array = &at[0], g.b_array = &at[1], g.c_array = &at[2];
    g.batch = -1;
    expect_status(tensor.contract_batched(device.handle(), stream.handle(), &g), TSR_INVALID_ARGUMENT, "a batch of -1");
    g.batch = 1;
    g.c_array = nullptr;
    expect_status(tensor.contract_batched(device.handle(), stream.handle(), &g), TSR_INVALID_ARGUMENT,
                  "a batch without addresses");
    g.struct_size = 8;
    expect_status(tensor.contract_batched(device.handle(), stream.handle(), &g), TSR_INVALID_ARGUMENT,
                  "a short struct");
    expect_status(tensor.contract_batched(device.handle(), stream.handle(), nullptr), TSR_INVALID_ARGUMENT,
                  "no arguments");
  });
}

/// A workspace that lacks a byte is refused, and the record says how many are wanted.
void contract_wants_its_workspace(const subject& what) {
  bool asked = false;
  each_claimed(
      what, TSR_TENSOR_CONTRACT, 30, [&](const queue& stream, const tsr_tensor_table& tensor, auto zero, auto& random) {
        using T = decltype(zero);
        const device& device = stream.owner();
        const contraction shape = random_contraction(random);
        tsr_contract g = arguments_of(shape, number<T>::type);
        std::uint64_t bytes = 0;
        expect_ok(tensor.workspace(device.handle(), TSR_TENSOR_CONTRACT, &g, &bytes), "workspace");
        if (bytes == 0) return;
        asked = true;
        const auto values = [&](int operand) {
          return uploaded(stream, compute_space(device), std::vector<T>(shape.count(operand), T(1)));
        };
        const buffer a = values(0), b = values(1), c = values(2), work(device, compute_space(device), bytes);
        const T one(1);
        g.alpha = g.beta = &one;
        g.workspace = {work.at(0), bytes - 1};
        plugin::take_error_details();
        const tsr_status status = call_by_lists(stream, tensor, g, a.at(0), b.at(0), c.at(0));
        const std::string details = plugin::take_error_details();
        expect(status == TSR_INVALID_ARGUMENT, "a workspace that is too small is answered with status {}", status);
        expect(details.find(std::to_string(bytes)) != std::string::npos,
               "the record '{}' lacks the {} bytes that are wanted", details, bytes);
      });
  if (!asked) skip("the TENSOR table answers 0 bytes of workspace for every shape that is tried");
}

}  // namespace

std::vector<check> contract_checks() {
  return {{"tensor.contract", contract},
          {"tensor.contract_batched", contract_batched},
          {"tensor.contract_refuses", contract_refuses},
          {"tensor.contract_wants_its_workspace", contract_wants_its_workspace}};
}

}  // namespace tessera::conformance
