"""Other recorders on the small event of benchmarks/boundary.py: microseconds to record one, and to replay one.

    PYTHON benchmarks/peers.py          prints JSON; PYTHON is one that has (some of) vcrpy requests agentrr temporalio

Each does what it is made for: vcrpy records an HTTP exchange with a local server (its time without a cassette
taken off), agentrr a tool call (with its fsync for each event), Temporal's replayer takes a hand-built
history of activities. What is not installed is named instead of measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

EVENTS = 100
TRIES = 3
POSE = ([0.1, 0.2, 0.3], [0.0, 0.0, 1.0, 0.0])


def best(action: Callable[[], Any]) -> float:
    """Microseconds an event, the best of a few tries."""
    times = []
    for _ in range(TRIES):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return 1e6 * min(times) / EVENTS


def agentrr_costs(folder: Path) -> tuple[float, float]:
    from agentrr_sdk.record import record
    from agentrr_sdk.replay import replay
    from agentrr_sdk.tools.registry import tool

    pose = tool(lambda name: POSE)
    goto = tool(lambda position, quaternion: True)

    def program() -> None:
        for _ in range(EVENTS // 2):
            goto(*pose("cube"))

    logs: list[Path] = []

    def recorded() -> None:
        logs.append(folder / f"{len(logs)}.jsonl")
        record("small", program, log_path=logs[-1])

    return best(recorded), best(lambda: replay(logs[0], program))


class _Robot(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = json.dumps(POSE).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Silent."""


def vcrpy_costs(folder: Path) -> tuple[float, float]:
    import requests
    import vcr

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Robot)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/goto"
    matching = vcr.VCR(match_on=["method", "uri", "body"])

    def program() -> None:
        with requests.Session() as session:
            for number in range(EVENTS):
                session.post(url, json=[number, *POSE]).json()

    count = iter(range(TRIES))

    def recorded() -> None:
        with matching.use_cassette(str(folder / f"{next(count)}.yaml"), record_mode="once"):
            program()

    def replayed() -> None:
        with matching.use_cassette(str(folder / "0.yaml"), record_mode="none"):
            program()

    plain = best(program)
    costs = best(recorded) - plain, best(replayed)
    server.shutdown()
    return costs


def temporalio_costs(folder: Path) -> tuple[None, float]:
    from temporalio.client import WorkflowHistory
    from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

    history = WorkflowHistory.from_json("small", {"events": _history()})
    replayer = Replayer(workflows=[Small], workflow_runner=UnsandboxedWorkflowRunner())
    return None, best(lambda: asyncio.run(replayer.replay_workflow(history)))


if importlib.util.find_spec("temporalio") is not None:
    from temporalio import workflow

    @workflow.defn
    class Small:
        """The small event as a workflow; Temporal wants it at a module's top level."""

        @workflow.run
        async def run(self) -> None:
            for _ in range(EVENTS):
                await workflow.execute_activity("goto", args=list(POSE), start_to_close_timeout=timedelta(seconds=9))


def _history() -> list[dict[str, Any]]:
    """What Temporal's server would have recorded of `Small`."""
    events: list[dict[str, Any]] = []

    def add(kind: str, **attributes: Any) -> int:
        name = "".join(part.capitalize() for part in kind.split("_"))
        number = len(events) + 1
        events.append(
            {
                "eventId": str(number),
                "eventTime": "2026-01-01T00:00:00Z",
                "eventType": f"EVENT_TYPE_{kind}",
                f"{name[0].lower()}{name[1:]}EventAttributes": attributes,
            }
        )
        return number

    def task() -> int:
        scheduled = add("WORKFLOW_TASK_SCHEDULED", taskQueue={"name": "q"}, startToCloseTimeout="10s", attempt=1)
        started = add("WORKFLOW_TASK_STARTED", scheduledEventId=str(scheduled), identity="x", requestId="r")
        return add("WORKFLOW_TASK_COMPLETED", scheduledEventId=str(scheduled), startedEventId=str(started))

    add(
        "WORKFLOW_EXECUTION_STARTED",
        workflowType={"name": "Small"},
        taskQueue={"name": "q"},
        workflowTaskTimeout="10s",
        originalExecutionRunId="r",
        firstExecutionRunId="r",
        attempt=1,
    )
    for number in range(EVENTS):
        scheduled = add(
            "ACTIVITY_TASK_SCHEDULED",
            activityId=str(number + 1),
            activityType={"name": "goto"},
            taskQueue={"name": "q"},
            startToCloseTimeout="9s",
            workflowTaskCompletedEventId=str(task()),
        )
        started = add("ACTIVITY_TASK_STARTED", scheduledEventId=str(scheduled), requestId="r", attempt=1)
        add("ACTIVITY_TASK_COMPLETED", scheduledEventId=str(scheduled), startedEventId=str(started))
    add("WORKFLOW_EXECUTION_COMPLETED", workflowTaskCompletedEventId=str(task()))
    return events


PEERS: dict[str, tuple[str, Callable[[Path], tuple[float | None, float]]]] = {
    "vcrpy": ("vcr", vcrpy_costs),
    "agentrr": ("agentrr_sdk", agentrr_costs),
    "temporalio's replayer": ("temporalio", temporalio_costs),
}


def main() -> None:
    costs: dict[str, float] = {}
    for name, (module, measure) in PEERS.items():
        if importlib.util.find_spec(module) is None:
            print(f"{name} is not installed under {sys.executable}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
            record, replay = measure(Path(folder))
        if record is not None:
            costs[f"us per small event, recorded by {name}"] = record
        costs[f"us per small event, replayed by {name}"] = replay
    print(json.dumps(costs, indent=2))


if __name__ == "__main__":
    import peers  # agentrr and Temporal look their entry points up by module

    peers.main()
