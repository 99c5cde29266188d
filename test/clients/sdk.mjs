// The checks with @modelcontextprotocol/sdk, a client of the older era.
//
// The argument is JSON: { command, args, env, directory } start the server, or
// { url } is where it is; { revision } is what the session must speak.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { runChecks } from "./lib/checks.mjs";
import { recording } from "./lib/http.mjs";
import { check, finish } from "./lib/report.mjs";

const want = JSON.parse(process.argv[2]);
const { seen, options } = recording();
const transport = want.url
  ? new StreamableHTTPClientTransport(new URL(want.url), options)
  : new StdioClientTransport({ command: want.command, args: want.args, env: want.env });
const client = new Client({ name: "conch-test", version: "1" });

await check(`the session speaks ${want.revision}`, async () => {
  let negotiated;
  // The client tells the transport alone.
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    negotiated = version;
    tell?.(version);
  };
  await client.connect(transport);
  assert.equal(negotiated, want.revision);
});
await runChecks({
  client,
  call: (params, options) => client.callTool(params, undefined, options),
  transport,
  url: want.url,
  seen,
  legacy: true,
  directory: want.directory,
  dropIn: want.dropIn === true,
});
finish();
