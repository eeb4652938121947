"""The hub's requests where the library was built without libcurl: by Python's own http and ssl modules."""

import base64
import http.client
import os
import ssl
import time
import urllib.error
import urllib.request
from urllib.parse import unquote, urlsplit

_ANYWHERE = {"accept", "range", "if-range"}  # the headers that another host may see
_MOVED = (301, 302, 303, 307, 308)


def _origin(url):
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _shown(url):
    """A URL without what may be secret: the user's name and password, and the query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _request(url, headers):
    user, at, place = urlsplit(url).netloc.rpartition("@")
    if at:
        url = url.replace(f"{user}@", "", 1)
        headers = {"Authorization": "Basic " + base64.b64encode(unquote(user).encode()).decode(), **headers}
    return urllib.request.Request(url, headers=headers)


class _Redirects(urllib.request.HTTPRedirectHandler):
    def __init__(self, limit):
        self.max_redirections, self.max_repeats, self._left = limit, limit, limit

    def redirect_request(self, request, answer, code, message, headers, url):
        if self._left == 0:
            raise urllib.error.URLError("too many redirects")
        self._left -= 1
        if urlsplit(url).scheme not in (("https",) if request.type == "https" else ("http", "https")):
            raise urllib.error.URLError(f"a redirect to {_shown(url)}, which is not followed from {request.type}")
        own = _origin(url) == _origin(request.full_url)
        kept = {name: value for name, value in request.header_items() if own or name.lower() in _ANYWHERE}
        return urllib.request.Request(url, headers=kept)


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Any status is an answer, but for redirects."""

    def http_response(self, request, response):
        if response.status not in _MOVED or "location" not in response.headers:
            return response
        return self.parent.error("http", request, response, response.status, response.reason, response.headers)

    https_response = http_response


def _opener(stall_timeout, max_redirects):
    def patient(kind):
        class Connection(kind):
            def connect(self):  # within the request's timeout; after it, silence may be longer
                super().connect()
                self.sock.settimeout(stall_timeout)

        return Connection

    class Plain(urllib.request.HTTPHandler):
        def http_open(self, request):
            return self.do_open(patient(http.client.HTTPConnection), request)

    class Secure(urllib.request.HTTPSHandler):
        def https_open(self, request):
            return self.do_open(
                patient(http.client.HTTPSConnection),
                request,
                context=ssl.create_default_context(cafile=os.environ.get("CURL_CA_BUNDLE")),
            )

    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler(), Plain(), Secure(), _Redirects(max_redirects), _AnyStatus()):
        opener.add_handler(handler)
    return opener


def get(url, headers, connect_timeout, stall_timeout, min_rate, max_redirects, head, body):
    """GETs url: head(status, url, headers), then, if that is true, body(bytes) for as long as that is. Returns None, or (message,
    whether it may go better later) where no answer came or only a part of it. Times in seconds, min_rate in bytes per second."""
    try:
        with _opener(stall_timeout, max_redirects).open(
            _request(url, dict(headers)), timeout=connect_timeout
        ) as answer:
            fields = [(name.lower(), value) for name, value in answer.headers.items()]
            if not head(answer.status, answer.geturl(), fields):
                return None
            since, got = time.monotonic(), 0
            while data := answer.read1(1 << 16):
                if not body(data):
                    return None
                got += len(data)
                passed = time.monotonic() - since
                if passed > stall_timeout:
                    if got < min_rate * passed:
                        return f"[hub] {_shown(url)}: slower than {min_rate} bytes per second for {passed:.0f} s", True
                    since, got = time.monotonic(), 0
            if answer.length:
                return f"[hub] {_shown(url)}: the connection ended {answer.length} bytes before the file's end", True
    except urllib.error.URLError as error:
        lasting = not isinstance(error.reason, OSError) or isinstance(error.reason, ssl.SSLCertVerificationError)
        return f"[hub] {_shown(url)}: {error.reason}", not lasting
    except (OSError, http.client.HTTPException) as error:
        return f"[hub] {_shown(url)}: {error or type(error).__name__}", True
    return None
