import { FILE_CONTENT_TYPES } from './type-of-content.ts'

const EXTENSIONS: Record<string, string> = {
  ...Object.fromEntries(Object.entries(FILE_CONTENT_TYPES).map(([extension, type]) => [type, extension])),
  'video/webm': 'webm',
  'audio/webm': 'webm',
  'video/mp4': 'mp4',
  'audio/mp4': 'm4a',
}

/** File name of a photo or recording, such as `id-photo.jpg`. */
export const mediaFileName = ({ kind, contentType }: { kind: string; contentType: string }): string =>
  `${kind.replaceAll('_', '-')}.${extensionOf(contentType)}`

const extensionOf = (contentType: string): string => EXTENSIONS[contentType] ?? 'bin'

const OTHER_EXTENSIONS: Record<string, string[]> = { jpg: ['jpeg'], txt: ['csv'] }

/** Name under which a candidate's file is downloaded. Its extension fits the content, because systems open files by their extension. */
export function downloadName({ fileName, contentType }: { fileName: string; contentType: string }): string {
  const extension = extensionOf(contentType)
  const accepted = [extension, ...(OTHER_EXTENSIONS[extension] ?? [])]
  return accepted.some((suffix) => fileName.toLowerCase().endsWith(`.${suffix}`)) ? fileName : `${fileName}.${extension}`
}
