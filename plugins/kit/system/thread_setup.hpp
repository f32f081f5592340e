#pragma once
// How a thread of a plugin begins.
#include <tessera/plugin.h>

#include <string>

namespace tessera::kit {

/// Names the calling thread (cut to the 15 bytes that the operating system keeps) and lets it run on every CPU of the
/// host's mask. A thread inherits the CPUs of its creator, which may be a worker bound to one CPU; a plugin's should
/// not share that one.
void set_up_thread(const std::string& name, const tsr_host* host);

}  // namespace tessera::kit
