import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

export type Dependency = { condition: string; required?: boolean }
export type ComposeService = {
  environment?: Record<string, string>
  depends_on?: Record<string, Dependency>
  profiles?: string[]
  networks?: string[]
  ports?: string[]
  healthcheck?: { test: string[] }
  stop_grace_period?: string
  restart?: string
  volumes?: string[]
  secrets?: string[]
  image?: string
  pull_policy?: string
  mem_limit?: string
  pids_limit?: number
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  logging?: { driver: string; options: Record<string, string> }
}
export type Compose = {
  name: string
  services: Record<string, ComposeService>
  volumes: Record<string, unknown>
  networks: Record<string, { internal?: boolean } | null>
  secrets: Record<string, { file: string }>
}

/** Reads docker-compose.yml like Compose, with only these variables set. @throws Error for a missing required variable. */
export async function readCompose(set: Record<string, string>): Promise<Compose> {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return interpolate(value, set)
    if (Array.isArray(value)) return value.map(fill)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one)]))
  }
  return fill(parse(await readFile('docker-compose.yml', 'utf8'), { merge: true })) as Compose
}

/**
 * Interpolates variables like Compose: `${NAME:-default}`, `${NAME:+replacement}`, and `${NAME:?message}`, which may be nested. An empty
 * variable counts as unset. Like most releases of Compose, this also evaluates branches that are not used, so a variable that is required in
 * an unused default must be set, too.
 *
 * @throws Error with the message of a missing required variable.
 */
function interpolate(text: string, set: Record<string, string>): string {
  const [begin] = /\$\{(\w+):([-+?])/.exec(text) ?? []
  if (begin === undefined) return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => set[name] ?? '')
  const start = text.indexOf(begin)
  const end = findEnd(text, start + begin.length)
  const [, name, operator] = /\$\{(\w+):(.)/.exec(begin) as unknown as [string, string, string]
  const word = text.slice(start + begin.length, end)
  if (operator === '?' && !set[name]) throw new Error(`${name}: ${word}`)
  const other = interpolate(word, set)
  const value = operator === '+' ? set[name] && other : set[name] || other
  return text.slice(0, start) + (value ?? '') + interpolate(text.slice(end + 1), set)
}

/** Index of the matching closing brace. */
function findEnd(text: string, from: number): number {
  let open = 1
  for (let at = from; at < text.length; at++) {
    if (text[at] === '}') open--
    else if (text.startsWith('${', at)) open++
    if (open === 0) return at
  }
  throw new Error(`A brace is not closed: ${text}`)
}
