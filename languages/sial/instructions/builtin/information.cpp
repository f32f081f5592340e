// Worker numbers, look-ups of names, scratch memory, the blocks of a worker; and what does nothing.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/builtin/builtin.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {
namespace {

void nothing(const instruction_call&) {}

void worker_number(const instruction_call& c) { scalar(c.arguments[0]) = c.job.worker(); }

void print_worker_number(const instruction_call& c) {
  c.job.host().print(fmt::format("worker {} of {}\n", c.job.worker(), c.job.workers()));
}

void list_blocks(const instruction_call& c) {
  const std::string lines = c.job.host().list_blocks();
  c.job.host().print(fmt::format("blocks of worker {}:\n{}", c.job.worker(), lines.empty() ? "none\n" : lines));
}

/// w: the first elements are those of an array of the initialization data; prints them.
template <typename members>
void get_array(const instruction_call& c, const members& all, const char* name) {
  const sial_argument& to = c.arguments[0];
  const auto found = all.find(name);
  if (found == all.end()) refuse(fmt::format("the initialization data have no array '{}'", name));
  const auto& values = found->second.values;
  if (values.size() > static_cast<std::size_t>(to.elements))
    refuse(fmt::format("{} has {} elements, too few for the {} of '{}'", shown(to), to.elements, values.size(), name));
  std::ranges::transform(values, to.data, [](auto value) { return static_cast<double>(value); });
  c.job.host().print(fmt::format("{} = {}\n", name, fmt::join(values, " ")));
}

/// w: 1, 2, ... 32, by way of scratch memory.
void get_scratch(const instruction_call& c) {
  constexpr std::int64_t size = 32;
  const sial_argument& to = c.arguments[0];
  double* const scratch = c.job.scratch(size);
  if (scratch == nullptr) refuse("there is no scratch memory");
  std::iota(scratch, scratch + size, 1.0);
  std::copy_n(scratch, std::min(size, to.elements), to.data);
}

}  // namespace

std::vector<instruction> information_instructions() {
  return {{"get_my_rank", {"w", "u"}, {}, worker_number},
          {"get_and_print_mpi_rank", {""}, {}, print_worker_number},
          {"list_block_map", {""}, {}, list_blocks},
          {"list_blocks_with_number", {""}, {}, list_blocks},
          {"get_and_print_int_array_dummy",
           {"w", "u"},
           {},
           [](const instruction_call& c) { get_array(c, c.job.data().int_arrays, "int_array_data"); }},
          {"get_and_print_scalar_array_dummy",
           {"w", "u"},
           {},
           [](const instruction_call& c) { get_array(c, c.job.data().float_arrays, "scalar_array_data"); }},
          {"get_scratch_array_dummy", {"w", "u"}, {}, get_scratch},
          {"one_arg_no_op", {"r", "w", "u"}, {}, nothing},
          {"check_block_number_calculation", {"w", "u", "r"}, {}, nothing},
          {"set_flags2", {"r", "u"}, {}, nothing}};
}

}  // namespace tessera::sial
