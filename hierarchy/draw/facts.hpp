#pragma once
// What is worth saying of a location, in words that all forms of drawing share.
#include <span>
#include <string>
#include <vector>

#include "core/location/tree.hpp"
#include "hierarchy/draw/draw.hpp"

namespace tessera::hierarchy {

/// A worker of the host: it has CPUs and no memory of its own.
bool is_core(const location::properties& is);

/// "cpu 3", "cpus 0-3,8"; "" for none.
std::string cpus_text(std::span<const std::uint32_t> cpus);

/// "12 GiB/s, 5 us"; "" when nothing is known.
std::string link_text(const location::properties& is);

/// The same of a link between devices.
std::string link_text(double bandwidth, double latency_ns);

/// A peer link, or two that are each other's way back and alike.
struct peer_pair {
  peer_link link;
  bool both_ways = false;
};
std::vector<peer_pair> pairs_of(std::span<const peer_link> links);

/// Type, memory, CPUs, link: one line each, those that are known.
std::vector<std::string> facts(const location::properties& is);

/// Heads of the detached branches, in order of their numbers.
std::vector<location::node_id> detached_heads(const location::tree& tree);

}  // namespace tessera::hierarchy
