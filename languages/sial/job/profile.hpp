#pragma once
// Where a program spends its time: its source, with figures in front of every line.
#include <string>

#include "languages/sial/interpreter/program_run.hpp"

namespace tessera::sial {

/// Per line: times executed, seconds over all workers, mean, least, most and standard deviation of one execution, and
/// seconds waited for blocks and at barriers; bytes of blocks fetched and stored, operations of contractions per second
/// of a worker, and the seconds of the busiest worker over the mean of all (1: even). With devices also how many of the
/// times were handed over to them, and the seconds that those took there. Statements on data alone are timed; loops and
/// arithmetic on scalars are not. The last line of a file has its sums.
std::string profile_text(const program_run& run);
/// The same as a page that stands alone; lines are shaded by their share of the time.
std::string profile_html(const program_run& run);

}  // namespace tessera::sial
