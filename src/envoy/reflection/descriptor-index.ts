import { DESCRIBED_FILES, type DescribedFile } from '../../gen/grpc/reflection/descriptors.ts';

/** Look-up of our .proto files, as gRPC reflection asks for them. */
export class DescriptorIndex {
  /** Full names of all services. */
  readonly services: readonly string[];
  readonly #byName = new Map<string, DescribedFile>();
  readonly #bySymbol = new Map<string, DescribedFile>();

  constructor(files: readonly DescribedFile[] = DESCRIBED_FILES) {
    this.services = files.flatMap((file) => file.services);
    for (const file of files) {
      this.#byName.set(file.name, file);
      for (const symbol of file.symbols) this.#bySymbol.set(symbol, file);
    }
  }

  /** Serialized descriptors of a file and of all that it imports, itself first; undefined when there is none. */
  fileNamed(name: string): Buffer[] | undefined {
    return this.#withImports(this.#byName.get(name));
  }

  /** The same for the file that declares a message, enum, service or method. */
  fileDeclaring(symbol: string): Buffer[] | undefined {
    return this.#withImports(this.#bySymbol.get(symbol));
  }

  #withImports(file: DescribedFile | undefined): Buffer[] | undefined {
    if (file === undefined) return undefined;
    const found = new Set([file]);
    // A set is walked in order of insertion, those that are added on the way included.
    for (const { imports } of found) {
      for (const name of imports) {
        const imported = this.#byName.get(name);
        if (imported !== undefined) found.add(imported);
      }
    }
    return Array.from(found, ({ base64 }) => Buffer.from(base64, 'base64'));
  }
}
