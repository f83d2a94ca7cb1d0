/** Who simulated workers are and where they listen. */
export interface SimPlaces {
  /** Number of workers, 3 when unset. */
  readonly count?: number | undefined;
  /** Number in the name of the first worker, 1 when unset. */
  readonly first?: number | undefined;
  /** Address of the first worker, `127.0.0.1` when unset. */
  readonly host?: string | undefined;
  /** Port of the first worker; 0 or unset gives each any free one. */
  readonly port?: number | undefined;
  /** `ports`: one address, ports counted up (default); `addresses`: one port, the last number of the IPv4 address counted up. */
  readonly spread?: 'ports' | 'addresses' | undefined;
}

/** One simulated worker's name and address. */
export interface SimPlace {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

export function placesOf(places: SimPlaces): readonly SimPlace[] {
  const { count = 3, first = 1, host = '127.0.0.1', port = 0, spread = 'ports' } = places;
  return Array.from({ length: count }, (_, index) => {
    const at =
      spread === 'addresses' ? { host: addressAfter(host, index), port } : { host, port: port && port + index };
    return { name: `sim-${index + first}`, ...at };
  });
}

/** The IPv4 address `steps` after `first`; any other form of address stays as it is. */
export function addressAfter(first: string, steps: number): string {
  const parts = first.split('.');
  if (parts.length !== 4) return first;
  let number = parts.reduce((sum, part) => sum * 256 + Number(part), 0) + steps;
  const out: number[] = [];
  for (let i = 0; i < 4; i++) {
    out.unshift(number % 256);
    number = Math.floor(number / 256);
  }
  return out.join('.');
}
