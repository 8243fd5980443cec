"""The value of a spreadsheet's cell -> the text that a person reads in it. Percent signs are left to the reader."""

from datetime import date, datetime, time, timedelta

__all__ = ["Value", "cell_text"]

Value = str | int | float | bool | date | datetime | time | timedelta


def cell_text(value: Value) -> str:
    """A value as a person reads it: 3 and not 3.0, 2024-01-05 13:04, TRUE, hours beyond 24 as 30:00:00."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return format(value, ".15g")  # the digits that a spreadsheet keeps
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, time):
        return value.strftime("%H:%M:%S" if value.second else "%H:%M")
    if isinstance(value, timedelta):
        return _hours(value)
    return str(value)


def _moment(value: datetime) -> str:
    """To the second: a spreadsheet's moments are fractions of a day, off by microseconds."""
    if value.microsecond and value.year < date.max.year:
        value = (value + timedelta(microseconds=500_000)).replace(microsecond=0)
    if value.time() == time():
        return value.date().isoformat()
    return value.isoformat(" ", "seconds" if value.second else "minutes")


def _hours(value: timedelta) -> str:
    seconds = round(abs(value).total_seconds())
    sign = "-" if value < timedelta() else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
