"""The migrations from each schema to the next.

To change the schema: edit schema.py, add versions/NNNN_what.py with ``down_revision`` set to the last one, and set
``values.HEAD``. A test compares migrated databases with schema.py. In SQLite ``batch_alter_table`` copies columns only:
pass ``table_kwargs`` and checks again.
"""
