// Each case alone, `-DCASE=k`, is refused by the compiler of the program; without one it compiles. The text behind
// "expect" stands in what the compiler says (not_compiled.sh).
#include <vector>

#include "tessera/region.hpp"

void regions(tessera::location_model& model, const double* pointer, const std::vector<double>& numbers, double scale) {
  using tessera::iterate;
  auto x = model.make_array<double>("x", {100});
  tessera::region_result<double> total(model.owner(), "total");
  (void)pointer, (void)numbers, (void)scale;
#if CASE == 1  // expect: the body of a loop for devices captures numbers, by value
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((pointer), (auto i, auto a), { a[i] = pointer[i]; }));
#elif CASE == 2   // expect: the body of a loop for devices captures numbers, by value
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((numbers), (auto i, auto a), { a[i] = numbers[0]; }));
#elif CASE == 3   // expect: 'scale' is not captured
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((), (auto i, auto a), { a[i] = scale; }));
#elif CASE == 4   // expect: takes each result by reference
  model.region("r", iterate(0, 9), read(x), sum(total), TESSERA_BODY((), (auto i, auto a, auto s), { s += a[i]; }));
#elif CASE == 5   // expect: the body of a region takes its indices (one per loop), then one argument per use
  model.region("r", iterate(0, 9), read(x), write(x), TESSERA_BODY((), (auto i, auto a), { a[i] = 1; }));
#elif CASE == 6   // expect: assignment of read-only location
  model.region("r", iterate(0, 9), read(x), TESSERA_BODY((), (auto i, auto a), { a[i] = 1; }));
#elif CASE == 7   // expect: an element is named by as many indices as its array has dimensions
  model.region("r", iterate(0, 9), write(x), [](auto i, auto a) { a(i, 0) = 1; });
#elif CASE == 8   // expect: arrays whose last index is fastest
  (void)model.owner().make_matrix<double>("m", {9, 9}, {9, 9}).rows(0, 3);
#elif CASE == 21  // expect: a capture of TESSERA_BODY is named twice
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((scale, scale), (auto i, auto a), { a[i] = scale; }));
#elif CASE == 22  // expect: captures of TESSERA_BODY are names of numbers, each written out
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((=), (auto i, auto a), { a[i] = scale; }));
#elif CASE == 23  // expect: captures of TESSERA_BODY are names of numbers, each written out
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((&), (auto i, auto a), { a[i] = scale; }));
#elif CASE == 24  // expect: captures of TESSERA_BODY are names of numbers, each written out
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((twice = 2 * scale), (auto i, auto a), { a[i] = twice; }));
#elif CASE == 25  // expect: captures of TESSERA_BODY are names of numbers, each written out
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((&scale), (auto i, auto a), { a[i] = scale; }));
#elif CASE == 26  // expect: TESSERA_BODY has three parts, the first two in brackets
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY(scale, (auto i, auto a), { a[i] = scale; }));
#elif CASE == 27  // expect: assignment of read-only variable 'scale'
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((scale), (auto i, auto a), { a[i] = scale += 1; }));
#else
  model.region("r", iterate(0, 9), write(x), TESSERA_BODY((scale), (auto i, auto a), { a[i] = scale; }));
#endif
}

void tasks(tessera::runtime& rt) {
  using tessera::iterate;
  auto x = rt.make_array<double>("x", {100}, {100});
  auto z = rt.make_array<short>("z", {100}, {100});
#if CASE == 11  // expect: its iterations run side by side, and what they add up is a result of a region
  rt.submit("t", loop(iterate(0, 9), TESSERA_BODY((), (auto i, auto a), { a[0] += double(i); })), accumulate(x(0)));
#elif CASE == 12  // expect: has blocks of float, double, std::int32_t, std::int64_t and std::uint8_t
  rt.submit("t", loop(iterate(0, 9), TESSERA_BODY((), (auto i, auto a), { a[i] = 1; })), write(z(0)));
#elif CASE == 13  // expect: tessera::loop takes the body that TESSERA_BODY makes
  tessera::loop(iterate(0, 9), [](auto i, auto a) { a[i] = 1; });
#elif CASE == 14  // expect: then a view of each block by value
  rt.submit("t", loop(iterate(0, 9), TESSERA_BODY((), (auto i, auto a, auto b), { a[i] = b[i]; })), write(x(0)));
#elif CASE == 15  // expect: its blocks one by one
  rt.submit("t", loop(iterate(0, 9), TESSERA_BODY((), (auto i, auto a), { a[i] = 1; })),
            std::vector<tessera::block_access>{write(x(0))});
#elif CASE == 16  // expect: its blocks one by one
  rt.submit("t", loop(iterate(0, 9), TESSERA_BODY((), (auto i, auto a), { a[i] = 1; })), write(x.rows(0, 9)));
#elif CASE == 17  // expect: the function must take one view per use, by value
  rt.submit(
      "t", [](tessera::view<double> a) { a[0] = 1; }, write(x.rows(0, 9)));
#elif CASE == 18  // expect: arrays whose last index is fastest
  rt.submit(
      "t", [](auto a) { a[0] = 1; }, update(rt.make_matrix<double>("m", {9, 9}, {9, 9})));
#elif CASE == 19  // expect: arrays of one to three dimensions
  (void)rt.make_array<double>("deep", {2, 2, 2, 2}, {1, 2, 2, 2}).rows(0, 1);
#elif CASE == 20  // expect: elements of a type of the program are not accumulated
  struct pair {
    double a, b;
  };
  struct sums {
    static pair identity() { return {}; }
    pair operator()(pair a, pair b) const { return {a.a + b.a, a.b + b.b}; }
  };
  rt.submit(
      "t", [](auto) {}, accumulate(rt.make_array<pair>("p", {9}).rows(0, 3), sums()));
#else
  rt.submit("t", loop(iterate(0, 9), TESSERA_BODY((), (auto i, auto a), { a[i] = double(i); })), write(x(0)));
#endif
}
