# Comments of core/plugin/abi/tessera/plugin.h as documentation comments, for Doxygen.
# Lines between the parts ("/* ---- status ---- */") are not documentation.
/\/\* *---/b
# <words> are not HTML.
/^#include/!s,<\([a-z][a-z ]*\)>,\\<\1\\>,g
# A comment on a line of its own, or that opens one, describes what follows.
s,^\([[:space:]]*\)/\*\([^*]\),\1/**\2,
t
# A comment after code describes the code.
s,/\*\([^*]\),/**<\1,
