"""Rows of a table -> runs -> the table, figures and a report: the paper's ablations, each from one data file."""
