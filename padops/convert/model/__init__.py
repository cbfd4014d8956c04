"""The model in memory: the document, its graphs, types and constants, and the checks that refuse invalid models."""
