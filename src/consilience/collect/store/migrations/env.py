"""What Alembic runs: the steps, on the connection that `consilience.collect.store.schema` hands over."""

from alembic import context

from consilience.collect.store.tables import metadata


def run() -> None:
    """Run the steps that were asked for."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        render_as_batch=True,
        transactional_ddl=True,
    )
    context.run_migrations()


if hasattr(context, "config"):  # else it is imported by somebody else than Alembic
    run()
