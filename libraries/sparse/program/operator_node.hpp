#pragma once
// The inside of a linear operator: what each kind of it must know.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/sparse/program/call.hpp"

namespace tessera::sparse {

/// Y = alpha A X + beta Y. The shapes fit.
struct affine_call {
  double alpha;
  const block_vector& x;
  double beta;
  const block_vector& y;
  program_state& owner() const noexcept { return *x.data().owner; }
};

class linear_operator::node : public std::enable_shared_from_this<node> {
 public:
  node(std::string of_name, std::int64_t of_rows, std::int64_t of_columns)
      : name(std::move(of_name)), rows(of_rows), columns(of_columns) {}
  virtual ~node() = default;
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  virtual std::optional<bool> symmetric() const { return std::nullopt; }
  virtual linear_operator transposed() const {
    throw error(error_kind::usage, "the transpose of a function is not known", name,
                "say operator_facts::symmetric, or give it with linear_operator::with_transposed");
  }
  virtual bool in_place() const noexcept { return false; }  ///< x and y of `record` may be one block
  virtual const csr_matrix* heaviest() const noexcept { return nullptr; }
  virtual work_count work(std::int64_t vectors) const = 0;
  virtual void record(const affine_call& c) const = 0;

  const std::string name;
  const std::int64_t rows, columns;

 protected:
  linear_operator self() const { return linear_operator(shared_from_this()); }
};

/// A node that can make Y = A X, of two different blocks, and nothing else.
class plain_node : public linear_operator::node {
 public:
  plain_node(std::string of_name, std::int64_t of_rows, const operator_facts& facts);
  std::optional<bool> symmetric() const override { return m_facts.symmetric ? std::optional(true) : std::nullopt; }
  linear_operator transposed() const override { return m_facts.symmetric ? self() : node::transposed(); }
  work_count work(std::int64_t vectors) const override;
  void record(const affine_call& c) const override;

 private:
  virtual void record_product(const block_vector& x, const block_vector& y) const = 0;
  const operator_facts m_facts;
};

/// What a block of so many rows and vectors has, read or written once.
double bytes_of_block(std::int64_t rows, std::int64_t vectors) noexcept;

/// @param what  "the operator has no function" and its like
[[noreturn]] void refuse_operator(const std::string& name, std::string what, const char* hint);

template <class Function>
void require_function(const Function& f, const std::string& name) {
  if (f == nullptr) refuse_operator(name, fmt::format("{} has no function", name), "an operator is made of one");
}

template <class Node, class... Arguments>
linear_operator make_operator(Arguments&&... arguments) {
  return linear_operator(std::make_shared<const Node>(std::forward<Arguments>(arguments)...));
}

}  // namespace tessera::sparse
