/** Parses a JSON object. Anything else becomes an empty object, which no reader accepts. */
export function parseObject<T extends object>(body: Buffer): Partial<T> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
