#include <fmt/format.h>

#include "languages/sial/job/job.hpp"
#include "libraries/progress/progress.hpp"

namespace tessera::sial {

std::string to_text(const job_progress& at, double seconds) {
  std::string text = at.program;
  if (at.outer) text += fmt::format(", do {}: {} of {}", at.outer->where, at.outer->done, at.outer->total);
  if (at.pardo)
    text += fmt::format(", pardo {}: {} of {}{}", at.pardo->where, at.pardo->done, at.pardo->total,
                        at.pardo->total > 0 ? fmt::format(" ({:.0f} %)", 100.0 * static_cast<double>(at.pardo->done) /
                                                                             static_cast<double>(at.pardo->total))
                                            : "");
  text += ", " + duration_text(seconds);
  // The outermost loop says most about the end; before it has gone round once, nothing is known of it.
  const std::optional<job_progress::loop>& by = at.outer && at.outer->done > 0 ? at.outer
                                                : at.outer                     ? std::nullopt
                                                                               : at.pardo;
  if (by && by->done > 0 && by->done < by->total)
    text += fmt::format(", about {} left", duration_text(by->seconds / static_cast<double>(by->done) *
                                                         static_cast<double>(by->total - by->done)));
  return text;
}

}  // namespace tessera::sial
