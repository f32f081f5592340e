#include "core/config/schema.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/config/toml.hpp"

namespace tessera::config {
namespace {

TEST(schema, every_key_is_in_the_documentation_with_its_variable) {
  const std::string page = read_text_file(std::string(TESSERA_SOURCE_DIR) + "/docs/configuration.md");
  const settings defaults;
  for (const key& k : schema()) {
    EXPECT_NE(page.find("`" + k.full_name() + "`"), std::string::npos) << k.full_name();
    EXPECT_NE(page.find("| " + std::string(k.doc) + " |"), std::string::npos) << k.full_name() << ": " << k.doc;
    EXPECT_NE(page.find("| `" + show(defaults, k) + "` |"), std::string::npos) << k.full_name() << " default";
    if (!k.short_variable.empty()) {
      EXPECT_NE(page.find("`" + std::string(k.short_variable) + "="), std::string::npos) << k.full_name();
    }
  }
  for (const char* table : {"[plugin.", "[checksums]", "[[loctype]]", "[[location]]", "[[hierarchy]]"})
    EXPECT_NE(page.find(table), std::string::npos) << table;
}

TEST(schema, names_are_unique_and_defaults_are_legal) {
  std::set<std::string> names, variables;
  for (const key& k : schema()) {
    EXPECT_TRUE(names.insert(k.full_name()).second);
    EXPECT_TRUE(variables.insert(k.environment_variable()).second);
    if (!k.short_variable.empty()) {
      EXPECT_TRUE(variables.insert(std::string(k.short_variable)).second);
    }
    EXPECT_FALSE(k.doc.empty());
    // What `show` writes, a file may say.
    settings again;
    const table written = parse_toml("x = " + show(settings{}, k), "text");
    EXPECT_NO_THROW(assign(again, k, written[0].value)) << k.full_name();
    EXPECT_EQ(show(again, k), show(settings{}, k));
  }
  EXPECT_EQ(find_key("runtime", "workers")->environment_variable(), "TESSERA_RUNTIME_WORKERS");
  EXPECT_EQ(find_key("runtime", "absent"), nullptr);
}

}  // namespace
}  // namespace tessera::config
