"""The group `conformance`: what the plugins of the build keep of the ABI, and whether devices compute what they
should. Nothing is timed."""
import glob
import json
import os
import re
import subprocess
import tempfile

OPTIONS = {"opencl": ["--option", "memory_limit=256 MiB"], "disk": ["--option", "capacity=256 MiB"]}
DEVICES = ["sim", "cuda_emulated", "hip_emulated", "opencl", "cuda", "hip", "hip_nvidia"]
# Tests of tests/integration/runtime that run random graphs against a sequential oracle, by plugin.
STRESS = {
    "sim": "machines/random_dag*two_devices:machines/random_dag*tight_memory",
    "cuda_emulated": "machines/random_dag*/emulated_gpus*",
    "hip_emulated": "machines/random_dag*/hip_emulated_gpus",
    "opencl": "opencl/random_dag*",
}


def _run(words, timeout):
    return subprocess.run(
        words, text=True, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
    )


def _checked(tessera, file, timeout):
    """The suite on one plugin. Without a device the plugin's reason instead."""
    name = re.match(r"tessera_(\w+)\.so", os.path.basename(file)).group(1)
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "report.json")
        p = _run([tessera, "plugins", "check", file, "--json", made] + OPTIONS.get(name, []), timeout)
        text = ""
        if os.path.exists(made):
            with open(made, encoding="utf-8") as report:
                text = report.read()
    if not text:
        return {"plugin": name, "why": (p.stderr.strip().splitlines() or [f"exit {p.returncode}"])[0]}
    report = json.loads(text)
    if [r["name"] for r in report["results"]] == ["load"]:
        return {"plugin": name, "why": report["results"][0]["message"].splitlines()[0]}
    return {
        "plugin": name,
        **{k: report[k] for k in ("passed", "failed", "skipped", "known_failures")},
        "failures": [r["name"] for r in report["results"] if r["outcome"] == "failed"],
    }


def _job(tessera, job, plugin, timeout):
    """One run with the plugin's devices; the share of tasks that they did."""
    p = _run(
        [
            tessera,
            job,
            "--n",
            "400",
            "--tile",
            "64",
            "--set",
            f'runtime.plugins=["host", "{plugin}"]',
            "--set",
            "runtime.placement=eager",
            "--workers",
            "1",
            "--json",
            "-",
            "--quiet",
            "--stats",
        ],
        timeout,
    )
    if p.returncode not in (0, 1):
        return {
            "job": job,
            "plugin": plugin,
            "why": p.stderr.strip().splitlines()[0] if p.stderr.strip() else f"exit {p.returncode}",
        }
    figures = json.loads(p.stdout)
    done = figures["statistics"]["operations"]
    on_device = sum(o["tasks"] for o in done if o["location"].startswith(plugin))
    return {
        "job": job,
        "plugin": plugin,
        "right": bool(figures.get("residual_ok", figures.get("error_ok"))),
        "error": figures.get("scaled_residual", figures.get("scaled_error")),
        "tasks": sum(o["tasks"] for o in done),
        "on_device": on_device,
    }


def _stress(folder, plugin, timeout):
    program = os.path.join(folder, "integration_runtime")
    if not os.access(program, os.X_OK):
        return {"plugin": plugin, "why": "integration_runtime is not built"}
    p = _run([program, "--gtest_filter=" + STRESS[plugin]], timeout)
    passed = re.search(r"\[  PASSED  \] (\d+) test", p.stdout)
    ran = re.search(r"\[==========\] (\d+) tests? from .* ran", p.stdout)
    return {"plugin": plugin, "ran": int(ran.group(1)) if ran else 0, "passed": int(passed.group(1)) if passed else 0}


def measure(opt, root):  # pylint: disable=unused-argument
    folder = os.path.join(opt.build, "bin")
    tessera = os.path.join(folder, "tessera")
    files = sorted(glob.glob(os.path.join(opt.build, "lib", "tessera", "plugins", "tessera_*.so")))
    out = {"suite": [], "jobs": [], "stress": []}
    for file in files:
        if os.path.basename(file) != "tessera_fault.so":  # a layer, not a device
            out["suite"].append(_checked(tessera, file, opt.timeout))
    usable = {r["plugin"] for r in out["suite"] if "passed" in r}
    for plugin in DEVICES:
        if plugin not in usable:
            continue
        out["jobs"] += [_job(tessera, job, plugin, opt.timeout) for job in ("cholesky", "gemm")]
        if plugin in STRESS:
            out["stress"].append(_stress(folder, plugin, opt.timeout))
    return out


def tables(results):
    lines = [
        "`tessera plugins check` on every plugin of the build",
        "",
        "| plugin | passed | failed | known failures | not offered |",
        "|---|---:|---:|---:|---:|",
    ]
    for r in results["suite"]:
        lines.append(
            f"| {r['plugin']} | cannot serve this machine: {r['why']} | | | |"
            if "why" in r
            else (
                f"| {r['plugin']} | {r['passed']} | {r['failed']} {', '.join(r['failures'])} | {r['known_failures']} |"
                f" {r['skipped']} |"
            )
        )
    lines += [
        "",
        "Jobs with the plugin's devices beside one host worker, n = 400, tiles of 64, placement `eager`",
        "",
        "| job | plugin | tasks | on the device | scaled residual or error | right |",
        "|---|---|---:|---:|---:|---|",
    ]
    for r in results["jobs"]:
        lines.append(
            f"| {r['job']} | {r['plugin']} | {r['why']} | | | |"
            if "why" in r
            else (
                f"| {r['job']} | {r['plugin']} | {r['tasks']} | {r['on_device']} | {r['error']:.3g} |"
                f" {'yes' if r['right'] else 'NO'} |"
            )
        )
    lines += ["", "Random graphs against the sequential oracle", "", "| plugin | tests | passed |", "|---|---:|---:|"]
    for r in results["stress"]:
        lines.append(f"| {r['plugin']} | {r.get('why', r.get('ran'))} | {r.get('passed', '')} |")
    return "\n".join(lines)


NOTES = (
    "Emulated GPUs run the source of the GPU plugins on the processor; `opencl` is PoCL here. What a check does: [the"
    " suite](../../tests/conformance/README.md)."
)


def circumstances(results):  # pylint: disable=unused-argument
    return []


def data(results):
    return {"results": results}
