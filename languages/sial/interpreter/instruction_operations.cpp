#include "languages/sial/interpreter/instruction_operations.hpp"

#include <fmt/format.h>

#include <memory>

namespace tessera::sial {
namespace {

namespace op = ::tessera::operation;
using kind = execution::argument::argument_kind;

/// What the launch of such an operation needs to know.
struct parameters {
  std::string letters;  ///< one per argument: b a block, n a number
  std::size_t over = 0;
};

void launch(const op::context& c, op::kernel_launch& how) {
  const auto& is = *static_cast<const parameters*>(c.data);
  const auto numbers = c.arguments_as<instruction_numbers>();
  std::size_t block = 0;
  for (std::size_t k = 0; k < is.letters.size(); ++k) {
    if (is.letters[k] == 'n') {
      how.value(numbers.values[k]);
      continue;
    }
    const op::operand& o = c.operands[block++];
    how.block(o).value(o.extents->count());
    if (k == is.over) how.over(o.extents->count());
  }
}

/// Elements of the largest block: what a task costs, as far as is known before one was measured.
double work(const void*, std::span<const block::access> blocks) {
  double most = 1;
  for (const block::access& a : blocks) most = std::max(most, static_cast<double>(a.block->bytes) / sizeof(double));
  return most;
}

intent intent_of(char letter) { return letter == 'r' ? intent::read : letter == 'w' ? intent::write : intent::update; }

/// The kinds of its arguments, as in `parameters`; "" when a device cannot have one.
std::string letters_of(const execution& e, const std::string& signature) {
  std::string letters;
  for (std::size_t k = 0; k < e.arguments.size(); ++k) {
    const kind is = e.arguments[k].kind;
    if (is == kind::block)
      letters += 'b';
    else if ((is == kind::scalar || is == kind::literal) && signature[k] == 'r')
      letters += 'n';
    else
      return {};
  }
  return letters;
}

}  // namespace

std::vector<const op::definition*> instruction_operations(runtime& rt, const code& program,
                                                          const instruction_registry& known) {
  std::vector<const op::definition*> all(program.executions.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const execution& e = program.executions[k];
    const special_declaration& declared = program.specials[e.special];
    const instruction* const is = known.look_up(declared.name, declared.signature);
    if (is == nullptr || !is->kernel) continue;
    const std::string letters = letters_of(e, declared.signature);
    const std::size_t over = is->kernel->over;
    if (over >= letters.size() || letters[over] != 'b') continue;
    const std::string words = fmt::format("execute {} {} {}", is->name, declared.signature, letters);
    std::string name = words;
    const op::definition* what = rt.operations().find(name);  // of an earlier program
    for (int other = 2; what != nullptr && what->kernel.text.source != is->kernel->text;
         ++other) {  // which had another library
      name = fmt::format("{} ({})", words, other);
      what = rt.operations().find(name);
    }
    if (what == nullptr) {
      op::definition made;
      made.name = name;
      for (std::size_t n = 0; n < letters.size(); ++n)
        if (letters[n] == 'b') made.signature.push_back(intent_of(declared.signature[n]));
      made.work = work;
      made.is_arithmetic = false;
      made.data = std::make_shared<const parameters>(parameters{letters, over});
      made.kernel.name = is->kernel->name;
      made.kernel.text.source = is->kernel->text;
      made.kernel.text.file = is->library;
      made.kernel.launch = launch;
      what = &rt.define(std::move(made));
    }
    all[k] = what;
  }
  return all;
}

}  // namespace tessera::sial
