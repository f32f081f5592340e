#include "tests/layering/rules.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace tessera::layering {
namespace {

using namespace std::string_view_literals;

constexpr std::array core_order = {"bytes"sv,    "base"sv,      "config"sv,   "plugin"sv,    "location"sv,
                                   "block"sv,    "memory"sv,    "transfer"sv, "operation"sv, "task"sv,
                                   "validate"sv, "placement"sv, "schedule"sv, "runtime"sv};

// Rooms and folders that have a height: one includes lower ones of its floor. Two of one height do not know each other.
struct folder_height {
  std::string_view floor, folder;
  int height;
};
constexpr std::array heights = {folder_height{"kit", "system", 0},
                                folder_height{"kit", "abi", 1},
                                folder_height{"kit", "kernels", 2},
                                folder_height{"kit", "jit", 2},
                                folder_height{"gpu_common", "api", 0},
                                folder_height{"gpu_common", "kernels", 1},
                                folder_height{"gpu_common", "libraries", 1},
                                folder_height{"gpu_common", "abi", 2},
                                folder_height{"hierarchy", "discovery", 0},
                                folder_height{"hierarchy", "policy", 0},
                                folder_height{"hierarchy", "draw", 0},
                                folder_height{"hierarchy", "simulation", 0},
                                folder_height{"hierarchy", "declaration", 1},
                                folder_height{"hierarchy", "machine", 2},
                                folder_height{"hierarchy", "region", 3},
                                folder_height{"hierarchy", "deepcopy", 3},
                                folder_height{"hierarchy", "directive", 4},
                                folder_height{"transport", "common", 0},
                                folder_height{"transport", "inprocess", 1},
                                folder_height{"transport", "mpi", 1},
                                folder_height{"cluster", "transport", 0},
                                folder_height{"libraries", "progress", 0},
                                folder_height{"libraries", "lapack", 0},
                                folder_height{"libraries", "matrix_market", 0},
                                folder_height{"libraries", "chemistry/molecule", 0},
                                folder_height{"libraries", "chemistry/basis", 1},
                                folder_height{"libraries", "chemistry/job", 2},
                                folder_height{"libraries", "chemistry/integrals", 2},
                                folder_height{"libraries", "chemistry/scf", 3},
                                folder_height{"libraries", "chemistry/exchange", 4},
                                folder_height{"libraries", "chemistry/checkpoint", 4},
                                folder_height{"libraries", "sparse/matrix", 1},
                                folder_height{"libraries", "sparse/product", 2},
                                folder_height{"libraries", "sparse/interface", 3},
                                folder_height{"libraries", "sparse/program", 4},
                                folder_height{"libraries", "sparse/linear", 4},
                                folder_height{"libraries", "sparse/solver", 4},
                                folder_height{"languages", "sial/language", 0},
                                folder_height{"languages", "sial/code", 1},
                                folder_height{"languages", "sial/data", 1},
                                folder_height{"languages", "sial/exchange", 2},
                                folder_height{"languages", "sial/instructions", 2},
                                folder_height{"languages", "sial/interpreter", 3},
                                folder_height{"languages", "sial/estimate", 4},
                                folder_height{"languages", "sial/job", 5},
                                folder_height{"languages", "sial/chemistry", 6},
                                folder_height{"languages", "directives/text", 0},
                                folder_height{"languages", "directives/clang", 1},
                                folder_height{"apps", "common", 0},
                                folder_height{"apps", "chem", 1},
                                folder_height{"apps", "cholesky", 1},
                                folder_height{"apps", "comd", 1},
                                folder_height{"apps", "deepcopy", 1},
                                folder_height{"apps", "gemm", 1},
                                folder_height{"apps", "rodinia", 1},
                                folder_height{"apps", "sial", 1},
                                folder_height{"apps", "stream", 1},
                                folder_height{"apps", "study", 1},
                                folder_height{"apps", "simulate", 2},
                                folder_height{"apps", "sparse", 2},
                                folder_height{"apps", "cli", 3}};
// From the ground up: a floor knows those before it.
constexpr std::array floors = {"core"sv, "hierarchy"sv, "cluster"sv, "libraries"sv, "languages"sv, "apps"sv};

// Prefixes of headers that come with a device or a library of one.
constexpr std::array device_vendors = {"cuda"sv,  "cublas"sv, "cusparse"sv,    "cusolver"sv, "nvml"sv,
                                       "nvrtc"sv, "nccl"sv,   "hip"sv,         "rocblas"sv,  "rocsparse"sv,
                                       "rocm"sv,  "CL/"sv,    "level_zero/"sv, "ze_"sv,      "sycl/"sv};
constexpr std::array host_vendors = {"cblas"sv, "lapacke"sv, "lapack"sv, "openblas"sv, "mkl"sv, "numa"sv};
// Libraries that the core is made with; a plugin stays free of them.
constexpr std::array core_libraries = {"fmt/"sv, "spdlog/"sv, "toml++/"sv, "boost/"sv, "CLI/"sv, "nlohmann/"sv};

template <std::size_t N>
bool starts_with_any(std::string_view text, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return text.starts_with(prefix); });
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    path = slash == path.npos ? std::string_view{} : path.substr(slash + 1);
  }
  return parts;
}

