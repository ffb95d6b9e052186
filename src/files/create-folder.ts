import { mkdir, stat } from 'node:fs/promises'
import path from 'node:path'

/**
 * Creates a folder and its missing parents. Node's `recursive` option loops forever below a folder that accepts no new ones, such as /proc.
 *
 * @returns the topmost folder that was created; undefined if the folder existed.
 */
export async function createFolder(folder: string, mode?: number): Promise<string | undefined> {
  try {
    return await createOne(folder, mode)
  } catch (error) {
    const parent = path.dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error
    const first = await createFolder(parent, mode)
    // Even if the parent existed: another request may have created it in the meantime.
    const created = await createOne(folder, mode)
    return first ?? created
  }
}

/** @returns undefined if the folder exists. */
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
