#pragma once
// For programs that are traced (runtime.trace; docs/reading_a_report.md): the timeline and what is made of it.
#include "core/trace/chrome.hpp"
#include "core/trace/report.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/timeline.hpp"
#include "tessera/detail/array.hpp"
#include "tessera/detail/recording.hpp"
#include "tessera/detail/runtime.hpp"
