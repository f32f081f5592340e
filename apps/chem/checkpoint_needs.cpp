#include "apps/chem/checkpoint_needs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "core/base/units.hpp"
#include "libraries/chemistry/checkpoint/amplitude_history.hpp"

namespace tessera::apps {
namespace {

namespace ch = chemistry;
namespace fs = std::filesystem;

// Amplitudes that are in memory at once: those of the blocks, and an iteration's with their change. What begins with
// another calculation has that one's, and two more while they are projected.
constexpr double to_keep = 3, of_history = 2, to_project = 4;

/// The folder, or the nearest one above it that is there.
fs::path nearest_folder(fs::path of) {
  std::error_code failed;
  of = fs::absolute(of, failed).lexically_normal();
  while (!fs::is_directory(of, failed) && of.has_relative_path()) of = of.parent_path();
  return of;
}

/// A number for the file system of a path; 0: not known.
std::uint64_t file_system_of(const fs::path& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_dev) : 0;
}

/// Orbitals of each spin that are correlated; nobody needs their coefficients.
std::array<ch::active_orbitals, 2> active_in(const ch::scf_result& field, int frozen_core, int frozen_virtual) {
  std::array<ch::active_orbitals, 2> of;
  for (const std::size_t s : {0, 1}) {
    const auto above = static_cast<std::size_t>(field.occupied[s] + frozen_virtual);
    of[s].occupied = static_cast<std::size_t>(std::max(0, field.occupied[s] - frozen_core));
    of[s].empty = field.orbitals > above ? field.orbitals - above : 0;
  }
  return of;
}

}  // namespace

ch::system_of_functions functions_of(const problem& p, const chem_options& o) {
  ch::system_of_functions one{p.of, o.basis, {}};
  for (std::size_t s = 0; s < p.over->shells(); ++s) one.shells.push_back(p.over->shell_at(s));
  return one;
}

checkpoint_needs needs_of_checkpoints(const problem& p, const chem_options& o, const ch::scf_result& field) {
  checkpoint_needs needs;
  const bool is_kept = !o.restart.empty();
  if (p.is_model || (!is_kept && o.start_from.empty())) return needs;
  const ch::system_of_functions of = functions_of(p, o);
  ch::folder_bytes files = ch::bytes_of_field(of, p.kind, field.orbitals);
  if (p.method && *p.method != sial::correlation_method::mp2) {
    const bool closed = p.kind == ch::reference::rhf;
    const auto active = active_in(field, p.frozen, o.frozen_virtual);
    const double bytes = sizeof(double) * static_cast<double>(ch::elements_of(closed, active));
    needs.memory = bytes * (o.start_from.empty() ? to_keep : to_project);
    if (is_kept) needs.history_memory = bytes * of_history;
    ch::add_amplitudes(files, of, closed, active);
  }
  if (!is_kept) return needs;
  const int new_steps = o.checkpoint_interval > 0 ? ch::max_history_steps : 1;
  needs.on_disk = files.max_at_once(new_steps);
  needs.history_on_disk = needs.on_disk - files.max_without_history();
  needs.on_disk_at_end = files.at_end();
  return needs;
}

checkpoint_room room_for_checkpoints(const std::string& folder, const std::string& disk_path, double on_disk) {
  checkpoint_room room;
  room.folder = folder;
  room.there = ch::bytes_in(folder);
  const fs::path nearest = nearest_folder(folder);
  std::error_code failed;
  const fs::space_info found = fs::space(nearest, failed);
  room.is_known = !failed && found.available != static_cast<std::uintmax_t>(-1);
  if (room.is_known) room.free = static_cast<double>(found.available);
  if (on_disk > 0 && !disk_path.empty() && file_system_of(disk_path) == file_system_of(nearest)) {
    room.other_blocks = on_disk;
    room.blocks_path = disk_path;
  }
  return room;
}

std::string why_no_room(const checkpoint_room& room, double files) {
  const double needed = files - room.there;
  if (!room.is_known || needed <= std::max(room.left(), 0.0)) return {};
  std::string text =
      fmt::format("its files take up to {} more, and {} are free", format_bytes(needed), format_bytes(room.free));
  if (room.other_blocks > 0)
    text += fmt::format(", of which blocks in {} take {}", room.blocks_path, format_bytes(room.other_blocks));
  return text;
}

}  // namespace tessera::apps
