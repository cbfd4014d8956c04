"""A fuzzer of what ``padops convert`` reads: files that were models, with one or a few parts made wrong.

``python -m tests.mutation --kind onnx --count 100`` runs it from the checkout's root; so do
``tests/convert/model/test_mutations.py`` and ``tests/long/long_mutations.py``. Each kind of file has a module with
``mutants(seed)``; ``runner.py`` judges.
"""
