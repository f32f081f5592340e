// From what a program says of its machine to the machine, and to a runtime on it.
#include "core/config/find_file.hpp"
#include "hierarchy/machine/installed_places.hpp"
#include "tessera/machine.hpp"

namespace tessera {

machine find_machine(const start_options& start) {
  config::sources from;
  if (!start.file.empty() || start.text.empty())
    from.files = config::find_files(
        start.file.empty() ? std::vector<std::filesystem::path>() : std::vector<std::filesystem::path>{start.file},
        hierarchy::default_config_directories());
  from.text = start.text;
  from.set = start.settings;
  if (start.workers != 0) from.workers = start.workers;
  return hierarchy::assemble(config::document::load(from));
}

// Here and not in core/runtime, which knows no discovery.
runtime::runtime(const start_options& start) : runtime(find_machine(start)) {}

}  // namespace tessera
