// Writes Rust that compares tessera.rs, as the module `tessera`, with the header: every offset, size and value, while
// it is compiled.
#include <tessera/plugin.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

const char* raw(const char* field) { return std::strcmp(field, "type") == 0 ? "r#type" : field; }

}  // namespace

int main() {
  std::puts(
      "// Made by tests/skeletons/layout.cpp.\n"
      "#![allow(dead_code)]\n"
      "mod tessera;\n"
      "use std::mem::{offset_of, size_of};\n"
      "use tessera::*;\n"
      "const fn bytes_of<S, F>(_: fn(&S) -> &F) -> usize {\n"
      "    size_of::<F>()\n"
      "}\n"
      "const _: () = {");
#define FIELD(type, field, minor)                                                                               \
  std::printf("    assert!(offset_of!(%s, %s) == %zu && bytes_of(|s: &%s| &s.%s) == %zu, \"%s.%s\");\n", #type, \
              raw(#field), offsetof(type, field), #type, raw(#field), sizeof(type::field), #type, #field);
#define BORN(type, field, minor) FIELD(type, field, minor)
#define CONSTANT(name, minor) \
  std::printf("    assert!(%s as i64 == %lld, \"%s\");\n", #name, static_cast<long long>(name), #name);
#define STRUCT(type, minor) std::printf("    assert!(size_of::<%s>() == %zu, \"%s\");\n", #type, sizeof(type), #type);
#include "core/plugin/abi/contents.inc"
  std::puts("};");
  return 0;
}
