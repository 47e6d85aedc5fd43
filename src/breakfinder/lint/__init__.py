"""Likely graph breaks, found by reading source: nothing is run and torch is not imported.

A file is summarised (`reach.summarise`) and analysed (`analyse.analyse`) by itself; only which of its functions
compiled code can be in (`reach.reachable`) depends on the other files.
"""
