"""`tally mail`: a mail filter on the command line."""
