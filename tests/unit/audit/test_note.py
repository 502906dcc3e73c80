"""Signed notes and checkpoints against the published examples."""

import base64
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agent_runtime_client.proofs.checkpoint import Checkpoint, origin_of
from agent_runtime_client.proofs.note import NoteError, VerifierKey, open_note
from projections.audit.proofs.sign import sign_checkpoint, sign_note

# The example of C2SP's signed-note.md.
C2SP_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
C2SP_NOTE = (
    "This is an example message.\n\n— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu"
    "72IneyaQM=\n"
)
# The example of golang.org/x/mod/sumdb/note, whose private key is published too.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
GO_TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
GO_SIGNATURE = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKv"
    "qfqdngotpRZb6KE6RyyBwJnAM=\n"
)
ENOCH_KEY = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
ENOCH_SIGNATURE = (
    "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oO"
    "TGwnWLox33WWd1RvMc+QQ=\n"
)
# The example of C2SP's tlog-checkpoint.md; its key is not published.
C2SP_CHECKPOINT = (
    "example.com/behind-the-sofa\n20852163\n"
    "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
)
PETER = VerifierKey.parse(GO_KEY)
PRIVATE = Ed25519PrivateKey.from_private_bytes(GO_SEED)
EPOCH = UUID("6f1c2a34-5b7d-4e8f-9a0b-1c2d3e4f5a6b")


@pytest.mark.parametrize(
    ("key", "note", "text"),
    [
        (C2SP_KEY, C2SP_NOTE, "This is an example message.\n"),
        (GO_KEY, f"{GO_TEXT}\n{GO_SIGNATURE}", GO_TEXT),
        (GO_KEY, f"{GO_TEXT}\n{ENOCH_SIGNATURE}{GO_SIGNATURE}", GO_TEXT),
        (ENOCH_KEY, f"{GO_TEXT}\n{ENOCH_SIGNATURE}{GO_SIGNATURE}", GO_TEXT),
    ],
)
def test_published_notes_open(key: str, note: str, text: str) -> None:
    verifier = VerifierKey.parse(key)

    assert open_note(note, [verifier]) == (text, verifier)
    assert str(verifier) == key


def test_the_published_key_signs_the_published_note() -> None:
    assert sign_note(GO_TEXT, "PeterNeumann", PRIVATE) == f"{GO_TEXT}\n{GO_SIGNATURE}"
    assert VerifierKey("PeterNeumann", PRIVATE.public_key().public_bytes_raw()) == PETER


@pytest.mark.parametrize(
    "note",
    [
        "",
        GO_TEXT,
        f"{GO_TEXT}\n",
        f"{GO_TEXT}\n{GO_SIGNATURE}"[:-1],
        f"{GO_TEXT}\n{ENOCH_SIGNATURE}",
        f"{GO_TEXT}\n{GO_SIGNATURE.replace('x08', 'x09')}",
        f"{GO_TEXT}\n{GO_SIGNATURE.replace('nAM=', 'nAQ=')}",
        f"{GO_TEXT}\n{GO_SIGNATURE.replace('—', '-')}",
        f"{GO_TEXT}\n{GO_SIGNATURE}{GO_SIGNATURE.replace('nAM=', 'nAQ=')}",
        f"{GO_TEXT.replace('answer', 'Answer')}\n{GO_SIGNATURE}",
        f"{GO_TEXT}more\n\n{GO_SIGNATURE}",
        f"{GO_TEXT}\n{GO_SIGNATURE}".replace("\n", "\r\n"),
        f"{GO_TEXT}\n{GO_SIGNATURE}trailing\n",
    ],
)
def test_anything_else_is_refused(note: str) -> None:
    with pytest.raises(NoteError):
        open_note(note, [PETER])


@pytest.mark.parametrize(
    "key",
    [
        "",
        "PeterNeumann",
        GO_KEY.replace("c74f20a3", "c74f20a4"),
        GO_KEY.replace("Peter", "Paul"),
        GO_KEY.replace("ARpc", "Ahpc"),
        GO_KEY[:-4],
        GO_KEY.replace("PeterNeumann", "Peter Neumann"),
    ],
)
def test_a_key_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(NoteError):
        VerifierKey.parse(key)


def test_a_checkpoint_is_written_as_the_published_one() -> None:
    origin, size, root, _ = C2SP_CHECKPOINT.split("\n")
    checkpoint = Checkpoint(origin, int(size), base64.b64decode(root))

    assert checkpoint.text == C2SP_CHECKPOINT


def test_a_checkpoint_is_read_as_it_was_signed() -> None:
    checkpoint = Checkpoint(origin_of(EPOCH), 7, bytes(range(32)))
    key = VerifierKey(checkpoint.origin, PRIVATE.public_key().public_bytes_raw())

    assert (
        Checkpoint.open(sign_checkpoint(checkpoint, PRIVATE), [PETER, key])
        == checkpoint
    )


@pytest.mark.parametrize(
    "text",
    [
        "{o}\n7\n",
        "{o}\n07\n{r}\n",
        "{o}\n-7\n{r}\n",
        "{o}\n7\n{r}\n\nmore\n",
        "{o}\n7\nAAAA\n",
        "{o}\n7\n!!!!\n",
        "\n7\n{r}\n",
        "another\n7\n{r}\n",
    ],
)
def test_a_note_that_is_no_checkpoint_is_refused(text: str) -> None:
    origin, root = origin_of(EPOCH), base64.b64encode(bytes(32)).decode()
    key = VerifierKey(origin, PRIVATE.public_key().public_bytes_raw())
    note = sign_note(text.format(o=origin, r=root), origin, PRIVATE)

    with pytest.raises(NoteError):
        Checkpoint.open(note, [key])
