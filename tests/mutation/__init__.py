"""A fuzzer of what ``padops convert`` reads: files that were models, with one or a few parts made wrong.

Each kind of file has a module with ``mutants(seed)``; ``runner.py`` judges.
"""
