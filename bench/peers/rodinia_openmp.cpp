// The applications of bench/rodinia as plain OpenMP loops, with the same inputs and cases.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "apps/rodinia/bfs/problem.hpp"
#include "apps/rodinia/cfd/problem.hpp"
#include "apps/rodinia/common/random_stream.hpp"
#include "apps/rodinia/gaussian/problem.hpp"
#include "apps/rodinia/hotspot/problem.hpp"
#include "apps/rodinia/lavamd/problem.hpp"
#include "apps/rodinia/lud/problem.hpp"
#include "apps/rodinia/nn/problem.hpp"
#include "apps/rodinia/nw/problem.hpp"
#include "apps/rodinia/particlefilter/problem.hpp"
#include "apps/rodinia/srad/problem.hpp"
#include "bench/common/measure.hpp"

using namespace bench;
using namespace tessera::apps::rodinia;

static int workers = 2, reps = 5, first_rep = 0;  // the first time does not count, if it is number 0

template <class Before, class Part>
static void timed(const char* kase, Before&& before, Part&& part) {
  std::vector<double> milliseconds;
  for (int rep = first_rep; rep <= reps; ++rep) {
    before();
    const double began = now();
    part();
    if (rep > 0) milliseconds.push_back((now() - began) * 1e3);
  }
  row("rodinia", "OpenMP libgomp", kase, workers, "milliseconds", median(milliseconds));
}

/// Memory that nobody has touched.
template <class T>
static std::unique_ptr<T[]> fresh(long count) {
  return std::unique_ptr<T[]>(new T[std::size_t(count)]);
}

template <class T>
static void hotspot(const char* kase, int steps, double divisor) {
  constexpr long n = 1024;
  const hotspot_factors<T> f = as<T>(hotspot_factors_of(n, divisor));
  const auto first = fresh<T>(n * n), second = fresh<T>(n * n), powers = fresh<T>(n * n);
  T *a = first.get(), *b = second.get(), *p = powers.get();
  const auto make = [&] {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) {
      random_stream t(5, std::uint64_t(i * n)), w(5, std::uint64_t(n * n + i * n));
      for (long j = 0; j < n; ++j) {
        a[i * n + j] = T(320 + 10 * t.unit());
        b[i * n + j] = 0;
        p[i * n + j] = T(0.001 * w.unit());
      }
    }
  };
  timed(kase, make, [&] {
    for (int k = 0; k < steps; ++k) {
#pragma omp parallel for schedule(static)
      for (long i = 0; i < n; ++i) {
        const T *mid = a + i * n, *up = i > 0 ? mid - n : mid, *down = i + 1 < n ? mid + n : mid, *w = p + i * n;
        T* __restrict to = b + i * n;
        const auto cell = [&](long j, T left, T right) {
          const T t = mid[j];
          to[j] = t + f.rate * (w[j] + (left + right - 2 * t) * f.x + (up[j] + down[j] - 2 * t) * f.y +
                                (f.ambient - t) * f.z);
        };
        cell(0, mid[0], mid[1]);
        for (long j = 1; j < n - 1; ++j) cell(j, mid[j - 1], mid[j + 1]);
        cell(n - 1, mid[n - 2], mid[n - 1]);
      }
      std::swap(a, b);
    }
  });
}

static void pathfinder() {
  constexpr long rows = 500, n = 1'000'000;
  const auto grid = fresh<std::int32_t>(rows * n), first = fresh<std::int32_t>(n), second = fresh<std::int32_t>(n);
  std::int32_t *w = grid.get(), *a = first.get(), *b = second.get();
#pragma omp parallel for schedule(static)
  for (long t = 0; t < rows; ++t) {
    random_stream from(9, std::uint64_t(t * n));
    for (long j = 0; j < n; ++j) w[t * n + j] = from.digit();
  }
  const auto start = [&] {
#pragma omp parallel for schedule(static)
    for (long j = 0; j < n; ++j) a[j] = w[j], b[j] = 0;
  };
  timed("pathfinder_1M_500", start, [&] {
    for (long t = 1; t < rows; ++t) {
      const std::int32_t* const digits = w + t * n;
      b[0] = digits[0] + std::min(a[0], a[1]);
      b[n - 1] = digits[n - 1] + std::min(a[n - 1], a[n - 2]);
#pragma omp parallel for simd schedule(static)
      for (long j = 1; j < n - 1; ++j) b[j] = digits[j] + std::min(std::min(a[j - 1], a[j + 1]), a[j]);
      std::swap(a, b);
    }
  });
  if (a[0] <= 0) fail("pathfinder: wrong result");
}

