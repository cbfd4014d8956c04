"""The original model against the converted one, bit by bit."""
