"""PI's interpreter of revisioned order tables (PI, section 4): in-process, exact, with lineage."""
