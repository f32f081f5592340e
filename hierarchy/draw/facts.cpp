#include "hierarchy/draw/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/base/units.hpp"

namespace tessera::hierarchy {

bool is_core(const location::properties& is) {
  return is.kind == location::kind::worker && !is.space && !is.cpus.empty();
}

std::string cpus_text(std::span<const std::uint32_t> cpus) {
  if (cpus.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? "," : "-", cpus[last]);
    i = last + 1;
  }
  return fmt::format("cpu{} {}", cpus.size() == 1 ? "" : "s", text);
}

std::string link_text(double bandwidth, double latency_ns) {
  std::string text;
  if (bandwidth > 0) text = format_bytes(bandwidth) + "/s";
  if (latency_ns > 0) text += (text.empty() ? "" : ", ") + format_seconds(latency_ns * 1e-9);
  return text;
}

std::string link_text(const location::properties& is) { return link_text(is.bandwidth, is.latency_ns); }

std::vector<peer_pair> pairs_of(std::span<const peer_link> links) {
  std::vector<peer_pair> pairs;
  for (const peer_link& link : links) {
    const auto back = std::ranges::find_if(pairs, [&](const peer_pair& p) {
      return !p.both_ways && p.link.from == link.to && p.link.to == link.from && p.link.bandwidth == link.bandwidth &&
             p.link.latency_ns == link.latency_ns;
    });
    if (back != pairs.end())
      back->both_ways = true;
    else
      pairs.push_back({link, false});
  }
  return pairs;
}

std::vector<std::string> facts(const location::properties& is) {
  std::vector<std::string> lines;
  const bool says_the_kind =
      std::ranges::equal(is.type, location::name_of(is.kind),
                         [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
  if (!is.type.empty() && !says_the_kind) lines.push_back(is.type);
  if (is.memory_bytes != 0) lines.push_back(format_bytes(static_cast<double>(is.memory_bytes)));
  if (!is.cpus.empty()) lines.push_back(cpus_text(is.cpus));
  if (const std::string link = link_text(is); !link.empty()) lines.push_back("link " + link);
  if (!is.pci_address.empty()) lines.push_back("pci " + is.pci_address);
  return lines;
}

std::vector<location::node_id> detached_heads(const location::tree& tree) {
  std::vector<location::node_id> heads;
  for (location::node_id id = 1; id < tree.known(); ++id)
    if (tree.at(id).parent == location::no_node) heads.push_back(id);
  return heads;
}

}  // namespace tessera::hierarchy
