"""A key program as ExecRootKeys starts it; its "wrapping" is for tests only."""

import base64
import hashlib
import json
import sys
import time

mode, operation = sys.argv[1:]
request = json.loads(sys.stdin.read())


def checksum(aad: str) -> str:
    return hashlib.sha256(aad.encode()).hexdigest()


if mode == "silent" and operation != "ids":
    time.sleep(60)
if mode == "broken" and operation != "ids":
    sys.exit(1)
if mode == "chatty":
    sys.stdout.write("swordfish")
elif operation == "ids":
    json.dump({"primary": "kms:7", "ids": ["kms:6", "kms:7"]}, sys.stdout)
elif operation == "wrap":
    blob = f"{request['plaintext']} {checksum(request['aad'])}"
    encoded = base64.b64encode(blob.encode()).decode()
    json.dump({"key_id": "kms:7", "blob": encoded}, sys.stdout)
else:
    plaintext, bound = base64.b64decode(request["blob"]).decode().split()
    if bound != checksum(request["aad"]):
        sys.exit(3)
    json.dump({"plaintext": plaintext}, sys.stdout)
