#include "hierarchy/declaration/csv.hpp"

#include <gtest/gtest.h>

#include "hierarchy/declaration/bind.hpp"
#include "hierarchy/discovery/topology.hpp"
#include "tests/support/damaged_text.hpp"
#include "unit/hierarchy/invented.hpp"

namespace tessera::hierarchy {
namespace {

TEST(csv, reads_all_records_and_keys) {
  const auto d = parse_csv(
      "# a node\r\n"
      "loctype;name,node_memory;kind,Unified_Memory;size,2GB\r\n"
      "  loctype ; name , x64 ; kind,x64 ; num_cores,4 ; bandwidth,10GB/s   # four\n"
      "\n"
      "location;name,LocA;type,node_memory\n"
      "location;name,LocB,LocC;type,virtual;\n"
      "location;name,LocG;type,tesla;all\n"
      "location;name,LocN;type,x64;start,2;total_count,3\n"
      "hierarchy;children,+,LocB,LocC;parent,LocA\n"
      "hierarchy;parent,LocA;children,-,LocB\n"
      "hierarchy;children,+,LocG;parent,LocC;all,true",
      "tree.csv");
  ASSERT_EQ(d.loctypes.size(), 2u);
  EXPECT_EQ(d.loctypes[0].memory->value, 2000000000u);
  EXPECT_EQ(d.loctypes[1].name.value, "x64");
  EXPECT_EQ(d.loctypes[1].name.where, "tree.csv:3:20");
  EXPECT_EQ(d.loctypes[1].cores->value, 4u);
  EXPECT_EQ(d.loctypes[1].bandwidth->value, 10e9);
  ASSERT_EQ(d.locations.size(), 4u);
  EXPECT_EQ(d.locations[1].names.size(), 2u);
  EXPECT_EQ(d.locations[1].names[1].where, "tree.csv:6:20");
  EXPECT_TRUE(d.locations[2].all);
  EXPECT_EQ(d.locations[3].start->value, 2u);
  EXPECT_EQ(d.locations[3].count->value, 3u);
  ASSERT_EQ(d.hierarchies.size(), 3u);
  EXPECT_TRUE(d.hierarchies[0].attach);
  EXPECT_FALSE(d.hierarchies[1].attach);
  EXPECT_EQ(d.hierarchies[1].children.at(0).value, "LocB");
  EXPECT_TRUE(d.hierarchies[2].all);
  EXPECT_TRUE(parse_csv("", "x").empty());
  EXPECT_TRUE(parse_csv("# only\n ; ;\n", "x").empty());
}

TEST(csv, a_spreadsheet_may_have_written_it) {
  const auto d = parse_csv("\xEF\xBB\xBFlocation;name,A;type,virtual\r\n", "t.csv");
  ASSERT_EQ(d.locations.size(), 1u);
  EXPECT_EQ(d.locations[0].names[0].where, "t.csv:1:15") << "the mark is no column";
}

TEST(csv, mistakes_have_a_line_and_a_column) {
  const auto refused = [](const char* text, std::initializer_list<const char*> parts) {
    EXPECT_TRUE(has(message_of([&] { parse_csv(text, "t.csv"); }), parts)) << text;
  };
  refused("\nloctyp;name,a\n", {"'loctyp'", "t.csv:2:1", "did you mean 'loctype'"});
  refused("loctype;name,a;kind,x64;num_core,4", {"num_core", "t.csv:1:25", "did you mean 'num_cores'"});
  refused("loctype;name,a;kind,x64;num_cores,many", {"'many'", "t.csv:1:35"});
  refused("loctype;name,a;kind,x64;num_cores,-1", {"t.csv:1:35"});
  refused("loctype;name,a;kind,x64;num_cores,0", {"1 to"});
  refused("loctype;name,a;kind,x64;mem,big", {"a size", "t.csv:1:29"});
  refused("loctype;name,a;kind,x64;mem,1GB;size,1GB", {"not both", "t.csv:1:38"});
  refused("loctype;name,a;kind,x64;bandwidth,x", {"a rate"});
  refused("loctype;name,a;name,b;kind,x64", {"given twice", "t.csv:1:16"});
  refused("loctype;name,a,b;kind,x64", {"one value"});
  refused("loctype;kind,x64", {"no 'name'", "t.csv:1:1"});
  refused("loctype,name;kind,x64", {"followed by a comma"});
  refused("location;name,;type,x", {"an empty value of 'name'", "t.csv:1:15"});
  refused("location;name,a;type,x;all,maybe", {"true or false", "t.csv:1:28"});
  refused("location;name,a;type,x;all;total_count,2", {"exclude"});
  refused("location;name,a;type,x;start,2", {"needs 'total_count'"});
  refused("hierarchy;children,LocB;parent,LocA", {"+ (attach) or - (detach)", "t.csv:1:20"});
  refused("hierarchy;children,+;parent,LocA", {"names nobody"});
  refused("hierarchy;children,+,LocB", {"no 'parent'"});
}

TEST(csv, damaged_text_is_refused_and_never_worse) {
  const std::string whole =
      "loctype;name,t;kind,gpu;mem,1GB\nlocation;name,a,b;type,t;start,1;total_count,2\n# note\n"
      "location;name,c;type,virtual\nhierarchy;children,+,a,b;parent,c;all\n";
  const std::vector<found_device> devices{invented_host(1), invented_device(1, "gpu0"), invented_device(2, "gpu1"),
                                          invented_device(3, "gpu2"), invented_device(4, "gpu3")};
  const auto discovered = topology::synthetic("numa:1 core:2 pu:1").tree(devices);
  std::vector<std::string> notes;
  declared_tree(parse_csv(whole, "t.csv"), discovered, devices, notes);
  test_support::read_damaged(whole, "damaged.csv", [&](const std::string& text) {
    declared_tree(parse_csv(text, "damaged.csv"), discovered, devices, notes);
  });
}

}  // namespace
}  // namespace tessera::hierarchy
