"""Breaks planted in the sources, one at a time: which of them do the fast tests see?"""
