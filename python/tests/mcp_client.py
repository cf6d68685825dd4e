"""A client of kir mcp, by the package mcp of PyPI: test_mcp.py runs it in an environment that has the package."""

import asyncio
import json
import pathlib
import subprocess
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult


async def allow(context, params):
    return ElicitResult(action="accept", content={"allow": True})


async def use(server) -> dict:
    """Use every kind of thing that kir serves, and return what came of it."""
    heard = []

    async def progress(done, total, message):
        heard.append((done, message))

    async with Client(server, elicitation_callback=allow) as client:
        tools = await client.list_tools()
        resources = await client.list_resources()
        document = await client.read_resource("kir://docs/start")
        wrong = await client.call_tool("check", {"problem": "../bar.yaml"})
        run = await client.call_tool("sample", {"problem": "bar.yaml", "draws": 100, "effort": 0.1}, progress_callback=progress)
        program = await client.call_tool("score", {"problem": "program.yaml", "table_text": "recipe,Gin,Rum\na,10,10\n"})
        name = run.structured_content["run"]
        report = await client.read_resource(f"kir://runs/{name}/report.txt")
    return {
        "tools": sorted(t.name for t in tools.tools), "resources": sorted(str(r.uri) for r in resources.resources),
        "document": document.contents[0].text[:7], "wrong": wrong.is_error, "run": name, "text": run.content[0].text,
        "best": len(run.structured_content["best"]), "program": program.is_error, "program_text": program.content[0].text,
        "report": report.contents[0].text[:5], "progress": [m for _, m in heard], "grows": all(a[0] < b[0] for a, b in zip(heard, heard[1:])),
    }


async def main(kir: str, folder: str) -> list:
    """Use kir on standard input and output, and by HTTP."""
    results = [await use(StdioServerParameters(command=kir, args=["mcp", folder]))]
    served = subprocess.Popen([kir, "mcp", folder, "--http"], stderr=subprocess.PIPE, text=True)
    try:
        url = served.stderr.readline().split()[-1]
        token = served.stderr.readline().split()[-1]
        async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + token}, timeout=60) as http:
            results.append(await use(streamable_http_client(url, http_client=http)))
        async with httpx2.AsyncClient() as http:
            results.append((await http.post(url, content=pathlib.Path(__file__).read_bytes())).status_code)
    finally:
        served.terminate()
        results.append(served.wait(20))
    return results


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
