from setuptools import setup

setup(cffi_modules=["cengine/build_cffi.py:ffibuilder"])  # the rest is in pyproject.toml
