#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/exception_text.hpp"
#include "languages/sial/instructions/instruction.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {
namespace {

struct end_of_call {
  instruction_job& job;
  ~end_of_call() { job.end_call(); }
};

[[noreturn]] void failed(const instruction& what, const std::string& words, const std::string& where,
                         const std::string& hint) {
  throw error(
      error_kind::task,
      fmt::format("super instruction '{}' failed: {}", what.name, words.empty() ? "it does not say why" : words),
      where.empty() ? what.library : where, hint);
}

}  // namespace

void execute(const instruction& what, instruction_job& job, std::span<const sial_argument> arguments) {
  const end_of_call end{job};
  try {
    what.run({job, arguments});
  } catch (const error& failure) {
    failed(what, failure.message(), failure.where(), failure.hint());
  } catch (const std::exception& failure) {
    failed(what, text_of(failure), {}, {});
  } catch (...) {
    failed(what, "it threw something that is no std::exception", {}, {});
  }
}

}  // namespace tessera::sial
