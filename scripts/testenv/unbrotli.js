// Decompresses a Brotli file: node unbrotli.js FILE [OUT]; without OUT to standard output.
const fs = require("node:fs");
const { pipeline } = require("node:stream");
const { createBrotliDecompress } = require("node:zlib");

const [from, to] = process.argv.slice(2);
const out = to ? fs.createWriteStream(to) : process.stdout;
pipeline(fs.createReadStream(from), createBrotliDecompress(), out, (err) => {
  if (err) throw err;
});
