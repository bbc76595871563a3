"""Environments: the task contract, the registry, and the ones that ship with surefoot."""
