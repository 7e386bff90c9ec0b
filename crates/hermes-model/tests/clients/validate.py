"""Checks request bodies against the types of the official client libraries.

Reads a list of {kind, body} from standard input. Prints a list of problems, one per body; an empty list is none.
Fields that a library does not know are dropped by its types, so comparing what went in with what comes out finds them.
"""

import json
import sys
from collections.abc import Iterator, Mapping

from anthropic.types import message_create_params
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params
from pydantic import TypeAdapter

TYPES = {
    ("chat", True): completion_create_params.CompletionCreateParamsStreaming,
    ("chat", False): completion_create_params.CompletionCreateParamsNonStreaming,
    ("messages", True): message_create_params.MessageCreateParamsStreaming,
    ("messages", False): message_create_params.MessageCreateParamsNonStreaming,
    ("responses", True): response_create_params.ResponseCreateParamsStreaming,
    ("responses", False): response_create_params.ResponseCreateParamsNonStreaming,
}


def plain(value):
    """Lists are checked only when somebody looks at them."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, Iterator)):
        return [plain(item) for item in value]
    return value


def lost(sent, known, at=""):
    """Where something that was sent is not in what is known."""
    if isinstance(sent, Mapping) and isinstance(known, Mapping):
        for key, item in sent.items():
            if key in known:
                yield from lost(item, known[key], f"{at}/{key}")
            else:
                yield f"{at}/{key} is unknown"
    elif isinstance(sent, list) and isinstance(known, list) and len(sent) == len(known):
        for number, (one, other) in enumerate(zip(sent, known)):
            yield from lost(one, other, f"{at}/{number}")
    elif sent != known:
        yield f"{at}: {sent!r} became {known!r}"


def problems(kind, body):
    adapter = TypeAdapter(TYPES[kind, body.get("stream", False)])
    try:
        return list(lost(body, plain(adapter.validate_python(body, strict=True))))
    except Exception as error:  # any refusal is what we want to hear about
        return [str(error)]


json.dump([problems(item["kind"], item["body"]) for item in json.load(sys.stdin)], sys.stdout)
