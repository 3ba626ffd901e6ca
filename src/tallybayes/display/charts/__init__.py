"""Charts: plain records in, an Altair chart out.

One file for each chart. Only this package uses Altair, and it is imported only when a chart is requested. Charts
compute nothing: they draw what a result's `points` or `to_dict` returns.
"""
