// Plans of contractions: what is chosen for which shape, and that every choice computes what it should.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "plugins/kit/kernels/contract/call.hpp"
#include "plugins/kit/kernels/contract/successors.hpp"
#include "plugins/kit/kernels/packed/product.hpp"
#include "tests/conformance/suite/contraction.hpp"

namespace tessera::kit {
namespace {

using conformance::contraction;

/// "ai cj -> …": letters are labels; all extents are `extent` but those given.
contraction of(const std::string& a, const std::string& b, const std::string& c, std::int64_t extent,
               const std::vector<std::pair<char, std::int64_t>>& others = {}) {
  contraction made;
  const std::string* words[] = {&a, &b, &c};
  for (int operand = 0; operand < 3; ++operand)
    for (const char letter : *words[operand]) {
      std::int64_t size = extent;
      for (const auto& [which, other] : others)
        if (which == letter) size = other;
      made.modes[operand].push_back(letter);
      made.extents[operand].push_back(size);
      if (std::find(made.labels.begin(), made.labels.end(), letter) != made.labels.end()) continue;
      made.labels.push_back(letter);
      made.label_extents.push_back(size);
    }
  return made;
}

contract_shape shape_of(const contraction& from, tsr_type type) {
  const tsr_contract g = conformance::arguments_of(from, type);
  contract_shape shape;
  EXPECT_EQ(read_shape({}, type, g.rank_a, g.extents_a, g.modes_a, g.rank_b, g.extents_b, g.modes_b, g.rank_c,
                       g.modes_c, shape),
            TSR_OK);
  return shape;
}

/// The host's costs without packed products.
constexpr contract_costs without_packed(contract_costs costs) {
  costs.packed = 0;
  return costs;
}
const contract_costs plain_costs = without_packed(host_contract_costs);

contract_plan plan_of(const contraction& from, const contract_costs& costs = plain_costs, tsr_type type = TSR_F64) {
  const contract_shape shape = shape_of(from, type);
  contract_layout layout;
  EXPECT_EQ(lay_out({}, shape, layout), TSR_OK);
  return plan_contraction(shape, layout, costs);
}

int copies(const contract_plan& plan) { return plan.copied[0] + plan.copied[1] + plan.copied[2]; }

TEST(contract_plan, aligned_operands_are_one_product_without_copies) {
  for (const auto& [a, b, c] :
       std::vector<std::tuple<const char*, const char*, const char*>>{{"abcd", "cdij", "abij"},
                                                                      {"cdab", "cdij", "abij"},
                                                                      {"abcd", "ijcd", "abij"},
                                                                      {"cdab", "ijcd", "abij"},
                                                                      {"abcd", "cdij", "ijab"},
                                                                      {"cdab", "ijcd", "ijab"}}) {
    const contract_plan plan = plan_of(of(a, b, c, 16));
    EXPECT_EQ(copies(plan), 0) << a;
    EXPECT_EQ(plan.workspace, 0u);
    EXPECT_EQ(plan.calls(), 1);
    EXPECT_EQ(plan.batch.extent, 1);
    EXPECT_EQ(plan.m * plan.n * plan.k, 256 * 256 * 256);
    EXPECT_EQ(plan.flops, 2.0 * 256 * 256 * 256);
    EXPECT_EQ(plan.swapped, c[0] == 'i');
  }
}

TEST(contract_plan, one_operand_in_another_order_is_copied_alone) {
  const contract_plan a = plan_of(of("acbd", "cdij", "abij", 16)), b = plan_of(of("abcd", "dicj", "abij", 16)),
                      c = plan_of(of("abcd", "cdij", "aibj", 16));
  EXPECT_TRUE(a.copied[operand_a] && copies(a) == 1 && a.calls() == 1);
  EXPECT_TRUE(b.copied[operand_b] && copies(b) == 1 && b.calls() == 1);
  EXPECT_TRUE(c.copied[operand_c] && copies(c) == 1 && c.calls() == 1);
  EXPECT_EQ(a.workspace, 16u * 16 * 16 * 16 * 8);
}

TEST(contract_plan, everything_out_of_order_is_copied) {
  const contract_plan plan = plan_of(of("acbd", "dicj", "aibj", 16));
  EXPECT_EQ(copies(plan), 3);
  EXPECT_EQ(plan.calls(), 1);
  // Of the orders that make matrices, those are chosen in which rows stay rows.
  EXPECT_EQ(plan.copy[operand_a].source_strides[0], 1);
  EXPECT_EQ(plan.copy[operand_b].source_strides[0], 1);
  EXPECT_EQ(plan.move_back.source_strides[0], 1);
}

TEST(contract_plan, outer_labels_are_loops_and_not_copied) {
  const contract_plan plan = plan_of(of("akx", "kjx", "ajx", 64));  // x is a batch
  EXPECT_EQ(copies(plan), 0);
  EXPECT_EQ(plan.batch.extent, 64);
  EXPECT_EQ(plan.m * plan.n * plan.k, 64 * 64 * 64);
  const contract_plan loop = plan_of(of("akb", "kj", "ajb", 64));  // b is an outer row
  EXPECT_EQ(copies(loop), 0);
  EXPECT_EQ(loop.batch.extent, 64);
  const contract_plan summed = plan_of(of("akl", "kjl", "aj", 64, {{'l', 2}}));  // l is an outer sum
  EXPECT_EQ(copies(summed), 0);
  EXPECT_EQ(summed.loop_count, 1u);
  EXPECT_TRUE(summed.loops[0].sums);
}

TEST(contract_plan, vectors_scalars_and_outer_products_are_cases) {
  const contract_plan dot = plan_of(of("abc", "abc", "", 8));
  EXPECT_TRUE(dot.m == 1 && dot.n == 1 && dot.k == 512 && copies(dot) == 0);
  const contract_plan gemv = plan_of(of("abk", "k", "ab", 8));
  EXPECT_TRUE(gemv.m * gemv.n == 64 && gemv.k == 8 && copies(gemv) == 0);
  const contract_plan outer = plan_of(of("ab", "ij", "abij", 8));
  EXPECT_TRUE(outer.m == 64 && outer.n == 64 && outer.k == 1 && copies(outer) == 0);
  const contract_plan scalar = plan_of(of("", "", "", 8));
  EXPECT_TRUE(scalar.m == 1 && scalar.n == 1 && scalar.k == 1);
  const contract_plan scaled = plan_of(of("", "ab", "ab", 8));
  EXPECT_TRUE(scaled.m * scaled.n == 64 && scaled.k == 1);
}

TEST(contract_plan, extents_of_one_and_of_zero) {
  const contract_plan ones = plan_of(of("xaykbz", "kxjzy", "ajbxzy", 1, {{'a', 6}, {'b', 6}, {'k', 6}, {'j', 6}}));
  EXPECT_LE(ones.loop_count + (ones.batch.extent > 1 ? 1 : 0), 1u);
  const contract_plan no_terms = plan_of(of("ak", "kj", "aj", 6, {{'k', 0}}));
  EXPECT_TRUE(no_terms.k == 0 && no_terms.m * no_terms.n == 36);
  EXPECT_TRUE(plan_of(of("ak", "kj", "aj", 6, {{'a', 0}})).nothing_to_do);
}

TEST(contract_plan, a_gpu_copies_rather_than_calls_often) {
  contract_costs gpu = host_contract_costs;
  gpu.call = 5e-6;
  gpu.item = 0.02e-6;
  gpu.flops = 10e12;
  gpu.product_bytes = gpu.permute_bytes = 1.5e12;
  gpu.permute_call = 4e-6;
  const contract_plan plan = plan_of(of("akblc", "kjlm", "ajbmc", 12), gpu);
  EXPECT_LE(plan.calls(), 2);
}

bool has_packed_products() { return packed_kernels_here() != nullptr; }

TEST(contract_plan, small_products_are_packed_in_any_order) {
  if (!has_packed_products()) GTEST_SKIP() << "this processor has no kernels for it";
  for (const auto& [a, b, c] : std::vector<std::tuple<const char*, const char*, const char*>>{
           {"abcd", "cdij", "abij"}, {"acbd", "dicj", "aibj"}, {"cadb", "idjc", "abij"}, {"abcd", "cdij", "ijab"}}) {
    const contract_plan plan = plan_of(of(a, b, c, 6), host_contract_costs);
    ASSERT_TRUE(plan.packed) << a;
    EXPECT_EQ(plan.packed->m * plan.packed->n * plan.packed->k, 36 * 36 * 36);
    EXPECT_EQ(plan.packed->swapped, c[0] == 'i');
    EXPECT_EQ(plan.packed->quads.size(), 9u);
    EXPECT_EQ(plan.packed->batch.size(), 1u);
    EXPECT_GE(plan.workspace, 2u * 36 * 36 * sizeof(double));
    EXPECT_EQ(plan.flops, 2.0 * 36 * 36 * 36);
  }
}

TEST(packed_product, has_a_place_for_each_product_of_a_batch) {
  if (!has_packed_products()) GTEST_SKIP() << "this processor has no kernels for it";
  contract_layout layout;
  ASSERT_EQ(lay_out({}, shape_of(of("akx", "kjx", "ajx", 16), TSR_F64), layout), TSR_OK);
  const std::optional<packed_product> batch = plan_packed(fuse(layout));
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->batch.size(), 16u);
  EXPECT_EQ(batch->batch[3], (std::array<std::int64_t, 3>{3 * 256, 3 * 256, 3 * 256}));
}

TEST(packed_product, no_panel_is_one_vector_high_where_two_can_share) {
  EXPECT_EQ(lanes_of_panel(36, 12, 4), 12);
  EXPECT_EQ(lanes_of_panel(13, 12, 4), 8);
  EXPECT_EQ(lanes_of_panel(16, 12, 4), 8);
  EXPECT_EQ(lanes_of_panel(17, 12, 4), 12);
  EXPECT_EQ(lanes_of_panel(5, 12, 4), 8);
  EXPECT_EQ(lanes_of_panel(1, 12, 4), 4);
  EXPECT_EQ(lanes_of_panel(5, 4, 4), 4);
  EXPECT_EQ(lanes_of_panel(9, 8, 4), 8);
}

TEST(contract_plan, what_is_not_packed) {
  EXPECT_FALSE(plan_of(of("abcd", "cdij", "abij", 20), host_contract_costs).packed);          // too large
  EXPECT_FALSE(plan_of(of("abc", "abc", "", 8), host_contract_costs).packed);                 // a dot product
  EXPECT_FALSE(plan_of(of("abk", "k", "ab", 8), host_contract_costs).packed);                 // a vector
  EXPECT_FALSE(plan_of(of("ak", "kj", "aj", 4), host_contract_costs).packed);                 // too small
  EXPECT_FALSE(plan_of(of("ak", "kj", "aj", 6, {{'k', 0}}), host_contract_costs).packed);     // no terms
  EXPECT_FALSE(plan_of(of("acbd", "dicj", "aibj", 6), host_contract_costs, TSR_F32).packed);  // another type
  EXPECT_FALSE(plan_of(of("acbd", "dicj", "aibj", 6), plain_costs).packed);                   // by the costs
}

TEST(successors, the_block_that_came_next_is_expected_next) {
  const auto came = std::make_unique<successors>();
  const auto blocks = std::make_unique<std::array<std::array<char, 4096>, 3>>();
  const void *const first = &(*blocks)[0], *const second = &(*blocks)[1], *const third = &(*blocks)[2];
  EXPECT_EQ(came->note(first), nullptr);
  EXPECT_EQ(came->note(second), nullptr);
  EXPECT_EQ(came->note(third), nullptr);
  EXPECT_EQ(came->note(first), second);
  EXPECT_EQ(came->note(third), first);
  EXPECT_EQ(came->note(first), third);    // the last time, not the first
  EXPECT_EQ(came->note(first), nullptr);  // itself is here
}

TEST(contract_plan, a_plan_is_found_again_and_each_thread_has_its_own) {
  const contract_shape shape = shape_of(of("acbd", "dicj", "aibj", 7), TSR_F64);
  std::shared_ptr<const contract_plan> first, second, other;
  const std::size_t before = contract_plans_made();
  ASSERT_EQ(find_plan({}, shape, host_contract_costs, first), TSR_OK);
  ASSERT_EQ(find_plan({}, shape, host_contract_costs, second), TSR_OK);
  EXPECT_EQ(first, second);
  EXPECT_EQ(contract_plans_made(), before + 1);
  std::thread([&] { ASSERT_EQ(find_plan({}, shape, host_contract_costs, other), TSR_OK); }).join();
  EXPECT_NE(first, other);
  EXPECT_EQ(first->workspace, other->workspace);
  for (std::int64_t extent = 1; extent < 3000; ++extent)  // more than are kept
    ASSERT_EQ(find_plan({}, shape_of(of("ak", "kj", "aj", extent), TSR_F64), host_contract_costs, other), TSR_OK);
  EXPECT_EQ(first->shape.extents_a[0], 7);
}

class error_text {
 public:
  error_text() {
    m_host.struct_size = sizeof m_host;
    m_host.context = this;
    m_host.error = [](void* self, tsr_status, const char* text) { static_cast<error_text*>(self)->m_text = text; };
  }
  const tsr_host* host() const { return &m_host; }
  const std::string& text() const { return m_text; }

