"""A group's results: printed, and where asked written to docs/results/<group>.md for people and .json for programs."""
import json
import os
import sys


def head(group, origin, more=()):
    """The page's title and what was measured where. `origin`: date, command, revision, machine (see machine.facts)."""
    facts = origin["machine"]
    lines = [
        f"# Measured: {group}",
        "",
        f"- Date: {origin['date']}, revision {origin['revision']}",
        f"- Command: `{origin['command']}`",
        (
            f"- Machine: {facts['cpu']}, {facts['cores']} cores{' (virtual machine)' if facts['virtual'] else ''}, "
            f"{facts['memory_gib']} GiB, Linux {facts['kernel']}"
        ),
        f"- Build: {facts['build_type']}, {facts['compiler']}",
    ]
    if facts["openblas_coretype"]:
        lines.append(f"- OpenBLAS was told to take the kernel set {facts['openblas_coretype']}")
    return "\n".join(lines + [f"- {line}" for line in more])


def require_writable(path):
    """Ends with a message where a file cannot be written, before anything is measured. One that is there stays as it
    is; one that is not is not left behind."""
    new = not os.path.lexists(path)
    try:
        with open(path, "a"):
            pass
    except OSError as reason:
        sys.exit(f"error: cannot write: {reason.strerror}\n  at: {path}\n  hint: make it writable, or name another one")
    if new:
        os.remove(path)


def files(root, group):
    """Where the results of a group are written."""
    return [os.path.join(root, "docs", "results", f"{group}{ending}") for ending in (".md", ".json")]


def publish(root, write, group, origin, tables, notes, data, more=()):
    """`tables` and `notes` are Markdown, `data` goes into the JSON file beside `origin`, `more` are further
    lines of the page's head."""
    print(f"## {group}\n\n{tables}\n", flush=True)
    if not write:
        return
    page, figures = files(root, group)
    os.makedirs(os.path.dirname(page), exist_ok=True)
    with open(page, "w") as f:
        f.write(f"{head(group, origin, more)}\n\n{tables}\n\n{notes}\n")
    with open(figures, "w") as f:
        json.dump({"group": group, **origin, **data}, f, indent=1, allow_nan=False)
        f.write("\n")
