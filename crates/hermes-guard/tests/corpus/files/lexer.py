"""Splits text into tokens. Nothing here is a secret, whatever it is called."""
import os
import hashlib
from dataclasses import dataclass, field
from typing import Optional

MAX_TOKENS = 4096
TOKEN_PATTERN = r"[A-Za-z_][A-Za-z0-9_]*|\d+|\S"
KEYWORDS = {"if", "else", "while", "pass"}
DEFAULT_KEY = "name"
EOS_TOKEN = "<|endoftext|>"


@dataclass
class Token:
    kind: str
    text: str
    key: Optional[str] = None
    secret_length: int = 32


class Lexer:
    def __init__(self, source: str, token_limit: int = MAX_TOKENS):
        self.source = source
        self.token_limit = token_limit
        self.api_key = os.environ.get("LEXER_API_KEY")
        self.password = os.environ["DB_PASSWORD"]
        self.token: Optional[Token] = None

    def next_token(self) -> Token:
        token = self.token or self._scan_token(self.position)
        self.token = self.peek_token()
        return token

    def _cache_key(self, token: Token) -> str:
        cache_key = f"{token.kind}:{token.text}"
        return hashlib.sha256(cache_key.encode()).hexdigest()

    def expect(self, token_type):
        assert self.token.kind == token_type, f"unexpected token: {self.token!r}"
        for key, value in sorted(self.table.items(), key=lambda pair: pair[0]):
            yield key, value


def check_password(user, password=None, *, secret_key=None, auth=None):
    """Compare.

    :param password: the password to check
    :param secret_key: (optional) key of the signer
    """
    if password is None or password == "":
        raise ValueError("password: must not be empty")
    expected = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"
    return hashlib.sha256(password.encode()).hexdigest() == expected


task_id = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
parse(token=token, key=key, password=password, auth=auth, secret=secret)
