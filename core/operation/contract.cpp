// Contractions on whatever TENSOR tables the devices offer.
#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <type_traits>

#include "core/operation/batch_call.hpp"
#include "core/operation/device_call.hpp"
#include "core/operation/scalar.hpp"
#include "core/operation/tensor.hpp"

namespace tessera::operation {
namespace {

using labels = std::array<char, max_rank>;

std::string text_of(const labels& of) { return {of.begin(), std::find(of.begin(), of.end(), '\0')}; }

std::size_t rank_of(const labels& of) {
  return static_cast<std::size_t>(std::find(of.begin(), of.end(), '\0') - of.begin());
}

bool fits(const labels& of, const shape& block) { return rank_of(of) == block.rank(); }

/// The labels as the tables take them: their first entries, as many as there are.
void put(const labels& from, std::int32_t* out_modes) {
  for (std::size_t d = 0; d < max_rank; ++d) out_modes[d] = from[d];
}

/// What the tables take, without scalars and addresses. The labels must fit the blocks.
tsr_contract request_of(const contract_arguments& given, element_type type, const shape& a, const shape& b) {
  tsr_contract g{};
  g.struct_size = sizeof g;
  g.type = static_cast<tsr_type>(type);
  g.rank_a = static_cast<std::uint32_t>(a.rank()), g.rank_b = static_cast<std::uint32_t>(b.rank());
  g.rank_c = static_cast<std::uint32_t>(rank_of(given.c));
  static_assert(std::extent_v<decltype(g.modes_a)> >= max_rank);
  put(given.a, g.modes_a);
  put(given.b, g.modes_b);
  put(given.c, g.modes_c);
  for (std::size_t d = 0; d < a.rank(); ++d) g.extents_a[d] = a[d];
  for (std::size_t d = 0; d < b.rank(); ++d) g.extents_b[d] = b[d];
  g.batch = 1;
  return g;
}

/// The extent of a label in A or B; -1 if it is in neither.
std::int64_t extent_of(char label, const contract_arguments& given, const shape& a, const shape& b) {
  for (std::size_t d = 0; d < a.rank(); ++d)
    if (given.a[d] == label) return a[d];
  for (std::size_t d = 0; d < b.rank(); ++d)
    if (given.b[d] == label) return b[d];
  return -1;
}

/// Where a label stands in an operand; -1: nowhere.
std::int64_t extent_in(char label, const labels& of, const shape& block) {
  for (std::size_t d = 0; d < block.rank(); ++d)
    if (of[d] == label) return block[d];
  return -1;
}

std::string quoted(char label) {
  return label > ' ' && label < 127 ? fmt::format("'{}'", label) : fmt::format("{}", static_cast<int>(label));
}

[[noreturn]] void mismatch(const std::string& what) { throw error(error_kind::usage, "contract: " + what); }

/// Throws when the blocks do not fit the labels or each other.
void check(const context& c) {
  if (c.checked) return;
  const auto& given = c.arguments_as<contract_arguments>();
  const operand &a = c.operands[0], &b = c.operands[1], &to = c.operands[2];
  if (a.type != b.type || a.type != to.type)
    mismatch(fmt::format("blocks of type {}, {} and {}", name_of(a.type), name_of(b.type), name_of(to.type)));
  const struct {
    char name;
    const labels& text;
    const operand& block;
  } all[] = {{'A', given.a, a}, {'B', given.b, b}, {'C', given.c, to}};
  for (const auto& one : all)
    if (!fits(one.text, *one.block.extents))
      mismatch(fmt::format("{} has the labels \"{}\" and {} dimensions", one.name, text_of(one.text),
                           one.block.extents->rank()));
  for (std::size_t d = 0; d < to.extents->rank(); ++d)
    if (const std::int64_t wanted = extent_of(given.c[d], given, *a.extents, *b.extents);
        wanted >= 0 && wanted != to.extent(d))
      mismatch(fmt::format("label '{}' has extent {} in the inputs and {} in C", given.c[d], wanted, to.extent(d)));
}

bool can_contract(const plugin::device& device, element_type type) {
  return device.tensor() != nullptr && device.tensor()->contract != nullptr && plugin::affirmed("supports", [&] {
           return device.tensor()->supports(device.handle(), TSR_TENSOR_CONTRACT, static_cast<tsr_type>(type));
         });
}

/// Behind a refusal: throws what is wrong with the labels, if anything is. The tables know them as numbers.
void check_labels(const context& c) {
  const auto& given = c.arguments_as<contract_arguments>();
  const shape &a = *c.operands[0].extents, &b = *c.operands[1].extents, &to = *c.operands[2].extents;
  const struct {
    char name;
    const labels& text;
    const shape& block;
  } all[] = {{'A', given.a, a}, {'B', given.b, b}, {'C', given.c, to}};
  for (const auto& one : all) {
    const auto end = one.text.begin() + static_cast<std::ptrdiff_t>(one.block.rank());
    for (auto label = one.text.begin(); label != end; ++label)
      if (std::find(label + 1, end, *label) != end)
        mismatch(fmt::format("label {} stands twice in {}; a trace is not a contraction", quoted(*label), one.name));
  }
  for (std::size_t d = 0; d < to.rank(); ++d)
    if (extent_in(given.c[d], given.a, a) < 0 && extent_in(given.c[d], given.b, b) < 0)
      mismatch(fmt::format("label {} of C is neither in A nor in B", quoted(given.c[d])));
  for (const auto& one : {all[0], all[1]})
    for (std::size_t d = 0; d < one.block.rank(); ++d) {
      const char label = one.text[d];
      const std::int64_t in_a = extent_in(label, given.a, a), in_b = extent_in(label, given.b, b);
      if (in_a >= 0 && in_b >= 0 && in_a != in_b)
        mismatch(fmt::format("label {} has extent {} in A and {} in B", quoted(label), in_a, in_b));
      if ((in_a < 0 || in_b < 0) && extent_in(label, given.c, to) < 0)
        mismatch(fmt::format("label {} is in {} alone; sum over it before (reduce)", quoted(label), one.name));
    }
}

void enqueue_contract(const context& c) {
  const auto& given = c.arguments_as<contract_arguments>();
  const operand &a = c.operands[0], &b = c.operands[1], &to = c.operands[2];
  check(c);
  const scalar alpha(a.type, given.alpha), beta(a.type, given.beta);
  std::int32_t modes[3][max_rank];
  put(given.a, modes[0]);
  put(given.b, modes[1]);
  put(given.c, modes[2]);
  const auto rank = [](const operand& o) { return static_cast<std::uint32_t>(o.extents->rank()); };
  const tsr_status status = c.device->tensor()->contract(
      c.device->handle(), c.stream, static_cast<tsr_type>(a.type), alpha.data(), beta.data(), a.address, rank(a),
      a.extents->extents().data(), modes[0], b.address, rank(b), b.extents->extents().data(), modes[1], to.address,
      rank(to), modes[2], c.workspace);
  if (status == TSR_INVALID_ARGUMENT) check_labels(c);
  check(c, status, "contract", a.type, can_contract);
}

bool enqueue_contracts(std::span<const context> tasks) {
  const context& c = tasks.front();
  const auto& given = c.arguments_as<contract_arguments>();
  check(c);
  tsr_contract g = request_of(given, c.operands[0].type, *c.operands[0].extents, *c.operands[1].extents);
  const scalar alpha(c.operands[0].type, given.alpha), beta(c.operands[0].type, given.beta);
  g.alpha = alpha.data(), g.beta = beta.data();
  boost::container::small_vector<tsr_address, 64> addresses[3];
  for (std::size_t which = 0; which < 3; ++which)
    for (const context& one : tasks) addresses[which].push_back(one.operands[which].address);
  g.a_array = addresses[0].data(), g.b_array = addresses[1].data(), g.c_array = addresses[2].data();
  g.batch = static_cast<std::int64_t>(tasks.size());
  g.workspace = c.workspace;
  return taken(*c.device, c.device->tensor()->contract_batched(c.device->handle(), c.stream, &g), "contract_batched");
}

std::uint64_t workspace_of_batch(const plugin::device& device, const void* arguments,
                                 std::span<const block::access> blocks, std::size_t count) {
  const auto& given = *static_cast<const contract_arguments*>(arguments);
  const block::record &a = *blocks[0].block, &b = *blocks[1].block;
  const tsr_tensor_table& table = *device.tensor();
  if (table.workspace == nullptr || !fits(given.a, *a.extents) || !fits(given.b, *b.extents)) return 0;
  tsr_contract g = request_of(given, a.type, *a.extents, *b.extents);
  g.batch = static_cast<std::int64_t>(count);
  std::uint64_t bytes = 0;
  if (plugin::succeeded("workspace", [&] { return table.workspace(device.handle(), TSR_TENSOR_CONTRACT, &g, &bytes); }))
    return bytes;
  return 0;
}

std::uint64_t workspace_of(const plugin::device& device, const void* arguments, std::span<const block::access> blocks) {
  return workspace_of_batch(device, arguments, blocks, 1);
}

bool can_contract_many(const plugin::device& device, element_type) {
  return device.tensor()->contract_batched != nullptr;
}

double work_of(const void* arguments, std::span<const block::access> blocks) {
  const auto& given = *static_cast<const contract_arguments*>(arguments);
  const bool complex = blocks[0].block->type == element_type::c64 || blocks[0].block->type == element_type::c128;
  return (complex ? 4 : 1) * contract_flops(given.a, *blocks[0].block->extents, given.b, *blocks[1].block->extents);
}

}  // namespace

double contract_flops(const labels& labels_a, const shape& a, const labels& labels_b, const shape& b) {
  double flops = 2 * static_cast<double>(a.count());
  for (std::size_t d = 0; d < b.rank(); ++d)
    if (std::find(labels_a.begin(), labels_a.end(), labels_b[d]) == labels_a.end()) flops *= static_cast<double>(b[d]);
  return flops;
}

definition contract() {
  return {.name = "contract",
          .enqueue = enqueue_contract,
          .available = can_contract,
          .work = work_of,
          .workspace = workspace_of,
          .batch = {.enqueue = enqueue_contracts, .available = can_contract_many, .workspace = workspace_of_batch}};
}

}  // namespace tessera::operation
