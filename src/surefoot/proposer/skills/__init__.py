"""The proposer that needs no model: PI's localized repair and verified skills, on real programs."""
