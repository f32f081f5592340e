// Contractions of labelled blocks through the runtime, against the definition: on the host, a simulated device, a GPU,
// all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/front_end.hpp"
#include "tests/conformance/suite/contraction.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/slow_down.hpp"
#include "tests/unit/operation/machines.hpp"

namespace tessera {
namespace {

using namespace tessera::testing;
using conformance::contraction;
using ::testing::HasSubstr;

template <class Function>
std::string what_fails(Function&& function) {
  return test_support::error_of(std::forward<Function>(function)).what();
}

/// Labels as letters.
std::string letters(const contraction& shape, int operand) {
  std::string made;
  for (const std::int32_t label : shape.modes[operand])
    made +=
        static_cast<char>('a' + (std::find(shape.labels.begin(), shape.labels.end(), label) - shape.labels.begin()));
  return made;
}

template <class T>
void agrees(runtime& rt, task_options here, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  contraction shape;
  do {
    shape = conformance::random_contraction(random);
  } while (std::ranges::any_of(shape.label_extents, [](std::int64_t e) { return e == 0; }));  // blocks are not empty
  std::vector<T> values[3];
  std::vector<array<T>> arrays;
  for (int operand = 0; operand < 3; ++operand) {
    for (std::size_t i = 0; i < shape.count(operand); ++i) values[operand].push_back(random_value<T>(random));
    arrays.push_back(array_of<T>(rt, std::string(1, "ABC"[operand]), shape.extents[operand], values[operand]));
  }
  const T alpha(0.5), beta(seed % 3 == 0 ? T(0) : T(-2));
  contract(rt, alpha, arrays[0].block(0), letters(shape, 0), arrays[1].block(0), letters(shape, 1), beta,
           arrays[2].block(0), letters(shape, 2), here);
  conformance::contract_by_definition(shape, alpha, values[0], values[1], beta, values[2]);
  const auto result = arrays[2].read_host(arrays[2].block(0));
  for (std::size_t i = 0; i < values[2].size(); ++i)
    ASSERT_LE(std::abs(result[static_cast<std::int64_t>(i)] - values[2][i]),
              tolerance<T>(8.0 * static_cast<double>(shape.terms() + 4)))
        << shape.text() << " element " << i << " seed " << seed;
}

void agrees_everywhere(runtime& rt, task_options here, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFatalFailure(); ++seed) {
    agrees<double>(rt, here, seed);
    agrees<float>(rt, here, seed + 100);
    agrees<std::complex<double>>(rt, here, seed + 200);
    agrees<std::complex<float>>(rt, here, seed + 300);
  }
  rt.fence();
}

TEST(contract, random_labels_on_the_host_and_on_a_device) {
  for (const bool device : {false, true}) {
    place at(device);
    agrees_everywhere(at.rt, at.here, 60);
  }
}

TEST(contract, random_labels_on_a_gpu) {
  runtime rt(with_gpus("cuda_emulated", 1, "16 MiB", "placement = \"pinned\"\n"));
  agrees_everywhere(rt, {.at = rt.at("cuda_emulated0")}, 15);
}

TEST(contract, random_labels_anywhere) {
  runtime rt(with_sims(2, "16 MiB", true));
  agrees_everywhere(rt, {}, 30);
}

TEST(contract, many_that_want_workspace_in_a_small_memory) {
  // Blocks of 32 KiB, three of them and three copies to a task: the device holds 12.
  runtime rt(with_sims(1, "512 KiB", false, 2, "placement = \"pinned\"\n"));
  const task_options here{.at = rt.at("sim0")};
  constexpr std::int64_t e = 8, blocks = 12;
  std::mt19937_64 random(3);
  const contraction shape = [&] {
    contraction made;
    for (const char label : std::string("acbd")) made.modes[0].push_back(label), made.extents[0].push_back(e);
    for (const char label : std::string("dicj")) made.modes[1].push_back(label), made.extents[1].push_back(e);
    for (const char label : std::string("aibj")) made.modes[2].push_back(label), made.extents[2].push_back(e);
    for (const char label : std::string("abcdij")) made.labels.push_back(label), made.label_extents.push_back(e);
    return made;
  }();
  std::vector<array<double>> a, b, c;
  std::vector<std::vector<double>> va, vb;
  for (std::int64_t k = 0; k < blocks; ++k) {
    for (auto* list : {&va, &vb}) {
      list->emplace_back();
      for (std::size_t i = 0; i < shape.count(0); ++i) list->back().push_back(random_value<double>(random));
    }
    a.push_back(array_of<double>(rt, "A" + std::to_string(k), shape.extents[0], va.back()));
    b.push_back(array_of<double>(rt, "B" + std::to_string(k), shape.extents[1], vb.back()));
    c.push_back(
        array_of<double>(rt, "C" + std::to_string(k), shape.extents[2], std::vector<double>(shape.count(2), 1.0)));
  }
  constexpr int rounds = testing::is_slow ? 1 : 2;
  for (int round = 0; round < rounds; ++round)
    for (std::int64_t k = 0; k < blocks; ++k)
      contract(rt, 1.0, a[static_cast<std::size_t>(k)].block(0), "acbd", b[static_cast<std::size_t>(k)].block(0),
               "dicj", 1.0, c[static_cast<std::size_t>(k)].block(0), "aibj", here);
  rt.fence();
  for (std::size_t k = 0; k < blocks; ++k) {
    std::vector<double> wanted(shape.count(2), 1.0);
    for (int round = 0; round < rounds; ++round)
      conformance::contract_by_definition(shape, 1.0, va[k], vb[k], 1.0, wanted);
    const auto got = c[k].read_host(c[k].block(0));
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(got[static_cast<std::int64_t>(i)], wanted[i], 1e-10);
  }
}

TEST(contract, a_workspace_that_never_fits_fails_the_task) {
  runtime rt(with_sims(1, "128 KiB", false, 2, "placement = \"pinned\"\n"));
  const std::vector<double> values(4096, 1.0);
  const std::vector<std::int64_t> extents{8, 8, 8, 8};
  auto a = array_of<double>(rt, "A", extents, values), b = array_of<double>(rt, "B", extents, values),
       c = array_of<double>(rt, "C", extents, values);
  contract(rt, 1.0, a.block(0), "acbd", b.block(0), "dicj", 1.0, c.block(0), "aibj", {.at = rt.at("sim0")});
  const std::string text = what_fails([&] { rt.fence(); });
  EXPECT_THAT(text, HasSubstr("workspace"));
  EXPECT_THAT(text, HasSubstr("128 KiB"));
}

TEST(contract, what_does_not_fit_is_told_by_the_fence) {
  runtime rt(host_only(2));
  const std::vector<double> values(16, 1.0);
  auto a = array_of<double>(rt, "A", {4, 4}, values), b = array_of<double>(rt, "B", {4, 4}, values),
       c = array_of<double>(rt, "C", {4, 4}, values), vector = array_of<double>(rt, "V", {16}, values);
  const auto told = [&](std::string_view of_a, std::string_view of_b, auto& to, std::string_view of_c) {
    contract(rt, 1.0, a.block(0), of_a, b.block(0), of_b, 0.0, to.block(0), of_c);
    return what_fails([&] { rt.fence(); });
  };
  EXPECT_THAT(told("ikx", "kj", c, "ij"), HasSubstr("A has the labels \"ikx\" and 2 dimensions"));
  EXPECT_THAT(told("ik", "kj", vector, "i"), HasSubstr("label 'i' has extent 4 in the inputs and 16 in C"));
  EXPECT_THAT(told("ik", "kj", c, "iz"), HasSubstr("label 'z' of C is neither in A nor in B"));
  EXPECT_THAT(told("ii", "ij", c, "ij"), HasSubstr("label 'i' stands twice in A"));
  EXPECT_THROW(contract(rt, 1.0, a.block(0), "abcdefghi", b.block(0), "kj", 0.0, c.block(0), "ij"), error);
}

TEST(contract, in_place_with_what_the_first_call_found_out) {
  runtime rt(host_only(2));
  std::mt19937_64 random(9);
  int with_workspace = 0;
  for (int round = 0; round < 60; ++round) {
    contraction kind;
    do {
      kind = conformance::random_contraction(random);
    } while (std::ranges::any_of(kind.label_extents, [](std::int64_t e) { return e == 0; }));
    operation::contract_arguments arguments;
    arguments.alpha = 2, arguments.beta = -1;
    std::array<char, max_rank>* const labels[] = {&arguments.a, &arguments.b, &arguments.c};
    std::array<shape, 3> extents;
    for (int which = 0; which < 3; ++which) {
      std::ranges::copy(letters(kind, which), labels[which]->begin());
      extents[static_cast<std::size_t>(which)] = shape(std::span<const std::int64_t>(kind.extents[which]));
    }
    operation::in_place_facts facts;
    for (int time = 0; time < 3; ++time) {  // other blocks each time
      std::vector<double> values[3];
      std::array<operation::operand, 3> operands;
      for (std::size_t which = 0; which < 3; ++which) {
        for (std::size_t i = 0; i < kind.count(static_cast<int>(which)); ++i)
          values[which].push_back(random_value<double>(random));
        operands[which].host = values[which].data();
        operands[which].address = {nullptr, reinterpret_cast<std::uintptr_t>(values[which].data())};
        operands[which].type = element_type::f64;
        operands[which].intent = which == 2 ? intent::update : intent::read;
        operands[which].extents = &extents[which];
        operands[which].bytes = values[which].size() * sizeof(double);
      }
      std::vector<double> wanted = values[2];
      conformance::contract_by_definition(kind, 2.0, values[0], values[1], -1.0, wanted);
      front_end(rt).run_in_place(*rt.builtin().contract, &arguments, sizeof arguments, operands, &facts);
      EXPECT_TRUE(facts.known);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_LE(std::abs(values[2][i] - wanted[i]), tolerance<double>(8.0 * static_cast<double>(kind.terms() + 4)))
            << kind.text();
    }
    with_workspace += facts.workspace > 0 ? 1 : 0;
  }
  EXPECT_GT(with_workspace, 5);
}

TEST(contract, in_place_a_misfit_is_told_and_nothing_is_known) {
  runtime rt(host_only(1));
  std::vector<double> values(16, 1.0);
  const std::array<shape, 2> extents{shape{4, 4}, shape{16}};
  std::array<operation::operand, 3> operands;
  for (std::size_t which = 0; which < 3; ++which) {
    operands[which].host = values.data();
    operands[which].address = {nullptr, reinterpret_cast<std::uintptr_t>(values.data())};
    operands[which].type = element_type::f64;
    operands[which].extents = &extents[which == 2 ? 1 : 0];
    operands[which].bytes = 128;
  }
  operation::contract_arguments arguments;
  arguments.a = {'i', 'k'}, arguments.b = {'k', 'j'}, arguments.c = {'i'};
  operation::in_place_facts facts;
  EXPECT_THAT(what_fails([&] {
                front_end(rt).run_in_place(*rt.builtin().contract, &arguments, sizeof arguments, operands, &facts);
              }),
              HasSubstr("label 'i' has extent 4 in the inputs and 16 in C"));
  EXPECT_FALSE(facts.known);
}

}  // namespace
}  // namespace tessera
