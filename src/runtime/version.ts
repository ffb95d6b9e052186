import manifest from '../../package.json' with { type: 'json' }

/** The release, as package.json names it. */
export const { version } = manifest
