/** Names in user agents. Browsers that also name another one come first. */
const BROWSERS = [
  ['Edge', /Edg(e|A|iOS)?\//],
  ['Opera', /OPR\//],
  ['Firefox', /(Firefox|FxiOS)\//],
  ['Chrome', /(Chrome|Chromium|CriOS)\//],
  ['Safari', /Safari\//],
] as const
const SYSTEMS = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
] as const

/** Name of a browser as its user knows it, such as "Firefox, Windows"; the user agent of an unknown browser, which may be empty. */
export function nameBrowser(userAgent: string): string {
  const words = [BROWSERS, SYSTEMS].map((names) => names.find(([, pattern]) => pattern.test(userAgent))?.[0])
  return words.filter((word) => word !== undefined).join(', ') || userAgent
}
