"""The model in memory: the document, its graphs, types and constants, and what is refused in it."""
