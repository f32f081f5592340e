#include "plugins/opencl/settings.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "plugins/opencl/device_state.hpp"
#include "plugins/opencl/program_cache.hpp"

namespace tessera::gpu::opencl {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// A number is compared with `number`, anything else looked for in `name`, in either case of letters.
bool means(const std::string& wanted, std::size_t number, const std::string& name) {
  if (wanted.empty()) return true;
  if (is_number(wanted)) return wanted.size() < 10 && std::stoul(wanted) == number;
  return lower(name).find(lower(wanted)) != std::string::npos;
}

struct counted {
  std::size_t platform, device;  ///< of the platforms, and of this platform's devices
  const device_state* state;
};

counted number_of(int ordinal) {
  std::string why;
  const auto& all = all_devices(why);
  counted at{0, 0, all[static_cast<std::size_t>(ordinal)].get()};
  for (std::size_t i = 1; i <= static_cast<std::size_t>(ordinal); ++i) {
    const bool same = all[i]->platform == all[i - 1]->platform;
    at.device = same ? at.device + 1 : 0;
    if (!same) ++at.platform;
  }
  return at;
}

}  // namespace

std::vector<tsr_option> all_options() {
  auto options = option_schema("0", nullptr);
  const auto text = [&](const char* name, const char* otherwise, const char* doc) {
    options.push_back({sizeof(tsr_option), TSR_OPTION_STRING, name, otherwise, 0, 0, nullptr, doc});
  };
  text("platform", nullptr, "Which platform (driver) to use: its number, or a part of its name; without it all.");
  text("device", nullptr, "Which devices of a platform to use: a number, or a part of the name; without it all.");
  options.push_back({sizeof(tsr_option), TSR_OPTION_BOOL, "cache", "true", 0, 0, nullptr,
                     "Whether compiled kernels are kept on disk."});
  text("cache_folder", nullptr,
       "Where they are kept; without it $XDG_CACHE_HOME/tessera/opencl, or ~/.cache/tessera/opencl.");
  text("build_options", "", "For the driver's compiler of kernels, besides our own.");
  options.push_back({sizeof(tsr_option), TSR_OPTION_STRING, "clblast", "gpus", 0, 0, "gpus|always|never",
                     "Which devices take CLBlast's products where that library is installed; others take ours."});
  return options;
}

choices read_choices(const kit::option_reader& option) {
  choices made{
      option.text("platform", ""), option.text("device", ""), {}, clblast_use_of(option.text("clblast", "gpus"))};
  made.programs.build_options = option.text("build_options", "");
  if (option.flag("cache", true)) made.programs.cache_folder = option.text("cache_folder", usual_cache_folder());
  return made;
}

bool accepts(const choices& choice, int ordinal) {
  const counted at = number_of(ordinal);
  return at.state->unfit.empty() && means(choice.platform, at.platform, at.state->platform_name) &&
         means(choice.device, at.device, at.state->name);
}

std::string why_none(const choices& choice) {
  std::string why, text = "of the devices that there are, none is meant by";
  text += " platform = \"" + choice.platform + "\", device = \"" + choice.device + "\":";
  const std::size_t count = all_devices(why).size();
  for (std::size_t i = 0; i < count; ++i) {
    const counted at = number_of(static_cast<int>(i));
    text += (i == 0 ? " " : "; ") + std::to_string(at.platform) + "." + std::to_string(at.device) + " " +
            at.state->platform_name + ", " + at.state->name;
    if (!at.state->unfit.empty()) text += " (unfit: " + at.state->unfit + ")";
  }
  return text;
}

}  // namespace tessera::gpu::opencl
