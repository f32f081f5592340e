#pragma once
// Where the versions of Clang that cmake/TesseraDependencies.cmake accepts differ.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Basic/Version.h>
#if CLANG_VERSION_MAJOR >= 22
#include <clang/Options/Options.h>
#else
#include <clang/Driver/Options.h>
#endif

namespace tessera::directive {

inline clang::QualType type_of(const clang::RecordDecl& record, const clang::ASTContext& context) {
#if CLANG_VERSION_MAJOR >= 22
  return context.getCanonicalTagType(&record);
#else
  return context.getRecordType(&record);
#endif
}

/// The flags of the command `clang`.
inline const llvm::opt::OptTable& known_flags() {
#if CLANG_VERSION_MAJOR >= 22
  return clang::getDriverOptTable();
#else
  return clang::driver::getDriverOptTable();
#endif
}

}  // namespace tessera::directive
