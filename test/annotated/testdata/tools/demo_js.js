#!/usr/bin/env node
// @ts-check
// @describe Demonstrate how to create a tool in JavaScript.
// It has a description of two lines.
// @option --string! Define a required string property
// @option --kind[a|b] Define an enumeration
// @env LLM_OUTPUT=/dev/stdout The output path

const fs = require("fs");
const given = JSON.parse(fs.readFileSync(0, "utf8"));
fs.appendFileSync(process.env.LLM_OUTPUT, `${given.string} ${process.env.ARG_KIND || "none"}\n`);
