// Writes Rust that compares tessera.rs, as the module `tessera`, with the frozen header of version 1.0: every offset,
// size and value, while it is compiled.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tests/abi/1.0/tessera/plugin.h"

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
#define FIELD(type, field)                                                                                      \
  std::printf("    assert!(offset_of!(%s, %s) == %zu && bytes_of(|s: &%s| &s.%s) == %zu, \"%s.%s\");\n", #type, \
              raw(#field), offsetof(type, field), #type, raw(#field), sizeof(type::field), #type, #field);
#define CONSTANT(name) \
  std::printf("    assert!(%s as i64 == %lld, \"%s\");\n", #name, static_cast<long long>(name), #name);
#define SIZE(type) std::printf("    assert!(size_of::<%s>() == %zu, \"%s\");\n", #type, sizeof(type), #type);
#include "tests/abi/1.0/contents.inc"
  CONSTANT(TSR_ABI_MAJOR)
  CONSTANT(TSR_ABI_MINOR)
  CONSTANT(TSR_MAX_RANK)
  CONSTANT(TSR_IPC_KEY_BYTES)
  std::puts("};");
  return 0;
}
