"""Passwords, tokens, rate limits, and which page a request comes from; no web framework, no database."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from urllib.parse import urlsplit

from consilience.errors import InputError

SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 200  # characters
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PORTS = {"http": 80, "https": 443}
MOST_VISITORS = 20_000  # that a rate limit remembers


class RefusedError(Exception):
    """A request that is not answered as asked: a status of HTTP and one sentence.

    retry_after : seconds after which it may be tried again.
    text : key of the text that says it to participants; words : its words in braces.
    """

    def __init__(
        self, status: int, sentence: str, retry_after: int | None = None, *, text: str = "", **words: str
    ) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.retry_after = status, sentence, retry_after
        self.text, self.words = text, words


# ---- passwords


def hashed_password(password: str) -> str:
    """Return the Argon2id hash of a new password, with its salt and its parameters.

    Raises InputError: the password is too short or too long.
    """
    from argon2 import PasswordHasher

    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InputError(f"The password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters.")
    return PasswordHasher().hash(password)


def matches(hashed: str | None, password: str) -> bool:
    """Whether a password is the one that was hashed; False if there is none, which takes as long to find out."""
    from argon2 import PasswordHasher
    from argon2.exceptions import Argon2Error, InvalidHashError

    if len(password) > LONGEST_PASSWORD:  # hashing a very long text takes long
        return False
    try:
        return PasswordHasher().verify(hashed or _hash_of_nothing(), password) and hashed is not None
    except (Argon2Error, InvalidHashError):
        return False


@cache
def _hash_of_nothing() -> str:
    """Return a hash that costs as much to compare as those of passwords."""
    return hashed_password(secrets.token_urlsafe())


def equal(given: str, expected: str) -> bool:
    """Compare two secrets in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


def seal(value: str, key: str) -> str:
    """Return a value with a code that only who has the key can make.

    Examples
    --------
    >>> unseal(seal("d7", "key"), "key"), unseal(seal("d7", "key"), "another"), unseal("d7", "key")
    ('d7', None, None)
    """
    return f"{value}.{hmac.new(key.encode(), value.encode('utf-8', 'surrogatepass'), 'sha256').hexdigest()}"


def unseal(sealed: str, key: str) -> str | None:
    """Return the value of `seal`, None if the code is not that of the key."""
    value = sealed.rpartition(".")[0]
    return value if equal(sealed, seal(value, key)) else None


# ---- where a request comes from


def require_own_page(method: str, headers: Mapping[str, str], scheme: str) -> None:
    """Refuse a request that changes something unless one of this server's own pages sent it.

    Browsers say which page sends a request: all in ``Origin``, current ones in ``Sec-Fetch-Site`` too. A request that
    says neither, or says ``null``, is refused.

    Raises RefusedError: with status 403.

    headers : by name, in lower case.
    scheme : {"http", "https"}; of this request.
    """
    if method in SAFE_METHODS:
        return
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is None and site is None:
        raise RefusedError(403, "This request does not say which page sent it, and was refused.")
    known = origin is not None and origin != "null"
    same = (_place(origin or "") == _place(f"{scheme}://{headers.get('host', '')}")) if known else site == "same-origin"
    if not same or site not in (None, "same-origin"):
        raise RefusedError(403, "This request was sent by a page of another site, and was refused.")


