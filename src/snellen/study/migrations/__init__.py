"""How does a store of an older version become one of this? Alembic's scripts, in order."""