 private:
  tsr_host m_host{};
  std::string m_text;
};

TEST(contract_shape, what_is_refused_is_said_why) {
  const auto refused = [](const contraction& shape, tsr_status wanted, const char* words, tsr_type type = TSR_F64) {
    error_text record;
    contract_layout layout;
    EXPECT_EQ(lay_out(reporter(record.host()), shape_of(shape, type), layout), wanted) << words;
    EXPECT_NE(record.text().find(words), std::string::npos) << record.text();
  };
  refused(of("aak", "kj", "aj", 4), TSR_INVALID_ARGUMENT, "label 97 stands twice in A; a trace is not a contraction");
  refused(of("ak", "kjj", "aj", 4), TSR_INVALID_ARGUMENT, "label 106 stands twice in B");
  refused(of("ak", "kj", "aja", 4), TSR_INVALID_ARGUMENT, "label 97 stands twice in C");
  refused(of("ak", "kj", "ajx", 4), TSR_INVALID_ARGUMENT, "label 120 of C is neither in A nor in B");
  refused(of("akx", "kj", "aj", 4), TSR_INVALID_ARGUMENT, "label 120 is in A alone; sum over it before (reduce)");
  refused(of("ak", "kjx", "aj", 4), TSR_INVALID_ARGUMENT, "label 120 is in B alone");
  refused(of("ak", "kj", "aj", 4, {{'k', -2}}), TSR_INVALID_ARGUMENT, "extent 1 of A is -2");
  refused(of("ak", "kj", "aj", 4), TSR_UNIMPLEMENTED, "element type 5", TSR_I32);
  refused(of("abcd", "dx", "abcx", std::int64_t{1} << 20), TSR_OUT_OF_RANGE, "A has more bytes than 63 bits count");
  contraction different = of("ak", "kj", "aj", 4);
  different.extents[1][0] = 5;
  refused(different, TSR_INVALID_ARGUMENT, "label 107 has extent 4 in A and 5 in B");
  error_text record;
  contract_shape shape;
  EXPECT_EQ(read_shape(reporter(record.host()), TSR_F64, 9, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, shape),
            TSR_INVALID_ARGUMENT);
  EXPECT_EQ(record.text(), "contract: A has rank 9; the most is 8");
  EXPECT_EQ(read_shape(reporter(record.host()), TSR_F64, 0, nullptr, nullptr, 1, nullptr, nullptr, 0, nullptr, shape),
            TSR_INVALID_ARGUMENT);
  EXPECT_EQ(record.text(), "contract: a list of B is NULL");
}

/// Plain pointers.
class pointers final : public operand_resolver {
 public:
  tsr_status resolve(const char*, const tsr_address& address, std::uint64_t, void** out) override {
    *out = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address.offset));
    return TSR_OK;
  }
};

