"""surefoot: learn programs from execution, certify edits against recorded successes."""

__version__ = "0.1.0"
