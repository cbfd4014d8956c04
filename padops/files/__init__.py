"""Files that padops writes: whole or not at all, without touching other files."""
