"""Answers ``--help`` with the docstring of the script that is called, before anything is installed or imported.

A script imports this file before the packages that it needs. It keeps to the syntax of Python 3.6, as environment.py.
"""

import os
import sys

called, here = (os.path.dirname(os.path.realpath(file)) for file in (sys.argv[0], __file__))
if called == here and {"-h", "--help"}.intersection(sys.argv[1:]):
    print(sys.modules["__main__"].__doc__.strip())
    sys.exit(0)
