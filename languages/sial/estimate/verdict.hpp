#pragma once
// Needed against there.
#include <span>
#include <string>
#include <vector>

#include "languages/sial/estimate/estimate.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

/// Memory that blocks may take, in bytes. Static and contiguous local arrays are beside it.
struct memory_offer {
  double host = 0;    ///< all host memories
  double beyond = 0;  ///< disks, where blocks go that find no room
};
memory_offer offer_of(std::span<const named_space_statistics> spaces);

enum class fit : std::uint8_t {
  fits,
  spills,
  does_not_fit
};

/// Whether a program fits.
struct verdict {
  fit outcome = fit::fits;
  double least =
      0;           ///< bytes of the host's memory that blocks cannot do without: those of all workers that cannot leave
  double all = 0;  ///< bytes of all blocks
  double spilled = 0;                 ///< bytes that go to disks
  std::string text;                   ///< one sentence
  std::vector<std::string> remedies;  ///< settings that make it fit, each alone
};
verdict judge(const program_estimate& e, const memory_offer& there);

}  // namespace tessera::sial
