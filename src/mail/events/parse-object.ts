/** An object of JSON. What is none has nothing in it: it is nobody's. */
export function parseObject<T extends object>(body: Buffer): Partial<T> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
