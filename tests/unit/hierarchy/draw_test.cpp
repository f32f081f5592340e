#include "hierarchy/draw/draw.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "hierarchy/discovery/topology.hpp"
#include "hierarchy/draw/facts.hpp"
#include "hierarchy/draw/layout.hpp"
#include "unit/hierarchy/invented.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;

location::tree small() {
  return topology::synthetic("[numa(memory=8589934592)] core:2 pu:2")
      .tree(
          std::vector{invented_host(1), invented_device(1, "gpu0"), invented_device(2, "disk<0>", TSR_DEVICE_STORAGE)});
}

location::tree large() {
  std::vector devices{invented_host(8)};
  for (std::uint32_t i = 0; i < 4; ++i) {
    devices.push_back(invented_device(i + 1, "gpu" + std::to_string(i), TSR_DEVICE_GPU, 80ull << 30));
    devices.back().numa_node = static_cast<std::int32_t>(2 * i);
  }
  return topology::from_xml(std::string(TESSERA_SOURCE_DIR) + "/tests/data/topologies/two_packages_eight_domains.xml")
      .tree(devices);
}

TEST(draw, text_is_indented) {
  EXPECT_EQ(to_text(small()),
            "machine  machine, 8 GiB\n"
            "├── numa0  memory, NUMANode, 8 GiB\n"
            "│   ├── core0  worker, Core, cpus 0,1\n"
            "│   └── core1  worker, Core, cpus 2,3\n"
            "├── gpu0  worker, Invented gpu0, 1 GiB, link 11.2 GiB/s, 5 us\n"
            "└── disk<0>  storage, Invented disk<0>, 1 GiB, link 11.2 GiB/s, 5 us\n");
}

TEST(draw, like_cores_share_a_line) {
  const std::string text = to_text(large());
  EXPECT_TRUE(has(text, {"core0 … core15  16 workers, each Core, L2 1 MiB, L1d 32 KiB, cpus 0-31\n"})) << text;
  EXPECT_EQ(text.find("core1 "), std::string::npos);
  drawing noted;
  const location::tree t = large();
  noted.note = [&](node_id id) {
    return t.at(id).properties.name == "core3" ? std::string("array x, 4 MiB") : std::string();
  };
  EXPECT_TRUE(has(to_text(t, noted), {"core3  worker", "| array x, 4 MiB"}));
}

TEST(draw, a_subtree_and_detached_branches) {
  location::tree t = small();
  EXPECT_EQ(to_text(t, {*t.find("core1"), {}}), "core1  worker, Core, cpus 2,3\n");
  t.detach(*t.find("numa0"));
  EXPECT_TRUE(has(to_text(t), {"\ndetached:\nnuma0  memory"}));
  const auto json = nlohmann::json::parse(to_json(t));
  EXPECT_EQ(json["detached"][0]["name"], "numa0");
  EXPECT_EQ(json["detached"][0]["children"].size(), 2u);
}

TEST(draw, json_has_every_property) {
  const auto json = nlohmann::json::parse(to_json(small()));
  EXPECT_EQ(json["kind"], "machine");
  EXPECT_EQ(json["children"].size(), 3u);
  EXPECT_EQ(json["children"][0]["children"][1]["cpus"], (std::vector<int>{2, 3}));
  EXPECT_EQ(json["children"][0]["space"]["device"], 0);
  EXPECT_EQ(json["children"][1]["bandwidth"], 12e9);
  EXPECT_EQ(json["children"][1]["latency_ns"], 5000);
  EXPECT_EQ(json["children"][1]["memory_bytes"], 1 << 30);
  EXPECT_EQ(json["children"][1]["device"], 1);
  location::properties broken;
  broken.name = "caf\xe9";  // not UTF-8
  EXPECT_NO_THROW(nlohmann::json::parse(to_json(location::tree(broken))));
}

TEST(draw, dot_has_a_node_and_an_edge_for_each_location) {
  const location::tree t = large();
  const std::string dot = to_dot(t);
  const auto count = [&](const char* pattern) {
    const std::regex r(pattern);
    return std::distance(std::sregex_iterator(dot.begin(), dot.end(), r), std::sregex_iterator());
  };
  EXPECT_EQ(static_cast<std::size_t>(count(R"(\n  n[0-9]+ \[label=)")), t.size());
  EXPECT_EQ(static_cast<std::size_t>(count(R"(\n  n[0-9]+ -> n[0-9]+;)")), t.size() - 1);
}

