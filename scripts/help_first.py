"""Prints the calling script's docstring for ``--help``, before anything is installed or imported.

A script imports this file before its packages. Like environment.py, it has the syntax of Python 3.6.
"""

import os
import sys

called, here = (os.path.dirname(os.path.realpath(file)) for file in (sys.argv[0], __file__))
if called == here and {"-h", "--help"}.intersection(sys.argv[1:]):
    print(sys.modules["__main__"].__doc__.strip())
    sys.exit(0)
