#!/usr/bin/env python3
"""Writes the basis sets and references.txt beside this file, from the package basis_set_exchange (see README.md)."""

import pathlib

import basis_set_exchange

ELEMENTS = range(1, 11)
# STO-3G with the digits that were published and that other programs have: the package has more of them since version 1.
VERSIONS = {"STO-3G": "0"}
# File, name in the package, form of d functions and above (as the sets were published).
SETS = [
    ("sto-3g", "STO-3G", "spherical"),
    ("3-21g", "3-21G", "cartesian"),
    ("6-31gss", "6-31G**", "cartesian"),
    ("cc-pvdz", "cc-pVDZ", "spherical"),
    ("aug-cc-pvdz", "aug-cc-pVDZ", "spherical"),
    ("cc-pvtz", "cc-pVTZ", "spherical"),
    ("cc-pvdz-ri", "cc-pVDZ-RIFIT", "spherical"),
    ("aug-cc-pvdz-ri", "aug-cc-pVDZ-RIFIT", "spherical"),
    ("cc-pvtz-ri", "cc-pVTZ-RIFIT", "spherical"),
]


def elements_of(name):
    """Those of ELEMENTS that the set has."""
    known = basis_set_exchange.get_basis(name)["elements"]
    return [element for element in ELEMENTS if str(element) in known]


def without_trailing_blanks(text):
    """Lines as editors keep them, with one end of line at the end."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def main():
    """Writes all files."""
    folder = pathlib.Path(__file__).parent
    references = f"References of the basis sets, from basis_set_exchange {basis_set_exchange.version()}.\n"
    for file, name, form in SETS:
        elements = elements_of(name)
        table = basis_set_exchange.get_basis(
            name, elements=elements, version=VERSIONS.get(name), fmt="gaussian94", optimize_general=False
        )
        (folder / f"{file}.gbs").write_text(without_trailing_blanks(f"{form}\n{table}"), encoding="utf-8")
        cited = basis_set_exchange.get_references(name, elements=elements, fmt="txt")
        cited = cited[cited.index(" References for the basis set") :]
        references += f"\n{'=' * 20} {name} ({file}.gbs)\n\n{cited.strip(chr(10))}\n"
    (folder / "references.txt").write_text(without_trailing_blanks(references), encoding="utf-8")


if __name__ == "__main__":
    main()
