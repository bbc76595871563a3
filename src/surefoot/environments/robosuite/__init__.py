"""Robosuite 1.4.0 manipulation tasks on the state tier: real physics, exact resets, no rendering."""
