import { mkdir, stat } from 'node:fs/promises'
import path from 'node:path'

/**
 * Creates a folder and those above it that are missing. Node's own `recursive` tries forever where a folder that exists takes no others, as
 * below /proc.
 *
 * @returns the topmost folder that was created; undefined if there was nothing to create.
 */
export async function createFolder(folder: string, mode?: number): Promise<string | undefined> {
  try {
    return await createOne(folder, mode)
  } catch (error) {
    const parent = path.dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error
    const first = await createFolder(parent, mode)
    // Also if the parent is there: it may have been created by another request in the meantime.
    const own = await createOne(folder, mode)
    return first ?? own
  }
}

/** @returns undefined if the folder is there. */
async function createOne(folder: string, mode?: number): Promise<string | undefined> {
  try {
    await mkdir(folder, mode)
    return folder
  } catch (error) {
    if (await isFolder(folder)) return undefined
    throw error
  }
}

const isFolder = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  )
