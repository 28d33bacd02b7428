"""Writing many rows at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Dialect, Insert, Table, Update, insert
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import TypeEngine


class Prepared:
    """A statement about one table, compiled once.

    SQLAlchemy's own way builds and checks the parameters of each row: 60 µs, on a processor that
    requests wait for. Where a driver takes parameters by position this needs a third of it.
    """

    def __init__(
        self,
        statement: Insert | Update,
        table: Table,
        dialect: Dialect,
        names: Sequence[str] | None = None,
    ) -> None:
        """Each parameter of `statement` is named for the column that it belongs to, but for a
        leading `b_`; `names`: those that an insert without values has."""
        self._statement = statement
        compiled = statement.compile(dialect=dialect, column_keys=names)
        self._sql = str(compiled)
        self._order = tuple(compiled.positiontup or ())
        self._binds = tuple(
            (place, bind)
            for place, name in enumerate(self._order)
            if (bind := _bind(table.c[name.removeprefix("b_")].type, dialect)) is not None
        )

    async def write(self, connection: AsyncConnection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Runs it once for each of `rows`, which name all its parameters."""
        if self._order:
            values = [self._bound(row) for row in rows]
            await connection.exec_driver_sql(self._sql, values)
        else:
            await connection.execute(self._statement, list(rows))

    def _bound(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        values = [row[name] for name in self._order]
        for place, bind in self._binds:
            values[place] = bind(values[place])
        return tuple(values)


class Bulk(Prepared):
    """The insert of one table. Its rows name all columns but a key that counts up by itself."""

    def __init__(self, table: Table, dialect: Dialect) -> None:
        own = table.autoincrement_column
        names = [column.name for column in table.columns if column is not own]
        super().__init__(insert(table), table, dialect, names)


def _bind(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """What makes a value of a column fit for the driver; None where every value is so already."""
    return kind.dialect_impl(dialect).bind_processor(dialect)
