"""Charts: plain records in, an Altair chart out. The only door to Altair, opened when a chart is asked for.

One file for each chart. None of them computes: what is drawn is what a result's `points` or `to_dict` gives.
"""
