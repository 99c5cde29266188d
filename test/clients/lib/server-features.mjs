// What a server offers, and tells unasked.

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { check } from "./report.mjs";

const audioSince = "2025-03-26";
const structureSince = "2025-06-18"; // and links
const stateless = "2026-07-28";

const base64 = (directory, file) => readFileSync(join(directory, file)).toString("base64");

function link(revision, name, more) {
  if (revision < structureSince) return { type: "text", text: `${name}: test://${name}` };
  return { type: "resource_link", uri: `test://${name}`, name, ...more };
}

function sound(revision, directory) {
  if (revision < audioSince) return { type: "text", text: "[a sound, audio/wav]" };
  return { type: "audio", data: base64(directory, "tone.wav"), mimeType: "audio/wav" };
}

export async function checkResults({ client, call, revision, directory }) {
  const image = { type: "image", data: base64(directory, "pixel.png"), mimeType: "image/png" };
  const embedded = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });
  const json = '{"sunny":true,"degrees":21.5}';
  const contents = {
    test_simple_text: [{ type: "text", text: "This is a simple text response for testing." }],
    test_image_content: [image],
    test_audio_content: [sound(revision, directory)],
    test_embedded_resource: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.\n")],
    test_multiple_content_types: [
      { type: "text", text: "Multiple content types test:" },
      image,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}\n'),
    ],
    link: [link(revision, "static-text", { mimeType: "text/plain", description: "A file of text." })],
    structured: [{ type: "text", text: json }],
    structured_rows: [{ type: "text", text: "[1,2]" }],
  };
  const structures = {};
  if (revision >= structureSince) structures.structured = JSON.parse(json);
  if (revision >= stateless) structures.structured_rows = [1, 2];
  // Clients drop a whole list over an outputSchema that they cannot take, and hold
  // each result to one that they can.
  await check("an outputSchema is listed where there is structured content", async () => {
    const { tools } = await client.listTools();
    const types = tools.flatMap(({ name, outputSchema }) => (outputSchema ? [[name, outputSchema.type]] : []));
    const all = { structured: "object", structured_rows: "array" };
    assert.deepEqual(types, Object.keys(structures).map((name) => [name, all[name]]));
  });
  for (const [name, content] of Object.entries(contents)) {
    await check(`${name} is answered with what it emits`, async () => {
      const result = await call({ name, arguments: {} });
      assert.deepEqual(result.content, content);
      assert.ok(!result.isError);
      assert.deepEqual(result.structuredContent, structures[name]);
    });
  }
}

export async function checkLogging({ client, call, host, revision }) {
  const log = async (level) => {
    const params = { name: "test_tool_with_logging", arguments: {} };
    if (revision < stateless) await client.setLoggingLevel(level);
    else params._meta = { "io.modelcontextprotocol/logLevel": level };
    await call(params);
  };
  // Messages may come behind the result. Those that must not come would come before
  // the others.
  await check("a client gets the log messages of the level it asked for, and no others", async () => {
    await log("warning");
    await log("info");
    const messages = await host.awaits("notifications/message", 3);
    const want = ["Tool execution started", "Tool processing data", "Tool execution completed"];
    assert.deepEqual(messages.map(({ level, logger, data }) => ({ level, logger, data })), want.map((data) => ({ level: "info", logger: "script", data })));
  });
}

export async function checkResources({ client, notFound, directory }) {
  await check("resources and templates are listed", async () => {
    const { resources } = await client.listResources();
    assert.deepEqual(resources[0], {
      uri: "test://static-text",
      name: "static-text",
      description: "A file of text.",
      mimeType: "text/plain",
    });
    assert.deepEqual(resources.map(({ uri }) => uri), ["test://static-text", "test://static-binary", "test://watched-resource"]);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.deepEqual(resourceTemplates, [
      { uriTemplate: "test://template/{id}/data", name: "template", description: "Is made of its id.", mimeType: "application/json" },
    ]);
  });
  const contents = {
    "test://static-text": { mimeType: "text/plain", text: readFileSync(join(directory, "static.txt"), "utf8") },
    "test://static-binary": { mimeType: "image/png", blob: base64(directory, "pixel.png") },
    "test://watched-resource": { mimeType: "text/plain", text: "Somebody watches this.\n" },
    "test://template/a%22b/data": {
      mimeType: "application/json",
      text: JSON.stringify({ id: 'a"b', templateTest: true, data: 'Data for ID: a"b' }),
    },
  };
  for (const [uri, content] of Object.entries(contents)) {
    await check(`${uri} can be read`, async () => {
      const result = await client.readResource({ uri });
      assert.deepEqual(result.contents, [{ uri, ...content }]);
    });
  }
  await check("a resource that is not there is an error that names it", async () => {
    await assert.rejects(client.readResource({ uri: "test://nothing" }), (error) => {
      assert.equal(error.code, notFound);
      assert.deepEqual(error.data, { uri: "test://nothing" });
      return true;
    });
  });
}

