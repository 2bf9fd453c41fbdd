"""Who may use a studio that is served to browsers.

A studio runs commands on its machine, so whoever reaches the page, or can make somebody's browser
reach it, must not be enough. A token is asked for wherever others than this machine can connect.
Even on loopback any web page could open a WebSocket to it, and a name under a stranger's control
may lead here; so a request must name this machine, and a WebSocket must come from our own page.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

COOKIE = "flowstudio_token"

type Answer = Literal["pass", "take cookie", "no token", "wrong host", "foreign page"]
"""Let it pass; set the cookie and ask again; or why it is refused."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to a server on that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Guard:
    """Judges requests.

    `token` is what a browser has to show; None where none is asked for.
    """

    host: str
    """The address on which the server listens."""
    token: str | None = None

    def judge(
        self,
        *,
        host: str,
        origin: str | None,
        query: Mapping[str, str],
        cookies: Mapping[str, str],
        upgrade: bool,
    ) -> Answer:
        """What to do with a request, by its `Host` and `Origin` headers, query and cookies.

        `upgrade` is true for a WebSocket.
        """
        if self.token is None and not is_loopback(_name_of(host)):
            return "wrong host"
        if upgrade and (origin is None or urlsplit(origin).netloc.lower() != host.lower()):
            return "foreign page"
        if self.token is None or self._fits(cookies.get(COOKIE)):
            return "pass"
        if not upgrade and self._fits(query.get("token")):
            return "take cookie"
        return "no token"

    def _fits(self, shown: str | None) -> bool:
        if shown is None or self.token is None:
            return False
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self.token.encode())


def _name_of(host: str) -> str:
    """The name in a `Host` header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
