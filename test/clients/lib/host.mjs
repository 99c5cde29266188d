// The application around a client, which MCP calls the host: it answers what a
// server asks, and keeps what it was asked and told.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { eventually } from "./report.mjs";

export const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

const asks = { "elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots" };

const tells = [
  "notifications/message",
  "notifications/resources/updated",
  "notifications/resources/list_changed",
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
];

export class Host {
  asked = [];
  told = [];
  // What servers are answered, by method: a value, or a function of the params.
  answers = { "roots/list": () => ({ roots: this.roots }) };

  // Its roots are below a directory, and so are none of the server's own.
  constructor(directory) {
    this.directory = directory;
    this.roots = [];
    this.addRoot("project");
  }

  addRoot(name) {
    const path = join(this.directory, name);
    mkdirSync(path, { recursive: true });
    this.roots = [...this.roots, { uri: pathToFileURL(path).href, name }];
  }

  // Attends to a client that declares capabilities. handle and hear register its
  // handlers.
  attend(capabilities, { handle, hear }) {
    for (const [method, capability] of Object.entries(asks)) {
      if (capabilities[capability]) handle(method, ({ params }) => this.#answer(method, params));
    }
    for (const method of tells) hear(method, ({ params }) => void this.told.push({ method, params }));
  }

  #answer(method, params) {
    this.asked.push({ method, params });
    const answer = this.answers[method];
    return typeof answer === "function" ? answer(params) : answer;
  }

  // What a server asks by a method while something is done.
  async askedDuring(method, body) {
    const before = this.asked.length;
    const result = await body();
    return { result, params: this.asked.slice(before).filter((one) => one.method === method).map(({ params }) => params) };
  }

  toldBy(method) {
    return this.told.filter((one) => one.method === method).map(({ params }) => params);
  }

  // Waits until so many notifications of a method have come.
  async awaits(method, count) {
    await eventually(`${count} times ${method}`, () => this.toldBy(method).length >= count);
    return this.toldBy(method);
  }
}