static void srad() {
  constexpr long n = 2048, corner = 128;
  const auto image = fresh<double>(n * n), coefficients = fresh<double>(n * n);
  const auto north = fresh<double>(n * n), south = fresh<double>(n * n), west = fresh<double>(n * n),
             east = fresh<double>(n * n);
  double *const v = image.get(), *const c = coefficients.get();
  double *const dn = north.get(), *const ds = south.get(), *const dw = west.get(), *const de = east.get();
  const auto make = [&] {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) {
      random_stream from(7, std::uint64_t(i * n));
      for (long j = 0; j < n; ++j) v[i * n + j] = std::exp(from.unit());
    }
  };
  const auto iteration = [&] {
    double sum = 0, squares = 0;
    for (long i = 0; i < corner; ++i)
      for (long j = 0; j < corner; ++j) sum += v[i * n + j], squares += v[i * n + j] * v[i * n + j];
    const double mean = sum / (corner * corner), q0 = (squares / (corner * corner) - mean * mean) / (mean * mean);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) {
      const long up = std::max(i - 1, 0L), down = std::min(i + 1, n - 1);
#pragma GCC ivdep
      for (long j = 0; j < n; ++j) {
        const long k = i * n + j, left = j > 0 ? k - 1 : k, right = j + 1 < n ? k + 1 : k;
        const double here = v[k];
        dn[k] = v[up * n + j] - here, ds[k] = v[down * n + j] - here;
        dw[k] = v[left] - here, de[k] = v[right] - here;
        c[k] = srad_coefficient<double>(here, dn[k] * dn[k] + ds[k] * ds[k] + dw[k] * dw[k] + de[k] * de[k],
                                        dn[k] + ds[k] + dw[k] + de[k], q0);
      }
    }
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) {
      const long down = std::min(i + 1, n - 1);
#pragma GCC ivdep
      for (long j = 0; j < n; ++j) {
        const long k = i * n + j, right = j + 1 < n ? k + 1 : k;
        v[k] += 0.25 * srad_lambda * (c[k] * dn[k] + c[down * n + j] * ds[k] + c[k] * dw[k] + c[right] * de[k]);
      }
    }
  };
  timed("srad_2048_2", make, [&] { iteration(), iteration(); });
  if (std::abs(v[0] / 1.09094153540 - 1) > 1e-9) fail("srad: wrong result");
}

template <long n>
static void gaussian(std::initializer_list<const char*> cases) {
  const auto matrix = fresh<float>(n * n), multipliers = fresh<float>(n * n), right = fresh<float>(n);
  float *const a = matrix.get(), *const m = multipliers.get(), *const b = right.get();
  const auto make = [&] {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) {
      for (long j = 0; j < n; ++j) a[i * n + j] = float(gaussian_element(i, j)), m[i * n + j] = 0;
      b[i] = 1;
    }
  };
  const auto run = [&] {
    for (long t = 0; t + 1 < n; ++t) {
      const float* const pivot = a + t * n;
#pragma omp parallel for schedule(static)
      for (long i = t + 1; i < n; ++i) {
        float* const __restrict to = a + i * n;
        const float f = to[t] / pivot[t];
        m[i * n + t] = f;
        for (long j = t; j < n; ++j) to[j] -= f * pivot[j];
        b[i] -= f * b[t];
      }
    }
  };
  for (const char* const kase : cases) timed(kase, make, run);
  if (std::abs(a[5 * n + 5] / gaussian_eliminated(5, 5) - 1) > 1e-3) fail("gaussian: wrong result");
}

