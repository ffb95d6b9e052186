import { constants, type FileHandle, open } from 'node:fs/promises'
import { TransferError } from './transfer-error.ts'

// Files of an export that somebody else may have made.

/** Opens a file for reading. @throws TransferError if it is missing, a link, or not a regular file. */
export async function openPlainFile(file: string): Promise<FileHandle> {
  const handle = await findPlainFile(file)
  if (!handle) throw new TransferError(`${file} is missing.`)
  return handle
}

/** @returns null if the file is missing. @throws TransferError for a link, and anything else than a regular file. */
export async function findPlainFile(file: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(file, flags).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null
    throw new TransferError(`${file} is a link, or can't be opened.`, { cause })
  })
  if (!handle || (await handle.stat()).isFile()) return handle
  await handle.close()
  throw new TransferError(`${file} is not a regular file.`)
}
