// The checks with @modelcontextprotocol/client, which speaks both eras.
//
// The argument is JSON: { command, args, env, directory } start the server, or
// { url } is where it is; { negotiation, versions } say what the client wants,
// { revision } what must come of it, or { refused } that nothing may. { features }
// asks for the checks with the fixture of the official suite.

import assert from "node:assert/strict";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { runChecks } from "./lib/checks.mjs";
import { checkFeatures } from "./lib/features.mjs";
import { Host } from "./lib/host.mjs";
import { recording } from "./lib/http.mjs";
import { check, finish } from "./lib/report.mjs";

const want = JSON.parse(process.argv[2]);

const { seen, options } = recording();

function connectable(capabilities) {
  const transport = want.url
    ? new StreamableHTTPClientTransport(new URL(want.url), options)
    : new StdioClientTransport({ command: want.command, args: want.args, env: want.env });
  const client = new Client(
    { name: "conch-test", version: "1" },
    { capabilities, versionNegotiation: { mode: want.negotiation }, supportedProtocolVersions: want.versions },
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

function sessionOf({ client, transport }) {
  const { revision, url, directory } = want;
  return {
    client, transport, revision, url, directory, seen,
    call: (params, options) => client.callTool(params, options),
    negotiated: () => client.getNegotiatedProtocolVersion(),
    // It has one code for what was another one in the older era.
    notFound: -32602,
    legacy: revision < "2026",
    dropIn: want.dropIn === true,
  };
}

async function accepted() {
  const session = sessionOf(connectable());
  await check(`the session speaks ${want.revision}`, async () => {
    await session.client.connect(session.transport);
    assert.equal(session.negotiated(), want.revision);
  });
  if (want.brief) await session.client.close();
  else await runChecks(session);
}

async function connect(capabilities) {
  const host = new Host(want.directory);
  const session = { ...sessionOf(connectable(capabilities)), host };
  host.attend(capabilities, {
    handle: (method, handler) => session.client.setRequestHandler(method, handler),
    hear: (method, handler) => session.client.setNotificationHandler(method, handler),
  });
  await session.client.connect(session.transport);
  return session;
}

if (want.features) await checkFeatures(connect);
else await (want.refused ? refused() : accepted());
finish();