static void lud() {
  constexpr long n = 2048, block = 32;
  const auto matrix = fresh<float>(n * n);
  float* const a = matrix.get();
  const auto make = [&] {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j) a[i * n + j] = float(lud_element(i, j));
  };
  timed("lud_2048", make, [&] {
    for (long at = 0; at < n; at += block) {
      const long end = at + block;
      for (long k = at; k < end; ++k)  // the diagonal block
        for (long i = k + 1; i < end; ++i) {
          const float l = a[i * n + k] /= a[k * n + k];
          for (long j = k + 1; j < end; ++j) a[i * n + j] -= l * a[k * n + j];
        }
#pragma omp parallel for schedule(static)
      for (long from = end; from < n; from += block) {
        for (long k = at; k < end; ++k)  // a block of U
          for (long i = k + 1; i < end; ++i)
#pragma GCC ivdep
            for (long j = from; j < from + block; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
        for (long i = from; i < from + block; ++i)  // and one of L
          for (long k = at; k < end; ++k) {
            const float l = a[i * n + k] /= a[k * n + k];
#pragma GCC ivdep
            for (long j = k + 1; j < end; ++j) a[i * n + j] -= l * a[k * n + j];
          }
      }
#pragma omp parallel for collapse(2) schedule(static)
      for (long column = end; column < n; column += block)
        for (long row = end; row < n; row += block) {
          float u[block][block],
              l[block][block];  // rows of the matrix are a power of two apart: they share cache lines
          for (long k = 0; k < block; ++k)
            for (long j = 0; j < block; ++j)
              u[k][j] = a[(at + k) * n + column + j], l[k][j] = a[(row + k) * n + at + j];
          for (long i = 0; i < block; ++i) {
            float sum[block];
            for (long j = 0; j < block; ++j) sum[j] = a[(row + i) * n + column + j];
            for (long k = 0; k < block; ++k)
              for (long j = 0; j < block; ++j) sum[j] -= l[i][k] * u[k][j];
            for (long j = 0; j < block; ++j) a[(row + i) * n + column + j] = sum[j];
          }
        }
    }
  });
  if (std::abs(a[n * n - 1] / lud_factor(n - 1, n - 1) - 1) > 2e-2) fail("lud: wrong result");
}

/// The least of k distances: a sort of those that are not farther than the k-th of the first ones.
static float least_of(const std::vector<float>& distances, long k) {
  std::vector<float> few(distances.begin(), distances.begin() + 64 * k);
  std::ranges::nth_element(few, few.begin() + k - 1);
  const float bound = few[std::size_t(k - 1)];
  std::vector<long> near;
  for (std::size_t i = 0; i < distances.size(); ++i)
    if (distances[i] <= bound) near.push_back(long(i));
  std::ranges::partial_sort(near, near.begin() + k, [&](long a, long b) {
    return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
  });
  return distances[near[0]];
}

