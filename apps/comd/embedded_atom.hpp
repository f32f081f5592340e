#pragma once
// The embedded-atom method: a pair energy, and the energy of embedding an atom in the density that its neighbours make.
//
//   E = sum over i of F(rho_i) + 1/2 sum over i, j of phi(r_ij)      rho_i = sum over j of f(r_ij)
#include <string>

#include "apps/comd/neighbourhood.hpp"
#include "apps/comd/table.hpp"

namespace tessera::apps::comd {

/// The functions of one element, and the element.
struct embedded_atom {
  std::string name;             ///< for the report
  double mass = 0;              ///< of an atom, in amu
  double lattice_constant = 0;  ///< of the face-centred cubic lattice
  double cutoff = 0;            ///< of the functions of the distance
  samples density;              ///< f(r)
  samples pair;                 ///< phi(r), in eV
  samples embedding;            ///< F(rho), in eV
};

/// Copper after A. P. Sutton and J. Chen, Philosophical Magazine Letters 61 (1990) 139-146:
/// phi(r) = epsilon (a/r)^9, f(r) = (a/r)^6, F(rho) = -epsilon c sqrt(rho), with epsilon = 0.012382 eV, c = 39.432,
/// a = 3.61 A. Both functions of the distance go to zero smoothly between 6 A and 7 A.
embedded_atom sutton_chen_copper();

/// The functions as tables.
/// @tparam T  double or float
template <class T>
struct embedded_atom_tables {
  T cutoff = 0;
  cubic_table<T> density, pair, embedding;
};

/// The densities at the atoms of a cell.
template <class T>
void gather_density(const embedded_atom_tables<T>& by, const neighbourhood<T>& near, const cell_atoms<T>& on,
                    T* densities);

/// Energies of embedding the atoms of a cell, and their slopes F'(rho).
template <class T>
void embed(const embedded_atom_tables<T>& by, std::int32_t count, const T* densities, T* energies, T* slopes);

/// What the neighbourhood, with the slopes attached, does to the atoms of a cell: adds the pair energies to `energies`.
/// Returns the sum of the energies, in double.
/// @param slopes  of the cell's atoms @param forces  x of all slots, then y, z
template <class T>
double act(const embedded_atom_tables<T>& by, const neighbourhood<T>& near, const cell_atoms<T>& on, const T* slopes,
           T* forces, T* energies);

}  // namespace tessera::apps::comd
