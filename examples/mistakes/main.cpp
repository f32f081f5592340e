// Mistakes that validation mode finds: `example_mistakes read`, `write`, `order` or `free` makes one of them.
#include <tessera/tessera.hpp>

#include <cstdio>
#include <future>
#include <optional>
#include <string>
#include <thread>

namespace {

using square = tessera::view<double, 2>;
using constant = tessera::view<const double, 2>;

void ones(square x) {
  for (double& v : x) v = 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string mistake = argc > 1 ? argv[1] : "";
  if (mistake != "" && mistake != "read" && mistake != "write" && mistake != "order" && mistake != "free")
    throw tessera::error(tessera::error_kind::usage, "there is no mistake '" + mistake + "'", {},
                         "read, write, order or free");

  // As `runtime.validate = true` in a configuration: every task is watched, and the fence at the end throws the first
  // mistake that was found.
  tessera::runtime rt({.settings = {"runtime.validate=true"}});
  auto a = rt.make_array<double>("A", {8, 8}, {4, 4});

  rt.submit("start", ones, tessera::write(a(0, 0)));
  if (mistake == "read")
    rt.submit(
        "norm", [](constant x) { const_cast<double&>(x(1, 2)) = 0; }, tessera::read(a(0, 0)));
  if (mistake == "write")
    rt.submit(
        "diagonal",
        [](square x) {
          for (int i = 0; i < 4; ++i) x(i, i) = 1;
        },
        tessera::write(a(1, 1)));
  if (mistake == "order") {
    std::promise<void> submitted, over;
    std::thread other([&] {
      rt.submit(
          "theirs", [](square x) { ones(x); }, tessera::write(a(0, 0)));
      submitted.set_value();
      over.get_future().wait();
    });
    submitted.get_future().wait();  // the runtime does not know of this
    rt.submit(
        "ours",
        [](square x) {
          for (double& v : x) v *= 2;
        },
        tessera::update(a(0, 0)));
    over.set_value();
    other.join();
  }
  if (mistake == "free") {
    std::optional<tessera::block_of<double, 2>> kept;
    {
      auto b = rt.make_array<double>("B", {4, 4}, {4, 4});
      kept = b(0, 0);
      rt.submit(
          "fill", [](square x) { ones(x); }, tessera::write(*kept));
    }
    rt.submit(
        "use", [](constant) {}, tessera::read(*kept));
  }
  rt.fence();
  std::printf("nothing found\n");
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
