// SPDX-License-Identifier: BSD-2-Clause
/*
 * node speedscope.js FOLDER FILE: reads a file by speedscope's own importer, and prints what it found as
 * JSON: a list of {name, calls: {frame: count}, ns: {frame: total}}, one for each row.
 *
 * FOLDER is the npm package. All there is in it is the program for browsers, one file; it is run here with
 * nothing that could be drawn on, and its importer handed out.
 */
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

function bundle(folder) {
	const release = path.join(folder, "dist", "release");
	const file = fs.readdirSync(release).find((name) => /^speedscope.*\.js$/.test(name));

	return fs.readFileSync(path.join(release, file), "utf8");
}

// stands for whatever a browser has: can be called, constructed, and asked for anything
function nothing() {
	const it = new Proxy(function () {}, {
		get: (_, name) => (name === Symbol.toPrimitive ? () => "" : name === "length" ? 0 : it),
		set: () => true,
		apply: () => it,
		construct: () => it,
	});

	return it;
}

function importer(source) {
	const found = source.match(/async function ([\w$]+)\([^)]*\)\{return\(await [\w$]+\)\.importProfilesFromArrayBuffer\(/);
	const begin = source.indexOf("(()=>{") + "(()=>{".length;
	const context = {
		TextDecoder, TextEncoder, URL, URLSearchParams, Promise, Uint8Array, ArrayBuffer, DataView,
		setTimeout: () => 0, clearTimeout: () => 0, performance, navigator: {userAgent: "", platform: ""},
		console: {log() {}, warn() {}, error() {}, debug() {}, time() {}, timeEnd() {}},
	};

	if (!found)
		throw new Error("this version of speedscope has no importProfilesFromArrayBuffer()");
	context.window = context.self = context;
	for (const name of ["document", "localStorage", "location", "history", "indexedDB"])
		context[name] = nothing();
	context.addEventListener = context.requestAnimationFrame = context.matchMedia = nothing();
	vm.createContext(context);
	try {
		vm.runInContext(source.slice(0, begin) + "globalThis.handedOut=" + found[1] + ";" + source.slice(begin),
				context);
	} catch (error) {
		if (!context.handedOut)
			throw error; // drawing is what may fail
	}
	return context.handedOut;
}

function told(profile) {
	const row = {name: profile.getName(), calls: {}, ns: {}};
	const open = [];

	profile.forEachCall((node, value) => {
		row.calls[node.frame.name] = (row.calls[node.frame.name] || 0) + 1;
		open.push(value);
	}, (node, value) => {
		// speedscope counts in microseconds
		row.ns[node.frame.name] = (row.ns[node.frame.name] || 0) + Math.round((value - open.pop()) * 1000);
	});
	return row;
}

async function main() {
	const data = fs.readFileSync(process.argv[3]);
	const copy = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
	const group = await importer(bundle(process.argv[2]))(path.basename(process.argv[3]), copy);

	console.log(JSON.stringify(group.profiles.map(told)));
}

main().catch((error) => {
	console.error(String(error && error.stack || error));
	process.exit(1);
});
