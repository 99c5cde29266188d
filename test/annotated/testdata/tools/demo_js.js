#!/usr/bin/env node
// @ts-check
// @describe Show what a program in JavaScript is given.
// It has a description of two lines.
// @option --string! A text that has to be there
// @option --kind[a|b] One of two
// @env LLM_OUTPUT=/dev/stdout Where the result goes

const fs = require("fs");
const given = JSON.parse(fs.readFileSync(0, "utf8"));
fs.appendFileSync(process.env.LLM_OUTPUT, `${given.string} ${process.env.ARG_KIND || "none"}\n`);
