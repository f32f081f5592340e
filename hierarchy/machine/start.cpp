// From what a program says of its machine to the machine, and to a runtime on it.
#include "tessera/machine.hpp"

namespace tessera {

machine find_machine(const start_options& start) {
  config::sources from;
  if (!start.file.empty()) from.files.push_back(start.file);
  from.text = start.text;
  from.set = start.settings;
  if (start.workers != 0) from.workers = start.workers;
  return hierarchy::assemble(config::document::load(from));
}

// Here and not in core/runtime, which knows no discovery.
runtime::runtime(const start_options& start) : runtime(find_machine(start)) {}

}  // namespace tessera
