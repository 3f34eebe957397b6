"use strict";
// The reverse of packing.py: base64, deflate, byte planes, zigzag differences. Nothing is unpacked before it is wanted,
// so that a page of many megabytes shows its first screen at once.

async function inflate(attachment) {
  const text = document.getElementById("attachment-" + attachment).textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function joinPlanes(planes, begin, length) {
  const joined = new Uint32Array(length);
  for (let plane = 0; plane < 4; plane++) {
    const from = begin + plane * length;
    for (let i = 0; i < length; i++) joined[i] |= planes[from + i] << (8 * plane);
  }
  return joined;
}

function sumUp(codes) {
  const numbers = new Int32Array(codes.length);
  let sum = 0;
  for (let i = 0; i < codes.length; i++) {
    sum += (codes[i] >>> 1) ^ -(codes[i] & 1);
    numbers[i] = sum;
  }
  return numbers;
}

// Return the columns of an attachment by their names.
async function unpack(packed) {
  const planes = await inflate(packed.attachment);
  const columns = {};
  let begin = 0;
  for (const [name, kind, length] of packed.columns) {
    const codes = joinPlanes(planes, begin, length);
    columns[name] = kind === "f" ? new Float32Array(codes.buffer) : sumUp(codes);
    begin += 4 * length;
  }
  return columns;
}
