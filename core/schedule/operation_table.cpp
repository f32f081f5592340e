#include "core/schedule/operation_table.hpp"

#include "core/operation/catalog.hpp"
#include "core/placement/place.hpp"
#include "core/schedule/thread_table.hpp"

namespace tessera::schedule {

std::vector<operation_statistics> operation_table(const operation::catalog& operations,
                                                  const std::vector<std::unique_ptr<placement::place>>& places,
                                                  const thread_table& threads) {
  std::vector<operation_statistics> rows;
  for (std::uint32_t number = 0; number < operations.size(); ++number) {
    const operation::definition& operation = operations.at(number);
    if (operation.special != nullptr) continue;
    for (const auto& e : places) {
      operation_statistics row{operation.name, e->name, 0, 0};
      for (std::uint32_t k = 0, count = threads.size(); k < count; ++k) {
        const thread_context& l = threads[k];
        const operation_counters::counter* counter = l.place == e->number ? l.counters.find(number) : nullptr;
        if (counter == nullptr) continue;
        row.tasks += counter->tasks.load(std::memory_order_relaxed);
        row.nanoseconds += counter->nanoseconds.load(std::memory_order_relaxed);
      }
      if (row.tasks > 0) rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace tessera::schedule
