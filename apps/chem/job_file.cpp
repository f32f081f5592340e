#include "apps/chem/job_file.hpp"

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/common/files_apart.hpp"
#include "core/base/error.hpp"
#include "core/base/same_file.hpp"
#include "libraries/chemistry/job/job.hpp"

namespace tessera::apps {
namespace {

/// Fills options that the command line has left.
class option_filler {
 public:
  explicit option_filler(const command_table& line) : m_line(line) {}
  bool is_left(const char* option) const { return !m_line.is_given(option); }
  template <typename from, typename to>
  void fill(const char* option, const std::optional<from>& said, to& value) const {
    if (said && is_left(option)) value = *said;
  }

 private:
  const command_table& m_line;
};

std::optional<chemistry::length_unit> unit_of(const std::string& name) {
  if (name == "auto") return std::nullopt;
  return name == "bohr" ? chemistry::length_unit::bohr : chemistry::length_unit::angstrom;
}

/// What the file says is written goes neither over what is read, nor over another result.
void fill_files(const chemistry::job& from, const option_filler& left, chem_options& o) {
  std::vector<std::string> others = from.reads;
  for (const auto& [key, said, to] : {std::tuple("molden", &from.molden, &o.molden),
                                      {"fcidump", &from.fcidump, &o.fcidump},
                                      {"trexio", &from.trexio, &o.trexio},
                                      {"qcschema", &from.qcschema, &o.qcschema}}) {
    const std::string option = std::string("--") + key, writer = std::string("the key ") + key;
    if (!*said || !left.is_left(option.c_str())) continue;
    require_written_apart(*o.of, **said, writer);
    for (const std::string& other : others)
      if (**said == other || is_same_file(**said, other))
        throw error(error_kind::usage, writer + " would write over a file of this calculation", **said,
                    "give it a file of its own");
    others.push_back(*to = **said);
  }
}

void fill_options(const chemistry::job& from, chem_options& o) {
  const option_filler left(*o.of);
  left.fill("--basis", from.basis, o.basis);
  left.fill("--basis", from.own_basis, o.own_basis);
  left.fill("--method", from.method, o.method);
  left.fill("--reference", from.reference, o.reference);
  left.fill("--guess", from.guess, o.guess);
  left.fill("--memory", from.memory, o.memory);
  left.fill("--charge", from.charge, o.charge);
  left.fill("--multiplicity", from.multiplicity, o.multiplicity);
  left.fill("--frozen-virtual", from.frozen_virtual, o.frozen_virtual);
  left.fill("--scf-iterations", from.scf_iterations, o.scf_iterations);
  left.fill("--cc-iterations", from.cc_iterations, o.cc_iterations);
  left.fill("--convergence", from.convergence, o.convergence);
  left.fill("--level-shift", from.level_shift, o.level_shift);
  left.fill("--damping", from.damping, o.damping);
  left.fill("--deterministic", from.deterministic, o.deterministic);
  left.fill("--workers", from.workers, o.workers);
  left.fill("--stability", from.stability, o.stability);
  left.fill("--ladder", from.ladder, o.ladder);
  left.fill("--devices", from.devices, o.devices);
  left.fill("--profile", from.profile, o.profile);
  left.fill("--restart", from.restart, o.restart);
  left.fill("--start-from", from.start_from, o.start_from);
  left.fill("--checkpoint-interval", from.checkpoint_interval, o.checkpoint_interval);
  fill_files(from, left, o);
  if (from.spherical && left.is_left("--functions")) o.functions = *from.spherical ? "spherical" : "cartesian";
  if (from.segments && left.is_left("--segments")) o.segments.assign(from.segments->begin(), from.segments->end());
  if (left.is_left("--frozen-core") && left.is_left("--frozen-orbitals")) {  // they exclude each other
    o.frozen_core = from.frozen_core.value_or(false);
    o.frozen_orbitals = from.frozen_orbitals;
  }
}

}  // namespace

chemistry::molecule read_job_file(chem_options& o) {
  chemistry::job job = chemistry::read_job(o.file, unit_of(o.unit));
  for (const std::string& other : job.reads) require_not_written(*o.of, other, "the calculation");
  fill_options(job, o);
  job.charge = o.charge;
  job.multiplicity = o.multiplicity;
  o.notes = job.notes;
  return chemistry::molecule_of(job);
}

}  // namespace tessera::apps
