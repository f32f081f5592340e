#pragma once
// A call of an operation: its shapes are checked, then it is recorded. For the files that have operations.
#include <fmt/format.h>

#include <algorithm>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "libraries/sparse/program/state.hpp"

namespace tessera::sparse {

[[noreturn]] inline void refuse_call(const std::string& operation, std::string message) {
  throw error(error_kind::usage, std::move(message), operation, "see the shapes in tessera/sparse.hpp");
}

/// An operation that is being checked.
class call {
  template <class Handle>
  auto owned(const Handle& handle) {
    auto& data = handle.data();
    if (m_owner == nullptr) m_owner = data.owner;
    if (m_owner != data.owner) refuse_call(m_made.name, fmt::format("{} belongs to another program", handle.name()));
    return data.shared_from_this();
  }

 public:
  call(operation_kind kind, std::string name, std::source_location site = std::source_location::current())
      : m_made{kind, std::move(name), {}, {}, {}, {}} {
    m_made.site = site;
  }

  void reads(const block_vector& v) { m_made.from.push_back(owned(v)); }
  void writes(const block_vector& v) { add_once(m_made.to, owned(v)); }
  void reads(const small_matrix& m) { m_made.small_from.push_back(owned(m)); }
  void writes(const small_matrix& m) { add_once(m_made.small_to, owned(m)); }

  /// @param shape "G is 4 x 8" as it must be
  void expect(const small_matrix& m, std::int64_t rows, std::int64_t columns) const {
    if (m.rows() != rows || m.columns() != columns)
      refuse_call(m_made.name,
                  fmt::format("{} is {} x {}, and {} x {} is needed", m.name(), m.rows(), m.columns(), rows, columns));
  }
  void expect_equal_columns(const block_vector& a, const block_vector& b) const {
    if (a.columns() != b.columns())
      refuse_call(m_made.name,
                  fmt::format("{} has {} columns, and {} has {}", a.name(), a.columns(), b.name(), b.columns()));
  }
  operation& made() noexcept { return m_made; }
  program_state& owner() noexcept { return *m_owner; }
  void record() { m_owner->record(std::move(m_made)); }

 private:
  template <class Data>
  void add_once(std::vector<Data>& to, Data data) const {
    if (std::ranges::find(to, data) != to.end())
      refuse_call(m_made.name, fmt::format("{} is a destination twice", data->name));
    to.push_back(std::move(data));
  }

  operation m_made;
  program_state* m_owner = nullptr;
};

}  // namespace tessera::sparse
