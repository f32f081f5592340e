// Makes a test program of the C++ blocks of a document: extract DOCUMENT.md OUTPUT.cpp
//
// Every ```cpp block becomes one test. A block with a main is a program of its own; any other is the body of a function
// with a runtime `rt`, which may begin with the headers that it needs. A ```text block that follows is what it must
// print. Mistakes are reported at the document's lines.
#include <cctype>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

struct block {
  std::string section, code, expected;
  std::size_t line = 0;  // of its first line in the document
  bool has_expected = false;
};

std::string identifier(const std::string& heading) {
  std::string name;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0)
      name += static_cast<char>(std::tolower(byte));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

std::vector<block> blocks_of(std::istream& document) {
  std::vector<block> blocks;
  std::string section = "start", line;
  enum {
    text,
    code,
    expected,
    other
  } in = text;
  for (std::size_t number = 1; std::getline(document, line); ++number) {
    if (line.starts_with("```")) {
      if (in != text) {
        in = text;
      } else if (line == "```cpp") {
        in = code;
        blocks.push_back({section, {}, {}, number + 1, false});
      } else if (line == "```text" && !blocks.empty() && !blocks.back().has_expected) {
        in = expected;
        blocks.back().has_expected = true;
      } else {
        in = other;
      }
    } else if (in == code) {
      blocks.back().code += line + "\n";
    } else if (in == expected) {
      blocks.back().expected += line + "\n";
    } else if (in == text && line.starts_with("## ")) {
      section = identifier(line);
    }
  }
  return blocks;
}

void write(std::ostream& out, const std::string& document, const std::vector<block>& blocks) {
  out << "// Made from " << document << " by tests/guide/extract.cpp.\n#include \"tests/guide/rig.hpp\"\n\n";
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const block& b = blocks[k];
    const bool program = b.code.find("int main()") != std::string::npos;
    std::string code = b.code, includes;
    if (program) code.replace(code.find("int main()"), 10, "int main_of_block()");
    for (std::size_t at = code.find("#include"); at != std::string::npos; at = code.find("#include", at)) {
      const std::size_t end = code.find('\n', at);
      includes += code.substr(at, end - at) + "\n";
      code.erase(at, end - at);  // the empty line stays, so that the lines count as in the document
    }
    out << includes << "namespace block_" << k << " {\n";
    if (program)
      out << "#line " << b.line << " \"" << document << "\"\n" << code;
    else
      out << "void body(tessera::runtime& rt) {\n#line " << b.line << " \"" << document << "\"\n" << code << "}\n";
    out << "TEST(guide, " << b.section << '_' << k << ") {\n";
    const std::string text = b.has_expected ? "R\"expected(" + b.expected + ")expected\"" : std::string("nullptr");
    if (program)
      out << "  tessera::guide::run(main_of_block, " << text << ");\n";
    else
      out << "  tessera::guide::run_on_all_machines(body, " << text << ");\n";
    out << "}\n}\n\n";
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: extract DOCUMENT.md OUTPUT.cpp\n";
    return 2;
  }
  std::ifstream document(arguments[1]);
  const std::vector<block> blocks = blocks_of(document);
  if (blocks.empty()) {
    std::cerr << arguments[1] << ": no ```cpp block in it\n";
    return 1;
  }
  std::ofstream out(arguments[2]);
  write(out, arguments[1], blocks);
  return out.good() ? 0 : 1;
}
