// One number in every type: the command casts it, and casts the result back to DOUBLE.

const FLOAT8 = [["saturate", ["--saturate"]], ["no saturate", ["--no-saturate"]]];
const ROUNDED = ["up", "down", "nearest"].map((mode) => [`round_mode ${mode}`, ["--round-mode", mode]]);
// The types of Cast: the bits of sign, exponent and mantissa of floats, the bits of the others, and the options that matter.
const TYPES = [
  ["DOUBLE", [1, 11, 52]], ["FLOAT", [1, 8, 23]], ["FLOAT16", [1, 5, 10]], ["BFLOAT16", [1, 8, 7]],
  ["FLOAT8E4M3FN", [1, 4, 3], FLOAT8], ["FLOAT8E4M3FNUZ", [1, 4, 3], FLOAT8], ["FLOAT8E5M2", [1, 5, 2], FLOAT8], ["FLOAT8E5M2FNUZ", [1, 5, 2], FLOAT8],
  ["FLOAT8E8M0", [0, 8, 0], ROUNDED], ["FLOAT6E2M3", [1, 2, 3]], ["FLOAT6E3M2", [1, 3, 2]], ["FLOAT4E2M1", [1, 2, 1]],
  ...[64, 32, 16, 8, 4, 2].flatMap((bits) => [[`INT${bits}`, [bits]], [`UINT${bits}`, [bits]]]),
  ["BOOL", [8]],
];

async function castNumber() {
  const text = chosen.values.cast.number;
  const input = inputOf(text.trim());
  if (!input) return outcome.replaceChildren(el("ul", { class: "errors" }, el("li", {}, `${text}: is not a number`)));
  const common = optionsOf("cast", { ...chosen.values.cast, number: "" });
  const casts = TYPES.flatMap(([type, layout, variants = [["", []]]]) => variants.map(([variant, more]) => ({ type, layout, variant, more })));
  await run(async (signal) => {
    const results = await castEach(casts, input, common, signal);
    if (results) showBits(results);
    return results;
  });
}

async function castEach(casts, input, common, signal) {
  const there = await bytesAfter(casts.map(({ type, more }) => ({
    args: ["cast", "in.npy", "-o", "out.npy", "--to", type, ...more, ...common], files: [{ name: "in.npy", file: input }],
  })), signal);
  if (!there) return null;
  // The value of a result is read from its cast to DOUBLE, which is exact, or for integers of 64 bits to themselves.
  const results = casts.map((cast, index) => ({ ...cast, ...there[index], file: there[index].bytes }));
  const known = results.filter(({ file }) => file);
  const back = await bytesAfter(known.map(({ type, file }) => ({
    args: ["cast", "in.npy", "-o", "out.npy", "--from", type, "--to", type.endsWith("INT64") ? type : "DOUBLE", "--undefined", "fold"], files: [{ name: "in.npy", file: new Blob([file]) }],
  })), signal);
  if (!back) return null;
  known.forEach((result, index) => { result.value = valueOf(result.type, back[index].bytes); });
  return results;
}

// The results of some runs, each with the bytes of the first file that it wrote.
async function bytesAfter(runs, signal) {
  const results = await runCommand(runs, signal);
  const all = [];
  for (const result of results ?? []) all.push({ ...result, bytes: result.written[0] && new Uint8Array(await (await result.written[0].blob()).arrayBuffer()) });
  return results && all;
}

// A .npy file of one number: an integer that DOUBLE cannot represent is one of 64 bits.
function inputOf(text) {
  const word = { inf: Infinity, "+inf": Infinity, "-inf": -Infinity, nan: NaN }[text.toLowerCase()];
  const value = word ?? (text === "" ? NaN : Number(text));
  if (word === undefined && Number.isNaN(value)) return null;
  const data = new DataView(new ArrayBuffer(8));
  let type = "<f8";
  if (/^[+-]?\d+$/.test(text) && !Number.isSafeInteger(value)) {
    const exact = BigInt(text);
    if (exact >= -(2n ** 63n) && exact < 2n ** 63n) type = "<i8";
    else if (exact >= 0n && exact < 2n ** 64n) type = "<u8";
    if (type !== "<f8") data.setBigUint64(0, BigInt.asUintN(64, exact), true);
  }
  if (type === "<f8") data.setFloat64(0, value, true);
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (1,), }`.padEnd(117) + "\n";
  return new Blob([new Uint8Array([0x93, ...new TextEncoder().encode("NUMPY"), 1, 0, 118, 0, ...new TextEncoder().encode(header), ...new Uint8Array(data.buffer)])]);
}

// The bytes of the element of a .npy file.
const elementOf = (file) => file.subarray(10 + new DataView(file.buffer, file.byteOffset).getUint16(8, true));

function valueOf(type, file) {
  if (!file) return "";
  const bits = elementOf(file);
  const data = new DataView(bits.buffer, bits.byteOffset);
  if (type === "INT64") return String(data.getBigInt64(0, true));
  if (type === "UINT64") return String(data.getBigUint64(0, true));
  const value = data.getFloat64(0, true);
  return Object.is(value, -0) ? "-0" : String(value);
}

function showBits(results) {
  const rows = results.map(({ type, layout, variant, file, value, errors }) => {
    const note = errors.trim().replace(/^recast: in\.npy: (1 element is undefined, the first at index 0: )?/, "").replace(/; --undefined fold.*$|; --contested.*$/, "");
    return el("tr", { id: `cast-${type}${variant && `-${variant.replace(" ", "-")}`}` }, el("td", {}, name(type)),
      file ? el("td", { class: "mono" }, value) : el("td", { class: "note bad" }, note),
      el("td", {}, variant), el("td", { class: "mono" }, file ? bitsOf(file, layout) : null));
  });
  result.append(el("header", {}, el("h2", {}, "The number in every type"),
    el("p", {}, "Bits of floats: ", el("span", { class: "sign" }, "sign"), ", ", el("span", { class: "exponent" }, "exponent"), ", mantissa. A value is stated exactly as a DOUBLE.")),
  table({ class: "bits" }, [["Type"], ["Value"], ["Attribute"], ["Bits"]], rows));
  focusable(result);
  window.addEventListener("resize", () => focusable(result), { signal: view.signal });
}

function bitsOf(file, layout) {
  const all = [...elementOf(file)].reverse().map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const total = layout.reduce((sum, count) => sum + count, 0);
  const bits = all.slice(-total);
  if (layout.length === 1) return bits.replace(/(?<=.)(?=(.{8})+$)/g, " ");
  const [sign, exponent] = layout;
  const parts = [["sign", bits.slice(0, sign)], ["exponent", bits.slice(sign, sign + exponent)], ["", bits.slice(sign + exponent)]];
  return parts.filter(([, part]) => part).map(([style, part]) => [el("span", { class: style || null }, part), " "]);
}
