// The checks with @modelcontextprotocol/client, which speaks both eras.
//
// The argument is JSON: { command, args, env, directory } start the server, or
// { url } is where it is; { negotiation, versions } say what the client wants,
// { revision } what must come of it, or { refused } that nothing may.

import assert from "node:assert/strict";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { runChecks } from "./lib/checks.mjs";
import { recording } from "./lib/http.mjs";
import { check, finish } from "./lib/report.mjs";

const want = JSON.parse(process.argv[2]);

const { seen, options } = recording();

function connectable() {
  const transport = want.url
    ? new StreamableHTTPClientTransport(new URL(want.url), options)
    : new StdioClientTransport({ command: want.command, args: want.args, env: want.env });
  const client = new Client(
    { name: "conch-test", version: "1" },
    { versionNegotiation: { mode: want.negotiation }, supportedProtocolVersions: want.versions },
  );
  return { client, transport };
}

async function refused() {
  await check("the connection is refused", async () => {
    const { client, transport } = connectable();
    await assert.rejects(client.connect(transport), /version/i);
    await transport.close();
  });
}

async function accepted() {
  const { client, transport } = connectable();
  await check(`the session speaks ${want.revision}`, async () => {
    await client.connect(transport);
    assert.equal(client.getNegotiatedProtocolVersion(), want.revision);
  });
  const session = {
    client,
    call: (params, options) => client.callTool(params, options),
    transport,
    url: want.url,
    seen,
    legacy: want.revision < "2026",
    directory: want.directory,
    dropIn: want.dropIn === true,
  };
  if (want.brief) await client.close();
  else await runChecks(session);
}

await (want.refused ? refused() : accepted());
finish();
