#!/usr/bin/env python3
"""Build a wheel for each program in a directory of a release, and a source archive: see scripts/wheel.

The same programs and the same commit give the same bytes: entries are sorted, their time is
that of the commit or SOURCE_DATE_EPOCH, and nothing else of the machine goes in.
"""

import base64
import csv
import gzip
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]

# What the package is called in an index: one value, as another may have the name kir. It is imported as kir.
NAME = re.search(r'^name = "(.+)"', (ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8"), re.M)[1]
FILE = re.sub(r"[-_.]+", "_", NAME).lower()

# Programs of Go without C run on any Linux; macOS 12 is the first that Go 1.26 runs on.
TAGS = {
    "linux_amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux_arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin_amd64": "macosx_12_0_x86_64",
    "darwin_arm64": "macosx_12_0_arm64",
    "windows_amd64": "win_amd64",
    "windows_arm64": "win_arm64",
}


def python_version(version):
    """Return a semantic version as Python's packages write it: 1.2.0-rc.1 is 1.2.0rc1."""
    m = re.fullmatch(r"v?(\d+\.\d+\.\d+)(?:-(alpha|beta|rc|pre)\.?(\d*))?", version)
    if not m:
        sys.exit(f"scripts/wheel: {version!r} is no version such as 1.2.0 or 1.2.0-rc.1")
    kind = {"alpha": "a", "beta": "b", "rc": "rc", "pre": "rc"}.get(m[2] or "", "")
    return m[1] + (kind + (m[3] or "0") if kind else "")


def moment():
    """Return the time that all entries have, in seconds of Unix."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if seconds is None:
        seconds = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return int(seconds)


def home():
    """Return where the source is, which the module's path says, or None as long as it names no host."""
    module = re.search(r"^module (\S+)", (ROOT / "go.mod").read_text(), re.M)[1]
    return f"https://{module}" if "." in module.partition("/")[0] else None


def description():
    """Return the page of the package in an index."""
    return (ROOT / "python" / "description.md").read_text(encoding="utf-8").replace("NAME", NAME)


def metadata(version, *licences):
    """Return what an index shows of the package, whose licences are in these files."""
    source = home()
    return ("Metadata-Version: 2.4\n"
            f"Name: {NAME}\nVersion: {version}\n"
            "Summary: Recipes, formulations, portfolios: sample sparse composition ratios, and choose what to make next\n"
            + (f"Project-URL: Source, {source}\n" if source else "")
            + "License-Expression: Apache-2.0\n" + "".join(f"License-File: {name}\n" for name in licences)
            + "Requires-Python: >=3.10\nProvides-Extra: all\n"
            + "".join(f'Requires-Dist: {p}; extra == "all"\n' for p in ("pandas", "pyarrow", "arviz", "matplotlib"))
            + "Description-Content-Type: text/markdown\n\n" + description())


def sources(version):
    """Return the files of the package itself, which say that they are of this version."""
    files = {f"kir/{p.name}": p.read_bytes() for p in sorted((ROOT / "python" / "kir").iterdir())
             if p.suffix == ".py" or p.name == "py.typed"}
    said = b'VERSION = "0.0.0"'
    if said not in files["kir/_program.py"]:
        sys.exit("scripts/wheel: python/kir/_program.py does not say which version it is")
    files["kir/_program.py"] = files["kir/_program.py"].replace(said, b'VERSION = "%s"' % version.encode())
    return files


def notices():
    """Return the licences of what is in the programs."""
    made = ROOT / "build" / "THIRD-PARTY"
    if made.is_file():
        return made.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "THIRD-PARTY"
        subprocess.run([ROOT / "scripts" / "notices", path], cwd=ROOT, check=True)
        return path.read_bytes()


def build(program, platform, version, third_party, when, out):
    """Write the wheel of a program and return its path."""
    tag = TAGS[platform]
    info = f"{FILE}-{version}.dist-info"
    files = sources(version)
    name = f"kir/bin/{program.name}"
    files[name] = program.read_bytes()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/licenses/THIRD-PARTY"] = third_party
    files[f"{info}/METADATA"] = metadata(version, "LICENSE", "THIRD-PARTY").encode()
    commands = sorted({"kir", NAME})  # uvx NAME runs the command of that name
    files[f"{info}/entry_points.txt"] = ("[console_scripts]\n" + "".join(f"{c} = kir.__main__:main\n" for c in commands)).encode()
    files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: kir\nRoot-Is-Purelib: false\n"
                              + "".join(f"Tag: py3-none-{t}\n" for t in tag.split("."))).encode()
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([path, f"sha256={digest}", len(data)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = record.getvalue().encode()
    wheel = out / f"{FILE}-{version}-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, max(time.gmtime(when)[:6], (1980, 1, 1, 0, 0, 0)))
            entry.create_system = 3
            entry.external_attr = (0o100755 if path == name else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    return wheel


def build_source(version, when, out):
    """Write the source archive, which has the package without a program, and return its path."""
    root = f"{FILE}-{version}"
    files = sources(version)
    files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files["PKG-INFO"] = metadata(version, "LICENSE").encode()
    files["README.md"] = description().encode()
    files["pyproject.toml"] = (ROOT / "python" / "pyproject.toml").read_bytes()
    archive = out / f"{root}.tar.gz"
    with open(archive, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{root}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), when, 0o644
            tar.addfile(entry, io.BytesIO(data))
    return archive


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: scripts/wheel DIR VERSION")
    folder, version = pathlib.Path(arguments[0]), python_version(arguments[1])
    programs = {}
    for path in sorted(folder.glob("kir_*/kir*")):
        platform = "_".join(path.parent.name.split("_")[1:3])
        if path.name in ("kir", "kir.exe") and platform in TAGS:
            programs[platform] = path
    if not programs:
        sys.exit(f"scripts/wheel: there are no programs such as {folder}/kir_linux_amd64_v1/kir")
    third_party, when = notices(), moment()
    for platform, path in programs.items():
        print(build(path, platform, version, third_party, when, folder))
    print(build_source(version, when, folder))


if __name__ == "__main__":
    main(sys.argv[1:])
