#pragma once
// A timeline as a page for people.
#include <iosfwd>
#include <string_view>

#include "core/trace/summary.hpp"

namespace tessera::trace {

/// One HTML page that needs nothing else: timeline, waits, critical path, predictions, links, memory. Above 200000
/// tasks short neighbours of one row are merged in the picture, so that a browser can draw it; the figures stay exact.
/// `sections` is HTML of what ran: it comes in front of the timeline and has the page's style.
void write_report(std::ostream& to, const timeline& of, const summary& s, std::string_view sections = {});

}  // namespace tessera::trace
