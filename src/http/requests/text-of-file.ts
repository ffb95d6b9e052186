/**
 * The text of a file: UTF-8 or, where it is none, what a spreadsheet writes: UTF-16, which says so by its first two bytes, or what is usual on
 * Windows.
 */
export function textOfFile(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const [first, second] = bytes
    if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
    if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
