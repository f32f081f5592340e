#pragma once
// A particle filter as regions: five per frame, none of which the host waits for.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "apps/rodinia/particlefilter/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// `frames` frames of n x n pixels.
class filter_kernel {
 public:
  filter_kernel(location_model& model, const region_options& how, std::int64_t n, std::int64_t frames,
                std::int64_t particles)
      : estimates(model.make_array<double>("estimates", {frames, 3}, {.at = how.at})),
        m_video(model.make_array<std::int32_t>("video", {frames, n, n}, {.at = how.at})),
        m_rows{make(model, how, "rows", particles), make(model, how, "resampled rows", particles)},
        m_columns{make(model, how, "columns", particles), make(model, how, "resampled columns", particles)},
        m_likelihoods(make(model, how, "likelihoods", particles)),
        m_weights(make(model, how, "weights", particles)),
        m_sums(make(model, how, "sums of weights", particles)),
        m_largest(make(model, how, "largest likelihood", 1)),
        m_model(model),
        m_how(how),
        m_n(n),
        m_frames(frames),
        m_particles(particles) {}

  void generate() {
    m_model.region("video", m_how, iterate(0, m_frames), write(m_video),
                   [n = m_n](auto frame, auto to) { make_filter_frame(n, frame, &to(frame, 0, 0)); });
  }
  void start() {
    m_now = 0;
    const auto [row, column] = filter_centre(m_n, 0);
    m_model.region("start", m_how, iterate(0, m_particles), write(m_rows[0]), write(m_columns[0]),
                   [at = static_cast<double>(row), beside = static_cast<double>(column)](auto j, auto r, auto c) {
                     r[j] = at, c[j] = beside;
                   });
  }
  void run() {
    for (std::int64_t frame = 1; frame < m_frames; ++frame) {
      weigh(frame);
      estimate(frame);
      resample(frame);
    }
  }

  /// Of each frame from 1: row, column, and what the normalised weights sum up to.
  array<double, 2> estimates;

 private:
  static array<double> make(location_model& model, const region_options& how, const char* name, std::int64_t count) {
    return model.make_array<double>(name, {count}, {.at = how.at});
  }
  region_options one() const { return {.policy = policy::any, .at = m_how.at}; }

  /// Moves the particles, and tells how well they fit.
  void weigh(std::int64_t frame) {
    const std::uint64_t skipped = random_stream::factor_of(filter_skipped(frame));
    m_model.region("move", m_how, iterate(0, m_particles), read(m_video, rows(frame, frame + 1)), update(m_rows[m_now]),
                   update(m_columns[m_now]), write(m_likelihoods),
                   with_kernel(
                       [frame, n = m_n, skipped](auto j, auto video, auto row, auto column, auto to) {
                         random_stream from = filter_stream(j);
                         from.multiply(skipped);
                         row[j] += 1 + 5 * from.normal();
                         column[j] += -2 + 2 * from.normal();
                         to[j] = filter_likelihood_of_sum(&video(frame, 0, 0), n, row[j], column[j]);
                       },
                       move, frame, m_n, static_cast<std::int64_t>(skipped)));
    m_model.region(
        "largest", one(), iterate(0, 1), read(m_likelihoods, whole), write(m_largest),
        [count = m_particles](auto, auto from, auto to) { to[0] = *std::max_element(&from[0], &from[0] + count); });
    const double share = 1 / static_cast<double>(m_particles);
    m_model.region("weigh", m_how, iterate(0, m_particles), read(m_likelihoods), read(m_largest, rows(0, 1)),
                   write(m_weights), TESSERA_BODY((share), (auto j, auto from, auto top, auto to), {
                     to[j] = share * std::exp(from[j] - top[0]);
                   }));  // none above 0
  }
  /// Normalises, in the order of the particles, so that the result is the same however they are split.
  void estimate(std::int64_t frame) {
    m_model.region("estimate", one(), iterate(frame, frame + 1), read(m_weights, whole), read(m_rows[m_now], whole),
                   read(m_columns[m_now], whole), write(m_sums, whole), write(estimates),
                   [count = m_particles](auto f, auto weight, auto row, auto column, auto sums, auto to) {
                     double all = 0, before = 0, r = 0, c = 0;
                     for (std::int64_t j = 0; j < count; ++j) all += weight[j];
                     for (std::int64_t j = 0; j < count; ++j) {
                       const double w = weight[j] / all;
                       r += w * row[j], c += w * column[j];
                       sums[j] = before += w;
                     }
                     to(f, 0) = r, to(f, 1) = c, to(f, 2) = before;
                   });
  }
  void resample(std::int64_t frame) {
    const std::size_t next = 1 - m_now;
    const double first =
        random_stream(54321, static_cast<std::uint64_t>(frame - 1)).unit() / static_cast<double>(m_particles);
    const std::int64_t count = m_particles;
    m_model.region("resample", m_how, iterate(0, m_particles), read(m_sums, whole), read(m_rows[m_now], whole),
                   read(m_columns[m_now], whole), write(m_rows[next]), write(m_columns[next]),
                   TESSERA_BODY((first, count), (auto j, auto sums, auto row, auto column, auto r, auto c), {
                     const double u = first + static_cast<double>(j) / static_cast<double>(count);
                     std::int64_t low = 0, high = count - 1;  // the first sum that is at least u, else the last
                     while (low < high) {
                       const std::int64_t middle = (low + high) / 2;
                       if (sums[middle] >= u)
                         high = middle;
                       else
                         low = middle + 1;
                     }
                     r[j] = row[low], c[j] = column[low];
                   }));
    m_now = next;
  }

  /// What filter_stream, random_stream::normal and filter_likelihood_of_sum do for a particle.
  static constexpr const char* move = R"((j, video, row, column, to, frame, n, skipped) {
  const long modulus = 2147483647;
  long state = (1 + 7919 * (j + 1) % 2147483646) * skipped % modulus;
  double u[4], normal[2];
  for (int k = 0; k < 4; ++k) {
    state = state * 48271 % modulus;
    u[k] = (double)state / 2147483647.0;
  }
  for (int k = 0; k < 2; ++k) normal[k] = sqrt(-2 * log(u[2 * k])) * cos(2 * 3.141592653589793 * u[2 * k + 1]);
  row[j] += 1 + 5 * normal[0];
  column[j] += -2 + 2 * normal[1];
  long sum = 0, points = 0;
  for (long di = -4; di <= 4; ++di)
    for (long dj = -4; dj <= 4; ++dj) {
      if (di * di + dj * dj >= 25) continue;
      const long p = (long)row[j] + di, q = (long)column[j] + dj;
      const int inside = p >= 0 && p < n && q >= 0 && q < n;
      sum += video(frame, inside ? p : 0, inside ? q : 0);
      ++points;
    }
  to[j] = (double)(256 * sum - 41984 * points) / (50.0 * points);
})";

  array<std::int32_t, 3> m_video;
  std::array<array<double>, 2> m_rows, m_columns;
  array<double> m_likelihoods, m_weights, m_sums, m_largest;
  std::size_t m_now = 0;
  location_model& m_model;
  region_options m_how;
  std::int64_t m_n, m_frames, m_particles;
};

}  // namespace tessera::apps::rodinia
