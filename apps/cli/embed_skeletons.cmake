# Writes OUTPUT, a source that holds the files TEXTS of FOLDER: cmake -DOUTPUT=... -DFOLDER=... "-DTEXTS=a.c;b/c.md" -P embed_skeletons.cmake
set(source "// Made by apps/cli/embed_skeletons.cmake.\n#include \"apps/cli/skeleton.hpp\"\n\n#include \"core/base/error.hpp\"\n\n")
string(APPEND source "namespace tessera::cli {\n\nstd::string_view skeleton_text(std::string_view path) {\n")
foreach(text IN LISTS TEXTS)
  file(READ ${FOLDER}/${text} content)
  string(APPEND source "  if (path == \"${text}\")\n    return R\"skeleton(${content})skeleton\";\n")
endforeach()
string(APPEND source "  throw error(error_kind::internal, \"no such text is part of the program\", std::string(path));\n}\n\n}  // namespace tessera::cli\n")
file(WRITE ${OUTPUT} "${source}")
