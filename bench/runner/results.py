"""A group's results: printed, and where asked written to docs/results/<group>.md for people and .json for programs."""
import json
import os


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


def publish(root, write, group, origin, tables, notes, data, more=()):
    """`tables` and `notes` are Markdown, `data` goes into the JSON file beside `origin`, `more` are further
    lines of the page's head."""
    print(f"## {group}\n\n{tables}\n", flush=True)
    if not write:
        return
    to = os.path.join(root, "docs", "results")
    os.makedirs(to, exist_ok=True)
    with open(os.path.join(to, f"{group}.md"), "w") as f:
        f.write(f"{head(group, origin, more)}\n\n{tables}\n\n{notes}\n")
    with open(os.path.join(to, f"{group}.json"), "w") as f:
        json.dump({"group": group, **origin, **data}, f, indent=1, allow_nan=False)
        f.write("\n")
