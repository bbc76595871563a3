"""A desk with an item, a bin and what stands between: pick and place without a simulator.

Fast, exact and pure: a scene follows from its task and seed, an episode takes well under a millisecond,
and the whole state is a few dozen numbers. It serves to teach, and to test everything built above it.
"""
