#pragma once
// Names of variables in a kernel's text.
#include <clang/AST/Decl.h>

#include <map>
#include <set>
#include <string>

namespace tessera::directive {

/// Gives each variable a name of its own that is a word of no language: a program may call its variables `kernel` or
/// `half`, which OpenCL C does not allow, `größe`, which no kernel's text has, or `KERNEL`, which is a macro there.
/// None hides another one.
class kernel_names {
 public:
  /// Of what stands outside of the loop's body; of two with one name it is the same.
  const std::string& outside(const std::string& name) { return of(m_outside[name], name); }
  /// Of a variable of the body.
  const std::string& inside(const clang::VarDecl& v) { return of(m_inside[&v], v.getNameAsString()); }

 private:
  const std::string& of(std::string& known, const std::string& name);
  std::map<std::string, std::string> m_outside;
  std::map<const clang::VarDecl*, std::string> m_inside;
  std::set<std::string> m_taken;
};

}  // namespace tessera::directive
