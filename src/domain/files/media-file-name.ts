const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'video/webm': 'webm',
  'audio/webm': 'webm',
  'video/mp4': 'mp4',
  'audio/mp4': 'm4a',
}

/** File name of a photo or recording, such as `id-photo.jpg`. */
export const mediaFileName = ({ kind, contentType }: { kind: string; contentType: string }): string =>
  `${kind.replaceAll('_', '-')}.${EXTENSIONS[contentType] ?? 'bin'}`