export async function checkPrompts({ client, host, revision, directory }) {
  const user = (...contents) => contents.map((content) => ({ role: "user", content }));
  const text = (string) => ({ type: "text", text: string });
  await check("prompts are listed with their arguments", async () => {
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts[1], {
      name: "test_prompt_with_arguments",
      description: "Repeats its arguments.",
      arguments: [
        { name: "arg1", description: "The first.", required: true },
        { name: "arg2", description: "The second.", required: true },
      ],
    });
  });
  const prompts = {
    test_simple_prompt: { messages: user(text("This is a simple prompt for testing.")) },
    test_prompt_with_arguments: {
      arguments: { arg1: "one 'quoted'", arg2: "zwei„“" },
      messages: user(text("Prompt with arguments: arg1='one 'quoted'', arg2='zwei„“'")),
    },
    test_prompt_with_embedded_resource: {
      arguments: { resourceUri: "test://example" },
      messages: user(
        { type: "resource", resource: { uri: "test://example", mimeType: "text/plain", text: "Embedded resource content for testing.\n" } },
        text("Please process the embedded resource above."),
      ),
    },
    test_prompt_with_image: {
      messages: user({ type: "image", data: base64(directory, "pixel.png"), mimeType: "image/png" }, text("Please analyze the image above.")),
    },
    of_every_kind: { messages: user(sound(revision, directory), link(revision, "static-text")) },
  };
  for (const [name, { arguments: args, messages }] of Object.entries(prompts)) {
    await check(`the prompt ${name} is what its source makes of it`, async () => {
      const result = await client.getPrompt({ name, arguments: args });
      assert.deepEqual(result.messages, messages);
    });
  }
  await check("a prompt that lacks an argument is an error of the protocol", async () => {
    await assert.rejects(client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "x" } }), { code: -32602 });
  });
}

export async function checkCompletion({ client }) {
  const complete = (ref, name, value) => client.complete({ ref, argument: { name, value } });
  await check("an argument is completed with what the script says", async () => {
    const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
    const { completion } = await complete(ref, "arg1", "par");
    assert.deepEqual(completion, { values: ["paris", "park", "party"], total: 3, hasMore: false });
    assert.deepEqual((await complete(ref, "arg1", "parks")).completion.values, []);
    assert.deepEqual((await complete(ref, "arg2", "")).completion.values, []);
  });
  await check("what there is not cannot be completed", async () => {
    await assert.rejects(complete({ type: "ref/prompt", name: "nonsense" }, "arg1", ""), { code: -32602 });
  });
}

const updated = "notifications/resources/updated";
const watched = "test://watched-resource";
const written = "test://static-text";

export async function checkChanges(session) {
  const { client, revision, host } = session;
  const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  let subscription;
  await check("a client can subscribe to changes", async () => {
    if (revision < stateless) {
      for (const uri of [watched, written]) await client.subscribeResource({ uri });
      return;
    }
    const wanted = { ...lists, resourceSubscriptions: [watched, written] };
    subscription = await client.listen(wanted);
    assert.deepEqual(subscription.honoredFilter, wanted);
  });
  await checkUpdates(session);
  await checkLists(session);
  await check("a client that has ended a subscription is told no more", async () => {
    if (revision < stateless) await client.unsubscribeResource({ uri: watched });
    else {
      await subscription.close();
      subscription = await client.listen({ resourceSubscriptions: [written] });
    }
    const before = host.toldBy(updated).length;
    await changeBoth(session);
    const after = await host.awaits(updated, before + 1);
    assert.deepEqual(after.slice(before).map(({ uri }) => uri), [written]);
  });
}

// Has the script say that something has changed, and then writes to a file.
async function changeBoth({ call, directory }) {
  await call({ name: "change_resources", arguments: {} });
  appendFileSync(join(directory, "static.txt"), "It has another line.\n");
}

async function checkUpdates(session) {
  const { client, host } = session;
  await check("a client is told of changes by the script and of files, and of what it subscribed to alone", async () => {
    await changeBoth(session);
    const told = await host.awaits(updated, 2);
    assert.deepEqual(told.map(({ uri }) => uri), [watched, written]);
    const { contents } = await client.readResource({ uri: written });
    assert.match(contents[0].text, /\nIt has another line\.\n$/);
  });
}

async function checkLists({ call, client, host, directory }) {
  for (const list of ["tools", "prompts"]) {
    await check(`a client is told when a call changes the list of ${list}`, async () => {
      const changed = `notifications/${list}/list_changed`;
      const before = host.toldBy(changed).length;
      await call({ name: `test_trigger_${list.slice(0, -1)}_change`, arguments: {} });
      await host.awaits(changed, before + 1);
    });
  }
  await check("a client is told when somebody changes the list of resources, and gets the new one", async () => {
    const file = join(directory, "resources.json");
    const list = JSON.parse(readFileSync(file, "utf8"));
    list.resources.push({ uri: "test://new", name: "new", file: "static.txt" });
    writeFileSync(`${file}.new`, JSON.stringify(list));
    renameSync(`${file}.new`, file);
    await host.awaits("notifications/resources/list_changed", 1);
    const { resources } = await client.listResources();
    assert.equal(resources.at(-1).uri, "test://new");
  });
}