std::string_view component(const std::vector<std::string_view>& parts, std::size_t index) {
  return index < parts.size() ? parts[index] : std::string_view{};
}

// Place of a core room in the order; the number of rooms for one that is not in it.
template <std::size_t N>
std::size_t rank_in(const std::array<std::string_view, N>& order, std::string_view room) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), room) - order.begin());
}
std::size_t rank_of(std::string_view room) { return rank_in(core_order, room); }

std::string sentence(std::string_view subject, std::string_view rest) {
  return std::string(subject).append(" ").append(rest);
}

// Between two folders of one floor; `place`: of the floor, for people.
std::optional<std::string> judge_heights(std::string_view floor, std::string_view room, std::string_view other,
                                         const std::string& place) {
  if (room == other) return std::nullopt;
  const auto find = [&](std::string_view name) {
    return std::ranges::find_if(heights, [&](const auto& one) { return one.floor == floor && one.folder == name; });
  };
  const auto from = find(room), to = find(other);
  for (const auto& [name, found] : {std::pair{room, from}, std::pair{other, to}})
    if (found == heights.end())
      return sentence(place + std::string(name), "is not in the order of its folders (tests/layering/rules.cpp)");
  if (to->height < from->height) return std::nullopt;
  return sentence(place + std::string(other), to->height > from->height ? "stands above " : "stands beside ")
      .append(place)
      .append(room);
}

// The room of a path below a floor: "region", "sparse/matrix".
std::string room_of(const std::vector<std::string_view>& path) {
  const std::string_view floor = component(path, 0), room = component(path, 1);
  const bool two_steps = (floor == "libraries" && (room == "sparse" || room == "chemistry")) || floor == "languages";
  return two_steps ? std::string(room) + "/" + std::string(component(path, 2)) : std::string(room);
}

// What holds of hierarchy, libraries, languages and apps alike: who stands above whom.
std::optional<std::string> judge_floors(const std::vector<std::string_view>& file,
                                        const std::vector<std::string_view>& target) {
  const std::string_view from = component(file, 0), to = component(target, 0);
  if (to == "plugins") return sentence(from, "does not know plugins; it reaches them through the runtime");
  if (to == "examples" || to == "tests") return sentence(from, "does not know").append(" ").append(to);
  if (std::ranges::find(floors, to) == floors.end()) return std::nullopt;
  if (from != to)
    return rank_in(floors, to) < rank_in(floors, from)
               ? std::nullopt
               : std::optional<std::string>(sentence(to, "stands above ").append(from));
  if (target.size() < 3 || file.size() < 3) return std::nullopt;
  if (from == "languages" && component(file, 1) != component(target, 1))
    return "a language does not know languages/" + std::string(component(target, 1));
  return judge_heights(from, room_of(file), room_of(target), std::string(from) + "/");
}

