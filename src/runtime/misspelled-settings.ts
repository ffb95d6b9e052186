import { editDistance } from '../domain/text/edit-distance.ts'
import { Environment, SECRETS } from './environment.ts'

/** Shorter names belong to many programs. */
const MIN_LENGTH = 6
const MAX_MISTAKES = 2
/** Variables that Kubernetes sets for a service with that name. */
const KUBERNETES_VARIABLE = /_(SERVICE_HOST|SERVICE_PORT.*|PORT|PORT_\d+_.*)$/
/** Other programs' names for the same setting. */
const ALIASES: [RegExp, string][] = [
  [/^SMTP_(URI|HOST|SERVER|USER|USERNAME|PASS|PASSWORD)$|^(MAIL|EMAIL)_(URL|HOST|SERVER)$/, 'SMTP_URL'],
  [/^(SMTP|EMAIL)_(FROM|SENDER)$|^MAIL_SENDER$/, 'MAIL_FROM'],
]

/** Finds variables that look like a misspelled setting. @returns pairs of variable and probable setting. */
export function findMisspelledSettings(env: NodeJS.ProcessEnv): [name: string, meant: string][] {
  const names = Object.keys(Environment.properties)
  const knownNames = new Set([...names, ...SECRETS.map((name) => `${name}_FILE`)])
  return Object.keys(env).flatMap((name) => {
    if (knownNames.has(name) || !env[name] || KUBERNETES_VARIABLE.test(name)) return []
    const family = ALIASES.find(([pattern]) => pattern.test(name))?.[1]
    const setting = family ?? (name.length < MIN_LENGTH ? undefined : names.find((known) => isNear(name.toUpperCase(), known)))
    return setting === undefined ? [] : [[name, setting] as [string, string]]
  })
}

const isNear = (name: string, setting: string): boolean =>
  setting.length >= MIN_LENGTH &&
  Math.abs(name.length - setting.length) <= MAX_MISTAKES &&
  editDistance(name, setting) <= MAX_MISTAKES
