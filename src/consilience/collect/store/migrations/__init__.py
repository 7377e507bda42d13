"""Steps from one layout of the tables to the next, run by Alembic when a store is opened."""