TEST(draw, boxes_nest_and_do_not_touch) {
  for (const location::tree& t : {small(), large()}) {
    const metrics sizes;
    const auto boxes = layout(t, {}, sizes);
    ASSERT_EQ(boxes.size(), t.size());
    std::map<node_id, const box*> of;
    for (const box& b : boxes) of[b.id] = &b;
    for (const box& b : boxes) {
      for (const std::string& line : b.lines)
        EXPECT_LE(text_width(line, sizes.fact_size), b.width - sizes.margin) << line;
      const node_id parent = t.at(b.id).parent;
      if (parent == location::no_node) continue;
      const box& p = *of.at(parent);
      EXPECT_GE(b.x, p.x + sizes.margin);
      EXPECT_GE(b.y, p.y + sizes.margin + sizes.line * static_cast<int>(p.lines.size())) << "over its parent's text";
      EXPECT_LE(b.x + b.width, p.x + p.width - sizes.margin);
      EXPECT_LE(b.y + b.height, p.y + p.height - sizes.margin);
      for (const node_id sibling : t.at(parent).children) {
        const box& s = *of.at(sibling);
        if (sibling == b.id) continue;
        const bool apart = s.x >= b.x + b.width + sizes.margin || b.x >= s.x + s.width + sizes.margin ||
                           s.y >= b.y + b.height + sizes.margin || b.y >= s.y + s.height + sizes.margin;
        EXPECT_TRUE(apart) << t.at(b.id).properties.name << " and " << t.at(sibling).properties.name;
      }
    }
    // Not a ribbon: the picture fits a page or a screen.
    const double shape = static_cast<double>(boxes[0].width) / boxes[0].height;
    EXPECT_GT(shape, 0.4);
    EXPECT_LT(shape, 4.0);
  }
}

TEST(draw, svg_is_escaped_balanced_and_the_same_every_time) {
  const std::string svg = to_svg(small());
  EXPECT_TRUE(has(svg, {"disk&lt;0&gt;", "<title>machine/numa0/core1, Core, cpus 2,3</title>", "link 11.2 GiB/s"}));
  EXPECT_EQ(svg.find("disk<0>"), std::string::npos);
  for (const char* tag : {"g", "text", "title", "svg"}) {
    const auto count = [&](const std::string& what) {
      std::size_t n = 0;
      for (auto at = svg.find(what); at != svg.npos; at = svg.find(what, at + 1)) ++n;
      return n;
    };
    EXPECT_EQ(count("<" + std::string(tag) + ">") + count("<" + std::string(tag) + " "),
              count("</" + std::string(tag) + ">"));
  }
  EXPECT_EQ(svg, to_svg(small()));
  EXPECT_EQ(to_dot(large()), to_dot(large()));
  EXPECT_EQ(to_json(large()), to_json(large()));
}

TEST(draw, peer_links_are_in_every_form) {
  const location::tree t = large();
  const node_id a = *t.find("gpu0"), b = *t.find("gpu1"), c = *t.find("gpu2");
  const drawing what{.peers = {{a, b, 40e9, 3000}, {b, a, 40e9, 3000}, {a, c, 20e9, 5000}, {c, a, 10e9, 5000}}};
  EXPECT_TRUE(has(to_text(t, what), {"\nlinks between devices:\ngpu0 <-> gpu1  37.3 GiB/s, 3 us\n",
                                     "gpu0 -> gpu2  18.6 GiB/s, 5 us\n", "gpu2 -> gpu0  9.31 GiB/s, 5 us\n"}));
  EXPECT_EQ(to_text(t).find("links between"), std::string::npos);
  const auto json = nlohmann::json::parse(to_json(t, what));
  ASSERT_EQ(json["peer_links"].size(), 4u);
  EXPECT_EQ(json["peer_links"][2],
            (nlohmann::json{{"from", "gpu0"}, {"to", "gpu2"}, {"bandwidth", 20e9}, {"latency_ns", 5000.0}}));
  const std::string dot = to_dot(t, what);
  EXPECT_TRUE(has(dot, {"dir=both", "dir=forward", "37.3 GiB/s, 3 us"}));
  EXPECT_TRUE(has(dot, {("n" + std::to_string(a) + " -> n" + std::to_string(c) + " [constraint=false").c_str()}));
  EXPECT_TRUE(has(to_svg(t, what), {">to gpu1 37.3 GiB/s, 3 us</text>", ">to gpu0 9.31 GiB/s, 5 us</text>"}));
}

TEST(draw, words) {
  EXPECT_EQ(cpus_text(std::vector<std::uint32_t>{3}), "cpu 3");
  EXPECT_EQ(cpus_text(std::vector<std::uint32_t>{0, 1, 2, 3, 8, 10, 11}), "cpus 0-3,8,10,11");
  EXPECT_EQ(cpus_text({}), "");
}

}  // namespace
}  // namespace tessera::hierarchy
