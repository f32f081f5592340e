// Operators that are functions: of rows, of whole blocks, of tasks, of operations.
#include <algorithm>
#include <limits>

#include "libraries/sparse/program/operator_node.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sparse {
namespace {

class row_function_node final : public linear_operator::node {
 public:
  explicit row_function_node(row_function f)
      : node(f.name, f.rows, f.rows), m_function(std::make_shared<const row_function>(std::move(f))) {
    if (rows < 0) refuse_operator(name, fmt::format("an operator of {} rows", rows), "0 or more");
    require_function(m_function->multiply, name);
  }
  std::optional<bool> symmetric() const override {
    return m_function->facts.symmetric ? std::optional(true) : std::nullopt;
  }
  linear_operator transposed() const override { return m_function->facts.symmetric ? self() : node::transposed(); }
  work_count work(std::int64_t vectors) const override {
    return {m_function->facts.flops * static_cast<double>(vectors),
            m_function->facts.bytes + 2 * bytes_of_block(rows, vectors)};
  }
  void record(const affine_call& c) const override {
    c.owner().keep(m_function);
    call made(operation_kind::mxm, "apply");
    made.reads(c.x), made.writes(c.y);
    made.made().rows = m_function.get();
    made.made().scale = c.alpha, made.made().factor = c.beta;
    made.record();
  }

 private:
  const std::shared_ptr<const row_function> m_function;
};

/// By tasks, or by a call of the program's thread.
class whole_node final : public plain_node {
 public:
  whole_node(std::string of_name, std::int64_t of_rows, operation_kind kind, whole_function f)
      : plain_node(std::move(of_name), of_rows, f.facts),
        m_kind(kind),
        m_function(std::make_shared<const whole_function>(std::move(f))) {}

 private:
  void record_product(const block_vector& x, const block_vector& y) const override {
    x.data().owner->keep(m_function);
    call made(m_kind, name);
    made.reads(x), made.writes(y);
    made.made().whole = m_function.get();
    made.record();
  }
  const operation_kind m_kind;
  const std::shared_ptr<const whole_function> m_function;
};

class recorded_node final : public plain_node {
 public:
  recorded_node(std::string of_name, std::int64_t of_rows,
                std::function<void(const block_vector&, const block_vector&)> record, const operator_facts& facts)
      : plain_node(std::move(of_name), of_rows, facts), m_record(std::move(record)) {
    require_function(m_record, name);
  }

 private:
  void record_product(const block_vector& x, const block_vector& y) const override { m_record(x, y); }
  const std::function<void(const block_vector&, const block_vector&)> m_record;
};

/// Some blocks of a task as one piece: where they do not lie one behind the other, a copy of them.
template <class T>
class joined_blocks {
 public:
  joined_blocks(task_blocks& blocks, std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) m_parts.push_back(blocks.get<T, 1>(first + k));
    const bool together = std::ranges::adjacent_find(m_parts, [](const view<T>& a, const view<T>& b) {
                            return b.data() != a.data() + a.size();
                          }) == m_parts.end();
    if (together || m_parts.empty()) return;
    for (const view<T>& part : m_parts) m_copy.insert(m_copy.end(), part.begin(), part.end());
  }
  T* data() noexcept { return !m_copy.empty() ? m_copy.data() : m_parts.empty() ? nullptr : m_parts[0].data(); }
  /// What was written to the copy becomes the blocks'.
  void spread() const {
    auto from = m_copy.begin();
    for (const view<T>& part : m_parts) {
      if (m_copy.empty()) return;
      std::copy_n(from, part.size(), part.begin());
      from += part.size();
    }
  }

 private:
  std::vector<view<T>> m_parts;
  std::vector<std::remove_const_t<T>> m_copy;
};

/// One task for all rows.
void submit_block(const operator_tasks& on, const std::string& name,
                  const std::function<void(const operator_block&)>& multiply) {
  std::vector<block_access> uses = on.x.all(intent::read);
  const std::size_t panels = uses.size();
  for (const block_access& use : on.y.all(intent::write)) uses.push_back(use);
  const std::function<void(task_blocks)> run = [&multiply, panels, rows = on.x.rows(),
                                                columns = on.x.columns()](task_blocks blocks) {
    joined_blocks<const double> x(blocks, 0, panels);
    joined_blocks<double> y(blocks, panels, panels);
    call_whole(multiply, {rows, columns, x.data(), y.data()});
    y.spread();
  };
  on.rt.submit(name, run, std::span<const block_access>(uses));
}

}  // namespace

void call_whole(const std::function<void(const operator_block&)>& multiply, const operator_block& on) {
  std::fill_n(on.y, on.rows * on.columns, std::numeric_limits<double>::quiet_NaN());
  multiply(on);
}

linear_operator linear_operator::of_rows(row_function f) { return make_operator<row_function_node>(std::move(f)); }

linear_operator linear_operator::of_tasks(std::string name, std::int64_t rows,
                                          std::function<void(const operator_tasks&)> submit,
                                          const operator_facts& facts) {
  require_function(submit, name);
  return make_operator<whole_node>(std::move(name), rows, operation_kind::tasks,
                                   whole_function{.submit = std::move(submit), .facts = facts});
}

linear_operator linear_operator::of_call(std::string name, std::int64_t rows,
                                         std::function<void(const operator_block&)> multiply,
                                         const operator_facts& facts) {
  require_function(multiply, name);
  return make_operator<whole_node>(std::move(name), rows, operation_kind::call,
                                   whole_function{.call = std::move(multiply), .facts = facts});
}

linear_operator linear_operator::of_block(std::string name, std::int64_t rows,
                                          std::function<void(const operator_block&)> multiply,
                                          const operator_facts& facts) {
  require_function(multiply, name);
  const auto submit = [name, f = std::make_shared<const std::function<void(const operator_block&)>>(
                                 std::move(multiply))](const operator_tasks& on) { submit_block(on, name, *f); };
  return of_tasks(name, rows, submit, facts);
}

linear_operator linear_operator::of_operations(std::string name, std::int64_t rows,
                                               std::function<void(const block_vector&, const block_vector&)> record,
                                               const operator_facts& facts) {
  return make_operator<recorded_node>(std::move(name), rows, std::move(record), facts);
}

}  // namespace tessera::sparse
