#pragma once
// Where the versions of Clang that cmake/TesseraDependencies.cmake accepts differ.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Basic/Version.h>

namespace tessera::directive {

inline clang::QualType type_of(const clang::RecordDecl& record, const clang::ASTContext& context) {
#if CLANG_VERSION_MAJOR >= 22
  return context.getCanonicalTagType(&record);
#else
  return context.getRecordType(&record);
#endif
}

}  // namespace tessera::directive
