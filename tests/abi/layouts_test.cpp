// The list from which the layouts are printed has all that stands in the header's text, and nothing else.
#include "core/plugin/layouts.hpp"

#include <gtest/gtest.h>
#include <tessera/plugin.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace tessera::plugin;

/// The header without its comments.
std::string header_text() {
  std::ostringstream text;
  text << std::ifstream(TESSERA_SOURCE_DIR "/core/plugin/abi/tessera/plugin.h").rdbuf();
  std::string all = text.str(), left;
  for (std::size_t at = 0; at < all.size();) {
    if (all.compare(at, 2, "/*") == 0)
      at = all.find("*/", at) + 2;
    else
      left += all[at++];
  }
  return left;
}

/// The names that a struct's text declares.
std::vector<std::string> declared(const std::string& body) {
  static const std::regex pointer(R"(\(\*\s*(\w+)\)\s*\()"), last(R"((\w+)\s*(\[[^\]]*\])?\s*$)");
  std::vector<std::string> names;
  std::istringstream statements(body);
  for (std::string one; std::getline(statements, one, ';');) {
    std::smatch found;
    if (one.find_first_not_of(" \n") == std::string::npos) continue;
    if (std::regex_search(one, found, pointer)) {
      names.push_back(found[1]);
      continue;
    }
    std::istringstream parts(one);
    for (std::string part; std::getline(parts, part, ',');)
      if (std::regex_search(part, found, last)) names.push_back(found[1]);
  }
  return names;
}

struct written {
  std::string name;
  std::vector<std::string> fields;
};

std::vector<written> structs_of(const std::string& text) {
  std::vector<written> all;
  static const std::regex begin(R"((typedef )?struct (tsr_\w+) \{)");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), begin); at != std::sregex_iterator(); ++at) {
    const auto from = static_cast<std::size_t>(at->position() + at->length());
    all.push_back({(*at)[2], declared(text.substr(from, text.find("\n}", from) - from))});
    if (const std::size_t same_line = text.find('}', from); text.find("\n}", from) > same_line)
      all.back().fields = declared(text.substr(from, same_line - from));
  }
  return all;
}

TEST(abi_layouts, every_field_of_the_header_is_in_the_list) {
  const std::vector<written> text = structs_of(header_text());
  const std::vector<struct_layout> list = struct_layouts();
  ASSERT_GT(list.size(), 30u);
  ASSERT_EQ(list.size(), text.size());
  for (std::size_t k = 0; k < list.size(); ++k) {
    EXPECT_EQ(list[k].name, text[k].name);
    std::vector<std::string> names;
    for (const field_layout& f : list[k].fields) names.emplace_back(f.name);
    EXPECT_EQ(names, text[k].fields) << "of " << list[k].name;
  }
}

/// The enumerators, and the macros that are numbers.
TEST(abi_layouts, every_constant_of_the_header_is_in_the_list) {
  const std::string text = header_text();
  std::vector<std::string> names;
  static const std::regex begin(R"(enum \{([^}]*)\}|#define (TSR_\w+) \d+u?\s)");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), begin); at != std::sregex_iterator(); ++at) {
    if ((*at)[2].matched) names.push_back((*at)[2]);
    std::istringstream parts((*at)[1].str());
    for (std::string part; std::getline(parts, part, ',');) {
      std::smatch found;
      if (std::regex_search(part, found, std::regex(R"((TSR_\w+))"))) names.push_back(found[1]);
    }
  }
  std::vector<std::string> list;
  for (const constant_value& c : constant_values()) list.emplace_back(c.name);
  ASSERT_GT(list.size(), 100u);
  EXPECT_EQ(list, names);
}

/// Spelled as in C; enumerations are the integers that they are aliases of.
TEST(abi_layouts, types_are_those_of_the_header) {
  const auto type_of = [all = struct_layouts()](std::string_view name, std::string_view field) -> std::string {
    for (const struct_layout& s : all)
      for (const field_layout& f : s.fields)
        if (s.name == name && f.name == field) return f.type;
    return "no such field";
  };
  EXPECT_EQ(type_of("tsr_ticket", "stream"), "tsr_stream*");
  EXPECT_EQ(type_of("tsr_ticket", "value"), "uint64_t");
  EXPECT_EQ(type_of("tsr_option", "name"), "const char*");
  EXPECT_EQ(type_of("tsr_option", "min_value"), "double");
  EXPECT_EQ(type_of("tsr_space_desc", "kind"), "uint32_t");
  EXPECT_EQ(type_of("tsr_space_desc", "numa_node"), "int32_t");
  EXPECT_EQ(type_of("tsr_device_desc", "peaks_are_guesses"), "bool");
  EXPECT_EQ(type_of("tsr_device_desc", "uuid"), "uint8_t[16]");
  EXPECT_EQ(type_of("tsr_device_desc", "name"), "char[64]");
  EXPECT_EQ(type_of("tsr_copy", "destination"), "tsr_address");
  EXPECT_EQ(type_of("tsr_gemm", "a_array"), "const tsr_address*");
  EXPECT_EQ(type_of("tsr_permute", "extents"), "int64_t[8]");
  EXPECT_EQ(type_of("tsr_launch", "arguments"), "const void* const*");
  EXPECT_EQ(type_of("tsr_plugin_header", "reserved"), "const void*[4]");
  EXPECT_EQ(type_of("tsr_device_table", "stream_signal"), "int32_t (*)(tsr_device*, tsr_stream*, tsr_ticket*)");
  EXPECT_EQ(type_of("tsr_policy_table", "place"),
            "uint32_t (*)(tsr_plugin*, const char*, const tsr_candidate*, uint32_t)");
  EXPECT_EQ(type_of("tsr_operation", "host"),
            "int32_t (*)(const tsr_host*, const tsr_block_view*, uint32_t, const void*, uint64_t)");
  for (const struct_layout& s : struct_layouts())
    for (const field_layout& f : s.fields) EXPECT_FALSE(f.type.empty()) << s.name << '.' << f.name;
}

TEST(abi_layouts, fields_lie_in_order_inside_their_structs) {
  for (const struct_layout& s : struct_layouts()) {
    std::size_t end = 0;
    std::uint32_t since = 0;
    for (const field_layout& f : s.fields) {
      EXPECT_GE(f.offset, end) << s.name << '.' << f.name;
      EXPECT_GE(f.since, since) << s.name << '.' << f.name << " is older than what stands before it";
      EXPECT_LE(f.since, TSR_ABI_MINOR);
      end = f.offset + f.bytes;
      since = f.since;
    }
    EXPECT_LE(end, s.bytes) << s.name;
  }
}

}  // namespace
