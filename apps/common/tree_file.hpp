#pragma once
// The file of a running command is read again.
#include "apps/common/session.hpp"
#include "tessera/region.hpp"

namespace tessera::apps {

/// While it lives, SIGHUP reads the command's file (the last --config, else the one that TESSERA_CONFIG names) again
/// and arranges the tree of locations as it says; regions under way end where they are. A note on standard error tells
/// that it is done, or why not: the tree is as it was then. Where the command has no file, SIGHUP is like Ctrl-C.
class tree_file {
 public:
  /// Both outlive it.
  tree_file(session& of, location_model& model);
  ~tree_file() { m_session.on_hang_up({}); }
  tree_file(const tree_file&) = delete;
  tree_file& operator=(const tree_file&) = delete;

 private:
  session& m_session;
};

}  // namespace tessera::apps
