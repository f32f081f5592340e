#include <cstdio>

#include "bench/common/measure.hpp"
#include "bench/sparse/cases.hpp"

namespace bench {

void write_raw(const tessera::sparse::csr_matrix& a, const std::string& file) {
  std::FILE* const to = std::fopen(file.c_str(), "wb");
  if (to == nullptr) fail("sparse: cannot write " + file);
  const std::int64_t sizes[] = {a.rows, a.nonzeros()};
  const auto put = [&](const auto* numbers, std::size_t count) {
    return std::fwrite(numbers, sizeof *numbers, count, to) == count;
  };
  const bool whole = put(sizes, 2) && put(a.row_starts.data(), a.row_starts.size()) &&
                     put(a.entry_columns.data(), a.entry_columns.size()) && put(a.values.data(), a.values.size());
  if (std::fclose(to) != 0 || !whole) fail("sparse: cannot write " + file);
}

}  // namespace bench
