"""What is stored of a study? As little as its pages can be walked again from.

No name, no address, nothing about a browser: a participant is a random code, and the token
in their browser is kept as a hash only.
"""

from __future__ import annotations

from snellen.errors import extra

with extra("study", "a study's store"):
    from sqlalchemy import (
        Boolean,
        Column,
        Double,
        ForeignKey,
        Index,
        Integer,
        MetaData,
        String,
        Table,
        Text,
    )

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

facts = Table(
    "facts",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
"""The study's digest and file, its secret, and how many withdrew."""

participants = Table(
    "participants",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("code", String(16), nullable=False, unique=True),
    Column("token", String(64), nullable=False, unique=True),
    Column("seed", String(32), nullable=False),
    Column("language", String(20), nullable=False),
    Column("party", String(40), nullable=False),
    Column("consent", String(80), nullable=False),
    Column("began", Double, nullable=False),
    Column("ended", Double),
    Column("completion", String(80)),
)
"""`party`: empty, or control. `consent`: the version of the text agreed to, and its hash."""

tasks = Table(
    "tasks",
    metadata,
    Column("participant", ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("item", Text, nullable=False),
    Column("purpose", String(10), nullable=False),
    Column("done", Boolean, nullable=False),
    Index(None, "item"),
)

replies = Table(
    "replies",
    metadata,
    Column("participant", ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("choice", Integer),
    Column("seconds", Double),
    Column("dropped", Integer),
)
"""A row a page that was replied to: there cannot be two for one page."""
