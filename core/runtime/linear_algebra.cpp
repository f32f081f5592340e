#include "tessera/detail/linear_algebra.hpp"

#include <algorithm>
#include <array>

#include "tessera/front_end.hpp"

namespace tessera::detail {
namespace {

block_access touch(block::record& b, intent use) {
  return {.block = &b, .version = 0, .intent = use, .flags = 0, .space = 0};
}

template <class Arguments, std::size_t N>
void submit(const submit_call& call, const operation::definition& what, const Arguments& arguments,
            const std::array<block_access, N>& blocks) {
  call.rt.submit_operation(what, &arguments, sizeof arguments, blocks, call.options, call.site);
}

/// How a result is used that is scaled before something is added.
intent result(number beta) { return beta == number{} ? intent::write : intent::update; }

std::array<char, max_rank> labels_of(const factor& f) {
  std::array<char, max_rank> labels{};
  if (f.labels.size() > labels.size())
    throw error(error_kind::usage, "contract: more labels than a block can have dimensions", std::string(f.labels));
  std::ranges::copy(f.labels, labels.begin());
  return labels;
}

}  // namespace

void gemm(const submit_call& call, number alpha, factor a, factor b, number beta, block::record& c) {
  const operation::gemm_arguments arguments{alpha, beta, static_cast<std::uint8_t>(a.op),
                                            static_cast<std::uint8_t>(b.op)};
  submit(call, *call.rt.builtin().gemm, arguments,
         std::array{touch(a.block, intent::read), touch(b.block, intent::read), touch(c, result(beta))});
}

void syrk(const submit_call& call, double alpha, block::record& a, double beta, block::record& c) {
  submit(call, *call.rt.builtin().syrk, operation::syrk_arguments{alpha, beta},
         std::array{touch(a, intent::read), touch(c, intent::update)});
}

void trsm(const submit_call& call, double alpha, block::record& a, block::record& b) {
  submit(call, *call.rt.builtin().trsm, operation::trsm_arguments{alpha},
         std::array{touch(a, intent::read), touch(b, intent::update)});
}

void potrf(const submit_call& call, block::record& a, block::record& info) {
  submit(call, *call.rt.builtin().potrf, operation::potrf_arguments{},
         std::array{touch(a, intent::update), touch(info, intent::write)});
}

void permute(const submit_call& call, double alpha, block::record& from, std::span<const std::uint8_t> permutation,
             double beta, block::record& to) {
  operation::permute_arguments arguments{alpha, beta, {}};
  std::copy_n(permutation.begin(), std::min(permutation.size(), arguments.permutation.size()),
              arguments.permutation.begin());
  submit(call, *call.rt.builtin().permute, arguments, std::array{touch(from, intent::read), touch(to, result(beta))});
}

void contract(const submit_call& call, number alpha, factor a, factor b, number beta, factor c) {
  const operation::contract_arguments arguments{alpha, beta, labels_of(a), labels_of(b), labels_of(c)};
  submit(call, *call.rt.builtin().contract, arguments,
         std::array{touch(a.block, intent::read), touch(b.block, intent::read), touch(c.block, result(beta))});
}

void axpy(const submit_call& call, number alpha, block::record& x, block::record& y, intent use) {
  submit(call, *call.rt.builtin().axpy, operation::axpy_arguments{alpha},
         std::array{touch(x, intent::read), touch(y, use)});
}

void scal(const submit_call& call, number alpha, block::record& x) {
  submit(call, *call.rt.builtin().scal, operation::scal_arguments{alpha}, std::array{touch(x, intent::update)});
}

void fill(const submit_call& call, block::record& x, const any_element& value) {
  const operation::fill_arguments arguments{
      value.value, value.integer, value.is_integer ? std::uint8_t{1} : std::uint8_t{0}, {}};
  submit(call, *call.rt.builtin().fill, arguments, std::array{touch(x, intent::write)});
}

}  // namespace tessera::detail
