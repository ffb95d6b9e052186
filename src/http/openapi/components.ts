import { isDeepStrictEqual } from 'node:util'
import type { TObject } from '@sinclair/typebox'
import { DOCUMENTED_AS, EXPANDED_OBJECT, NAME } from '../schema/schema-keywords.ts'
import { SUNSET } from './deprecation.ts'

export type Reference = { $ref: string }
type Section = 'schemas' | 'parameters' | 'requestBodies' | 'responses' | 'headers'

export type Components = {
  sections: Record<Section, Record<string, object>>
  /**
   * Adds a component.
   *
   * @param name undefined: the value is returned unchanged.
   * @returns a reference to the component.
   * @throws Error when a different component has this name.
   */
  put: <Value extends object>(section: Section, name: string | undefined, value: Value) => Value | Reference
}

/** Components of an OpenAPI document. */
export function createComponents(): Components {
  const sections: Components['sections'] = { schemas: {}, parameters: {}, requestBodies: {}, responses: {}, headers: {} }
  return {
    sections,
    put(section, name, value) {
      if (name === undefined) return value
      const existing = sections[section][name]
      if (existing !== undefined && !isDeepStrictEqual(existing, value)) throw new Error(`Two ${section} are called ${name}.`)
      sections[section][name] = value
      return { $ref: `#/components/${section}/${name}` }
    },
  }
}

/** Prepares a schema for a document: named schemas become references, and this service's keywords are omitted. */
export function publishSchema(schema: object, components: Components): object {
  const { [NAME]: name, [EXPANDED_OBJECT]: object, [DOCUMENTED_AS]: shownAs, ...keywords }: Keywords = schema
  if (shownAs) return publishSchema(shownAs, components)
  const isShown = (key: string) => key === SUNSET || !key.startsWith('x-')
  const documented = Object.entries(keywords).flatMap(([key, value]) => (isShown(key) ? [[key, publish(value, components)]] : []))
  const published = components.put('schemas', name, Object.fromEntries(documented))
  return object ? { anyOf: [published, publishSchema(object, components)] } : published
}

type Keywords = { [NAME]?: string; [EXPANDED_OBJECT]?: object; [DOCUMENTED_AS]?: object }

/**
 * A union of named object schemas for documents.
 *
 * @param name component name.
 * @param propertyName discriminator: each schema allows other values of it.
 */
export const oneOfTypes = (name: string, propertyName: string, schemas: TObject[]): object => {
  const mapping = schemas.flatMap(({ properties, [NAME]: schemaName }) =>
    (properties[propertyName]!.enum as string[]).map((word) => [word, `#/components/schemas/${schemaName}`]),
  )
  return { [NAME]: name, oneOf: schemas, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } }
}

function publish(value: unknown, components: Components): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? value.map((item) => publish(item, components)) : publishSchema(value, components)
}

/** `list_tags`, `listTags` and `list-tags` as `ListTags`. */
export const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|[^a-zA-Z0-9]+)(\w)/g, (_, letter: string) => letter.toUpperCase())