static void nn() {
  for (const long count : {42'764L, 10'000'000L}) {
    const nn_records records = make_nn_records(count, 1);
    std::vector<float> distances(records.latitudes.size());
    const float *const north = records.latitudes.data(), *const east = records.longitudes.data();
    float* const to = distances.data();
    double nearest = 0;
    timed(
        count > 50'000 ? "nn_10M" : "nn_42764", [] {},
        [&] {
#pragma omp parallel for simd schedule(static)
          for (long i = 0; i < count; ++i) {
            const float a = north[i] - 30, b = east[i] - 90;
            to[i] = std::sqrt(a * a + b * b);
          }
          nearest = double(least_of(distances, 5));
        });
    if (!(nearest < 1)) fail("nn: wrong result");
  }
}

static void bfs() {
  const bfs_graph graph = make_bfs_graph(1'000'000, 7);
  const long n = graph.edges.nodes();
  const std::int32_t *const starts = graph.edges.starts.data(), *const targets = graph.edges.targets.data();
  std::vector<std::int32_t> cost(static_cast<std::size_t>(n));
  std::vector<std::uint8_t> frontier(cost.size()), next(cost.size()), visited(cost.size());
  const auto start = [&] {
    std::ranges::fill(cost, -1);
    std::ranges::fill(visited, 0), std::ranges::fill(next, 0), std::ranges::fill(frontier, 0);
    cost[0] = 0, frontier[0] = visited[0] = 1;
  };
  const auto search = [&] {
    for (bool changed = true; changed;) {
      changed = false;
#pragma omp parallel for schedule(static)
      for (long i = 0; i < n; ++i) {
        if (frontier[i] == 0) continue;
        frontier[i] = 0;
        for (std::int32_t e = starts[i]; e < starts[i + 1]; ++e)
          if (const std::int32_t to = targets[e]; visited[to] == 0) {
#pragma omp atomic write
            cost[to] = cost[i] + 1;
#pragma omp atomic write
            next[to] = 1;
          }
      }
#pragma omp parallel for schedule(static) reduction(|| : changed)
      for (long i = 0; i < n; ++i)
        if (next[i] != 0) frontier[i] = visited[i] = 1, next[i] = 0, changed = true;
    }
  };
  timed("bfs_1M", start, search);
  timed("bfs_1M_scan", start, search);
  if (bfs_level_sizes(cost).back() != 3089) fail("bfs: wrong result");
}

static void nw() {
  constexpr long n = 2048, block = 64, width = n + 1;
  const nw_input in = make_nw_input(n, 7);
  const nw_scores& scores = nw_blosum62();
  std::vector<std::int32_t> table(width * width);
  std::int32_t* const f = table.data();
  for (long k = 0; k <= n; ++k) f[k] = f[k * width] = std::int32_t(-nw_penalty * k);
  timed(
      "nw_2048", [] {},
      [&] {
        for (long d = 0; d < 2 * (n / block) - 1; ++d) {
#pragma omp parallel for schedule(static)
          for (long bi = std::max(0L, d - n / block + 1); bi <= std::min(d, n / block - 1); ++bi)
            for (long i = bi * block + 1; i <= (bi + 1) * block; ++i)
              for (long j = (d - bi) * block + 1; j <= (d - bi + 1) * block; ++j) {
                const std::int32_t pair =
                    scores[std::size_t(in.a[std::size_t(i - 1)] * nw_symbols + in.b[std::size_t(j - 1)])];
                f[i * width + j] = std::max({f[(i - 1) * width + j - 1] + pair, f[i * width + j - 1] - nw_penalty,
                                             f[(i - 1) * width + j] - nw_penalty});
              }
        }
      });
  if (table.back() != -19) fail("nw: wrong result");
}

template <long b>
static void lavamd(const char* kase) {
  const lavamd_input in = make_lavamd_input(b, 1);
  std::vector<double> results(in.places.size());
  timed(
      kase, [] {},
      [&] {
#pragma omp parallel for schedule(static)
        for (long box = 0; box < b * b * b; ++box) {
          double* const mine = results.data() + 4 * lavamd_particles * box;
          std::fill_n(mine, 4 * lavamd_particles, 0.0);
          lavamd_neighbours(box, b, [&](long other) {
            lavamd_pair(in.places.data() + 4 * lavamd_particles * box, in.places.data() + 4 * lavamd_particles * other,
                        in.charges.data() + lavamd_particles * other, mine);
          });
        }
      });
}

template <class T>
static void cfd(const char* kase, const cfd_mesh& mesh, double tolerance) {
  const long n = mesh.elements();
  constexpr cfd_state<T> far = cfd_far_field<T>();
  const std::vector<T> sizes(mesh.sizes.begin(), mesh.sizes.end()), normals(mesh.normals.begin(), mesh.normals.end());
  std::vector<T> now_states(std::size_t(5 * n)), next(now_states.size()), old(now_states.size()),
      factors(static_cast<std::size_t>(n));
  const auto start = [&] {
    for (long i = 0; i < n; ++i) std::copy(far.begin(), far.end(), now_states.begin() + 5 * i);
  };
  timed(kase, start, [&] {
#pragma omp parallel for schedule(static)
    for (long k = 0; k < 5 * n; ++k) old[k] = now_states[k];
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) factors[i] = cfd_step_factor(&old[5 * i], sizes[i]);
    for (int stage = 0; stage < 3; ++stage) {
#pragma omp parallel for schedule(static)
      for (long i = 0; i < n; ++i) {
        const auto r = cfd_residual(i, now_states.data(), &mesh.neighbours[4 * i], &normals[12 * i]);
        for (long k = 0; k < 5; ++k) next[5 * i + k] = old[5 * i + k] + factors[i] / T(4 - stage) * r[k];
      }
      now_states.swap(next);
    }
  });
  if (std::abs(now_states[0] - T(1.4)) > tolerance) fail("cfd: wrong result");
}

