/** Releases of the Shepherd Model Gateway that the parity suite runs, as wheels of the PyPI package `smg`. */
export const SMG_VERSIONS = ['1.11.0', '1.13.0'] as const;

export type SmgVersion = (typeof SMG_VERSIONS)[number];

/** Hashes of the wheels for manylinux_2_17 x86_64, macosx_11_0 arm64 and macosx_10_12 x86_64; there are no others. */
const WHEELS: Readonly<Record<SmgVersion, readonly string[]>> = {
  '1.11.0': [
    'f5c0e8f73f5770009fdab204256e7ce96dbed0ac434a4d4e27f59baf4e675831',
    '36868ac0741f9410a9b03118257e5dd0d6b5aafcaf9e57e1ee9d19c0f9ced9b1',
    'eb8b8735651135db54ca7a99a1bc562c9b64a26eabd0dca279682acb90ab09d4',
  ],
  '1.13.0': [
    'cfae8171dac68a74b4822263b1864fa79952992ee472a25ba7266ccd200399b4',
    '34ccc49390d1f163a3ef61f6d0bf7df5ce97de191ed94069660582156ce4ea26',
    'ad3630e5e2ddc0a0b8cfce26b91b468633ab80413374f983ace9a114dba5aad5',
  ],
};

/** The release as a pip requirement: these bytes or nothing. */
export function smgRequirement(version: SmgVersion): string {
  return `smg==${version} ${WHEELS[version].map((hash) => `--hash=sha256:${hash}`).join(' ')}\n`;
}
