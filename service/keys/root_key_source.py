"""Open the root keys that the settings name."""

import shlex

from service.keys.config import KeyConfig
from service.keys.key_program import ExecRootKeys
from service.keys.root_key import KeyRingError, LocalRootKeys, RootKeys


async def outside_root_keys(config: KeyConfig, wait_s: float) -> RootKeys | None:
    """Return the root keys from outside the data folder, where settings name some.

    ``wait_s`` is how long a key program may take each time.

    A file may be a credential of systemd: ``--root-keys-file %d/root-keys``.

    :raises KeyRingError: the settings contradict each other, or the keys are unusable
    :raises RootKeyUnavailableError: the key program doesn't answer
    """
    given = [config.root_keys, config.root_keys_file, config.root_keys_program]
    if sum(each is not None for each in given) > 1:
        raise KeyRingError(
            "root keys come from a variable, a file or a program, not from several"
        )
    if config.root_keys is not None:
        return LocalRootKeys.parse(config.root_keys)
    if config.root_keys_file is not None:
        try:
            return LocalRootKeys.from_credential(config.root_keys_file)
        except OSError as error:
            raise KeyRingError(
                f"{config.root_keys_file} can't be read: {error.strerror}"
            ) from None
    if config.root_keys_program is not None:
        command = shlex.split(config.root_keys_program)
        if not command:
            raise KeyRingError("the key program's command is empty")
        return await ExecRootKeys.start(command, deadline_s=wait_s)
    return None
