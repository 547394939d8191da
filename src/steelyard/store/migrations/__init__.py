"""The steps from every schema there ever was to the next.

To change the schema: edit schema.py, add versions/NNNN_what.py with ``down_revision`` set to the last
one, set ``schema.HEAD``. A test compares migrated databases with schema.py. What a table has beside
columns is lost when ``batch_alter_table`` copies it in SQLite: give ``table_kwargs`` and checks again.
"""
