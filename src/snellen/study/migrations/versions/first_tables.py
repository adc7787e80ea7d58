"""What did the first stores hold? Facts, participants, tasks and replies."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables of an empty database."""
    op.create_table(
        "facts",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "participants",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("code", sa.String(16), nullable=False, unique=True),
        sa.Column("token", sa.String(64), nullable=False, unique=True),
        sa.Column("seed", sa.String(32), nullable=False),
        sa.Column("language", sa.String(20), nullable=False),
        sa.Column("party", sa.String(40), nullable=False),
        sa.Column("consent", sa.String(80), nullable=False),
        sa.Column("began", sa.Double, nullable=False),
        sa.Column("ended", sa.Double),
        sa.Column("completion", sa.String(80)),
    )
    op.create_table(
        "tasks",
        _participant(),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("item", sa.Text, nullable=False),
        sa.Column("purpose", sa.String(10), nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
    )
    op.create_index("ix_tasks_item", "tasks", ["item"])
    op.create_table(
        "replies",
        _participant(),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("choice", sa.Integer),
        sa.Column("seconds", sa.Double),
        sa.Column("dropped", sa.Integer),
    )


def _participant() -> sa.Column[int]:
    """Point to a participant, with whom everything goes."""
    return sa.Column(
        "participant",
        sa.Integer,
        sa.ForeignKey("participants.id", ondelete="CASCADE"),
        primary_key=True,
    )
