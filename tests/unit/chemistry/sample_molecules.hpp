#pragma once
// Molecules of which reference values are known; places in bohr.
#include "libraries/chemistry/molecule/molecule.hpp"

namespace tessera::chemistry {

inline molecule water() {
  return {
      .atoms = {{8, {0, 0, -0.1211314446}}, {1, {0, 1.429936714, 0.986043855}}, {1, {0, -1.429936714, 0.986043855}}},
      .name = "water"};
}

inline molecule benzene() {
  return {.atoms = {{6, {2.6295539024, 0, 0}},
                    {6, {1.3147769512, 2.2772604801, 0}},
                    {6, {-1.3147769512, 2.2772604801, 0}},
                    {6, {-2.6295539024, 0, 0}},
                    {6, {-1.3147769512, -2.2772604801, 0}},
                    {6, {1.3147769512, -2.2772604801, 0}},
                    {1, {4.670458117, 0, 0}},
                    {1, {2.3352290585, 4.0447353766, 0}},
                    {1, {-2.3352290585, 4.0447353766, 0}},
                    {1, {-4.670458117, 0, 0}},
                    {1, {-2.3352290585, -4.0447353766, 0}},
                    {1, {2.3352290585, -4.0447353766, 0}}},
          .name = "benzene"};
}

}  // namespace tessera::chemistry
