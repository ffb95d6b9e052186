import path from 'node:path'
import type { MediaStore } from '../domain/context.ts'
import { openFolder } from './folder.ts'

/**
 * Opens the media store. It connects to nothing yet.
 *
 * @param mediaUrl `s3://bucket/prefix?endpoint=…&region=…`; undefined: a folder in the data folder.
 */
export async function openMediaStore({
  mediaUrl,
  dataDir,
}: {
  mediaUrl: string | undefined
  dataDir: string
}): Promise<MediaStore> {
  if (mediaUrl === undefined) return openFolder(path.resolve(dataDir, 'media'))
  const { openS3 } = await import('./s3.ts') // S3's client is an optional package, and a large one
  return openS3(new URL(mediaUrl))
}