template <long n, long frames, long count>
static void particlefilter(const char* kase) {
  std::vector<std::int32_t> video(std::size_t(frames * n * n));
#pragma omp parallel for schedule(static)
  for (long f = 0; f < frames; ++f) make_filter_frame(n, f, &video[std::size_t(f * n * n)]);
  const auto rows = fresh<double>(count), columns = fresh<double>(count), next_rows = fresh<double>(count),
             next_columns = fresh<double>(count), weights = fresh<double>(count), sums = fresh<double>(count);
  double *r = rows.get(), *c = columns.get(), *nr = next_rows.get(), *nc = next_columns.get(), *w = weights.get(),
         *s = sums.get(), row = 0;
  const auto start = [&] {
    const auto [y, x] = filter_centre(n, 0);
#pragma omp parallel for schedule(static)
    for (long j = 0; j < count; ++j) r[j] = double(y), c[j] = double(x), nr[j] = nc[j] = w[j] = s[j] = 0;
  };
  timed(kase, start, [&] {
    for (long frame = 1; frame < frames; ++frame) {
      const std::int32_t* const pixels = &video[std::size_t(frame * n * n)];
      double top = -1e300, all = 0, before = 0, column = 0;
#pragma omp parallel for schedule(static) reduction(max : top)
      for (long j = 0; j < count; ++j) {
        random_stream from = filter_stream(j, frame);
        r[j] += 1 + 5 * from.normal();
        c[j] += -2 + 2 * from.normal();
        w[j] = filter_likelihood(pixels, n, r[j], c[j]);
        top = std::max(top, w[j]);
      }
#pragma omp parallel for schedule(static)
      for (long j = 0; j < count; ++j) w[j] = std::exp(w[j] - top) / double(count);
      for (long j = 0; j < count; ++j) all += w[j];  // in the order of the particles, as Tessera does
      row = 0;
      for (long j = 0; j < count; ++j) {
        const double share = w[j] / all;
        row += share * r[j], column += share * c[j];
        s[j] = before += share;
      }
      const double first = random_stream(54321, std::uint64_t(frame - 1)).unit() / double(count);
#pragma omp parallel for schedule(static)
      for (long j = 0; j < count; ++j) {
        const double u = first + double(j) / double(count);
        const long k = std::min<long>(std::lower_bound(s, s + count, u) - s, count - 1);
        nr[j] = r[k], nc[j] = c[k];
      }
      std::swap(r, nr);
      std::swap(c, nc);
    }
  });
  if (!(std::abs(row - double(filter_centre(n, frames - 1)[0]) - 0.5) < 0.5)) fail("particlefilter: wrong result");
}

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "reps", "warm", "case"});
  const std::string kase = args.text("case", "all");
  workers = int(args.number("workers", 2)), reps = int(args.number("reps", 5));
  first_rep = 1 - int(args.number("warm", 1));
  omp_set_num_threads(workers);
  const auto wants = [&](const char* name) { return kase == "all" || kase == name; };
  if (wants("hotspot")) hotspot<double>("hotspot_1024_10", 10, 1), hotspot<float>("hotspot_1024_100_f32", 100, 1000);
  if (wants("pathfinder")) pathfinder();
  if (wants("srad")) srad();
  if (wants("gaussian")) gaussian<1024>({"gaussian_1024_single", "gaussian_1024"});
  if (wants("lud")) lud();
  if (wants("nn")) nn();
  if (wants("bfs")) bfs();
  if (wants("nw")) nw();
  if (wants("lavamd")) lavamd<10>("lavamd_10");
  if (wants("cfd")) {
    const cfd_mesh mesh = make_cfd_mesh(34, false);
    cfd<double>("cfd_34", mesh, 1e-12);
    cfd<float>("cfd_34_f32", mesh, 1e-5);
  }
  if (wants("particlefilter")) {
    particlefilter<128, 10, 10'000>("particlefilter_128_10_10k");
    particlefilter<128, 10, 100'000>("particlefilter_128_10_100k");
    particlefilter<1024, 40, 10'000>("particlefilter_1024_40_10k");
  }
  if (kase == "gaussian_4096") gaussian<4096>({"gaussian_4096"});
  if (kase == "lavamd_50") lavamd<50>("lavamd_50");
}
