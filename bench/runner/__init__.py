"""Parts of bench/run.py."""
