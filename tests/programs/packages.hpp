#pragma once
// What dpkg knows of a Debian's packages.
#include <map>
#include <optional>
#include <set>
#include <string>

namespace tessera::programs {

/// The installed packages of this machine.
class package_list {
 public:
  /// Nothing on a machine that is no Debian 12 with dpkg.
  static std::optional<package_list> of_this_machine();

  bool has(const std::string& package) const { return m_packages.contains(package); }
  /// Essential or of priority "required": in every tree that debootstrap makes.
  bool is_base(const std::string& package) const;
  /// Whether installing one package brings the other, by what it depends on; alternatives count.
  bool brings(const std::string& package, const std::string& other) const;
  /// For each program that lies in /usr/bin, /usr/sbin, /bin or /sbin the packages that own its file, through links of
  /// update-alternatives.
  static std::map<std::string, std::set<std::string>> owners_of(const std::set<std::string>& programs);

 private:
  struct facts {
    bool base = false;
    std::set<std::string> depends, provides;
  };
  std::map<std::string, facts> m_packages;
};

}  // namespace tessera::programs
