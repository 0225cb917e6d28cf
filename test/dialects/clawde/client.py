#!/usr/bin/env python3
"""Minimal ClawDE daemon client — reads auth token and calls daemon.status."""

import asyncio
import json
import os
import pathlib
import websockets

def auth_token_path() -> pathlib.Path:
    match os.uname().sysname:
        case "Darwin":
            return pathlib.Path.home() / "Library/Application Support/clawd/auth_token"
        case _:
            return pathlib.Path.home() / ".local/share/clawd/auth_token"

async def main():
    token = auth_token_path().read_text().strip()
    uri = "ws://127.0.0.1:4300"

    async with websockets.connect(uri) as ws:
        # Step 1: authenticate
        await ws.send(json.dumps({
            "jsonrpc": "2.0", "id": 1,
            "method": "daemon.auth",
            "params": {"token": token}
        }))
        auth_resp = json.loads(await ws.recv())
        assert auth_resp["result"]["authenticated"], "Auth failed"
        print("Authenticated.")

        # Step 2: call daemon.status
        await ws.send(json.dumps({
            "jsonrpc": "2.0", "id": 2,
            "method": "daemon.status",
            "params": {}
        }))
        status = json.loads(await ws.recv())
        print(json.dumps(status["result"], indent=2))

asyncio.run(main())
