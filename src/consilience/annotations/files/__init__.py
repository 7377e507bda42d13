"""Files and tables of annotations: reading of almost any table, writing of long tables.

`sources` and `text` read a file as a table; `recognition` determines what the table contains, from the `vocabulary` of
column names and from its cells (`orientation`, `values`); `exports` and `json_exports` know the files of other tools;
`reading` and `writing` are the public functions.
"""
