"""What can go wrong behind a key press, as a sentence for the user."""

from __future__ import annotations


def sentence_for(error: Exception) -> str | None:
    """What to tell the user; None where the error is a fault of ours and must be seen as one."""
    from kosong.chat_provider import ChatProviderError

    from flowstudio.models.errors import ModelError, explain_error
    from flowstudio.soul import ContextError, LLMNotSet, LLMNotSupported, MaxStepsReached

    match error:
        case ChatProviderError() | ModelError():
            return explain_error(error)
        case LLMNotSet() | LLMNotSupported() | MaxStepsReached() | ContextError():
            return str(error)
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            return f"{where}{error.strerror or error}. The run was not started or has ended."
        case _:
            return None