@dataclass(frozen=True)
class PublicAddress:
    """The address under which others reach the server, and the names by which it answers at all.

    Requests by other names are refused: a page of another site, whose name leads here, could read the answers.
    Addresses of numbers are no such names.

    url : scheme, host and port, if it is not the usual one.
    listening : the host at which the server listens.
    """

    url: str
    listening: str = ""

    @classmethod
    def of(cls, url: str, listening: str = "") -> PublicAddress:
        """Return a checked address. Raises InputError: it is not a scheme and a host.

        Examples
        --------
        >>> PublicAddress.of("https://Sort.example.org:443/").url
        'https://sort.example.org'
        """
        try:
            parts = urlsplit(url.strip())
            host = (parts.hostname or "").encode("idna" if ":" not in (parts.hostname or "") else "ascii").decode()
            port = parts.port
        except ValueError:  # UnicodeError is one
            parts, host, port = urlsplit(""), "", None
        rest = (parts.username, parts.password, parts.path.strip("/"), parts.query, parts.fragment)
        if parts.scheme not in PORTS or not host or any(rest):
            raise InputError(
                f"The public URL must be a scheme and a host, such as https://sort.example.org. Got {url[:100]!r}."
            )
        shown = f"[{host}]" if ":" in host else host
        return cls(
            f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, PORTS[parts.scheme]) else ""), listening
        )

    @property
    def scheme(self) -> str:
        """The scheme, "http" or "https"."""
        return self.url.partition(":")[0]

    def is_named(self, host: str) -> bool:
        """Whether a request with this header ``Host`` was sent to the public address."""
        return _place(f"{self.scheme}://{host}") == _place(self.url)

    def require_known(self, host: str) -> None:
        """Refuse a request with another header ``Host`` than the public one, where the server listens, or numbers.

        Raises RefusedError: with status 421.
        """
        found = _place(f"http://{host}")
        name = found[1] if found else None
        if not (self.is_named(host) or (name and (name == self.listening.lower() or _is_number(name)))):
            raise RefusedError(421, f"This server is reached at {self.url}, and not by the name that was asked for.")


def _is_number(host: str) -> bool:
    """Whether a host is an IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _place(origin: str) -> tuple[str, str | None, int | None] | None:
    """Return scheme, host and port of an origin, None if it is malformed."""
    try:
        parts = urlsplit(origin)
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


# ---- rate limits


@dataclass(frozen=True)
class Rate:
    """So many requests, at once or spread, and again as many in so many seconds."""

    most: int
    seconds: int | float


class RateLimit:
    """Counts the requests of each visitor in a bucket that fills steadily.

    sentence : for those who are refused.

    Examples
    --------
    >>> limit = RateLimit(Rate(2, 60), "Too many.")
    >>> limit.count("ann"), limit.count("ann"), limit.count("bo")
    (None, None, None)
    >>> limit.count("ann")
    Traceback (most recent call last):
    ...
    consilience.collect.security.RefusedError: Too many.
    """

    def __init__(self, rate: Rate, sentence: str, clock: Callable[[], int | float] = time.monotonic) -> None:
        self.rate, self.sentence, self.clock = rate, sentence, clock
        self._left: OrderedDict[str, tuple[float, int | float]] = OrderedDict()  # requests left, and when that was
        self._lock = Lock()

    def count(self, visitor: str) -> None:
        """Count a request, or refuse it with status 429."""
        with self._lock:
            now = self.clock()
            left, then = self._left.pop(visitor, (float(self.rate.most), now))
            left = min(self.rate.most, left + (now - then) * self.rate.most / self.rate.seconds)
            self._left[visitor] = (left - 1 if left >= 1 else left, now)
            if len(self._left) > MOST_VISITORS:
                self._left.popitem(last=False)  # who has not come for longest
        if left < 1:
            # after 0 seconds a program would ask again at once
            raise RefusedError(429, self.sentence, max(1, round((1 - left) * self.rate.seconds / self.rate.most)))


def visitor(address: str | None) -> str:
    """Return by what a rate limit knows an address: IPv6 by the network of which one visitor has all addresses.

    Examples
    --------
    >>> visitor("192.0.2.7"), visitor("2001:db8:1:2:3::4"), visitor(None), visitor("testclient")
    ('192.0.2.7', '2001:db8:1:2::/64', 'unknown', 'testclient')
    """
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return address or "unknown"
    return str(ipaddress.ip_network(f"{parsed}/64", strict=False)) if parsed.version == 6 else str(parsed)
