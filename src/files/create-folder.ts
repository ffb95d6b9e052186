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
    await mkdir(folder, mode)
    return folder
  } catch (error) {
    if (await isFolder(folder)) return undefined
    const parent = path.dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder || (await isFolder(parent))) throw error
    const first = await createFolder(parent, mode)
    const own = await createFolder(folder, mode)
    return first ?? own
  }
}

const isFolder = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  )