tsr_address at(const void* pointer) {
  return {nullptr, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer))};
}

template <class T>
std::vector<T> numbers(std::mt19937_64& random, std::size_t count) {
  std::vector<T> made(count);
  for (T& one : made) one = static_cast<T>(static_cast<double>(random() % 17) - 8);
  return made;
}

/// Whole numbers: sums are exact in any order.
template <class T>
void agrees(const contraction& shape, tsr_type type, const contract_costs& costs, std::mt19937_64& random,
            std::int64_t batch) {
  const T alpha(static_cast<T>(static_cast<double>(random() % 3))),
      beta(static_cast<T>(static_cast<double>(random() % 3)));
  tsr_contract g = conformance::arguments_of(shape, type);
  g.alpha = &alpha, g.beta = &beta;
  g.batch = batch;
  const auto blocks = static_cast<std::size_t>(std::max<std::int64_t>(batch, 1));
  std::vector<std::vector<T>> a, b, c, wanted;
  std::vector<tsr_address> places[3];
  for (std::size_t i = 0; i < blocks; ++i) {
    a.push_back(numbers<T>(random, shape.count(0)));
    b.push_back(numbers<T>(random, shape.count(1)));
    c.push_back(numbers<T>(random, shape.count(2)));
    wanted.push_back(c.back());
    conformance::contract_by_definition(shape, alpha, a.back(), b.back(), beta, wanted.back());
  }
  for (std::size_t i = 0; i < blocks; ++i)
    for (int which = 0; which < 3; ++which)
      places[which].push_back(at((which == 0 ? a : which == 1 ? b : c)[i].data()));
  std::uint64_t bytes = 0;
  ASSERT_EQ(contract_workspace({}, costs, &g, &bytes), TSR_OK);
  std::vector<std::byte> workspace(bytes);
  g.workspace = {at(workspace.data()), bytes};
  pointers resolver;
  contract_call call{};
  if (batch == 0) {
    ASSERT_EQ(prepare({}, resolver, costs, shape_of(shape, type), &alpha, &beta, places[0][0], places[1][0],
                      places[2][0], g.workspace, call),
              TSR_OK);
  } else {
    g.a_array = places[0].data(), g.b_array = places[1].data(), g.c_array = places[2].data();
    ASSERT_EQ(prepare({}, resolver, costs, &g, call), TSR_OK);
  }
  ASSERT_EQ(run(call), TSR_OK);
  ASSERT_EQ(c, wanted) << shape.text() << " times " << batch;
}

