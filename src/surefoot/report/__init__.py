"""Pages made from results, as text."""
