"""Files and tables of annotations: any table in, long tables out.

`sources` and `text` read a file as a table; `recognition` finds out what the table holds, by the `vocabulary` of column
names and by its contents (`orientation`, `values`); `exports` and `json_exports` know the files of other tools;
`reading` and `writing` are what users call.
"""
