#pragma once
// Pieces of JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/trace/timeline.hpp"

namespace tessera::trace {

/// A quoted string in ASCII. Names come from programs and plugins: what is not UTF-8 is replaced. Safe inside <script>.
inline std::string json_string(std::string_view text) {
  std::string made = nlohmann::json(std::string(text)).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  for (std::size_t at = 0; (at = made.find('<', at)) != made.npos; at += 6) made.replace(at, 1, "\\u003c");
  return made;
}

/// Nanoseconds as microseconds, exactly.
inline std::string microseconds(nanoseconds ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// The word for a kind of track, in files.
inline const char* word_of(track_kind kind) {
  switch (kind) {
    case track_kind::worker:
      return "worker";
    case track_kind::stream:
      return "stream";
    case track_kind::program:
      return "program";
    case track_kind::link:
      return "link";
    case track_kind::interpreter:
      return "interpreter";
  }
  return "?";
}

/// The word for what is done with a block, in files.
inline const char* word_of(use_kind how) {
  switch (how) {
    case use_kind::read:
      return "read";
    case use_kind::write:
      return "write";
    case use_kind::update:
      return "update";
    case use_kind::accumulate:
      return "accumulate";
    case use_kind::scratch:
      return "scratch";
    case use_kind::commute:
      return "commute";
  }
  return "?";
}

/// Groups of rows in viewers, in the order in which they are shown: interpreters, workers, devices, links, the program.
inline int group_of(track_kind kind) {
  switch (kind) {
    case track_kind::worker:
      return 1;
    case track_kind::stream:
      return 2;
    case track_kind::link:
      return 3;
    case track_kind::program:
      return 4;
    case track_kind::interpreter:
      return 0;
  }
  return 4;
}

}  // namespace tessera::trace
