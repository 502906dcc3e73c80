"""The options of curl that the documents use, for machines without curl."""

import argparse
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("url")
    parser.add_argument("-s", dest="silent", action="store_true", required=True)
    parser.add_argument("-i", dest="shows_head", action="store_true")
    parser.add_argument("-X", dest="method", default="GET")
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-d", dest="body")
    options = parser.parse_args()
    url = urlsplit(options.url)
    # A documented body may have line ends; curl drops them too.
    body = options.body and options.body.replace("\n", "")
    headers = dict(header.split(": ", 1) for header in options.headers)
    connection = HTTPConnection(url.netloc, timeout=60)
    connection.request(
        options.method, f"{url.path}?{url.query}".rstrip("?"), body, headers
    )
    response = connection.getresponse()
    if options.shows_head:
        sys.stdout.write(f"HTTP/1.1 {response.status} {response.reason}\n")
        for name, value in response.getheaders():
            sys.stdout.write(f"{name}: {value}\n")
        sys.stdout.write("\n")
    sys.stdout.write(response.read().decode())


if __name__ == "__main__":
    main()
