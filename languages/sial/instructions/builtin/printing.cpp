// Print, and who prints.
#include <fmt/format.h>

#include <algorithm>

#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/builtin/builtin.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {
namespace {

constexpr std::int64_t max_printed = 1'000'000;

/// Lines of as many elements as the first extent.
std::string rows_of(const sial_argument& argument) {
  const std::int64_t row = argument.rank == 0 ? 1 : argument.extents[0],
                     count = std::min(argument.elements, max_printed);
  std::string text;
  for (std::int64_t k = 0; k < count; ++k)
    fmt::format_to(std::back_inserter(text), "{:.14f}{}", argument.data[k],
                   (k + 1) % row == 0 || k + 1 == count ? "\n" : " ");
  if (count < argument.elements) text += "....\n";
  return text;
}

void print_argument(const instruction_call& c) {
  const sial_argument& what = c.arguments[0];
  if (what.rank == 0) return c.job.host().print(fmt::format("{} = {:.14f}\n", shown(what), *what.data));
  c.job.host().print(fmt::format("{} ({}), {} elements in the order stored in memory\n", shown(what), extents_of(what),
                                 what.elements) +
                     rows_of(what));
}

}  // namespace

std::vector<instruction> printing_instructions() {
  return {
      {"print_block", {"r", "u"}, {}, print_argument},
      {"print_static_array", {"r", "u"}, {}, print_argument},
      {"enable_all_rank_print", {""}, {}, [](const instruction_call& c) { c.job.host().print_on_all_workers(true); }},
      {"disable_all_rank_print", {""}, {}, [](const instruction_call& c) { c.job.host().print_on_all_workers(false); }},
      {"enable_debug_print", {""}, {}, [](const instruction_call& c) { c.job.host().print_for_debugging(true); }},
      {"disable_debug_print", {""}, {}, [](const instruction_call& c) { c.job.host().print_for_debugging(false); }}};
}

}  // namespace tessera::sial