TEST(contract_call, any_plan_computes_what_it_should) {
  contract_costs copies_all = host_contract_costs, copies_none = host_contract_costs, together = host_contract_costs;
  copies_all.item = copies_all.call = 1;  // a product is dear
  copies_none.permute_call = 1;
  together.together = true;
  const contract_costs* const all[] = {&copies_all, &copies_none, &together, &host_contract_costs};
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const contraction shape = conformance::random_contraction(random);
    const contract_costs& costs = *all[seed % 4];
    const auto batch = static_cast<std::int64_t>(seed % 3 == 0 ? random() % 4 : 0);
    switch (random() % 4) {
      case 0:
        agrees<float>(shape, TSR_F32, costs, random, batch);
        break;
      case 1:
        agrees<std::complex<float>>(shape, TSR_C64, costs, random, batch);
        break;
      case 2:
        agrees<std::complex<double>>(shape, TSR_C128, costs, random, batch);
        break;
      default:
        agrees<double>(shape, TSR_F64, costs, random, batch);
        break;
    }
    if (HasFatalFailure()) return;
  }
}

/// Every set of instructions that this processor has, and no guess about what comes next.
TEST(packed_kernels, all_sets_of_instructions_compute_the_same) {
  std::vector<const packed_kernels*> sets;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(&packed_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    sets.push_back(&packed_avx512);
#endif
  if (sets.empty()) GTEST_SKIP() << "this processor has none of them";
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto some = [&](std::int64_t most) {
      return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    };
    const contraction shape =
        of("acbd", "dicj", "aibj", 1,
           {{'a', some(9)}, {'b', some(6)}, {'c', some(5)}, {'d', some(5)}, {'i', some(5)}, {'j', some(6)}});
    contract_layout layout;
    ASSERT_EQ(lay_out({}, shape_of(shape, TSR_F64), layout), TSR_OK);
    const double alpha = static_cast<double>(random() % 3), beta = static_cast<double>(random() % 3);
    const auto a = numbers<double>(random, shape.count(0)), b = numbers<double>(random, shape.count(1)),
               c = numbers<double>(random, shape.count(2));
    auto wanted = c;
    conformance::contract_by_definition(shape, alpha, a, b, beta, wanted);
    for (const packed_kernels* const kernels : sets) {
      const std::optional<packed_product> product = plan_packed(fuse(layout), kernels);
      if (!product) continue;  // vectors, or a few terms
      auto to = c;
      std::vector<std::byte> workspace(product->workspace_bytes());
      run_packed(*product, alpha, a.data(), b.data(), beta, to.data(), workspace.data(), {a.data(), nullptr});
      ASSERT_EQ(to, wanted) << shape.text() << " by tiles of " << kernels->rows << " rows";
    }
  }
}

}  // namespace
}  // namespace tessera::kit
