"""Fixes: propose them, try them on the running model, and prove what holds.

No file changes while they are tried: patched code replaces the model's own in a process forked for the trial.
"""
