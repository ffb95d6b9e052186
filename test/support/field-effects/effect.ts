import { signInAs } from '../portal.ts'
import type { Service } from '../service.ts'

/** Two values of a field with the visible effect of each, other than the field itself. */
export type Effect = {
  observe: (value: never) => Promise<unknown>
  cases: readonly [readonly [value: unknown, seen: unknown], readonly [value: unknown, seen: unknown]]
}
export const effect = <Value>(
  observe: (value: Value) => Promise<unknown>,
  ...cases: [readonly [Value, unknown], readonly [Value, unknown]]
): Effect => ({ observe, cases })

/** Reasons why a column needs no effect. */
export const IDENTITY = 'identifies its row'
export const UNWRITTEN = 'the service alone writes it'
/** A field that another test file covers. @property word the field's name in that file. */
export type TestedIn = { file: string; word: string }
export const testedIn = (file: string, word: string): TestedIn => ({ file, word })
export type Effects<Field extends string> = Record<Field, Effect | TestedIn | typeof IDENTITY | typeof UNWRITTEN>

export type World = Awaited<ReturnType<typeof createFieldWorld>>

/** Creates an organization with a signed-in admin, an API key, and an assessment with one text question. */
export async function createFieldWorld(service: Service) {
  const organization = await service.make.organization()
  await service.db.apiKey.update({ where: { id: organization.apiKeyId }, data: { rights: ['manage'] } })
  await service.db.organization.update({
    where: { id: organization.id },
    data: { returnHosts: ['jobs.example.com'], languagesOffered: ['en', 'de', 'fr'] },
  })
  const assessment = await service.make.assessment(organization.id)
  await service.make.question(assessment, { script: 'Hello' })
  const admin = await signInAs(service, organization.id, ['admin'])
  return {
    ...{ service, organization, assessment, admin },
    v1: service.v1(organization.key),
    alternate: service.alternate(organization.key),
    page: async (path: string) => (await admin.get(admin.home + path)).text,
  }
}

/** Returns the text between tags in one line. */
export const textIn = (page: string): string => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

/** Returns the first group of the pattern in the page, or null if the pattern does not match. */
export const findIn = (page: string, pattern: RegExp): string | null => pattern.exec(page)?.[1]?.trim() ?? null
