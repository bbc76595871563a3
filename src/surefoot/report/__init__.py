"""Tables and pages made from results."""
