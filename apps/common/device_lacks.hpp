#pragma once
// What devices cannot do for statements over blocks.
#include <string>
#include <vector>

namespace tessera {
class runtime;
}

namespace tessera::apps {

/// Of each attached device that lacks something that block statements need: what that is. `--devices always` cannot
/// send it there.
std::vector<std::string> what_devices_lack(const runtime& rt);

}  // namespace tessera::apps
