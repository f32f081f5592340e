#pragma once
// Timelines as files: trace-event JSON, as chrome://tracing and Perfetto (ui.perfetto.dev) read it.
#include <iosfwd>
#include <string>

#include "core/trace/timeline.hpp"

namespace tessera::trace {

/// One event a line; what the viewers do not know stands in keys of its own, so that the timeline can be read back
/// whole. The critical path is drawn with arrows.
void write_chrome(std::ostream& to, const timeline& of);

/// Reads what write_chrome has written. Throws tessera::error (input) that names `file` for anything else: no JSON, cut
/// off, another program's trace, damaged.
timeline read_chrome(std::istream& from, const std::string& file);
/// The same from a file; also when it cannot be opened.
timeline read_chrome(const std::string& file);

}  // namespace tessera::trace
