// The checks with @modelcontextprotocol/sdk, a client of the older era.
//
// The argument is JSON: { command, args, env, directory } start the server, or
// { url } is where it is; { revision } is what the session must speak. { features }
// asks for the checks with the fixture of the official suite.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

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
  const client = new Client({ name: "conch-test", version: "1" }, { capabilities });
  let negotiated;
  // The client tells the transport alone.
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    negotiated = version;
    tell?.(version);
  };
  return { client, transport, negotiated: () => negotiated };
}

function sessionOf({ client, transport, negotiated }) {
  const { revision, url, directory } = want;
  return {
    client, transport, negotiated, revision, url, directory, seen,
    call: (params, options) => client.callTool(params, undefined, options),
    notFound: -32002,
    legacy: true,
    dropIn: want.dropIn === true,
  };
}

async function accepted() {
  const session = sessionOf(connectable());
  await check(`the session speaks ${want.revision}`, async () => {
    await session.client.connect(session.transport);
    assert.equal(session.negotiated(), want.revision);
  });
  await runChecks(session);
}

// A client registers a handler by the schema of what it takes.
const schemas = Object.fromEntries(
  [
    ElicitRequestSchema,
    CreateMessageRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    ResourceUpdatedNotificationSchema,
    ResourceListChangedNotificationSchema,
    ToolListChangedNotificationSchema,
    PromptListChangedNotificationSchema,
  ].map((schema) => [schema.shape.method.value, schema]),
);

async function connect(capabilities) {
  const host = new Host(want.directory);
  const session = { ...sessionOf(connectable(capabilities)), host };
  host.attend(capabilities, {
    handle: (method, handler) => session.client.setRequestHandler(schemas[method], handler),
    hear: (method, handler) => session.client.setNotificationHandler(schemas[method], handler),
  });
  await session.client.connect(session.transport);
  return session;
}

await (want.features ? checkFeatures(connect) : accepted());
finish();
