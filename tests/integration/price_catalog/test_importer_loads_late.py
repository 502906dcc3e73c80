"""Loading the importer does not load genai-prices."""

import subprocess
import sys
from pathlib import Path

import service


def test_loading_the_importer_does_not_load_the_package() -> None:
    importer = "service.price_catalog.imports.genai_prices.importer"
    check = f"import sys, {importer}; sys.exit('genai_prices' in sys.modules)"
    root = Path(service.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", check], cwd=root, check=False)
    assert done.returncode == 0