std::optional<std::string> judge_core(std::string_view room, const std::vector<std::string_view>& target,
                                      std::string_view text) {
  const std::string_view root = component(target, 0);
  if (root == "hierarchy" || root == "cluster" || root == "libraries" || root == "languages" || root == "plugins" ||
      root == "apps" || root == "examples")
    return sentence("core does not know", root);
  if (starts_with_any(text, device_vendors) || starts_with_any(text, host_vendors) || text.starts_with("hwloc"))
    return "core includes no vendor's header; that belongs into a plugin or into hierarchy/discovery";
  if (room == component(target, 1) && root == "core") return std::nullopt;
  if (room != "trace" && rank_of(room) == core_order.size())
    return sentence("core/" + std::string(room), "is not in the order of rooms (tests/layering/rules.cpp)");
  if (text == "tessera/plugin.h") {
    if (room == "bytes" || room == "base" || room == "config" || room == "trace")
      return "only core/plugin and above see the plugin ABI";
    return std::nullopt;
  }
  if (root == "tessera")
    return room == "runtime" ? std::nullopt : std::optional<std::string>("the public interface stands above core");
  if (root != "core") return std::nullopt;
  const std::string_view other = component(target, 1);
  if (other == "trace") {
    if (room == "bytes" || room == "base") return sentence("core/" + std::string(room), "stands below core/trace");
    return std::nullopt;
  }
  if (room == "trace" ? other != "base" : rank_of(other) > rank_of(room))
    return "core/" + std::string(other) + " stands above core/" + std::string(room);
  return std::nullopt;
}

// What of core/schedule programming models see: the parts that program_side.hpp hands out, and plain data.
constexpr std::array parts_for_models = {"waits"sv,         "view_requests"sv, "recordings"sv,
                                         "replay_player"sv, "failures"sv,      "statistics"sv};

std::optional<std::string> judge_hierarchy(std::string_view room, const std::vector<std::string_view>& target,
                                           std::string_view text) {
  if (text.starts_with("hwloc") && room != "discovery") return "hwloc is used in hierarchy/discovery alone";
  if (starts_with_any(text, device_vendors) || starts_with_any(text, host_vendors))
    return "hierarchy includes no vendor's header";
  if (component(target, 0) == "core" && component(target, 1) == "schedule" && room != "simulation") {
    const std::string_view name = component(target, 2);
    if (std::ranges::none_of(parts_for_models, [&](auto part) { return name == std::string(part) + ".hpp"; }))
      return "models see the parts of core/schedule that core/runtime/program_side.hpp names, not " + std::string(text);
  }
  return std::nullopt;
}

// Headers of the public interface that show what is inside, each on purpose: programs that want no more than arrays and
// tasks include none of them.
constexpr std::array open_doors = {
    "include/tessera/detail/block_group.hpp"sv, "include/tessera/front_end.hpp"sv, "include/tessera/machine.hpp"sv,
    "include/tessera/operation.hpp"sv,          "include/tessera/trace.hpp"sv,     "include/tessera/validation.hpp"sv};
// What the others may show: plain words that the interface shares with the rooms.
constexpr std::array shared_words = {
    "core/base/error.hpp"sv,          "core/base/lifetime.hpp"sv,       "core/block/access.hpp"sv,
    "core/block/combination.hpp"sv,   "core/block/element_type.hpp"sv,  "core/block/intent.hpp"sv,
    "core/block/shape.hpp"sv,         "core/memory/statistics.hpp"sv,   "core/operation/context.hpp"sv,
    "core/placement/crossover.hpp"sv, "core/schedule/statistics.hpp"sv, "core/transfer/statistics.hpp"sv};

std::optional<std::string> judge_interface(std::string_view file, const std::vector<std::string_view>& target,
                                           std::string_view text) {
  const std::string_view root = component(target, 0);
  const bool open = std::ranges::find(open_doors, file) != open_doors.end();
  if (root == "tessera" && !open && text != "tessera/plugin.h" &&
      std::ranges::find(open_doors, "include/" + std::string(text)) != open_doors.end())
    return "what every program includes does not lead into " + std::string(text);
  if (root == "core" && !open && std::ranges::find(shared_words, text) == shared_words.end())
    return "the public interface hides its inside; of core it shows plain words alone, not " + std::string(text);
  if (root == "hierarchy" && file != "include/tessera/machine.hpp")
    return "of the public interface only machine.hpp shows the hierarchy";
  if (root == "plugins" || root == "cluster" || root == "libraries" || root == "languages" || root == "apps" ||
      root == "examples" || root == "tests")
    return sentence("the public interface does not know", root);
  if (root == "fmt" || root == "spdlog" || root == "boost") return "installed headers need the standard library alone";
  return std::nullopt;
}

