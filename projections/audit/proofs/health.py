"""What the probes say of the log's check, and of the signers."""

from projections.audit.proofs.signer_problems import signers_problem
from projections.health.resource import ProofsHealth
from service.database import Db

LOG_CHECK = """
    SELECT c.position, c.completed_at, c.contradiction
      FROM read.log_check c LEFT JOIN events.head h ON h.epoch = c.epoch
     WHERE h.epoch IS NOT NULL OR c.epoch IS NULL
"""


async def proofs_health(db: Db) -> ProofsHealth:
    checked = await (await db.execute(LOG_CHECK)).fetchone()
    signing = await signers_problem(db)
    if checked is None:
        return ProofsHealth(None, signing)
    position, completed_at, contradiction = checked
    return ProofsHealth(
        {
            "position": position,
            "completed_at": completed_at,
            "contradiction": contradiction,
        },
        signing,
    )
