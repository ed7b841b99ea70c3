import pathlib
import runpy

from setuptools import setup

# The manual's pages of formats are made, not kept; the rest is in pyproject.toml.
runpy.run_path(str(pathlib.Path(__file__).parent / "man/make.py"), run_name="__main__")
setup(cffi_modules=["cengine/build_cffi.py:ffibuilder"])
