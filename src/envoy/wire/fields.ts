/** Fields of a Struct; their values are whatever the sender put there. */
export type Fields = Readonly<Record<string, unknown>>;
