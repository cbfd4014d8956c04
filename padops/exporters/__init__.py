"""Frameworks whose exporters write the operators of padops."""
