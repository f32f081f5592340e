// region variable_list(...): the arrays, named by hand; each leaf gets what the subscripts say.
#include "check.hpp"

int main() {
  const int n = 300;
  double *x = nullptr, *y = nullptr, *weights = nullptr;
#pragma gecko memory allocate(x [0:n], y [0:n], weights [0:3]) type(double)
  for (int i = 0; i < n; ++i) x[i] = i * i;
  for (int k = 0; k < 3; ++k) weights[k] = k + 1;
#pragma gecko region variable_list(x, y, weights)
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = -1; k <= 1; ++k)
      if (i + k >= 0 && i + k < n) sum += weights[k + 1] * x[i + k];
    y[i] = sum;
  }
#pragma gecko region end
#pragma gecko pause
  for (int i = 1; i < n - 1; ++i) check(near(y[i], x[i - 1] + 2 * x[i] + 3 * x[i + 1]), "y");
}
