/** Counts the bytes that are copied or made into text while something runs. */
const places = [
  [Uint8Array.prototype, 'set', (_, [source]) => source.byteLength ?? source.length],
  [Uint8Array.prototype, 'slice', (made) => made.byteLength],
  [Uint8Array.prototype, 'copyWithin', (made) => made.byteLength],
  [Buffer.prototype, 'copy', (count) => count],
  [Buffer.prototype, 'toString', (text) => text.length],
  [Buffer.prototype, 'latin1Slice', (text) => text.length],
  [Buffer.prototype, 'utf8Slice', (text) => text.length],
  [Buffer, 'concat', (made) => made.byteLength],
  // Of an ArrayBuffer it is a view.
  [Buffer, 'from', (made, [source]) => (source instanceof ArrayBuffer ? 0 : made.byteLength)],
];

/** The copies of a synchronous piece of work, each as its bytes. */
export function copiesOf(work) {
  const copies = [];
  // A method that is built from another one counts once.
  let depth = 0;
  const real = places.map(([owner, name]) => Object.getOwnPropertyDescriptor(owner, name));
  for (const [index, [owner, name, sizeOf]] of places.entries()) {
    const whole = owner[name];
    if (typeof whole !== 'function') continue;
    const counted = function (...args) {
      depth += 1;
      try {
        const result = Reflect.apply(whole, this, args);
        if (depth === 1) copies.push(sizeOf(result, args));
        return result;
      } finally {
        depth -= 1;
      }
    };
    Object.defineProperty(owner, name, { configurable: true, writable: true, value: counted });
    real[index] ??= null;
  }
  try {
    work();
  } finally {
    for (const [index, [owner, name]] of places.entries()) {
      if (real[index] === null) delete owner[name];
      else if (real[index] !== undefined) Object.defineProperty(owner, name, real[index]);
    }
  }
  return copies;
}
