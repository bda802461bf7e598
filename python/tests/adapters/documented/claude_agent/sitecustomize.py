"""Has the documentation's program run with the stand-in for Claude Code, which calls the tool once."""

import os
import sys
import tempfile
from pathlib import Path

from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

cli = Path(tempfile.mkdtemp(prefix="countersign-cli-")) / "claude"
cli.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{Path(__file__).parents[2] / "claude_cli.py"}"\n')
cli.chmod(0o755)
os.environ.update(DESK_SERVER="shop", DESK_CALLS='[{"order_id": 1042, "amount": 49.0}]')
SubprocessCLITransport._find_cli = lambda self: str(cli)  # type: ignore[method-assign]
