#pragma once
// What validation hears of the rows that a submission uses.
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "core/block/combination.hpp"
#include "core/validate/validator.hpp"
#include "hierarchy/region/storage.hpp"

namespace tessera::hierarchy {

/// The rows of arrays that one submission uses, however many tasks it is: validation looks at their order by row, since
/// the blocks are cut otherwise from one submission to the next. Does nothing in a runtime that does not validate.
class rows_in_use {
 public:
  explicit rows_in_use(runtime& of);
  /// Whether anybody listens: else there is no need to add anything.
  bool is_validated() const noexcept { return m_validator != nullptr; }
  /// Those of an array, which is locked.
  void add(array_storage& array, const row_interval& rows, intent how,
           block::combination_number combination = block::addition);
  /// All are added, and no array is cut any more before the tasks are submitted: from here on until this ends, by the
  /// calling thread. Of a recording: each replay uses them. @param description  "task 'smooth' submitted"
  void enter(std::string description, std::source_location site);

 private:
  validate::validator* m_validator;
  runtime& m_runtime;
  std::vector<std::pair<array_storage*, std::vector<validate::range_use>>> m_arrays;
  std::optional<validate::ranges_entered> m_entered;
};

}  // namespace tessera::hierarchy
