"""The two errors that callers may want to catch."""


class InputError(ValueError):
    """Input was refused; the message is one sentence that names what and why."""


class BudgetExceeded(RuntimeError):
    """An agent used more than its budget for one move and ``on_overrun="raise"`` was asked for."""