std::optional<std::string> judge_plugin(const std::vector<std::string_view>& file,
                                        const std::vector<std::string_view>& target, const include_line& include) {
  const std::string_view name = component(file, 1);
  const std::string_view root = component(target, 0);
  // Raw memory: it knows nothing of Tessera, and is compiled into each plugin.
  if (root == "core" && component(target, 1) == "bytes") return std::nullopt;
  const bool is_transport = name == "transport" && include.target == "tessera/transport.h";
  if (root == "tessera" && include.target != "tessera/plugin.h" && !is_transport)
    return "a plugin sees <tessera/plugin.h> and nothing else of Tessera";
  if (std::ranges::find(floors, root) != floors.end() || root == "examples" || root == "tests")
    return sentence("a plugin does not know", std::string(root) + "; it sees <tessera/plugin.h> alone");
  // The emulator of GPUs switches between fibers as no part of the standard library does.
  if (name == "gpu_common" && include.target.starts_with("boost/context/")) return std::nullopt;
  if (starts_with_any(include.target, core_libraries))
    return "a plugin includes its vendor's headers, not the libraries of the core";
  // plugins/ is on the include path of plugins, so "kit/..." and "plugins/kit/..." mean the same.
  const bool from_plugins = root == "plugins";
  if (include.target == "tessera/plugin.h" || is_transport || (!from_plugins && (!include.quoted || target.size() < 2)))
    return std::nullopt;
  const std::string_view folder = component(target, from_plugins ? 1 : 0);
  // What one source makes of several vendors' GPUs.
  const bool of_a_gpu = name.starts_with("cuda") || name.starts_with("hip") || name == "opencl";
  if (of_a_gpu && folder == "gpu_common") return std::nullopt;
  if ((name == "kit" || name == "gpu_common" || name == "transport") && folder == name)
    return judge_heights(name, component(file, 2), component(target, from_plugins ? 2 : 1),
                         "plugins/" + std::string(name) + "/");
  // It injects into itself what the layer injects into others.
  if (name == "sim" && folder == "fault") return std::nullopt;
  if (folder != name && folder != "kit") return sentence("a plugin does not know plugin", folder);
  return std::nullopt;
}

// The front end of SIAL: texts in, a checked program out.
std::optional<std::string> judge_front_end(const std::vector<std::string_view>& target, std::string_view text) {
  const bool own =
      component(target, 0) == "languages" && component(target, 1) == "sial" && component(target, 2) == "language";
  const bool base = component(target, 0) == "core" && component(target, 1) == "base";
  if (own || base || component(target, 0) == "fmt" || target.size() == 1) return std::nullopt;
  return "languages/sial/language includes core/base, the standard library and fmt, not " + std::string(text);
}

// The cluster: transports, which are found and trusted as plugins are.
std::optional<std::string> judge_cluster(const std::vector<std::string_view>& file,
                                         const std::vector<std::string_view>& target, std::string_view text) {
  if (text.starts_with("hwloc") || starts_with_any(text, device_vendors) || starts_with_any(text, host_vendors))
    return "cluster includes no vendor's header";
  if (const auto rule = judge_floors(file, target)) return rule;
  if (component(target, 0) == "hierarchy") return "cluster stands beside hierarchy";
  if (component(target, 0) != "core") return std::nullopt;
  const std::string_view of_core = component(target, 1);
  if (of_core == "base" || of_core == "config" || of_core == "plugin" || of_core == "bytes") return std::nullopt;
  return "cluster sees core/base, core/bytes, core/config and core/plugin, not core/" + std::string(of_core);
}

