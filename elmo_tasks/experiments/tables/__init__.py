"""
The paper's ablations: a table's data file -> rows -> runs -> results -> the table.
"""
