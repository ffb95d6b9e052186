/** Decodes a text file: UTF-8, else UTF-16 with a byte order mark, else windows-1252, which spreadsheets write on Windows. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const [first, second] = bytes
    if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
    if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