// Libraries, languages and apps: what of the runtime they see beside its public interface.
std::optional<std::string> judge_upper(const std::vector<std::string_view>& file,
                                       const std::vector<std::string_view>& target, std::string_view text) {
  const std::string_view floor = component(file, 0), room = component(file, 1), root = component(target, 0);
  // `tessera plugins` shows the registry and runs the public suite; see docs/decisions/0001.
  if (floor == "apps" && room == "cli" &&
      (text == "tests/conformance/suite/conformance.hpp" || text == "core/plugin/registry.hpp" ||
       text == "core/plugin/explain.hpp" || text == "core/plugin/layouts.hpp"))
    return std::nullopt;
  if (text.starts_with("hwloc") || starts_with_any(text, device_vendors))
    return sentence(floor, "include no device's header; the runtime knows the machine");
  const bool parses = floor == "apps" && room == "common" && component(file, 2) == "parse.cpp";
  if (text.starts_with("CLI/") && !parses && room_of(file) != "directives/clang")
    return "apps/common/parse.cpp alone parses command lines; a command is a table (apps/common/options.hpp)";
  if (room_of(file) == "sial/language" && floor == "languages")
    if (const auto rule = judge_front_end(target, text)) return rule;
  if (const auto rule = judge_floors(file, target)) return rule;
  if (root == "hierarchy" && floor == "libraries") return "libraries know the public interface, not hierarchy";
  if (root != "core") return std::nullopt;
  const std::string_view of_core = component(target, 1);
  if (of_core == "base" || text == "core/runtime/program_side.hpp") return std::nullopt;
  // Jobs are written in TOML by users, as configurations are; one reader of it is enough.
  if (text == "core/config/toml.hpp" && floor == "libraries" && room_of(file) == "chemistry/job") return std::nullopt;
  if ((of_core == "config" || text == "core/runtime/user_library.hpp") && floor != "libraries") return std::nullopt;
  if ((of_core == "runtime" || of_core == "trace") && floor == "apps") return std::nullopt;
  return sentence(floor, floor == "libraries"   ? "see core/base and core/runtime/program_side.hpp"
                         : floor == "languages" ? "see core/base, core/config and core/runtime/program_side.hpp"
                                                : "see core/base, core/config, core/runtime and core/trace")
      .append(", not core/")
      .append(of_core);
}

}  // namespace

std::optional<std::string> violation(const include_line& include) {
  const auto file = components(include.file);
  const auto target = components(include.target);
  const std::string_view house = component(file, 0);
  const std::string_view room = component(file, 1);
  if (std::ranges::find(floors, house) == floors.end() && house != "plugins" && house != "examples" &&
      house != "include")
    return std::nullopt;
  if (include.target == "mpi.h" && !include.file.starts_with("plugins/transport/mpi/"))
    return "MPI is used in plugins/transport/mpi alone";
  if (component(target, 0) == "..") return "include paths are written from the root of the repository";
  if (include.target.starts_with("toml++/") && !(house == "core" && room == "config"))
    return "toml++ is used in core/config alone";

  // The translator of directives writes the heads of loops as regions read them.
  const bool reads_heads =
      include.target == "tessera/detail/loop_head.hpp" && include.file.starts_with("languages/directives/");
  if (include.target.starts_with("tessera/detail/") && house != "include" && house != "hierarchy" &&
      !(house == "core" && room == "runtime") && !reads_heads)
    return "what is in tessera/detail is reached by the doors, tessera/*.hpp, which have all of it";

  if (include.file.starts_with("core/schedule/device/") && include.target == "core/schedule/scheduler.hpp")
    return "drivers of devices know driver_owner.hpp, not the scheduler";
  if (include.target == "core/runtime/inside.hpp" && !(house == "core" && room == "runtime"))
    return "what a runtime is made of is known to core/runtime alone; models use core/runtime/program_side.hpp";
  if (house == "include") return judge_interface(include.file, target, include.target);
  if (house == "core") return judge_core(room, target, include.target);
  if (house == "hierarchy") {
    const auto rule = judge_floors(file, target);
    return rule ? rule : judge_hierarchy(room, target, include.target);
  }
  if (house == "plugins") return judge_plugin(file, target, include);
  if (house == "cluster") return judge_cluster(file, target, include.target);
  if (house != "examples") return judge_upper(file, target, include.target);
  const std::string_view root = component(target, 0);
  if (std::ranges::find(floors, root) != floors.end() || root == "plugins" || root == "tests")
    return "examples show the public interface: <tessera/...> only";
  return std::nullopt;
}

}  // namespace tessera::layering
