"""Why no checkpoints are signed, as the signers leave it for ``/readyz`` and doctor."""

from typing import Final

from service.database import Db

# A signer confirms its problem every few seconds.
CURRENT: Final = """
    SELECT string_agg(DISTINCT problem, '; ' ORDER BY problem)
      FROM read.signer
     WHERE problem IS NOT NULL
       AND noticed_at > now() - interval '1 minute'
"""
NOTE: Final = """
    INSERT INTO read.signer AS s (public_key, problem)
    VALUES (%s, %s)
        ON CONFLICT (public_key) DO UPDATE
       SET problem = excluded.problem, noticed_at = now()
     WHERE s.problem IS NOT NULL OR excluded.problem IS NOT NULL
"""


async def signers_problem(db: Db) -> str | None:
    """Return what keeps checkpoints from being signed now; None for nothing."""
    row = await (await db.execute(CURRENT)).fetchone()
    return row[0] if row else None


async def note_problem(db: Db, public_key: str, problem: str | None) -> None:
    """Keep what a signer has met with; None once it signs."""
    await db.execute(NOTE, [public_key, problem])
