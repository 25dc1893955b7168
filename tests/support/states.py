"""State machines, executed by moto's interpreter of the Amazon States Language: nothing of it is ours but the functions."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

Function = Callable[[str, dict[str, Any]], Any]
"""Of the function's name and what the state sends: returns its answer, or raises."""
_SETTINGS = {"stepfunctions": {"execute_state_machine": True}}
_ROLE = "arn:aws:iam::000000000000:role/r"
_REGION = {"region_name": "us-east-1", "aws_access_key_id": "none", "aws_secret_access_key": "none"}


class _Functions:
    def __init__(self, call: Function) -> None:
        self._call = call

    def invoke(self, **sent: Any) -> dict[str, Any]:
        try:
            answer = self._call(sent["FunctionName"].rpartition("function:")[2], json.loads(sent["Payload"]))
        except Exception as exc:
            said = {"errorType": getattr(exc, "code", "") or type(exc).__name__, "errorMessage": str(exc)}
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(said).encode()), "StatusCode": 200}
        return {"Payload": io.BytesIO(json.dumps(answer).encode()), "StatusCode": 200, "ExecutedVersion": "$LATEST"}


def executed(machine: dict[str, Any], call: Function, given: Any = None) -> tuple[str, list[str]]:
    """Return how an execution ended, and the tasks that it entered, in order."""
    import boto3
    from moto import mock_aws
    from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils

    with mock_aws(config=_SETTINGS), patch.object(lambda_eval_utils, "boto_client_for", lambda **_: _Functions(call)):
        client = boto3.client("stepfunctions", **_REGION)
        made = client.create_state_machine(name="m", definition=json.dumps(machine), roleArn=_ROLE)
        begun = client.start_execution(stateMachineArn=made["stateMachineArn"], input=json.dumps(given or {}))
        arn, until = begun["executionArn"], time.monotonic() + 60
        while (told := client.describe_execution(executionArn=arn))["status"] == "RUNNING" and time.monotonic() < until:
            time.sleep(0.02)
        history = client.get_execution_history(executionArn=arn, maxResults=1000)["events"]
    entered = [each["stateEnteredEventDetails"]["name"] for each in history if each["type"] == "TaskStateEntered"]
    if told["status"] != "SUCCEEDED" and told.get("error") != "Compensated":
        raise AssertionError(told.get("error"), told.get("cause"), entered)
    return told["status"], entered


class Loop:
    """An event loop in a thread, for functions that are called from the interpreter's threads."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, job: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(job, self._loop).result(60)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
