#pragma once
// Which operations ran where.
#include <memory>
#include <vector>

#include "core/operation/catalog.hpp"
#include "core/placement/place.hpp"
#include "core/schedule/statistics.hpp"
#include "core/schedule/thread_table.hpp"

namespace tessera::schedule {

/// Adds up what threads have counted, for operations that ran at least once. Any thread, while tasks run.
std::vector<operation_statistics> operation_table(const operation::catalog& operations,
                                                  const std::vector<std::unique_ptr<placement::place>>& places,
                                                  const thread_table& threads);

}  // namespace tessera::schedule
