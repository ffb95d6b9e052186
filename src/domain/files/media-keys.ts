import { randomBytes } from 'node:crypto'

// Keys of media files in the store.

/** Random key below the owner's prefix, which deletions use. */
export const newMediaKey = ({ id }: { id: string }): string => `${id}/${randomBytes(16).toString('hex')}`

// File names below the key of a media file.

export const folderOf = (key: string): string => `${key}/`
export const fileOf = (key: string): string => `${key}/file`
export const partsFolderOf = (key: string): string => `${key}/parts/`
/** The key contains a hash of the content, so that a refused part with other content replaces nothing. */
export const partOf = (
  key: string,
  { segment, number, sha256 }: { segment: number; number: number; sha256: Uint8Array },
): string => `${partsFolderOf(key)}${segment}-${number}-${Buffer.from(sha256).toString('hex', 0, 16)}`
